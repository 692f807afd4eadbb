"""What frozen compiles leave in memory: `python -m tests.benchmarks.frozen_leaks --compiles 200`.

Each compile is of a new model, whose weights are folded, packed and joined, without code
generation. Objects of torch that live, the bytes of all tensors, and the resident memory of the
process are taken after some compiles and after the rest.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._inductor import config

from tests.benchmarks.held_bytes import held_bytes
from tests.corpus.capture import passes_only
from tests.live_objects import census

#: Compiles before the first count; they fill what is kept once in a process.
FIRST = 4

SIZE = 128


class Model(nn.Module):
    """A folded convolution and joined linears; both are packed. The last weight is the first."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.SiLU(), nn.Flatten())
        self.linears = nn.ModuleList(nn.Linear(SIZE, SIZE) for _ in range(4))
        self.last = nn.Linear(SIZE, SIZE, bias=False)
        self.last.weight = self.linears[0].weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        return self.last(sum(one(y).tanh() for one in self.linears))


@dataclass(frozen=True)
class Memory:
    """What lives at one time."""

    objects: Counter[str]
    tensors: int
    resident: int

    @classmethod
    def now(cls) -> Memory:
        """Counted after what torch itself keeps was let go."""
        objects = census()
        return cls(objects, held_bytes(), _resident())

    def more_than(self, before: Memory) -> dict[str, int]:
        """Objects and bytes of tensors that were not there before."""
        more = dict(self.objects - before.objects)
        if self.tensors > before.tensors:
            more["bytes of tensors"] = self.tensors - before.tensors
        return more


def _resident() -> int:
    """Bytes of the process that are in memory; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), 0)


def compile_once(index: int, backend: str = "xductor") -> None:
    """Compile and run a new model, every fifth time with dynamic shapes."""
    torch._dynamo.reset()
    model = Model().eval()
    x = torch.randn(2 + index % 3, 4, 6, 6)
    options: dict[str, Any] = {"cpp.enable_concat_linear": True}
    if backend == "xductor":
        options["xductor.on_error"] = "raise"
    compiled = torch.compile(model, backend=backend, dynamic=index % 5 == 3, options=options)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)


def measure(
    compiles: int, backend: str = "xductor", *, packs: bool = True
) -> tuple[Memory, Memory]:
    """Memory after the first compiles, and after as many more as are asked for."""
    flags = {"freezing": True, "cpp.weight_prepack": packs}
    with config.patch(flags), passes_only(), warnings.catch_warnings(action="ignore"):
        for index in range(FIRST):
            compile_once(index, backend)
        before = Memory.now()
        for index in range(compiles):
            compile_once(index, backend)
        return before, Memory.now()


def main(argv: Sequence[str] | None = None) -> int:
    """Print both counts; 1 if something was left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--compiles", type=int, default=200)
    parser.add_argument("--backend", default="xductor", choices=("xductor", "inductor"))
    parser.add_argument(
        "--packing",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="of weights; what Inductor fuses with packed ones runs in generated code alone",
    )
    args = parser.parse_args(argv)
    before, after = measure(args.compiles, args.backend, packs=args.packing)
    left = after.more_than(before)
    for when, one in (("before", before), ("after", after)):
        tensors, resident = one.tensors / 2**20, one.resident / 2**20
        print(f"{when}: {dict(one.objects)}; MiB of tensors {tensors:.2f}, resident {resident:.0f}")
    grown = (after.resident - before.resident) / args.compiles / 2**10
    print(f"left by {args.compiles} compiles: {left or 'nothing'}; resident {grown:+.1f} KiB each")
    return int(bool(left))


if __name__ == "__main__":
    raise SystemExit(main())
