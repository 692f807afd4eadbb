"""Translation validation: what it catches, what it lets through, what it says."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor.backend.config.settings import Settings, use
from xductor.backend.records import stage_records
from xductor.ir import aten, prims
from xductor.transforms import (
    APPROXIMATE,
    DROPS_ROUNDING,
    EXACT,
    REASSOCIATES,
    UP_TO_ZERO_SIGN,
    Numerics,
    Rewrite,
    Tensor,
    each,
)
from xductor.transforms.passes.events import listening
from xductor.transforms.rewriting.driver import (
    Application,
    Connected,
    ContractViolation,
    Driver,
    RewriteIndex,
    watching,
)
from xductor.transforms.validation.fragments import fragments_of
from xductor.transforms.validation.value_comparison import Budget, compare
from xductor.transforms.validation.values import ROUNDS, check_values, validating

NAN, INF = float("nan"), float("inf")


def apply(
    cls: type[Rewrite], function: Callable[..., Any], *inputs: torch.Tensor, dynamic: bool = False
) -> list[list[str]]:
    """The checks of each application, with validation on; raises ContractViolation."""
    mode = "symbolic" if dynamic else "fake"
    module = xductor.from_fx(make_fx(function, tracing_mode=mode)(*inputs), "joint")
    checks: list[list[str]] = []
    with validating(), listening(Connected, lambda one: checks.append(one.application.checks)):
        Driver(RewriteIndex([cls()]), "fast").rewrite(module)
    xductor.verify(module, "types")
    return checks


class SubAsAdd(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor):
        return aten.sub(x, y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.add(x, aten.neg(y))


class SplitReluCat(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, n: int, dim: int):
        return aten.cat(each(aten.split(x, n, dim), aten.relu), dim)

    def replacement(self, x: Tensor):
        return aten.relu(x)


class ReluByComparison(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.relu(x)

    def replacement(self, x: Tensor):
        return aten.where(aten.gt(x, 0), x, aten.zeros_like(x))


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_right_rewrite_applies_and_notes_the_level(dynamic: bool) -> None:
    checks = apply(SubAsAdd, lambda x, y: x - y, torch.randn(3, 4), torch.randn(4), dynamic=dynamic)
    assert checks == [["contract", "values"]]


def test_lists() -> None:
    checks = apply(
        SplitReluCat,
        lambda x: torch.cat([part.relu() for part in x.split(2, 1)], 1),
        torch.randn(3, 6),
    )
    assert checks == [["contract", "values"]]


def test_the_message_names_inputs_results_and_the_first_difference() -> None:
    with pytest.raises(ContractViolation) as caught:
        apply(ReluByComparison, lambda x: torch.relu(x), torch.randn(8, 8))
    text = str(caught.value)
    assert "rewrite relu_by_comparison" in text
    assert "aten.relu.default" in text
    assert re.search(r"values differ at \[\d, \d\]: expected \S+, found \S+ ", text)
    assert "%x = float32[8, 8] strides [8, 1]" in text
    assert "matched output 0 =" in text
    assert "replacement output 0 =" in text


def test_a_violation_leaves_the_graph_as_it_was() -> None:
    gm = make_fx(lambda x: torch.relu(x), tracing_mode="fake")(torch.randn(4))
    module, before = xductor.from_fx(gm, "joint"), xductor.from_fx(gm, "joint")
    told: list[Exception] = []
    with validating(), watching(report=lambda one, op, error: told.append(error)):
        assert Driver(RewriteIndex([ReluByComparison()]), "fast").rewrite(module) == 0
    assert len(told) == 1
    assert xductor.same(module, before)


def test_fragments_take_the_same_arguments_and_verify() -> None:
    texts: list[tuple[str, str]] = []

    def listener(application: Any) -> None:
        fragments = fragments_of(application)
        for module in (fragments.matched, fragments.replacement):
            xductor.verify(module, "types")
            assert xductor.same(xductor.parse_ir(xductor.print_ir(module)), module)
        texts.append(fragments.texts())

    gm = make_fx(lambda x, y: (x - y) * 2, tracing_mode="symbolic")(torch.ones(3), torch.ones(3))
    with listening(Application, listener):
        Driver(RewriteIndex([SubAsAdd()])).rewrite(xductor.from_fx(gm, "joint"))
    ((matched, replacement),) = texts
    arguments = "(%x : !fx.tensor<f32[s"
    assert arguments in matched
    assert arguments in replacement
    assert "aten.sub.Tensor" in matched
    assert "aten.mul" not in matched
    assert "aten.neg" in replacement


class DropAfterDraw(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, p: float):
        return aten.mul(aten.bernoulli.p(x, p), 2)

    def replacement(self, x: Tensor, p: float):
        drawn = aten.bernoulli.p(x, p)
        return aten.add(drawn, drawn)


def test_random_ops_are_compared_with_one_seed() -> None:
    checks = apply(DropAfterDraw, lambda x: torch.ops.aten.bernoulli.p(x, 0.5) * 2, torch.rand(16))
    assert checks == [["contract", "values"]]


def test_what_cannot_be_run_is_noted() -> None:
    class OnMeta(SubAsAdd):
        pass

    # The values of these types would not fit.
    x = torch.empty(1).expand(1 << 14, 1 << 14)
    checks = apply(OnMeta, lambda x: x - x, x)
    assert len(checks) == 1
    assert checks[0][1].startswith("values: not run (its values have")


def test_where_the_source_raises_all_is_allowed() -> None:
    class NegativeIndex(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor, y: Tensor):
            return aten.mm(x, y)

        def replacement(self, x: Tensor, y: Tensor):
            return aten.neg(aten.mm(x, y))

    # `mm` has no kernel for bool: no run, no verdict.
    gm = make_fx(lambda x, y: torch.mm(x, y), tracing_mode="fake")
    module = xductor.from_fx(gm(torch.ones(2, 2).bool(), torch.ones(2, 2).bool()), "joint")
    found: list[Any] = []

    def listener(application: Any) -> None:
        found.append(check_values(application))

    class Same(NegativeIndex):
        def replacement(self, x: Tensor, y: Tensor):
            return aten.logical_and(x, y)

    with listening(Application, listener):
        Driver(RewriteIndex([Same()])).rewrite(module)
    (checked,) = found
    assert checked.runs == 0
    assert checked.rejected >= ROUNDS
    assert "takes no generated input" in checked.skipped


@pytest.mark.parametrize(
    ("numerics", "old", "new", "allowed"),
    [
        (EXACT, [1.0, NAN], [1.0, NAN], True),
        (EXACT, [0.0], [-0.0], False),
        (EXACT, [1.0], [1.0 + 2**-23], False),
        (EXACT, [INF], [NAN], False),
        (UP_TO_ZERO_SIGN, [0.0], [-0.0], True),
        (UP_TO_ZERO_SIGN, [1.0], [1.0 + 2**-23], False),
        (REASSOCIATES, [1.0], [1.0 + 2**-23], True),
        (REASSOCIATES, [1.0], [1.0001], False),
        (REASSOCIATES, [INF], [NAN], False),
        (DROPS_ROUNDING, [1.0], [1.001], False),
        (APPROXIMATE, [1.0], [1.0005], True),
        (APPROXIMATE, [1.0], [1.1], False),
        (APPROXIMATE, [NAN], [1.0], True),
        (APPROXIMATE, [1.0], [NAN], False),
    ],
)
def test_numerics(numerics: Numerics, old: list[float], new: list[float], allowed: bool) -> None:
    mismatch = compare(torch.tensor(old), torch.tensor(new), Budget(numerics, terms=4))
    assert (mismatch is None) is allowed


def test_a_dropped_rounding_may_differ_by_the_narrower_eps() -> None:
    budget = Budget(DROPS_ROUNDING, narrowest=torch.bfloat16)
    assert compare(torch.tensor([1.0]), torch.tensor([1.003]), budget) is None
    assert compare(torch.tensor([1.0]), torch.tensor([1.1]), budget) is not None
    assert compare(torch.tensor([INF]), torch.tensor([3.4e38]), budget) is None
    assert compare(torch.tensor([INF]), torch.tensor([1.0]), budget) is not None


def test_longer_sums_may_differ_more() -> None:
    old, new = torch.tensor([1.0]), torch.tensor([1.0 + 64 * 2**-23])
    assert compare(old, new, Budget(REASSOCIATES, terms=4)) is not None
    assert compare(old, new, Budget(REASSOCIATES, terms=64)) is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (torch.ones(2), torch.ones(2).double(), "dtype"),
        (torch.ones(2), torch.ones(3), "shape"),
        (torch.ones(2).cfloat(), torch.ones(2).cfloat().conj(), "is_conj"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "at [1]: expected 2, found 3"),
        (torch.tensor([[1j, 2]]), torch.tensor([[1j, 2j]]), "at [0, 1]"),
        (torch.ones(2).to(torch.float8_e5m2), torch.zeros(2).to(torch.float8_e5m2), "2 elements"),
    ],
)
def test_differences_of_tensors(old: torch.Tensor, new: torch.Tensor, says: str) -> None:
    mismatch = compare(old, new, Budget(EXACT))
    assert says in str(mismatch)
    assert compare(old, old.clone() if not old.is_conj() else old, Budget(EXACT)) is None


class CastsDropped(Rewrite):
    stage = "joint"
    numerics = DROPS_ROUNDING

    def pattern(self, x: Tensor):
        inner = prims.convert_element_type(x, torch.bfloat16)
        return aten.relu(prims.convert_element_type(inner, torch.float32))

    def replacement(self, x: Tensor):
        return aten.relu(x)


def test_a_dropped_rounding_that_is_declared() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        convert = torch.ops.prims.convert_element_type
        return torch.relu(convert(convert(x, torch.bfloat16), torch.float32))

    assert apply(CastsDropped, function, torch.randn(16)) == [["contract", "values"]]


def test_in_a_stage_it_is_told_once_and_skipped() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) + 1

    gm = make_fx(function, tracing_mode="fake")(torch.randn(3))
    settings = Settings(validate="values", rewrites=(ReluByComparison,))
    with warnings.catch_warnings(record=True) as told, use(settings):
        warnings.simplefilter("always")
        xductor.joint_graph_passes(gm)
    assert gm.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    mine = [one for one in told if "relu_by_comparison" in str(one.message)]
    assert len(mine) == 1
    assert "does not compute what is replaced" in str(mine[0].message)


def test_a_stage_notes_the_level() -> None:
    gm = make_fx(lambda x, y: torch.relu(x - y), tracing_mode="fake")(torch.ones(3), torch.ones(3))
    settings = Settings(validate="values", rewrites=(SubAsAdd,), on_error="raise")
    with stage_records.record() as records, use(settings):
        xductor.joint_graph_passes(gm)
    applied = [one for record in records for one in record.applications_made]
    assert [one.checks for one in applied] == [("contract", "values")]
