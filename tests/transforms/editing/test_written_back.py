"""Copies between what may be made in an input that is written to and what outlives the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.ir import aten as ops
from xductor.transforms import Rewrite, Tensor
from xductor.transforms.noops.remove_no_ops import RemoveNoOps
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

aten = torch.ops.aten


def _scattered(x: Any) -> Any:
    return aten.slice_scatter(x, x[1:] + 1, 0, 1)


def _put(x: Any) -> Any:
    return aten.index_put(x, [torch.zeros(1, dtype=torch.int64)], x[1])


STAYING: dict[str, Callable[..., Any]] = {
    "what is copied back": lambda x: (s := _scattered(x), d := aten.clone(s), x.copy_(s), d)[3],
    "overwritten later": lambda x: (d := aten.clone(_scattered(x)), x.copy_(d * 2), d)[2],
    "a chain": lambda x: (d := aten.clone(_put(_scattered(x))), x.copy_(d * 2), d)[2],
    "of a view": lambda x: (d := aten.clone(_scattered(x.t()).t()), x.copy_(d * 2), d)[2],
    "returned as a view": lambda x: (d := aten.clone(_put(x)), x.copy_(d * 2), d.view(-1))[2],
    "returned as written to": lambda x: (
        d := aten.clone(_scattered(x)), e := _put(d), x.copy_(torch.ones(3, 4)), e
    )[3],
    "copied, written and copied back": lambda x: (e := _put(aten.clone(x)), x.copy_(e), e)[2],
    "a cast": lambda x: (
        d := torch.ops.prims.convert_element_type(_put(x), torch.float32), x.copy_(d * 2), d
    )[2],
}  # fmt: skip


@pytest.mark.parametrize("stage", ["joint", "post_grad"])
@pytest.mark.parametrize("why", STAYING)
def test_stays(trace: Any, special: Any, why: str, stage: str) -> None:
    x = special(3, 4)
    case = trace(STAYING[why], x, stage=stage)
    assert case.run(RemoveNoopOps()) == 0
    case.check_values(x)


GOING: dict[str, Callable[..., Any]] = {
    "the input is not written to": lambda x: aten.clone(_scattered(x)),
    "of a fresh value": lambda x: (d := aten.clone(_scattered(x + 1)), x.copy_(x * 2), d)[2],
    "of arithmetic": lambda x: (s := x + 1, d := aten.clone(s), x.copy_(s), d)[3],
    "read, not returned": lambda x: (d := aten.clone(_scattered(x)), x.copy_(d * 2), d * 3)[2],
    "arithmetic in between": lambda x: (
        d := aten.clone(_scattered(x) * 2), x.copy_(d * 2), d
    )[2],
}  # fmt: skip


@pytest.mark.parametrize("stage", ["joint", "post_grad"])
@pytest.mark.parametrize("why", GOING)
def test_goes(trace: Any, special: Any, why: str, stage: str) -> None:
    x = special(3, 4)
    case = trace(GOING[why], x, stage=stage)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


TEXT = """
    fx.graph @g stage({stage}) symbols() (%x : !fx.tensor<f32[4], cpu>,
                                          %{other} : !fx.tensor<f32[4], cpu>) {{
      %part = aten.slice.Tensor %{other}, 0, 0, 2 : !fx.tensor<f32[2], cpu>
      %s = aten.slice_scatter.default %x, %part, 0, 0, 2 : !fx.tensor<f32[4], cpu>
      %d = aten.clone.default %s : !fx.tensor<f32[4], cpu>
      %m = aten.mul.Tensor %s, %s : !fx.tensor<f32[4], cpu>
      %e = aten.exp.default %d : !fx.tensor<f32[4], cpu>
      %w = aten.copy_.default %x, %m : !fx.tensor<f32[4], cpu>
      fx.output (%e,)
    }}"""


@pytest.mark.parametrize(
    ("stage", "other", "removed"),
    [("joint", "tangents_1", 0), ("joint", "y", 1), ("post_grad", "tangents_1", 1)],
)
def test_what_may_be_saved_for_the_backward(
    parse: Any, stage: str, other: str, removed: int
) -> None:
    """Which values are saved is decided after the joint stage; after it they are outputs."""
    assert parse(TEXT.format(stage=stage, other=other)).run(RemoveNoopOps()) == removed


def test_sums_with_zeros(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        s = _put(x)
        x.copy_(s)
        return s * torch.ones(3, 4)

    x = special(3, 4)
    assert trace(f, x).run(RemoveNoOps()) == 0
    assert trace(lambda x: _put(x) * torch.ones(3, 4), x).run(RemoveNoOps()) == 1


class NegatedTwice(Rewrite):
    """Two changes of sign are none."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return ops.neg(ops.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


def test_declared_rewrites_are_declined(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        d = torch.neg(torch.neg(_put(x)))
        x.copy_(x * 2)
        return d

    def unwritten(x: Any) -> Any:
        return torch.neg(torch.neg(_put(x)))

    x = special(3, 4)
    assert trace(f, x).run(NegatedTwice) == 0
    assert trace(unwritten, x).run(NegatedTwice) == 1
