"""In `pays` sizes that were seen while a graph was traced decide; in `where` they never do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.backend.fx.export import to_fx
from xductor.ir import aten, parse_ir
from xductor.transforms import Rewrite, Tensor, all_of, any_of, known, no
from xductor.transforms.explaining.explain import explain_module
from xductor.transforms.rewriting.driver import (
    ContractViolation,
    Driver,
    RewriteIndex,
    watching,
)

HINT = "s0 : int positive [2, int_oo] hint 16"
UNBACKED = "s0 : int unbacked size_like [0, int_oo]"


def _rewrite(
    pays: Callable[[Any], Any], where: Callable[[Any], Any] = lambda x: True
) -> type[Rewrite]:
    class Doubles(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor) -> Any:
            return aten.add(x, x)

        def where(self, x: Tensor) -> Any:
            return where(x)

        def pays(self, x: Tensor) -> Any:
            return pays(x)

        def replacement(self, x: Tensor) -> Any:
            return aten.mul(x, 2)

    return Doubles


def _module(symbols: str = HINT, type_: str = "f32[s0, 3*s0]") -> Any:
    return parse_ir(
        f"fx.graph @forward stage(joint) symbols({symbols}) (%x : !fx.tensor<{type_}, cpu>) {{\n"
        f"  %y = aten.add.Tensor %x, %x : !fx.tensor<{type_}, cpu>\n  fx.output (%y)\n}}"
    )


def _apply(one: type[Rewrite], module: Any) -> int:
    return Driver(RewriteIndex([one()])).rewrite(module)


PAYS: list[Callable[[Any], Any]] = [
    lambda x: x.shape[0] == 16,
    lambda x: x.shape[0] != 15,
    lambda x: x.shape[0] < 17,
    lambda x: x.shape[0] <= 16,
    lambda x: x.shape[0] > 15,
    lambda x: x.shape[1] >= 48,
    lambda x: x.numel() == 768,
    lambda x: x.shape.numel() * 2 >= 1536,
    lambda x: x.shape[0] % 8 == 0,
    lambda x: x.shape[1].is_multiple_of(12),
    lambda x: x.shape[0].divides(32),
    lambda x: (x.shape[1] + 1) // 7 == 7,
    lambda x: x.stride[0] == 48,
    lambda x: int(x.shape[0]) == 16 and float(x.shape[1]) == 48.0,
    lambda x: x.shape[0] ** 0.5 == 4,
    lambda x: all(size > 9 for size in x.shape) and bool(x.shape[0]),
    lambda x: all_of(x.shape[0] > 3, any_of(x.shape[1] == 1, x.shape[1] == 48)),
    lambda x: known(x.shape[0] == 16),
    lambda x: not any(size == 15 for size in x.shape),
    lambda x: ~(x.shape[0] == 15),
    lambda x: max(x.shape[0], 20) == 20,
    lambda x: x.has_sizes([16, 48]) & x.same_shape(x),
]


@pytest.mark.parametrize("number", range(len(PAYS)))
def test_what_was_seen_decides(number: int) -> None:
    assert _apply(_rewrite(PAYS[number]), _module()) == 1


@pytest.mark.parametrize("number", range(len(PAYS)))
def test_what_was_not_seen_does_not(number: int) -> None:
    """Nor is a number made up for it, and it is no error."""
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(type(error).__name__)):
        assert _apply(_rewrite(PAYS[number]), _module(UNBACKED)) == 0
    assert told in ([], ["Undecided"])


def test_what_always_holds_is_known_of_any_symbol() -> None:
    for symbols in (HINT, UNBACKED):
        module = _module(symbols, "f32[s0]")
        assert (
            _apply(_rewrite(lambda x: (x.shape[0] >= 0) & (x.numel() == x.shape[0])), module) == 1
        )


@pytest.mark.parametrize(
    ("symbols", "applied"), [(f"{UNBACKED} hint 16", 1), (f"{UNBACKED} hint 15", 0), (UNBACKED, 0)]
)
def test_a_hint_for_a_size_that_depends_on_data(symbols: str, applied: int) -> None:
    for pays in (lambda x: x.shape[0] == 16, lambda x: int(x.shape[0]) == 16):
        assert _apply(_rewrite(pays), _module(symbols, "f32[s0]")) == applied


def test_one_symbol_that_was_seen_is_not_enough() -> None:
    symbols = f"{HINT}, s1 : int unbacked size_like [0, int_oo]"
    for type_, applied in (("f32[s0 + s1]", 0), ("f32[s0]", 1)):
        assert _apply(_rewrite(lambda x: x.shape[0] >= 2), _module(symbols, type_)) == 1
        assert _apply(_rewrite(lambda x: x.shape[0] <= 16), _module(symbols, type_)) == applied


@pytest.mark.parametrize("number", range(len(PAYS)))
def test_in_where_and_at_any_size_nothing_is_assumed(number: int) -> None:
    def anywhere(x: Any) -> Any:
        return PAYS[number](x.at_any_size)

    told: list[Exception] = []
    with watching(report=lambda one, op, error: told.append(error)):
        for where, pays in ((PAYS[number], lambda x: True), (lambda x: True, anywhere)):
            assert _apply(_rewrite(pays, where), _module()) == 0
            assert _apply(_rewrite(pays, where), _module(type_="f32[16, 48]", symbols="")) == 1
    assert all("is symbolic" in str(one) for one in told if isinstance(one, ContractViolation))


def test_what_else_pays_asks_is_there_at_any_size() -> None:
    one = _rewrite(
        lambda x: len(x.at_any_size.users) == 1 and not x.at_any_size.is_constant
        and not x.at_any_size.is_unbacked
    )  # fmt: skip
    assert _apply(one, _module()) == 1


def test_an_int_variable() -> None:
    class Filled(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor, size: int) -> Any:
            return aten.expand(aten.neg(x), [size])

        def pays(self, size: int) -> Any:
            return size > 8

        def replacement(self, x: Tensor, size: int) -> Any:
            return aten.expand(aten.mul(x, -1), [size])

    text = (
        "fx.graph @forward stage(joint) symbols(%s) (%%n : !fx.symint<s0>,"
        " %%x : !fx.tensor<f32[1], cpu>) {\n"
        "  %%z = aten.neg.default %%x : !fx.tensor<f32[1], cpu>\n"
        "  %%y = aten.expand.default %%z, [%%n] : !fx.tensor<f32[s0][0], cpu> aliases(0)\n"
        "  fx.output (%%y)\n}"
    )
    for hint, applied in ((16, 1), (5, 0)):
        symbols = HINT.replace("16", str(hint))
        assert _apply(Filled, parse_ir(text % symbols)) == applied


def test_explain_tells_what_was_assumed() -> None:
    no_ = str(explain_module(_rewrite(lambda x: x.numel() >= 5000)(), _module()))
    assert "`pays` says no: not true that 3*s0**2 >= 5000 where s0 = 16" in no_
    unknown = str(explain_module(_rewrite(lambda x: x.shape[0] >= 4)(), _module(UNBACKED)))
    assert "`pays` cannot decide: not known whether s0 >= 4" in unknown
    number = str(explain_module(_rewrite(lambda x: int(x.shape[0]) > 4)(), _module(UNBACKED)))
    assert "`pays` cannot decide: not known whether a value of s0 was seen" in number
    said = str(explain_module(_rewrite(lambda x: x.shape[0] > 40 or no("small"))(), _module()))
    assert "`pays` says no: small" in said


def test_no_guard_is_added(trace: Any) -> None:
    case = trace(lambda x: torch.ops.aten.add(x, x), torch.randn(5, 6), dynamic=True)
    env = next(
        one.node.shape_env
        for node in case.gm.graph.nodes
        for one in getattr(node.meta.get("val"), "shape", ())
        if isinstance(one, torch.SymInt)
    )

    def state() -> Any:
        return len(env.guards), dict(env.replacements), dict(env.var_to_range)

    before = state()
    assert _apply(_rewrite(lambda x: int(x.numel()) % 2 == 1), case.module) == 0
    assert _apply(_rewrite(lambda x: x.numel() == 30), case.module) == 1
    assert state() == before
    made = to_fx(case.module)
    for sizes in ((5, 6), (2, 2), (7, 3), (11, 13)):
        x = torch.randn(sizes)
        assert torch.equal(made(x), x + x)


@pytest.mark.parametrize("seed", range(30))
def test_answers_are_those_of_the_numbers(seed: int) -> None:
    """A random comparison of a graph with symbols is that of one with numbers in their place."""
    chosen = random.Random(seed)
    a, b = chosen.randint(2, 40), chosen.randint(2, 40)
    symbols = f"s0 : int positive [2, int_oo] hint {a}, s1 : int positive [2, int_oo] hint {b}"
    for _ in range(20):
        compare = _comparison(chosen)
        of_symbols = _apply(_rewrite(compare), _module(symbols, "f32[s0, s1, s0 + 2*s1]"))
        of_numbers = _apply(_rewrite(compare), _module("", f"f32[{a}, {b}, {a + 2 * b}]"))
        assert of_symbols == of_numbers


def _comparison(chosen: random.Random) -> Callable[[Any], Any]:
    def size(depth: int) -> Callable[[Any], Any]:
        if depth == 0 or chosen.random() < 0.2:
            axis, number = chosen.randint(0, 2), chosen.randint(1, 9)
            return (lambda x: x.shape[axis]) if chosen.random() < 0.7 else (lambda x: number)
        left, right, kind = size(depth - 1), size(depth - 1), chosen.choice("+-*/%")
        step = chosen.randint(1, 7)
        return {
            "+": lambda x: left(x) + right(x),
            "-": lambda x: left(x) - right(x),
            "*": lambda x: left(x) * right(x),
            "/": lambda x: left(x) // step,
            "%": lambda x: left(x) % step,
        }[kind]

    left, right, kind = size(2), size(2), chosen.choice(("==", "!=", "<", "<=", ">", ">="))
    return {
        "==": lambda x: left(x) == right(x),
        "!=": lambda x: left(x) != right(x),
        "<": lambda x: left(x) < right(x),
        "<=": lambda x: left(x) <= right(x),
        ">": lambda x: left(x) > right(x),
        ">=": lambda x: left(x) >= right(x),
    }[kind]
