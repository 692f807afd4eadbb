"""`remove_no_ops`: where adding zeros and multiplying by ones changes no bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.transforms.noops.remove_no_ops import RemoveNoOps

aten = torch.ops.aten
CONVERT = "prims.convert_element_type.default"
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
POLICIES = ("strict", "default", "fast")

ARITHMETIC = {
    "aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor",
    "aten.div.Tensor_mode",
}  # fmt: skip


def _zeros(x: Any, negative: bool = False) -> Any:
    return torch.full_like(x, -0.0 if negative else 0.0)


# By what holds for floats: the bits stay, or the sign of a zero, infinities or NaN may change.
EXACT: dict[str, Callable[[Any], Any]] = {
    "x - 0.0": lambda x: x - _zeros(x),
    "x + -0.0": lambda x: x + _zeros(x, negative=True),
    "-0.0 + x": lambda x: _zeros(x, negative=True) + x,
    "x * 1": lambda x: x * torch.ones_like(x),
    "1 * x": lambda x: torch.ones_like(x) * x,
    "x / 1": lambda x: x / torch.ones_like(x),
}
INEXACT: dict[str, Callable[[Any], Any]] = {
    "x + 0.0": lambda x: x + _zeros(x),
    "0.0 + x": lambda x: _zeros(x) + x,
    "x - -0.0": lambda x: x - _zeros(x, negative=True),
}
OTHER: dict[str, Callable[[Any], Any]] = {
    "0 - x": lambda x: _zeros(x) - x,
    "1 / x": lambda x: torch.ones_like(x) / x,
    "x * 0": lambda x: x * _zeros(x),
    "x + 1": lambda x: x + torch.ones_like(x),
    "alpha": lambda x: aten.add.Tensor(x, _zeros(x, negative=True), alpha=2),
    "alpha of the other": lambda x: aten.add.Tensor(_zeros(x, negative=True), x, alpha=2),
    "floor": lambda x: torch.div(x, torch.ones_like(x), rounding_mode="floor"),
    "a number": lambda x: x * 1,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("what", [*EXACT, *INEXACT, *OTHER])
def test_floats(trace: Any, special: Any, what: str, policy: Any, dtype: torch.dtype) -> None:
    function = {**EXACT, **INEXACT, **OTHER}[what]
    x = special(3, 4, dtype=dtype)
    case = trace(lambda x: function(x.abs().neg()) * 2, x)
    goes = what in EXACT or (what in INEXACT and policy == "fast")
    assert case.run(RemoveNoOps(policy)) == int(goes)
    assert len([name for name in case.ops if name in ARITHMETIC]) == 2 - goes
    if policy != "fast":
        case.check_values(x)


def test_the_sign_of_zero_is_seen(trace: Any) -> None:
    """What the refusals above are for."""
    x = torch.tensor([-0.0])
    assert (1 / (x + torch.zeros(1))).item() == float("inf")
    assert (1 / (x + torch.full([1], -0.0))).item() == -float("inf")
    case = trace(lambda x: 1 / (x.neg() + torch.zeros(1)), x)
    assert case.run(RemoveNoOps()) == 0
    assert case.run(RemoveNoOps("fast")) == 1


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("what", ["x + 0.0", "x - 0.0", "x * 1", "0.0 + x"])
def test_integers(trace: Any, what: str, dtype: torch.dtype) -> None:
    function = {**EXACT, **INEXACT}[what]
    limits = torch.iinfo(dtype)
    x = torch.tensor([limits.min, limits.max, 0, 1], dtype=dtype)
    case = trace(lambda x: function(x + 1) * 2, x)
    assert case.run(RemoveNoOps()) == 1
    case.check_values(x)


def test_booleans(trace: Any) -> None:
    x = torch.tensor([True, False])
    case = trace(lambda x: ((~x) * torch.ones_like(x)) + torch.zeros_like(x) ^ x, x)
    assert case.run(RemoveNoOps()) == 2
    case.check_values(x)


@pytest.mark.parametrize("what", [*EXACT, *INEXACT])
def test_complex_numbers_only_under_fast(trace: Any, what: str) -> None:
    function = {**EXACT, **INEXACT}[what]
    parts = [0.0, -0.0, float("inf"), float("nan"), 2.0]
    x = torch.tensor([complex(a, b) for a in parts for b in parts])
    case = trace(lambda x: function(x.abs().to(torch.complex64) + x) * 2, x)
    assert case.run(RemoveNoOps()) == 0
    assert case.run(RemoveNoOps("fast")) == 1


# ------------------------------------------------------------------------- promotion

PROMOTED: dict[str, tuple[Callable[[Any], Any], torch.dtype]] = {
    "half to single": (lambda x: x * torch.ones(3, 4), torch.float16),
    "brain to double": (lambda x: x - torch.zeros(3, 4, dtype=torch.float64), torch.bfloat16),
    "integers to floats": (lambda x: x + torch.zeros(3, 4), torch.int32),
    "integers divided": (lambda x: x / torch.ones(3, 4, dtype=torch.int64), torch.int64),
    "booleans to integers": (lambda x: x * torch.ones(3, 4, dtype=torch.int32), torch.bool),
    "integers to negative zero": (lambda x: x + torch.full([3, 4], -0.0), torch.int64),
    "integers less negative zero": (lambda x: x - torch.full([3, 4], -0.0), torch.int64),
}


@pytest.mark.parametrize("what", PROMOTED)
def test_promotion_is_a_cast(trace: Any, special: Any, what: str) -> None:
    function, dtype = PROMOTED[what]
    finite = torch.nan_to_num(special(3, 4), 0.0, 100.0, -100.0).clamp(-100, 100)
    x = special(3, 4, dtype=dtype) if dtype.is_floating_point else finite.to(dtype)
    case = trace(function, x)
    assert case.run(RemoveNoOps()) == 1
    assert case.ops == [CONVERT]
    case.check_values(x)


def test_a_cast_is_a_tensor_of_its_own(trace: Any, special: Any) -> None:
    """An output may be the cast of an input, and a write after it is not seen."""

    def f(x: Any) -> Any:
        y = x * torch.ones(3, 4)
        x.fill_(7)
        return y

    x = special(3, 4, dtype=torch.float16)
    case = trace(f, x)
    assert case.run(RemoveNoOps()) == 1
    case.check_values(x)


def test_a_wider_number_without_dims_does_not_promote(trace: Any, special: Any) -> None:
    one = torch.ones((), dtype=torch.float64)
    x = special(3, 4, dtype=torch.float16)
    case = trace(lambda x: x.neg() * aten.scalar_tensor(1.0, dtype=one.dtype) + 2, x)
    assert case.run(RemoveNoOps()) == 1
    case.check_values(x)


def test_a_number_that_is_one_in_the_dtype_of_the_result(trace: Any, special: Any) -> None:
    x = special(3, 4, dtype=torch.float16)
    almost = 1.0 + 1e-9
    case = trace(lambda x: x.neg() * aten.scalar_tensor(almost, dtype=torch.float64) + 2, x)
    assert case.run(RemoveNoOps()) == 1
    case.check_values(x)


# ------------------------------------------------------------------------- sizes, layouts


def test_broadcasting_stays(trace: Any, special: Any) -> None:
    x = special(4)
    case = trace(lambda x: x.neg() * torch.ones(3, 4) + 1, x)
    assert case.run(RemoveNoOps()) == 0
    case.check_values(x)


def test_a_broadcast_constant_goes(trace: Any, special: Any) -> None:
    x = special(3, 4)
    case = trace(lambda x: x.neg() * torch.ones(4) * torch.ones(1, 1) * torch.ones(3, 1) + 1, x)
    assert case.run(RemoveNoOps()) == 3
    case.check_values(x)


def test_another_layout_stays(trace: Any, special: Any) -> None:
    """The sum takes the layout of its first operand, and `as_strided` can tell."""

    def f(x: Any) -> Any:
        y = torch.full([4, 3], -0.0) + x.neg().t()
        return torch.as_strided(y, (12,), (1,)).clone()

    case = trace(f, special(3, 4))
    assert case.run(RemoveNoOps()) == 0
    assert case.run(RemoveNoOps("fast")) == 0
    case.check_values(special(3, 4))


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), ()])
def test_empty_and_size_one(trace: Any, special: Any, shape: tuple[int, ...]) -> None:
    x = special(*shape)
    case = trace(lambda x: (x.neg() * torch.ones(shape)) - torch.zeros(()) + 2, x)
    assert case.run(RemoveNoOps()) == 2
    case.check_values(x)


def test_symbolic_sizes(trace: Any, special: Any) -> None:
    case = trace(
        lambda x: x.neg() * torch.ones(x.shape[0], x.shape[1]) + 2, special(3, 4), dynamic=True
    )
    assert case.run(RemoveNoOps()) == 1
    case.check_values(special(5, 2))


def test_symbolic_sizes_that_may_broadcast_stay(trace: Any, special: Any) -> None:
    """Sizes s0 and s1 may differ in another call, where the graph would not be used; a symint
    does not say so by itself."""
    case = trace(
        lambda x, y: x.neg() * torch.ones(y.shape[0], 1) + 2,
        special(3, 4),
        special(3, 1),
        dynamic=True,
    )
    case.run(RemoveNoOps())
    case.check_values(special(3, 4), special(3, 1))


# ------------------------------------------------------------------------- aliases, writes

ALIASES: dict[str, Callable[..., Any]] = {
    "an input": lambda x: x * torch.ones_like(x),
    "an input, broadcast": lambda x: x - torch.zeros(4),
    "a view of an input": lambda x: x.t() * torch.ones(4, 3),
    "another output": lambda x: (lambda y: (y, y * torch.ones_like(y)))(x.neg()),
    "another output's view": lambda x: (lambda y: (y.view(-1), y * torch.ones_like(y)))(x.neg()),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("what", ALIASES)
def test_outputs_keep_apart(trace: Any, special: Any, what: str, policy: Any) -> None:
    case = trace(ALIASES[what], special(3, 4))
    assert case.run(RemoveNoOps(policy)) == 0
    case.check_values(special(3, 4))


def test_the_only_output_may_be_an_intermediate(trace: Any, special: Any) -> None:
    case = trace(lambda x: x.neg() * torch.ones_like(x), special(3, 4))
    assert case.run(RemoveNoOps()) == 1
    case.check_values(special(3, 4))


@pytest.mark.parametrize("read", ["before", "after"])
def test_a_write_to_what_would_stand_for_it(trace: Any, special: Any, read: str) -> None:
    def f(x: Any) -> Any:
        copy = x * torch.ones_like(x)
        early = copy + 1
        x.fill_(7)
        return early if read == "before" else copy + 1

    case = trace(f, special(3, 4), stage="post_grad")
    assert case.run(RemoveNoOps()) == int(read == "before")
    case.check_values(special(3, 4))


def test_a_write_to_the_result(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = x.neg()
        copy = y * torch.ones_like(y)
        copy.add_(1)
        return y + copy

    case = trace(f, special(3, 4))
    assert case.run(RemoveNoOps()) == 0
    case.check_values(special(3, 4))


def test_ones_that_are_written_are_none(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        ones = torch.ones(3, 4)
        ones.add_(1)
        return x.neg() * ones + 2

    case = trace(f, special(3, 4))
    assert case.run(RemoveNoOps()) == 0
    case.check_values(special(3, 4))


@pytest.mark.parametrize("what", [*EXACT, *INEXACT, *OTHER])
def test_the_prefilter_does_not_miss(trace: Any, special: Any, what: str) -> None:
    function = {**EXACT, **INEXACT, **OTHER}[what]
    case = trace(lambda x: function(x.neg()) * 2, special(3, 4))
    assert RemoveNoOps.may_apply(case.gm.graph) or case.run(RemoveNoOps("fast")) == 0


def test_the_prefilter_sees_a_graph_without_constants(trace: Any, special: Any) -> None:
    case = trace(lambda x: x.neg() * x + 2, special(3, 4))
    assert not RemoveNoOps.may_apply(case.gm.graph)
