"""Copies that keep apart what a functionalised call reads and what it will write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops.auto_functionalize import auto_functionalized, auto_functionalized_v2

from xductor.ir import aten as ops
from xductor.transforms import Rewrite, Tensor
from xductor.transforms.noops.remove_no_ops import RemoveNoOps
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

aten = torch.ops.aten


@pytest.fixture(scope="module")
def op() -> Any:
    """Writes to `x` and to what is in `zs`, reads `y`, returns a new tensor."""
    library = torch.library.Library("functionalized_calls", "FRAGMENT")
    library.define("acc(Tensor(a!) x, Tensor y, Tensor(b!)[] zs, Tensor(c!)? w=None) -> Tensor")

    def acc(x: Any, y: Any, zs: Any, w: Any = None) -> Any:
        for i in range(x.shape[0]):
            x[i] += y[i]
        for z in zs:
            z.mul_(2)
        return x * 3

    library.impl("acc", acc, "CPU")
    library.impl("acc", lambda x, y, zs, w=None: torch.empty_like(x), "Meta")
    yield torch.ops.functionalized_calls.acc.default
    library._destroy()


def _v1(op: Any, x: Any, y: Any, *zs: Any) -> Any:
    return auto_functionalized(op, x=x, y=y, zs=list(zs), w=None)


def _rows(op: Any, base: Any, start: int, end: int, y: Any) -> Any:
    """A call of the second form, which writes to some rows of a base."""
    return auto_functionalized_v2(
        op, y=y, _x_base_index=0, _x_slice_dim=0, _x_slice_start=start, _x_slice_end=end,
        _zs_length=0, _w_base_index=None, _all_bases=[base],
    )  # fmt: skip


def _strided(op: Any, base: Any, y: Any) -> Any:
    return auto_functionalized_v2(
        op, y=y, _x_base_index=0, _x_size=(3, 4), _x_stride=(4, 1), _x_storage_offset=4,
        _zs_length=0, _w_base_index=None, _all_bases=[base],
    )  # fmt: skip


STAYING: dict[str, Callable[..., Any]] = {
    "what is read": lambda op, s: _v1(op, s, aten.clone(s), torch.ones(1))[1],
    "what is written": lambda op, s: _v1(op, aten.clone(s), s)[1],
    "of views that overlap": lambda op, s: _v1(op, s[1:], aten.clone(s[:-1]))[1],
    "read through a view": lambda op, s: _v1(op, s[:2], aten.clone(s)[1:3])[1],
    "of a list": lambda op, s: _v1(op, torch.ones(3, 4), aten.clone(s), s[1:])[2][0],
    "second form": lambda op, s: _rows(op, s, 1, 4, aten.clone(s[:3]))[1],
    "second form, by strides": lambda op, s: _strided(op, s, aten.clone(s[:3]))[1],
    "a cast that casts nothing": lambda op, s: _v1(
        op, s[1:], torch.ops.prims.convert_element_type(s[:-1], torch.float32)
    )[1],
    "a cat of one": lambda op, s: _v1(op, s[1:], aten.cat([s[:-1]]))[1],
}  # fmt: skip

GOING: dict[str, Callable[..., Any]] = {
    "of views apart": lambda op, s: _v1(op, s[2:], aten.clone(s[:2]))[1],
    "of columns apart": lambda op, s: _v1(op, s[:, :2], aten.clone(s)[:, 2:])[1],
    "of something else": lambda op, s: _v1(op, s.sin(), aten.clone(s))[1],
    "second form": lambda op, s: _rows(op, s, 2, 4, aten.clone(s[:2]))[1],
    "read by others": lambda op, s: (_v1(op, s, torch.ones(4, 4))[1], aten.clone(s).sin()),
}


@pytest.mark.parametrize("stage", ["joint", "post_grad"])
@pytest.mark.parametrize("why", STAYING)
def test_stays(trace: Any, op: Any, why: str, stage: str) -> None:
    case = trace(lambda x: STAYING[why](op, x.sin()), torch.ones(4, 4), stage=stage)
    assert case.run(RemoveNoopOps()) == 0


@pytest.mark.parametrize("stage", ["joint", "post_grad"])
@pytest.mark.parametrize("why", GOING)
def test_goes(trace: Any, op: Any, why: str, stage: str) -> None:
    x = torch.randn(4, 4)
    case = trace(lambda x: GOING[why](op, x.sin()), x, stage=stage)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


def test_products_with_ones(trace: Any, op: Any) -> None:
    def f(x: Any) -> Any:
        s = x.sin()
        return _v1(op, s[1:], s[:-1] * torch.ones(3, 4))[1]

    assert trace(f, torch.ones(4, 4)).run(RemoveNoOps()) == 0


TRITON = """
    fx.graph @g stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {{
      %s = aten.sin.default %x : !fx.tensor<f32[4], cpu>
      %d = aten.clone.default %s : !fx.tensor<f32[4], cpu>
      %t = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, constant_args_idx = 0,
        grid = [(1, 1, 1)], tma_descriptor_metadata = {{}}, kwargs = {{"a": %{a}, "b": %d}},
        tensors_to_clone = ["a"] : !fx.object<"builtins.dict">
      %o = pyfn._operator.getitem %t, "a" : !fx.tensor<f32[4], cpu>
      fx.output (%o,)
    }}"""


@pytest.mark.parametrize(("written", "removed"), [("s", 0), ("x", 1)])
def test_triton_kernels(parse: Any, written: str, removed: int) -> None:
    assert parse(TRITON.format(a=written)).run(RemoveNoopOps()) == removed


class NegatedTwice(Rewrite):
    """Two changes of sign are none."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return ops.neg(ops.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


def test_declared_rewrites_are_declined(trace: Any, op: Any) -> None:
    def overlapping(x: Any) -> Any:
        s = x.sin()
        return _v1(op, s[1:], torch.neg(torch.neg(s[:-1])))[1]

    def apart(x: Any) -> Any:
        s = x.sin()
        return _v1(op, s[2:], torch.neg(torch.neg(s[:2])))[1]

    x = torch.ones(4, 4)
    assert trace(overlapping, x).run(NegatedTwice) == 0
    assert trace(apart, x).run(NegatedTwice) == 1


SCATTERED = {
    "of what nobody else has": lambda op, x: (
        s := x.nonzero().float(),
        r := _v1(op, x, x.cos(), s),
        x.copy_(r[1]),
        aten.slice_scatter(s, r[2][0]),
    )[3],
    "of the second in a list": lambda op, x: (
        s := x.sin(), r := _v1(op, x, x.cos(), x.cos(), s), x.copy_(r[1]), aten.clone(r[2][1])
    )[3],
}  # fmt: skip


@pytest.mark.parametrize("what", SCATTERED)
def test_new_content_of_another_argument_than_the_input(trace: Any, op: Any, what: str) -> None:
    """Only the first result of the call may come to be in the input that is written to."""
    case = trace(lambda x: SCATTERED[what](op, x), torch.ones(4, 4), stage="post_grad")
    assert case.run(RemoveNoopOps()) == 1


def test_new_content_of_the_input(trace: Any, op: Any) -> None:
    def f(x: Any) -> Any:
        r = _v1(op, x, x.cos(), x.sin())
        x.copy_(r[2][0])
        return aten.clone(r[1])

    assert trace(f, torch.ones(4, 4), stage="post_grad").run(RemoveNoopOps()) == 0
