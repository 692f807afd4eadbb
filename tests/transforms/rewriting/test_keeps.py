"""`keeps`: where the output surely has another type than a variable, nothing is matched."""

from __future__ import annotations

from typing import Any

import pytest

from xductor.ir import aten, parse_ir
from xductor.transforms import Rewrite, Tensor
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.rewriting.driver import Driver, RewriteIndex

asked: list[Any] = []


class SameSizes(Rewrite):
    stage = "joint"
    keeps = "x"

    def pattern(self, x: Tensor, size: list[int]) -> Any:
        return aten.view(x, size)

    def where(self, x: Tensor, size: list[int]) -> Any:
        asked.append(size)
        return x.has_sizes(size)

    def replacement(self, x: Tensor) -> Any:
        return x


def _rewritten(before: str, sizes: str, after: str, symbols: str = "") -> tuple[int, int]:
    """How often the rewrite was applied to a view, and how often its condition was asked."""
    asked.clear()
    module = parse_ir(f"""
fx.graph @forward stage(joint) {symbols} (%x : !fx.tensor<f32[{before}], cpu>) {{
  %y = aten.view.default %x, {sizes} : !fx.tensor<f32[{after}], cpu>
  %z = aten.sin.default %y : !fx.tensor<f32[{after}], cpu>
  fx.output (%z)
}}
""")
    return Driver(RewriteIndex([SameSizes()])).rewrite(module), len(asked)


def test_other_sizes_are_passed_over() -> None:
    assert _rewritten("4, 2", "[2, 4]", "2, 4") == (0, 0)


def test_the_same_sizes_are_asked_about_and_replaced() -> None:
    assert _rewritten("4, 2", "[4, 2]", "4, 2") == (1, 1)


def test_sizes_with_symbols_are_asked_about() -> None:
    symbols = "symbols(s0 : int [2, int_oo])"
    assert _rewritten("s0, 2", "[-1]", "2*s0", symbols) == (0, 1)


def test_a_variable_that_the_pattern_does_not_bind() -> None:
    with pytest.raises(PatternError, match="keeps is 'y'; `pattern` binds x, size"):
        type("Misspelt", (SameSizes,), {"keeps": "y", "__module__": __name__})
