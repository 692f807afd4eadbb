"""A compile names the line of a user's pass that raised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stage_runs.failures import FallbackWarning
from xductor.transforms import TypedPass


@dataclass(frozen=True)
class Divides(TypedPass):
    name = "divides_by_zero"
    stage = "joint"
    roots = frozenset(("aten.sin.default",))

    def rewrite(self, module: ModuleOp) -> int:
        return divided(1, 0)


def divided(a: int, b: int) -> int:
    return a // b


def compiled(on_error: str) -> Any:
    torch._dynamo.reset()
    options: dict[str, Any] = {"xductor.rewrites": [Divides], "xductor.on_error": on_error}
    with without_codegen():
        return torch.compile(torch.sin, backend="xductor", options=options)(torch.randn(3))


@pytest.mark.parametrize("on_error", ["raise", "fallback"])
def test_the_line_that_raised_is_told(on_error: str) -> None:
    code: Any = divided.__code__
    place = f"{code.co_filename}:{code.co_firstlineno + 1}"
    if on_error == "raise":
        with pytest.raises(Exception, match="divides_by_zero failed in the joint") as raised:
            compiled(on_error)
        assert place in str(raised.value)
        return
    with pytest.warns(FallbackWarning) as warned:
        compiled(on_error)
    assert place in str(warned[0].message)
