"""What is kept of a graph from pass to pass: it is what would be found anew."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from tests.transforms.test_random_programs import PASSES, program
from xductor.ir import entry_graph
from xductor.transforms import Analyses, Rewrite
from xductor.transforms.analysis import analyses
from xductor.transforms.analysis.memory import Memory
from xductor.transforms.joint_graph.remove_redundant_views import RemoveRedundantViews
from xductor.transforms.noops.remove_no_ops import RemoveNoOps
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.uniform_values.constant_fold_uniform_value import ConstantFoldUniformValue
from xductor.transforms.uniform_values.uniform_values import UniformValues

aten = torch.ops.aten
FIRST = tuple(RewritePass.of([one]) if isinstance(one, Rewrite) else one for one in PASSES)
KEEPING = (*FIRST, ConstantFoldUniformValue(), RemoveNoOps(), RemoveRedundantViews(), *FIRST)


def _run_keeping(case: Any) -> None:
    """The passes as a stage runs them: with what the ones before have found."""
    analyses.keep(case.module)
    for one in KEEPING:
        if one.rewrite(case.module):
            analyses.changed(case.module, one.preserves)


@pytest.mark.parametrize("seed", range(60))
def test_passes_do_the_same_with_what_was_kept(seed: int, trace: Any, special: Any) -> None:
    x, y = special(3, 3), torch.arange(9.0).view(3, 3) - 4
    kept, anew = (trace(program(seed), x, y, stage="post_grad") for _ in range(2))
    _run_keeping(kept)
    for one in KEEPING:
        one.rewrite(anew.module)
    assert kept.text == anew.text
    kept.check_values(x, y)


@pytest.mark.parametrize("seed", range(30))
def test_a_kept_memory_misses_no_write(seed: int, trace: Any, special: Any) -> None:
    """It may take values to be read that are read no more; never the other way round."""
    case = trace(program(seed), special(3, 3), special(3, 3), stage="post_grad")
    graph = entry_graph(case.module)
    analyses.keep(case.module)
    kept = analyses.analyses_of(graph).memory
    for one in (RemoveNoopOps(), ConstantFoldUniformValue(), RemoveNoOps(), RemoveRedundantViews()):
        if one.rewrite(case.module):
            analyses.changed(case.module, one.preserves)
    assert analyses.analyses_of(graph).memory is kept
    fresh = Memory(graph, Analyses(graph).bodies)
    for op in graph.block.ops:
        for value in op.results:
            assert len(fresh.storage(value).writes) <= len(kept.storage(value).writes)
            assert fresh.storage(value).returned <= kept.storage(value).returned
            assert fresh.storage(value).outside <= kept.storage(value).outside
            for source in op.operands:
                assert fresh.interfere(value, source, op) <= kept.interfere(value, source, op)


def test_named_ops_come_in_order(trace: Any, special: Any) -> None:
    case = trace(lambda x: (x + 1) * 2 + (x * 3).clone(), special(3))
    found = analyses.analyses_of(entry_graph(case.module))
    names = ("aten.mul.Tensor", "aten.add.Tensor", "aten.sub.Tensor")
    expected = ["aten.add.Tensor", "aten.mul.Tensor", "aten.mul.Tensor", "aten.add.Tensor"]
    assert [op.name for op in found.named(names)] == expected
    assert [op.name for op in found.named(("aten.clone.default",))] == ["aten.clone.default"]
    assert found.named(("aten.sub.Tensor",)) == []
    assert found.named(()) == []


def test_names_are_known_while_ops_come_and_go(trace: Any, special: Any) -> None:
    case = trace(lambda x: aten.clone(x + 1) * 2, special(3))
    found = Analyses(entry_graph(case.module))
    wanted = frozenset(("aten.clone.default", "aten.sub.Tensor"))
    assert found.has_one_of(wanted)
    add, clone, mul, _ = found.ops
    clone.results[0].replace_all_uses_with(add.results[0])
    found.erase(clone)
    assert not found.has_one_of(wanted)
    made = type(clone).make(clone.args, [add.results[0]], [add.results[0].type])
    found.insert(made, mul)
    assert found.has_one_of(wanted)
    assert found.by_name["aten.clone.default"] == [made]
    assert not found.has_one_of(frozenset(("aten.sub.Tensor",)))


def test_a_name_stays_known_until_its_last_op_goes(trace: Any, special: Any) -> None:
    case = trace(lambda x: aten.clone(aten.clone(x)), special(3))
    found = Analyses(entry_graph(case.module))
    wanted = frozenset(("aten.clone.default",))
    assert found.has_one_of(wanted)
    first, second, _ = found.ops
    second.results[0].replace_all_uses_with(first.results[0])
    found.erase(second)
    assert found.has_one_of(wanted)
    first.results[0].replace_all_uses_with(first.operands[0])
    found.erase(first)
    assert not found.has_one_of(wanted)


def test_nothing_is_kept_unless_asked_for(trace: Any, special: Any) -> None:
    case = trace(lambda x: x + 1, special(3))
    graph = entry_graph(case.module)
    assert analyses.analyses_of(graph) is not analyses.analyses_of(graph)
    analyses.keep(case.module)
    kept = analyses.analyses_of(graph)
    assert analyses.analyses_of(graph) is kept


def test_a_change_forgets_what_is_not_preserved(trace: Any, special: Any) -> None:
    case = trace(lambda x: aten.clone(x + 1) * 2, special(3))
    graph = entry_graph(case.module)
    analyses.keep(case.module)
    kept = analyses.analyses_of(graph)
    memory, names, bodies = kept.memory, kept.by_name, kept.bodies
    one = RemoveNoopOps()
    assert one.rewrite(case.module) == 1
    analyses.changed(case.module, one.preserves)
    assert kept.memory is memory
    assert kept.by_name is names
    assert "aten.clone.default" not in names
    assert kept.bodies is not bodies
    analyses.changed(case.module)
    assert kept.known_memory is None
    assert kept.by_name is not names


def test_what_a_pass_finds_is_found_once(trace: Any, special: Any) -> None:
    case = trace(lambda x: x + torch.zeros(3), special(3))
    graph = entry_graph(case.module)
    analyses.keep(case.module)
    kept = analyses.analyses_of(graph)
    found = UniformValues.of(kept, zero_products=False)
    assert UniformValues.of(kept, zero_products=False) is found
    assert UniformValues.of(kept, zero_products=True) is not found
    analyses.changed(case.module, ConstantFoldUniformValue.preserves)
    assert UniformValues.of(kept, zero_products=False) is found
    analyses.changed(case.module, RemoveNoopOps.preserves)
    assert UniformValues.of(kept, zero_products=False) is not found


@pytest.mark.parametrize("seed", range(20))
def test_the_order_is_kept_while_ops_come_and_go(seed: int, trace: Any, special: Any) -> None:
    case = trace(program(seed), special(3, 3), special(3, 3), stage="post_grad")
    graph = entry_graph(case.module)
    kept = Analyses(graph)
    random = Random(seed)
    assert kept.by_name
    assert kept.order
    for number in range(200):  # more than fit between two ops
        op = random.choice(kept.ops[:-1] if number < 100 else kept.ops[-3:-1])
        anchor = random.choice(kept.ops[-4:])
        if op.results and all(result.first_use is None for result in op.results):
            kept.erase(op)
        else:
            kept.insert(op.clone(), anchor)
        fresh = Analyses(graph)
        assert kept.by_name == fresh.by_name
        assert sorted(fresh.ops, key=kept.order.key) == fresh.ops
