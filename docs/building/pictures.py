"""Pictures of what one sees in a terminal: `python docs/building/pictures.py` writes them.

Applications are numbered within a process, so each run of this is one of its own.
"""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import torch
import torch.nn.functional as F
from model import Block
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

import xductor
from xductor.backend.testing.captured_stages import capture

PICTURES = Path(__file__).resolve().parents[1] / "pictures"
WIDTH = 118


def _gated(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return F.silu(gate) * up


def last_compile() -> str:
    """The table of a compile in which attention and a pattern of the user's are fused, as SVG."""
    library = torch.library.Library("pictures", "FRAGMENT")
    library.define("silu_mul(Tensor gate, Tensor up) -> Tensor")
    library.impl("silu_mul", _gated, "CompositeExplicitAutograd")
    library.impl("silu_mul", lambda gate, up: torch.empty_like(gate), "Meta")
    fuse = xductor.pattern_from(
        _gated,
        torch.randn(2, 4, 8),
        torch.randn(2, 4, 8),
        replacement=torch.ops.pictures.silu_mul,
        name="FuseSiluMul",
    )
    with torch.no_grad():
        capture(Block(), torch.randn(2, 16, 64), rewrites=[fuse.rewrite])
    console = Console(record=True, file=StringIO(), width=WIDTH, force_terminal=True)
    console.print(xductor.last_compile().table())
    return console.export_svg(title="print(xductor.last_compile())", theme=DIMMED_MONOKAI)


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "last_compile.svg").write_text(last_compile(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else PICTURES)
