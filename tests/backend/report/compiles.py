"""Compiles that leave pages, and what is collected of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

import xductor
from xductor import Rewrite, Tensor
from xductor.backend.report.compile_data import CompileData, StageData, StepData
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import aten
from xductor.transforms import TypedPass


class NegNeg(Rewrite):
    """Two signs are none, for matrices."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def where(self, x: Tensor) -> Any:
        return x.rank == 2 or xductor.no("only for <b>matrices</b>")

    def replacement(self, x: Tensor) -> Any:
        return x


class Raises(TypedPass):
    """Fails on each graph."""

    name: ClassVar[str] = "raises"
    stage: ClassVar[Any] = "joint"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        return True

    def rewrite(self, module: ModuleOp) -> int:
        raise RuntimeError("no </script><script>window.pwned = 1</script> graph")


def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    a = x.neg().neg() * 2
    b = y.neg().neg() + a.sum(0)
    return (a.t().t() @ b).relu()


def inputs(*, requires_grad: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 8, requires_grad=requires_grad), torch.randn(8)


def compiled(
    folder: Path, *given: Any, call: Callable[..., Any] = function, **settings: Any
) -> torch.Tensor:
    """Compile and run `call`, and leave a page in `folder`."""
    torch._dynamo.reset()
    options = {f"xductor.{name}": value for name, value in settings.items()}
    with without_codegen():
        made = torch.compile(
            call, backend="xductor", options={"xductor.report": str(folder), **options}
        )
        return made(*(given or inputs()))


def stage(data: CompileData, name: str) -> StageData:
    (found,) = (one for one in data.stages if one.title == name)
    return found


def step(of: StageData, name: str) -> StepData:
    (found,) = (one for one in of.steps if one.name == name)
    return found


def pages(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.html"))


class Parsed(HTMLParser):
    """A page as a browser reads it: its script elements, and its text outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.text = ""
        self.tags: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        else:
            self.text += data

    @property
    def graphs(self) -> dict[str, Any]:
        """The data that the script draws from."""
        return json.loads(self.scripts[0])
