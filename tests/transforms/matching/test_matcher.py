"""The matcher by itself: what variables are bound to, which ops it takes, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor import Rewrite, Scalar, Tensor, bind, each, in_order, maybe, one_of, shared
from xductor.frontend import from_fx
from xductor.ir import aten, entry_graph
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.matching import matcher
from xductor.transforms.matching.matcher import Match, Matcher
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.rewriting.rewrite_pass import instance

X, Y, Z = torch.ones(4), torch.full((4,), 2.0), torch.full((4,), 3.0)


class Search:
    """The matches of a pattern in the graph of a function; values by the names of their nodes."""

    def __init__(self, pattern: Any, function: Callable[..., Any], *inputs: torch.Tensor) -> None:
        methods = {"stage": "joint", "pattern": pattern, "replacement": lambda self: ()}
        self.compiled = instance(type("Tried", (Rewrite,), methods)).compiled
        self.module = from_fx(make_fx(function, tracing_mode="fake")(*inputs), "joint")
        graph = entry_graph(self.module)
        self.ops: list[Any] = list(graph.block.ops)
        place = {op: number for number, op in enumerate(self.ops)}
        self.matcher = Matcher(
            facts_of(graph), self.compiled.spellings, lambda a, b: place[a] < place[b]
        )
        self.names = dict(zip(graph.block.args, graph.argument_names, strict=True))
        self.names |= {
            result: name
            for op in self.ops
            for result, name in zip(op.results, op.node.names, strict=True)
        }

    def all(self, accepts: Callable[[Match], bool] = lambda match: True) -> list[Match]:
        """The match at each op, in the order of the ops."""
        outputs = self.compiled.outputs
        found = (self.matcher.match_at(outputs, op, accepts) for op in self.ops)
        return [match for match in found if match is not None]

    def bindings(self) -> list[dict[str, Any]]:
        return [
            {name: self._shown(item) for name, item in match.bindings.items()}
            for match in self.all()
        ]

    def _shown(self, item: Any) -> Any:
        if isinstance(item, list):
            return [self._shown(part) for part in item]
        return self.names.get(item, item) if not isinstance(item, int | float) else item


def _product_plus(self: Any, x: Tensor, y: Tensor, z: Tensor) -> Any:
    return aten.add(aten.mul(x, y), z)


def _square(self: Any, x: Tensor) -> Any:
    return aten.mul(x, x)


def test_variables_are_what_stands_in_their_place() -> None:
    search = Search(_product_plus, lambda x, y, z: x * y + z, X, Y, Z)
    assert search.bindings() == [{"x": "x_1", "y": "y_1", "z": "z_1"}]


def test_a_name_twice_is_one_value() -> None:
    assert Search(_square, lambda x, y: x * x, X, Y).bindings() == [{"x": "x_1"}]
    assert Search(_square, lambda x, y: x * y, X, Y).bindings() == []


def test_operands_of_a_sum_come_in_either_order() -> None:
    search = Search(_product_plus, lambda x, y, z: z + x * y, X, Y, Z)
    assert search.bindings() == [{"x": "x_1", "y": "y_1", "z": "z_1"}]


def test_the_order_as_written_is_tried_first() -> None:
    search = Search(_product_plus, lambda x, y, z: x * y + y * z, X, Y, Z)
    assert search.bindings() == [{"x": "x_1", "y": "y_1", "z": "mul_1"}]


def test_what_is_accepted_decides_between_ways() -> None:
    search = Search(_product_plus, lambda x, y, z: x * y + y * z, X, Y, Z)
    (match,) = search.all(lambda match: search.names[match.bindings["z"]] == "mul")
    assert search.names[match.bindings["x"]] == "y_1"


def test_in_order_takes_the_order_written() -> None:
    def pattern(self: Any, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return in_order(aten.add(aten.mul(x, y), z))

    assert Search(pattern, lambda x, y, z: z + x * y, X, Y, Z).bindings() == []
    assert len(Search(pattern, lambda x, y, z: x * y + z, X, Y, Z).bindings()) == 1


def test_alpha_keeps_operands_in_their_places() -> None:
    def pattern(self: Any, x: Tensor, y: Tensor, alpha: Any) -> Any:
        return aten.add(aten.neg(x), y, alpha=alpha)

    def scaled(x: Any, y: Any) -> Any:
        return torch.add(y, torch.neg(x), alpha=3)

    assert Search(pattern, scaled, X, Y).bindings() == []
    assert Search(pattern, lambda x, y: y + torch.neg(x), X, Y).bindings() != []


def test_defaults_count_as_written() -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        return aten.sum(x)

    def with_dtype(self: Any, x: Tensor) -> Any:
        return aten.sum(x, dtype=...)

    def function(x: Any) -> Any:
        return torch.sum(x, dtype=torch.float64)

    assert Search(pattern, function, X).bindings() == []
    assert Search(pattern, lambda x: torch.sum(x), X).bindings() == [{"x": "x_1"}]
    assert Search(with_dtype, function, X).bindings() == [{"x": "x_1"}]


@pytest.mark.parametrize(("number", "matches"), [(2.0, True), (3.0, False), (True, False)])
def test_constants_are_compared_with_their_kind(number: Any, matches: bool) -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        return aten.add(x, 2.0)

    assert bool(Search(pattern, lambda x: x + number, X).bindings()) is matches


def test_the_sign_of_zero_is_part_of_a_constant() -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        return aten.add(x, -0.0)

    assert Search(pattern, lambda x: x + -0.0, X).bindings() != []
    assert Search(pattern, lambda x: x + 0.0, X).bindings() == []


def test_a_variable_takes_what_its_kind_says() -> None:
    def pattern(self: Any, x: Tensor, size: int) -> Any:
        return aten.add(x, size)

    assert Search(pattern, lambda x: x + 3, X).bindings() == [{"x": "x_1", "size": 3}]
    assert Search(pattern, lambda x: x + 3.0, X).bindings() == []
    assert Search(pattern, lambda x, y: x + y, X, Y).bindings() == []


def test_an_inner_value_with_another_user_stays() -> None:
    def twice(x: Any, y: Any, z: Any) -> Any:
        product = x * y
        return product + z, product

    def pattern(self: Any, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return aten.add(shared(aten.mul(x, y)), z)

    assert Search(_product_plus, twice, X, Y, Z).bindings() == []
    (match,) = Search(pattern, twice, X, Y, Z).all()
    assert [op.name for op in match.removable()] == ["aten.add.Tensor"]
    assert len(match.matched_ops()) == 2


def test_the_first_alternative_that_fits_as_a_whole() -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        inner = aten.neg(x)
        return aten.relu(one_of(aten.abs(inner), inner))

    assert Search(pattern, lambda x: x.neg().abs().relu(), X).bindings() == [{"x": "x_1"}]
    assert Search(pattern, lambda x: x.neg().relu(), X).bindings() == [{"x": "x_1"}]
    assert Search(pattern, lambda x: x.abs().relu(), X).bindings() == []


def test_maybe_a_call() -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        return aten.neg(maybe(aten.relu)(aten.abs(x)))

    for function in (lambda x: x.abs().neg(), lambda x: x.abs().relu().neg()):
        assert Search(pattern, function, X).bindings() == [{"x": "x_1"}]
    assert Search(pattern, lambda x: x.abs().cos().neg(), X).bindings() == []


def test_bind_names_what_a_part_matches() -> None:
    def pattern(self: Any, x: Tensor, y: Tensor) -> Any:
        return aten.relu(bind(y, aten.neg(x)))

    assert Search(pattern, lambda x: x.neg().relu(), X).bindings() == [{"x": "x_1", "y": "neg"}]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_element_of_a_list(count: int) -> None:
    def pattern(self: Any, xs: list[Tensor]) -> Any:
        return aten.cat(each(xs, aten.neg), ...)

    def negated(*xs: Any) -> Any:
        return torch.cat([torch.neg(x) for x in xs])

    inputs = [X + number for number in range(count)]
    found = Search(pattern, negated, *inputs).bindings()
    assert [len(one["xs"]) for one in found] == [count]
    assert len(set(found[0]["xs"])) == count


def test_each_fails_with_one_element() -> None:
    def pattern(self: Any, xs: list[Tensor]) -> Any:
        return aten.cat(each(xs, aten.neg), ...)

    def mixed(x: Any, y: Any) -> Any:
        return torch.cat([torch.neg(x), torch.abs(y)])

    assert Search(pattern, mixed, X, Y).bindings() == []


def _two_sums(self: Any, x: Tensor, y: Tensor, z: Tensor) -> Any:
    return aten.mul(x, y), aten.mul(x, z)


def test_several_outputs_match_at_the_last() -> None:
    search = Search(_two_sums, lambda x, y, z: (x * y, (x * z).neg()), X, Y, Z)
    (match,) = search.all()
    assert search.names[match.anchor.results[0]] == "mul_1"
    assert {search.names[value] for value in match.outputs} == {"mul", "mul_1"}


def test_outputs_must_share_what_the_pattern_shares() -> None:
    def apart(w: Any, x: Any, y: Any, z: Any) -> Any:
        return w * x, y * z

    assert Search(_two_sums, apart, X, Y, Z, X + 3).bindings() == []


def _in_a_row(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.sin(x), aten.cos(y), aten.mul(x, y)


def _joined_and_read(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.cat([x, y]), aten.sin(x)


def _perhaps_negated(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.mul(maybe(aten.neg)(x), y), aten.sin(x)


@pytest.mark.parametrize(
    ("pattern", "function"),
    [
        (_in_a_row, lambda x, y: (x * y, y.cos(), x.sin())),
        (_in_a_row, lambda x, y: (x.sin(), y.cos(), x * y)),
        (_joined_and_read, lambda x, y: (torch.cat([x, y]), x.sin())),
        (_joined_and_read, lambda x, y: (x.sin(), torch.cat([x, y]))),
        (_perhaps_negated, lambda x, y: (x * y, x.sin())),
        (_perhaps_negated, lambda x, y: (x.neg() * y, x.sin())),
    ],
)
def test_each_output_is_found_through_any_other(pattern: Any, function: Any) -> None:
    (found,) = Search(pattern, function, X, Y).bindings()
    assert found == {"x": "x_1", "y": "y_1"}


def _two_products(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.mul(x, 2), aten.mul(y, 2)


def _of_one_number(self: Any, x: Tensor, y: Tensor, s: Scalar) -> Any:
    return aten.mul(x, s), aten.mul(y, s)


def _two_and_one(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.sin(x), aten.cos(x), aten.tan(y)


@pytest.mark.parametrize("pattern", [_two_products, _of_one_number, _two_and_one])
def test_outputs_that_have_nothing_in_common(pattern: Any) -> None:
    """No search could find one from the other: such a rewrite would never apply."""
    with pytest.raises(PatternError, match="no tensor in common"):
        Search(pattern, lambda x, y: (x * 2, y * 2), X, Y)


def test_one_result_of_several() -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        return aten.neg(aten.max.dim(x, 0)[0])

    def indices(self: Any, x: Tensor) -> Any:
        return aten.neg(aten.max.dim(x, 0)[1])

    def function(x: Any) -> Any:
        return torch.max(x, 0)[0].neg()

    assert Search(pattern, function, X).bindings() == [{"x": "x_1"}]
    assert Search(indices, function, X).bindings() == []


def test_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sum has two orders: without a bound a deep one that fits nowhere takes 2^n steps."""

    def pattern(self: Any, x: Tensor) -> Any:
        found: Any = aten.neg(x)
        for _ in range(12):
            found = aten.add(found, aten.abs(...))
        return found

    def function(x: Any) -> Any:
        values = x.cos()
        for _ in range(12):
            values = values + values.abs()
        return values

    monkeypatch.setattr(matcher, "MAX_STEPS", 50)
    search = Search(pattern, function, X)
    assert search.all() == []
    assert search.matcher.steps <= 51


def test_misses_are_told() -> None:
    told: list[str] = []
    search = Search(_product_plus, lambda x, y, z: (x - y) + z, X, Y, Z)
    search.matcher.miss = lambda part, item, why: told.append(why)
    assert search.all() == []
    assert any("aten.mul" in why and "aten.sub" in why for why in told)
