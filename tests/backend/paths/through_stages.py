"""What the tests of the ways into Inductor compile, and how they see that our stages ran."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from xductor.backend.records.stage_records import StageRecord

#: A failure of ours is an error here, and what is lowered is checked in full.
OPTIONS: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
FORWARD = ["pre_grad", "joint", "post_grad"]


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Two products, and between them a pair of permutes that the joint stage removes."""
    return torch.mm(torch.mm(x, w).permute(1, 0).permute(1, 0), w)


class Chain(torch.nn.Module):
    """``chain`` with a weight of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return chain(x, self.w)


def square(requires_grad: bool = False) -> torch.Tensor:
    return torch.randn(4, 4, requires_grad=requires_grad)


def leaves(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """The same values, to be differentiated once more."""
    return [tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in tensors]


@dataclass
class StageRecords:
    """The stage calls of ours since the last :meth:`take`."""

    records: list[StageRecord]

    def names(self) -> list[str]:
        return [record.stage for record in self.records]

    def take(self) -> list[str]:
        names = self.names()
        self.records.clear()
        return names

    def pairs_removed(self) -> int:
        """How often a typed pass removed a pair of permutes."""
        return sum(record.applications("pointless_permute_pair") for record in self.records)


def run_script(script: str, cache: Path, **environment: str) -> str:
    """Run Python text in a process of its own, over the caches in ``cache``; its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
