"""`pays`: asked of a match that is right, about users and constants; no part of what is proved."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import aten, parse_ir
from xductor.transforms import Rewrite, Tensor, bind, no
from xductor.transforms.explaining.explain import explain_module
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.proving.subjects import RewriteSubject
from xductor.transforms.rewriting.driver import (
    ContractViolation,
    Driver,
    RewriteIndex,
    watching,
)
from xductor.transforms.validation.validate import validate

F4 = "!fx.tensor<f32[4], cpu>"


class OnlyForNeg(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, out: Tensor) -> Any:
        return bind(out, aten.add(x, x))

    def where(self, x: Tensor) -> Any:
        return x.is_floating_point or no("an integer")

    def pays(self, out: Tensor) -> Any:
        others = [user.name for user in out.users if user.name != "aten.neg.default"]
        return no(f"read by {', '.join(others)}") if others else True

    def replacement(self, x: Tensor) -> Any:
        return aten.mul(x, 2)


class OfConstants(Rewrite):
    stage = "joint"

    def pattern(self, xs: list[Tensor]) -> Any:
        return aten.cat(xs, 0)

    def pays(self, xs: list[Tensor]) -> Any:
        return all(x.is_constant for x in xs)

    def replacement(self, xs: list[Tensor]) -> Any:
        return aten.clone(aten.cat(xs, 0))


def _graph(body: str, outputs: str) -> ModuleOp:
    return parse_ir(
        f"fx.graph @forward stage(joint) symbols() (%x : {F4}) {{\n{body}\n"
        f"fx.output ({outputs})\n}}"
    )


def _apply(one: type[Rewrite], module: ModuleOp) -> int:
    return Driver(RewriteIndex([one()])).rewrite(module)


ADD = f"%a = aten.add.Tensor %x, %x : {F4}\n%b = aten.neg.default %a : {F4}"


def test_users_decide() -> None:
    assert _apply(OnlyForNeg, _graph(ADD, "%b")) == 1
    assert _apply(OnlyForNeg, _graph(ADD, "%b, %a")) == 0


def test_users_come_in_order_and_once() -> None:
    seen: list[Any] = []

    class Watches(OnlyForNeg):
        def pays(self, x: Tensor, out: Tensor) -> Any:
            seen.extend([one.name for one in x.users])
            seen.append([one.op.name for one in out.users])
            return False

    _apply(Watches, _graph(f"{ADD}\n%c = aten.mul.Tensor %a, %a : {F4}", "%c, %b"))
    assert seen == ["aten.add.Tensor", ["aten.neg.default", "aten.mul.Tensor"]]


def test_constants_decide() -> None:
    class Doubles(OnlyForNeg):
        def pays(self, x: Tensor) -> Any:
            return x.is_constant

    held = f'%w = fx.get_attr "weight" : {F4}\n%a = aten.add.Tensor %w, %w : {F4}'
    assert _apply(Doubles, _graph(held, "%a")) == 1
    assert _apply(Doubles, _graph(ADD, "%b")) == 0


def test_elements_of_a_list_may_be_asked() -> None:
    eight = "!fx.tensor<f32[8], cpu>"
    held = f'%w = fx.get_attr "weight" : {F4}\n%a = aten.cat.default [%w, %w], 0 : {eight}'
    mixed = f'%w = fx.get_attr "weight" : {F4}\n%a = aten.cat.default [%w, %x], 0 : {eight}'
    seen: list[bool] = []

    class Watches(OfConstants):
        def pays(self, xs: list[Tensor]) -> Any:
            seen.append(all(x.is_constant for x in xs))
            return no("seen")

    _apply(Watches, _graph(held, "%a"))
    _apply(Watches, _graph(mixed, "%a"))
    assert seen == [True, False]


def test_the_answer_is_told_to_whoever_follows() -> None:
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(str(error))):
        _apply(OnlyForNeg, _graph(ADD, "%b, %a"))
    assert told == ["read by fx.output"]


def test_it_is_left_aside_where_profit_is_not_the_question() -> None:
    with watching(even_unprofitable=True):
        assert _apply(OnlyForNeg, _graph(ADD, "%b, %a")) == 1


def test_validation_does_not_ask() -> None:
    class Never(OnlyForNeg):
        def pays(self) -> Any:
            return no("never")

    assert _apply(Never, _graph(ADD, "%b")) == 0
    assert validate(Never, instances=4).status == "validated"


def test_what_is_claimed_does_not_change_with_it() -> None:
    class Other(OnlyForNeg):
        def pays(self) -> Any:
            return False

    mine, others = RewriteSubject(OnlyForNeg()).code(), RewriteSubject(Other()).code()
    assert Other.pays not in others
    assert OnlyForNeg.pays not in mine
    assert len(mine) == len(others)


def test_explain_tells_what_it_said() -> None:
    text = str(explain_module(OnlyForNeg(), _graph(ADD, "%b, %a")))
    assert "`pays` says no: read by fx.output" in text
    assert explain_module(OnlyForNeg(), _graph(ADD, "%b")).matched


@pytest.mark.parametrize("fact", ["users", "is_constant", "is_unbacked"])
def test_where_may_not_read_it(fact: str) -> None:
    class Asks(OnlyForNeg):
        def where(self, x: Tensor) -> Any:
            return bool(getattr(x, fact))

    with pytest.raises(ContractViolation, match=f"`{fact}` was read outside of `pays`"):
        _apply(Asks, _graph(ADD, "%b"))


def test_a_variable_that_the_pattern_does_not_bind() -> None:
    def pays(self: Any, y: Tensor) -> Any:
        return True

    with pytest.raises(PatternError, match="pays takes y, which `pattern` does not bind"):
        type("Misspelt", (OnlyForNeg,), {"pays": pays, "__module__": __name__})


def test_an_answer_that_is_none() -> None:
    class Says(OnlyForNeg):
        def pays(self) -> Any:
            return 3

    with pytest.raises(ContractViolation, match="pays returned 3"):
        _apply(Says, _graph(ADD, "%b"))
