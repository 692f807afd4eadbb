"""An op and its meaning side by side: generated arguments, and how results are compared.

Each file of tests has a `Cases` of its own; `Cases.check` runs the op in eager and works its
meaning out, for every generated call that eager takes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Literal

import pytest
import torch

from xductor.ir import op_class_by_name
from xductor.transforms.semantics import Illegal, NoMeaning
from xductor.transforms.semantics.evaluation import result_of
from xductor.transforms.semantics.uninterpreted import SEED

f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i8, i32, i64, u8, b1 = torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool
DTYPES = (f32, bf16, i64, f16, b1, f64, i32, i8, u8)
FLOATS = (f32, bf16, f16, f64)
SPECIAL = (0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 3e38, 1e-42, 65519.0)
ROUNDS = 24

Make = Callable[[random.Random], tuple[Any, ...]]
#: Equal bits, all NaN being one; but for the sign of zero; within the roundings of one kernel.
Relation = Literal["bits", "zero sign", "close"]


def tensor(
    r: random.Random, shape: Any, dtype: torch.dtype | None = None, special: float = 0.3
) -> torch.Tensor:
    """Random elements, a part of them special: infinities, NaN, both zeros, subnormals."""
    dtype = r.choice(DTYPES) if dtype is None else dtype
    seed = torch.Generator().manual_seed(r.randrange(1 << 30))
    if dtype.is_floating_point:
        made = torch.randn(shape, generator=seed, dtype=f64) * r.choice((1, 1, 100))
        flat = made.view(-1)
        for place in range(flat.numel()):
            if r.random() < special:
                flat[place] = r.choice(SPECIAL)
        return made.to(dtype)
    if dtype is b1:
        return torch.randint(0, 2, shape, generator=seed).bool()
    span = torch.iinfo(dtype)
    low, high = max(span.min, -(1 << 40)), min(span.max, 1 << 40)
    if r.random() < 0.5:
        low, high = max(low, -5), 5
    return torch.randint(low, high + 1, shape, generator=seed).to(dtype)


def matrix(
    r: random.Random, shape: list[int], dtype: torch.dtype, special: bool = False
) -> torch.Tensor:
    """Small integers, so that no order of summation rounds; and at most one that is special."""
    items: list[float] = [r.randint(-3, 3) for _ in range(torch.Size(shape).numel())]
    if special and items and dtype.is_floating_point:
        items[r.randrange(len(items))] = r.choice((float("inf"), float("-inf"), float("nan"), -0.0))
    if dtype is u8:
        items = [abs(one) for one in items]
    return torch.tensor(items, dtype=f64).reshape(shape).to(dtype)


def sizes(r: random.Random, rank: int | None = None, low: int = 0) -> list[int]:
    rank = r.randint(low, 3) if rank is None else rank
    return [r.choice((0, 1, 1, 2, 2, 3)) for _ in range(rank)]


def broadcastable(r: random.Random, shape: list[int]) -> list[int]:
    cut = shape[r.randint(0, len(shape)) :]
    return [r.choice((1, size)) for size in cut]


def number(r: random.Random) -> Any:
    return r.choice((0, 1, -1, 2, 3, 0.0, -0.0, 1.0, 0.5, 1.1, -2.5, 1e-3, True))


class Cases:
    """Generated calls by the qualified names of ops."""

    def __init__(self) -> None:
        self.makers: dict[str, list[Make]] = {}
        self.relations: dict[str, Relation] = {}

    @property
    def names(self) -> list[str]:
        return sorted(self.makers)

    def case(self, *names: str, relation: Relation = "bits") -> Callable[[Make], Make]:
        """Generates calls of these overloads; those of several makers are all tried."""

        def add(make: Make) -> Make:
            for name in names:
                self.makers.setdefault(name, []).append(make)
                self.relations[name] = relation
            return make

        return add

    def check(self, name: str) -> None:
        """Every generated call: the op agrees with its meaning."""
        overload: Any = op_class_by_name(name).target
        agreed = 0
        for number, make in enumerate(self.makers[name]):
            for seed in range(ROUNDS):
                given = make(random.Random(f"{name} {number} {seed}"))
                try:
                    expected = called(overload, given)
                except (RuntimeError, IndexError, NotImplementedError, TypeError, ValueError):
                    continue  # what eager refuses a meaning may refuse or not
                try:
                    found = result_of(name, with_defaults(overload, given))
                except NoMeaning:
                    continue
                except Illegal as error:
                    raise AssertionError(f"{name}{given} is legal: {error}") from error
                agreed += 1
                assert_same(name, given, expected, found, self.relations[name])
        assert agreed >= 3, f"{name}: {agreed} inputs were compared"


def called(overload: Any, given: tuple[Any, ...]) -> Any:
    """What an op gives for arguments in the order of its schema; the last ones may be left out."""
    positional, keywords = [], {}
    for one, item in zip(overload._schema.arguments, given, strict=False):
        if one.kwarg_only:
            keywords[one.name] = item
        else:
            positional.append(item)
    torch.manual_seed(SEED)
    return overload(*positional, **keywords)


def with_defaults(overload: Any, given: tuple[Any, ...]) -> list[Any]:
    rest = [one.default_value for one in overload._schema.arguments[len(given) :]]
    return [*given, *rest]


#: How far kernels may be from each other that round in an order of their own.
NEAR = {f64: 1e-9, f32: 1e-5, f16: 4e-3, bf16: 2e-2}


def assert_same(name: str, given: Any, expected: Any, found: Any, relation: Relation) -> None:
    if isinstance(expected, list | tuple):
        assert len(expected) == len(found), (name, given)
        for a, b in zip(expected, found, strict=True):
            assert_same(name, given, a, b, relation)
        return
    assert (expected.shape, expected.dtype) == (found.shape, found.dtype), (name, given, found)
    same = (expected == found) | (expected.isnan() & found.isnan())
    if expected.is_floating_point():
        if relation == "bits":
            same &= (expected.signbit() == found.signbit()) | expected.isnan()
        elif relation == "close":
            near = NEAR[expected.dtype]
            same |= torch.isclose(expected.double(), found.double(), rtol=near, atol=near)
    assert bool(same.all()), (name, given, expected, found)


def assert_refused(name: str, given: tuple[Any, ...]) -> None:
    """Neither the op nor its meaning takes these arguments."""
    overload: Any = op_class_by_name(name).target
    errors = (RuntimeError, IndexError, NotImplementedError, TypeError, ValueError, AssertionError)
    with pytest.raises(errors):
        called(overload, given)
    with pytest.raises(Illegal):
        result_of(name, with_defaults(overload, given))
