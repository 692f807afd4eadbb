"""What z3 says of single elements, against what PyTorch computes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from xductor.transforms.proving.solving.equality import python_value
from xductor.transforms.proving.solving.scalar_formulas import Formulas
from xductor.transforms.proving.solving.solver import z3_module
from xductor.transforms.semantics.evaluation import FUNCTIONS
from xductor.transforms.semantics.terms import BOOL, Sort, Term, call, cast, constant, make

f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
FLOATS = (f16, bf16, f32, f64)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
NUMBERS = (0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 65504.0, 1e-7, float("inf"), float("-inf"), float("nan"))
WHOLE = (0, 1, -1, 2, 3, -7, 127, -128)

UNARY = ("neg", "abs", "floor", "ceil", "trunc", "round", "isnan")
BINARY = ("add", "sub", "mul", "div", "max", "min", "lt", "le", "eq")
OF_INTEGERS = (
    "add", "sub", "mul", "max", "min", "lt", "le", "eq", "and", "or", "xor",
    "floordiv", "truncdiv", "mod", "fmod",
)  # fmt: skip


def by_z3(item: Term) -> Any:
    z3 = z3_module()
    return python_value(z3.simplify(Formulas(str).lower(item)))


def assert_same(found: Any, expected: torch.Tensor, what: object) -> None:
    dtype = torch.float64 if expected.dtype.is_floating_point else expected.dtype
    if expected.dtype is torch.uint8:
        found %= 256  # bit vectors have no sign
    a, b = torch.tensor(found, dtype=dtype), expected.to(dtype)
    both_nan = bool(a.isnan() & b.isnan())
    assert both_nan or (bool(a == b) and bool(a.signbit() == b.signbit())), (what, found, expected)


def sort_of(name: str, dtype: torch.dtype) -> Sort:
    return BOOL if name in ("lt", "le", "eq", "isnan") else dtype


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats(dtype: torch.dtype) -> None:
    values = [torch.tensor(one, dtype=f64).to(dtype) for one in NUMBERS]
    for name, count in [*((one, 1) for one in UNARY), *((one, 2) for one in BINARY)]:
        for items in itertools.product(values, repeat=count):
            zeros = all(one == 0 for one in items) and name in ("max", "min")
            if zeros and items[0].signbit() != items[1].signbit():
                continue  # of a larger one of two zeros nothing is said
            terms = [constant(one.item(), dtype) for one in items]
            expected = FUNCTIONS[name](*items)
            assert_same(by_z3(call(name, terms, sort_of(name, dtype))), expected, (name, items))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype: torch.dtype) -> None:
    span = torch.iinfo(dtype)
    values = sorted({one for one in (*WHOLE, span.min, span.max) if span.min <= one <= span.max})
    for name in OF_INTEGERS:
        for a, b in itertools.product(values, repeat=2):
            if b == 0 and name in ("floordiv", "truncdiv", "mod", "fmod"):
                continue
            if b == -1 and a == span.min and "div" in name:
                continue  # overflows
            left, right = (torch.tensor(one, dtype=dtype) for one in (a, b))
            terms = [constant(one, dtype) for one in (a, b)]
            found = by_z3(call(name, terms, sort_of(name, dtype)))
            assert_same(found, FUNCTIONS[name](left, right), (name, a, b))


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, torch.bool], ids=str)
@pytest.mark.parametrize("target", [*FLOATS, *INTEGERS, torch.bool], ids=str)
def test_casts(source: torch.dtype, target: torch.dtype) -> None:
    numbers = NUMBERS if source.is_floating_point else (0, 1) if source is torch.bool else WHOLE
    for number in numbers:
        if source is torch.uint8 and number < 0:
            continue
        item = torch.tensor(number).to(source)
        whole = source.is_floating_point and target in INTEGERS
        if whole and not (abs(number) < 100 and number == number and number >= 0):
            continue  # out of range for some dtype, which is the device's own affair
        term = constant(item.item(), source)
        made = cast(term, target)
        if made.op == "constant":  # folded: have z3 do it
            made = make("cast", (term,), made.sort)
        assert_same(by_z3(made), item.to(target), (number, source, target))


@pytest.mark.parametrize("dtype", [f16, bf16], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_narrow_arithmetic_rounds_once(dtype: torch.dtype, name: str) -> None:
    """Done in float32 and rounded, or done narrow: what z3 is given is the same."""
    generator = torch.Generator().manual_seed(1)
    bits = torch.randint(-(2**15), 2**15, (400, 2), generator=generator).to(torch.int16)
    for a, b in bits.view(dtype):
        wide = [cast(constant(one.item(), dtype), f32) for one in (a, b)]
        plain = [make("cast", (constant(one.item(), dtype),), f32) for one in (a, b)]
        narrow = make("cast", (call(name, plain, f32),), dtype)
        assert_same(by_z3(narrow), FUNCTIONS[name](a.float(), b.float()).to(dtype), (name, a, b))
        assert wide[0].sort == f32
