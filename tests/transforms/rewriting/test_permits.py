"""`permits`: what a rewrite may do that the contracts refuse to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

import xductor
from xductor import Rewrite, Tensor
from xductor.ir import aten, ops, parse_ir, prims, print_ir, verify
from xductor.transforms import TypedPass
from xductor.transforms.joint_graph.fix_iota_device import FixIotaDevice
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.declared_attributes import DeclarationError
from xductor.transforms.rewriting.driver import ContractViolation
from xductor.transforms.rewriting.rewrite_pass import RewritePass

_TWO_DRAWS = """
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>, %y : !fx.tensor<f32[4], cpu>) {
  %a, %b = aten.native_dropout.default %x, 0.5, true : !fx.tensor<f32[4], cpu>, !fx.tensor<i1[4], cpu>
  %c, %d = aten.native_dropout.default %y, 0.5, true : !fx.tensor<f32[4], cpu>, !fx.tensor<i1[4], cpu>
  %z = aten.add.Tensor %a, %c : !fx.tensor<f32[4], cpu>
  fx.output (%z,)
}
"""  # noqa: E501


def _pattern(x: Tensor, y: Tensor) -> Any:
    left = aten.native_dropout(x, 0.5, True)[0]
    return aten.add(left, aten.native_dropout(y, 0.5, True)[0])


class Apart(Rewrite):
    """Two draws become one, which is refused."""

    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return _pattern(x, y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.native_dropout(aten.add(x, y), 0.5, True)[0]


class AtOnce(Apart):
    permits = ("draws",)


class Undrawn(AtOnce):
    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.add(x, y)


def _applied(text: str, one: type[Rewrite]) -> tuple[int, ModuleOp]:
    module = parse_ir(text)
    count = RewritePass.of([one]).rewrite(module)
    verify(module, "types")
    return count, module


@pytest.mark.parametrize(("one", "count"), [(Apart, 0), (AtOnce, 1), (Undrawn, 0)])
def test_draws(one: type[Rewrite], count: int) -> None:
    found, module = _applied(_TWO_DRAWS, one)
    assert found == count
    assert print_ir(module).count("aten.native_dropout.default") == 2 - count


def test_draws_appear_for_no_one() -> None:
    class Drawing(Rewrite):
        stage = "joint"
        permits = ("draws",)

        def pattern(self, x: Tensor, y: Tensor) -> Any:
            return aten.mul(x, y)

        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return aten.mul(aten.native_dropout(x, 0.5, True)[0], y)

    text = _TWO_DRAWS.replace(
        "%z = aten.add", "%m = aten.mul.Tensor %x, %y : !fx.tensor<f32[4], cpu>\n  %z = aten.add"
    ).replace("(%z,)", "(%z, %m)")
    with pytest.raises(ContractViolation, match="draws random numbers, the matched ops do not"):
        _applied(text, Drawing)


_RANGE = """
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4, 4], cuda:0>) {
  %i = prims.iota.default 4, start = 0, step = 1, dtype = i64, device = device<cpu>, requires_grad = false : !fx.tensor<i64[4], cpu>
  %y = aten.index.Tensor %x, [%i] : !fx.tensor<f32[4, 4], cuda:0>
  fx.output (%y,)
}
"""  # noqa: E501


class ToMeta(Rewrite):
    """The range on another device."""

    stage = "joint"

    def pattern(self, n: int) -> Any:
        return prims.iota(
            n, start=0, step=1, dtype=torch.int64, device=torch.device("cpu"), requires_grad=False
        )

    def replacement(self, n: int) -> Any:
        return prims.iota(
            n, start=0, step=1, dtype=torch.int64, device=torch.device("meta"), requires_grad=False
        )


class ToMetaAllowed(ToMeta):
    permits = ("device",)


def test_a_device_is_refused_to_others() -> None:
    with pytest.raises(ContractViolation, match="expected device cpu, found meta"):
        _applied(_RANGE, ToMeta)


def test_a_device_that_is_not_seen() -> None:
    count, module = _applied(_RANGE, ToMetaAllowed)
    assert count == 1
    assert "device<meta>" in print_ir(module)


def test_a_device_that_is_seen() -> None:
    assert _applied(_RANGE.replace("(%y,)", "(%y, %i)"), ToMetaAllowed)[0] == 0
    summed = "%s = aten.add.Tensor %i, 1 : !fx.tensor<i64[4], cpu>\n  fx.output (%y, %s)"
    assert _applied(_RANGE.replace("fx.output (%y,)", summed), ToMetaAllowed)[0] == 0


def test_explain_tells() -> None:
    found = xductor.explain(FixIotaDevice, parse_ir(_RANGE))
    assert any("on another device" in note for note in found.notes)
    assert "by other calls" in str(xductor.explain(AtOnce, parse_ir(_TWO_DRAWS)))
    assert "by other calls" not in str(xductor.explain(Apart, parse_ir(_TWO_DRAWS)))


def test_a_misspelt_permit() -> None:
    with pytest.raises(PatternError, match="Did you mean 'draws'"):

        class Wrong(AtOnce):
            permits = ("drawz",)

    with pytest.raises(DeclarationError, match="permits is 'draws'; expected a tuple"):

        @dataclass(frozen=True)
        class WrongPass(TypedPass):
            name = "wrong_pass"
            permits = "draws"  # type: ignore[assignment]

            def rewrite(self, module: ModuleOp) -> int:
                return 0


def test_writes_to_what_goes_count_for_nothing() -> None:
    """A write inside a match is none of the graph's; one that others read is."""

    class Doubled(Rewrite):
        stage = "post_grad"

        def pattern(self, x: Tensor) -> Any:
            return aten.neg(ops.aten.add_(aten.sin(x), 1))

        def replacement(self, x: Tensor) -> Any:
            return aten.neg(aten.add(aten.sin(x), 1))

    text = """
fx.graph @forward stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %s = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  %w = aten.add_.Tensor %s, 1 : !fx.tensor<f32[4], cpu> aliases(0)
  %n = aten.neg.default %w : !fx.tensor<f32[4], cpu>
  fx.output (%n,)
}
"""
    assert _applied(text, Doubled)[0] == 1
    assert _applied(text.replace("(%n,)", "(%n, %s)"), Doubled)[0] == 0
