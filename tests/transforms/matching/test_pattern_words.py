"""Operators on patterns, and which alternative of a `one_of` matched."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import aten, ops, prims
from xductor.transforms import EXACT, Rewrite, Tensor, bind, no, one_of
from xductor.transforms.explaining.explain import explain_module
from xductor.transforms.matching.patterns import PatternError

torch_aten = torch.ops.aten


class Marked(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.neg(x) * y

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.neg(aten.mul(x, y))


def test_an_operator_is_the_op_of_its_stage(trace: Any) -> None:
    x, y = torch.randn(4), torch.randn(4)
    case = trace(lambda x, y: torch_aten.mul(y, torch_aten.neg(x)), x, y)
    assert case.run(Marked) == 1  # in either order, as aten.mul has it
    assert case.ops == ["aten.mul.Tensor", "aten.neg.default"]


@pytest.mark.parametrize(
    ("operator", "op"),
    [
        (lambda x, y: x + y, "aten.add.Tensor"),
        (lambda x, y: x - y, "aten.sub.Tensor"),
        (lambda x, y: x / y, "aten.div.Tensor"),
        (lambda x, y: x**2, "aten.pow.Tensor_Scalar"),
        (lambda x, y: -x, "aten.neg.default"),
        (lambda x, y: 2 * x, "aten.mul.Tensor"),
        (lambda x, y: 2 + x, "aten.add.Tensor"),
    ],
)
def test_each_operator(operator: Any, op: str) -> None:
    class One(Rewrite):
        stage = "post_grad"

        def pattern(self, x: Tensor, y: Tensor) -> Any:
            return aten.cat([operator(x, y), y])

        def replacement(self, x: Tensor) -> Any:
            return x

    call = One().compiled.outputs[0].heads[0].entries[0][1][0]
    assert op in [head.cls.name for head in call.heads]


def test_before_autograd_it_is_what_dynamo_records() -> None:
    class One(Rewrite):
        stage = "pre_grad"

        def pattern(self, x: Tensor, y: Tensor) -> Any:
            return ops.pyfn.torch.sin(1 - x) @ y

        def replacement(self, x: Tensor) -> Any:
            return x

    assert list(One().compiled.roots) == ["pyfn._operator.matmul"]


def _pattern(body: Any, **notes: Any) -> type[Rewrite]:
    def pattern(self: Any, x: Tensor, n: int) -> Any:
        return body(x, n)

    def replacement(self: Any, x: Tensor) -> Any:
        return x

    members = {"stage": "joint", "pattern": pattern, "replacement": replacement}
    return type("Made", (Rewrite,), {**members, "__module__": __name__})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda x, n: aten.view(x, [n]) @ x, r"write aten.mm\(x, y\) or aten.bmm"),
        (lambda x, n: aten.view(2 - x, [n]), r"write aten.sub\(n, x\) or aten.rsub\(x, n\)"),
        (lambda x, n: aten.view(x, [n + 1]), "an operator on n, which is no tensor"),
        (lambda x, n: torch_aten.neg.default(x), "written with the op functions of `xductor.ir`"),
        (lambda x, n: one_of(aten.neg(x), aten.sin(x), as_=x), "as_=x.*: expected a variable"),
    ],
)
def test_what_to_write_instead(body: Any, said: str) -> None:
    with pytest.raises(PatternError, match=said):
        _pattern(body)


ACTIVATIONS = ("relu", "sigmoid", "tanh")


class Activated(Rewrite):
    """The activation of a doubled value, whichever it is."""

    stage, numerics = "joint", EXACT

    def pattern(self, x: Tensor, which: int) -> Any:
        twice = aten.add(x, x)
        found = [getattr(aten, name)(twice) for name in ACTIVATIONS]
        return aten.neg(one_of(*found, as_=which))

    def where(self, which: int) -> Any:
        return which != 2 or no("not tanh")

    def replacement(self, x: Tensor, which: int) -> Any:
        return aten.neg(getattr(aten, ACTIVATIONS[which])(aten.mul(x, 2)))


@pytest.mark.parametrize(("name", "applied"), [("relu", 1), ("sigmoid", 1), ("tanh", 0)])
def test_which_alternative_matched(trace: Any, name: str, applied: int) -> None:
    x = torch.randn(5)
    case = trace(lambda x: torch.neg(getattr(torch, name)(x + x)), x)
    assert case.run(Activated) == applied
    if applied:
        assert case.ops == ["aten.mul.Tensor", f"aten.{name}.default", "aten.neg.default"]
    case.check_values(x)


def test_of_outputs_too(trace: Any) -> None:
    class Root(Activated):
        def pattern(self, x: Tensor, out: Tensor, which: int) -> Any:
            twice = aten.add(x, x)
            found = [getattr(aten, name)(twice) for name in ACTIVATIONS]
            return bind(out, one_of(*found, as_=which))

        def replacement(self, x: Tensor, which: int) -> Any:
            return getattr(aten, ACTIVATIONS[which])(aten.mul(x, 2))

    x = torch.randn(5)
    case = trace(lambda x: torch.sigmoid(x + x), x)
    assert case.run(Root) == 1
    case.check_values(x)


def test_an_outer_alternative_that_was_not_taken_leaves_none(trace: Any) -> None:
    seen: list[Any] = []

    class Inner(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor, which: int) -> Any:
            inner = one_of(aten.sin(x), aten.cos(x), as_=which)
            return one_of(aten.neg(inner), aten.abs(x))

        def where(self, which: int) -> Any:
            seen.append(which)
            return False

        def replacement(self, x: Tensor) -> Any:
            return prims.convert_element_type(x, torch.float32)

    trace(lambda x: torch.neg(torch.cos(x)) + torch.abs(x), torch.randn(3)).run(Inner)
    assert sorted(seen, key=str) == [1, None]


def test_explain_names_it(trace: Any) -> None:
    case = trace(lambda x: torch.neg(torch.tanh(x + x)), torch.randn(3))
    text = str(explain_module(Activated(), case.module))
    assert "as_=which" in text
    assert "`where` says no: not tanh" in text


def test_it_is_proved_and_validated() -> None:
    from xductor.transforms.validation.validate import validate

    found = validate(Activated, instances=6)
    assert found.status == "incomplete"  # `where` refuses one of them in all graphs
    assert len(found.gaps) == 1
    assert "never applied: alternative 2" in found.gaps[0]

    class Wrong(Activated):
        def replacement(self, x: Tensor, which: int) -> Any:
            return aten.neg(getattr(aten, ACTIVATIONS[1 - which])(aten.mul(x, 2)))

    assert validate(Wrong, instances=6).status == "violated"
