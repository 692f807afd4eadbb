"""Graphs for `constant_fold_uniform_value` and `remove_no_ops`: values that are one number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms import UP_TO_ZERO_SIGN, TypedPass
from xductor.transforms.noops.remove_no_ops import RemoveNoOps
from xductor.transforms.uniform_values.constant_fold_uniform_value import ConstantFoldUniformValue

aten = torch.ops.aten

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8)
SHAPES: Sequence[tuple[int, ...]] = ((3, 4), (1, 5), (0, 3), (), (2, 1, 3))

Function = Callable[[torch.Tensor], Any]


def _full(x: torch.Tensor, number: float) -> torch.Tensor:
    return torch.full(x.shape, number, dtype=x.dtype)


#: Functions of a tensor `x` whose value is the same number everywhere.
UNIFORM: Mapping[str, Function] = {
    "ones": lambda x: torch.ones(x.shape, dtype=x.dtype),
    "zeros_like": torch.zeros_like,
    "scalar_tensor": lambda x: aten.scalar_tensor(3, dtype=x.dtype),
    "new_full": lambda x: x.new_full((2, 2), 3),
    "negative zero": lambda x: _full(x, -0.0),
    "sum": lambda x: _full(x, 2) + _full(x, 3),
    "product that wraps or overflows": lambda x: _full(x, 100) * _full(x, 100) * 100,
    "difference": lambda x: _full(x, 1) - 5,
    "quotient by zero": lambda x: _full(x, 1) / _full(x, 0),
    "zero by zero": lambda x: _full(x, 0) / _full(x, 0),
    "exp": lambda x: torch.exp(_full(x, 2)),
    "rsqrt of a negative": lambda x: torch.rsqrt(_full(x, -2)),
    "comparison": lambda x: _full(x, 2) > 1,
    "where": lambda x: torch.where(_full(x, 1) > 0, _full(x, 2), 1),
    "cast to half": lambda x: _full(x, 3).to(torch.float16),
    "cast to integers": lambda x: _full(x, 3).to(torch.int32),
    "cast to double and back": lambda x: (_full(x, 1).to(torch.float64) / 3).to(x.dtype),
    "view": lambda x: _full(x, 3).reshape(-1),
    "expanded copy": lambda x: torch.full((1,), 5, dtype=x.dtype).expand(4).contiguous(),
    "slice": lambda x: torch.full((8,), 7, dtype=x.dtype)[2:6] * 1,
    "transposed copy": lambda x: torch.ones(3, 4, dtype=x.dtype).t().contiguous(),
    "no dims, promoted": lambda x: torch.full((), 2, dtype=torch.float64) * _full(x, 3),
    "not": lambda x: torch.logical_not(_full(x, 0)),
    "maximum": lambda x: torch.maximum(_full(x, 2), _full(x, 3)),
    "integers times zero": lambda x: (x > 0).to(torch.int32) * 0,
}


def _with_uses(function: Function, *, joined: bool) -> Callable[..., Any]:
    """A graph that returns a copy of its input, the value, and what another op makes of it."""

    def run(x: torch.Tensor) -> Any:
        value = function(x)
        other = x + value if joined else value.reshape(-1)[:0]
        return aten.clone(x), value, other

    return run


def folding() -> Iterator[Specimen]:
    """Each value, in each dtype, for each shape; some dtypes with symbolic sizes too."""
    one = ConstantFoldUniformValue()
    for what, function in UNIFORM.items():
        for dtype in (*FLOATS, *INTEGERS):
            joined = what in ("ones", "sum", "exp", "where", "maximum", "negative zero")
            yield from _each(what, _with_uses(function, joined=joined), dtype, one)


#: Functions that leave `x` as it is, floats bit by bit.
EXACT_FORMS: Mapping[str, Function] = {
    "x - 0": lambda x: x - _full(x, 0),
    "x + -0.0": lambda x: x + _full(x, -0.0),
    "-0.0 + x": lambda x: _full(x, -0.0) + x,
    "x * 1": lambda x: x * torch.ones_like(x),
    "1 * x": lambda x: torch.ones_like(x) * x,
    "x / 1": lambda x: x / _full(x, 1),
    "x * 1 of a column": lambda x: x * torch.ones(1, dtype=x.dtype),
    "x - 0 without dims": lambda x: x - torch.zeros((), dtype=x.dtype),
    "twice": lambda x: (x * torch.ones_like(x)) - torch.zeros_like(x),
    "computed one": lambda x: x * (_full(x, 3) - _full(x, 2)),
}
#: Functions that leave integers as they are, and floats up to the sign of zero.
ZERO_FORMS: Mapping[str, Function] = {
    "x + 0": lambda x: x + torch.zeros_like(x),
    "0 + x": lambda x: torch.zeros_like(x) + x,
    "x - -0.0": lambda x: x - _full(x, -0.0),
}
#: Functions whose other operand has another dtype, so that a cast stays.
PROMOTED: Mapping[str, Function] = {
    "times ones of float64": lambda x: x * torch.ones(x.shape, dtype=torch.float64),
    "less zeros of float32": lambda x: x - torch.zeros(x.shape, dtype=torch.float32),
    "times ones of int64": lambda x: x * torch.ones(x.shape, dtype=torch.int64),
    "by ones of int64": lambda x: x / torch.ones(x.shape, dtype=torch.int64),
}


def _between(function: Function, *, integers: bool) -> Callable[..., Any]:
    """The form in the middle of a graph, since an output may not become an input."""

    def run(x: torch.Tensor) -> Any:
        result = function(x + 1 if integers else x.neg())
        return result * 2, result

    return run


def no_ops() -> Iterator[Specimen]:
    """Bit by bit under the default policy; under `fast`, sums of floats with 0.0 up to the sign
    of zero."""
    for dtype in (*FLOATS, *INTEGERS):
        integers = not dtype.is_floating_point
        exact = {**EXACT_FORMS, **PROMOTED, **(ZERO_FORMS if integers else {})}
        for what, function in exact.items():
            yield from _each(what, _between(function, integers=integers), dtype, RemoveNoOps())
        for what, function in () if integers else ZERO_FORMS.items():
            yield from _each(
                f"{what}, fast",
                _between(function, integers=False),
                dtype,
                RemoveNoOps("fast"),
                numerics=UP_TO_ZERO_SIGN,
            )


def _each(
    what: str, function: Callable[..., Any], dtype: torch.dtype, one: TypedPass, **options: Any
) -> Iterator[Specimen]:
    """A function's graph for each shape, and for one shape with symbolic sizes."""
    kinds = [(shape, False) for shape in SHAPES]
    kinds += [((3, 4), True)] if dtype in (torch.float32, torch.int64) else []
    for shape, dynamic in kinds:
        module = traced(function, torch.ones(shape, dtype=dtype), dynamic=dynamic)
        if module is not None:
            sizes = "symbolic" if dynamic else str(list(shape))
            folds = isinstance(one, ConstantFoldUniformValue)  # in part for given sizes only
            provable = dtype in (torch.float32, torch.int64) and (
                dynamic or (folds and shape == (3, 4))
            )
            yield Specimen(f"{what}, {dtype}, {sizes}", module, one, provable=provable, **options)


__all__ = ["folding", "no_ops"]
