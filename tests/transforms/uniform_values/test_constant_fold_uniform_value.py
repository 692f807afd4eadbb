"""`constant_fold_uniform_value`: which values are one number, and what stands in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.transforms.uniform_values.constant_fold_uniform_value import ConstantFoldUniformValue

aten = torch.ops.aten
prims = torch.ops.prims
FULL = "aten.full.default"
DTYPES = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
    torch.int16, torch.int8, torch.bool,
)  # fmt: skip

FOLDED: dict[str, Callable[..., Any]] = {
    "ones": lambda x: torch.ones(3, 4),
    "zeros like": lambda x: torch.zeros_like(x),
    "scalar tensor": lambda x: aten.scalar_tensor(2.5),
    "full like": lambda x: torch.full_like(x, -0.0),
    "new full": lambda x: x.new_full((2, 2), 3),
    "a view": lambda x: torch.full([12], 0.5).view(3, 4),
    "a permuted one, copied": lambda x: torch.ones(3, 4).t().contiguous(),
    "a slice": lambda x: torch.full([8], 7)[0:4],
    "a slice from the middle": lambda x: torch.full([8], 7.0)[2:6] * 1,
    "a cast": lambda x: torch.full([3], 1.5).to(torch.bfloat16),
    "arithmetic": lambda x: torch.full([3], 2.0) * torch.full([3], 0.25) + 1,
    "a function": lambda x: torch.exp(torch.full([3], 0.1)),
    "a comparison": lambda x: torch.full([3], 2.0) > 1,
    "a choice": lambda x: torch.where(torch.ones(3, dtype=torch.bool), torch.full([3], 2.0), 1.0),
    "infinite": lambda x: torch.full([3], 1.0) / 0,
    "not a number": lambda x: torch.zeros(3) / torch.zeros(3),
    "negative zero": lambda x: torch.zeros(3) * -1,
    "a literal": lambda x: torch.tensor(2.5) * 2,
    "as another dtype": lambda x: torch.full([3], 1.0).view(torch.int32) + 1,
    "wraps": lambda x: torch.full([3], 127, dtype=torch.int8) + 1,
    "promotes without dims": lambda x: (
        torch.full([], 2.0, dtype=torch.float64) * torch.full([3], 0.1)
    ),
    "empty": lambda x: torch.full([0, 3], 2.0) + 1,
    "reshaped": lambda x: torch.ones(3, 4).reshape(2, 6) + 0.5,
    "integers times zero": lambda x: (x > 0).to(torch.int32) * 0,
}


@pytest.mark.parametrize("what", FOLDED)
def test_fires(trace: Any, special: Any, what: str) -> None:
    x = special(3, 4)
    case = trace(FOLDED[what], x)
    assert case.run(ConstantFoldUniformValue()) >= 1
    assert FULL in case.ops
    assert set(case.ops) <= {FULL, "fx.get_attr", "aten.gt.Scalar", "aten._to_copy.default"}
    case.check_values(x)


STAYING: dict[str, Callable[..., Any]] = {
    "an input": lambda x: x + 1,
    "partly known": lambda x: torch.ones(3, 4) + x,
    "floats times zero": lambda x: x * 0,
    "expanded": lambda x: torch.full([3, 1], 2.0, dtype=torch.float32, layout=torch.strided,
                                     device="cpu", pin_memory=False).expand(3, 4),
    "uninitialised": lambda x: (torch.empty(3) * 0).isnan().any() & False,
    "random": lambda x: torch.rand(3) * 0 + 1,
    "a range": lambda x: torch.arange(3) + 1,
    "unsigned": lambda x: torch.full([3], 2, dtype=torch.uint8, layout=torch.strided,
                                     device="cpu", pin_memory=False) + 1,
}  # fmt: skip


@pytest.mark.parametrize("what", STAYING)
def test_stays(trace: Any, special: Any, what: str) -> None:
    x = special(3, 4)
    case = trace(STAYING[what], x)
    before = [name for name in case.ops if name != "aten.ones.default"]
    case.run(ConstantFoldUniformValue())
    assert [name for name in case.ops if name != FULL or name in before] == before
    if what not in ("uninitialised", "random"):
        case.check_values(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(trace: Any, dtype: torch.dtype) -> None:
    def f() -> Any:
        x = torch.full([2, 3], 1, dtype=dtype)
        return x, x.view(6), (x == 1).logical_not(), x.to(torch.float64) / 3

    case = trace(f)
    assert case.run(ConstantFoldUniformValue()) >= 3
    case.check_values()


def test_fast_folds_products_with_zero(trace: Any, special: Any) -> None:
    for function in (lambda x: x * 0, lambda x: torch.mul(0, x), lambda x: aten.mul.Scalar(x, 0)):
        case = trace(function, special(3, 4))
        assert case.run(ConstantFoldUniformValue("strict")) == 0
        assert case.run(ConstantFoldUniformValue("default")) == 0
        assert case.run(ConstantFoldUniformValue("fast")) == 1
        assert case.ops[-1] == FULL
    case = trace(lambda x: x * 0.0, special(3, 4))
    assert case.run(ConstantFoldUniformValue("fast")) == 0


def test_dead_constants_go(trace: Any) -> None:
    case = trace(lambda: torch.ones(3) + torch.full([3], 2.0))
    assert case.run(ConstantFoldUniformValue()) >= 1
    assert case.ops == [FULL]
    case.check_values()


def test_a_second_run_does_nothing(trace: Any, special: Any) -> None:
    case = trace(lambda x: torch.zeros_like(x) + torch.full([3, 4], 1), special(3, 4))
    assert case.run(ConstantFoldUniformValue()) >= 1
    assert case.run(ConstantFoldUniformValue()) == 0


# --------------------------------------------------------------------------------- storage


def test_what_is_written_is_not_constant(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = torch.zeros(3, 4)
        early = y + 1
        y.add_(x)
        return early, y + 1, y

    case = trace(f, special(3, 4))
    case.run(ConstantFoldUniformValue())
    assert "aten.add_.Tensor" in case.ops
    assert case.ops.count("aten.add.Tensor") == 2
    case.check_values(special(3, 4))


def test_what_is_written_through_a_view_is_not_constant(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = torch.zeros(12)
        y.view(3, 4).copy_(x)
        return y * 2

    case = trace(f, special(3, 4))
    assert case.run(ConstantFoldUniformValue()) == 0
    case.check_values(special(3, 4))


def test_outputs_that_share_keep_sharing(trace: Any) -> None:
    def f() -> Any:
        y = torch.full([12], 2.0)
        return y, y.view(3, 4)

    case = trace(f)
    case.run(ConstantFoldUniformValue())
    assert case.ops == [FULL, "aten.view.default"]
    case.check_values()


def test_a_returned_view_with_an_offset_keeps_it(trace: Any) -> None:
    case = trace(lambda: torch.full([8], 2.0)[4:])
    case.run(ConstantFoldUniformValue())
    assert case.ops == [FULL, "aten.slice.Tensor"]
    case.check_values()


def test_a_view_that_is_viewed_by_offset_stays(trace: Any) -> None:
    case = trace(lambda: torch.full([8], 2.0)[4:].as_strided([8], [1], 0).clone().t())
    case.run(ConstantFoldUniformValue())
    case.check_values()


def test_constants_of_the_module_may_change(parse: Any, trace: Any) -> None:
    """Without `lift_fresh_copy` it is a tensor that somebody may write to between two calls."""
    constant = torch.tensor(2.0)
    case = trace(lambda x: x * 1 + constant * 2, torch.ones(3))
    assert case.run(ConstantFoldUniformValue("fast")) == 0
    text = case.text
    # Text has no constants at all.
    assert parse(text).run(ConstantFoldUniformValue()) == 0


# --------------------------------------------------------------------------------- symbols


def test_symbolic_sizes(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return x + (torch.ones(x.shape[0], 4) * 2 + torch.zeros(x.shape[0], x.shape[1])).exp()

    case = trace(f, special(3, 4), dynamic=True)
    assert case.run(ConstantFoldUniformValue()) >= 1
    assert case.ops.count(FULL) == 1
    assert "aten.exp.default" not in case.ops
    case.check_values(special(5, 4))


def test_sizes_that_are_not_at_hand(trace: Any, special: Any) -> None:
    """Nothing in the graph holds the size: it is not asked for, and no guard is added."""
    case = trace(lambda x: torch.zeros_like(x) + x, special(3, 4), dynamic=True)
    assert case.run(ConstantFoldUniformValue()) == 0
    case.check_values(special(5, 2))


def test_a_symbolic_number_is_not_known(trace: Any, special: Any) -> None:
    case = trace(lambda x: torch.full([3], x.shape[0]) + 1, special(3, 4), dynamic=True)
    assert case.run(ConstantFoldUniformValue()) == 0
    case.check_values(special(5, 4))


def test_the_size_may_come_from_what_is_replaced(trace: Any, special: Any) -> None:
    """The size of the new tensor must not be asked of the tensor that it replaces."""

    def f(x: Any) -> Any:
        y = torch.zeros_like(x)
        return y + torch.ones(aten.sym_size.int(y, 0), aten.sym_size.int(y, 1))

    case = trace(f, special(3, 4), dynamic=True)
    case.run(ConstantFoldUniformValue())
    case.check_values(special(5, 2))


# --------------------------------------------------------------------------------- devices

DEVICES = """
    fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cuda:0>) {{
      %a = aten.full.default [4], 2.0, device = device<cuda:0> : !fx.tensor<f32[4], cuda:0>
      %b = aten.{op}.default %a : !fx.tensor<f32[4], cuda:0>
      fx.output (%b,)
    }}"""


@pytest.mark.parametrize(("op", "folds"), [("neg", True), ("abs", True), ("exp", False)])
def test_only_what_a_device_computes_alike(parse: Any, op: str, folds: bool) -> None:
    case = parse(DEVICES.format(op=op))
    assert case.run(ConstantFoldUniformValue()) >= 1
    assert case.ops == ([FULL] if folds else [FULL, f"aten.{op}.default"])
    assert "device = device<cuda:0>, pin_memory = false" in case.text


def test_place_is_inherited(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
          %a = aten.ones.default [4] : !fx.tensor<f32[4], cpu>
          %b = aten.neg.default %a : !fx.tensor<f32[4], cpu> {tag = "is_backward"} loc("m.py":7)
          fx.output (%b,)
        }""")
    assert case.run(ConstantFoldUniformValue()) == 2
    assert "%b = aten.full.default [4], -1.0, dtype = f32" in case.text
    assert "is_backward" in case.text
    assert '"m.py":7' in case.text


def test_an_ambient_fake_mode_is_not_seen(trace: Any, special: Any) -> None:
    from torch._subclasses import FakeTensorMode

    case = trace(lambda x: x + torch.ones(3, 4) * 2, special(3, 4))
    with FakeTensorMode():
        assert case.run(ConstantFoldUniformValue()) >= 1
    case.check_values(special(3, 4))


@pytest.mark.parametrize("function", [*FOLDED.values(), *STAYING.values()])
def test_the_prefilter_does_not_miss(trace: Any, special: Any, function: Any) -> None:
    case = trace(function, special(3, 4))
    promised = ConstantFoldUniformValue.may_apply(case.gm.graph)
    assert promised or case.run(ConstantFoldUniformValue("fast")) == 0
