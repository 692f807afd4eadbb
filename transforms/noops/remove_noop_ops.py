"""`remove_noop_ops`: removes calls whose result equals one of their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.fx import Graph, Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import Facts, GraphOp, RawOp, SchemaOp, TensorType, TorchOp, op_class_by_name
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.editing.replacement import Replacement, surely_differ
from xductor.transforms.noops.noop_registry import NOOP_RULES, NoopRule
from xductor.transforms.passes.debug_counters import should_apply

_PYTHON_CLONES = frozenset(("method.clone", "pyfn.torch.clone"))
_FUNCTORCH = ("pyfn.torch._C._functorch.", "pyfn.torch._functorch.")


@dataclass(frozen=True)
class RemoveNoopOps(TypedPass):
    """A call that returns an argument unchanged is replaced by that argument.

    Such are full slices, casts to the same dtype, views to the same shape, clones, and the other
    calls that `noop_registry` lists; in graphs from before autograd, only `clone` as a method or a
    function. The result must have the type of the argument.

    A copy stays if without it an output would share storage with an input or another output, or a
    later write would become visible. It also stays if code generation could cause this, by
    computing the copied value directly in an input that is written to.

    - `keep_for_spmd`: keep full slices and empty pads, so that every rank has the same graph.
    """

    name = "remove_noop_ops"
    stage = ("joint", "post_grad")
    inductor = "post_grad.py:remove_noop_ops"
    numerics = EXACT
    roots = frozenset((*NOOP_RULES, "method.clone", torch.clone))
    preserves = frozenset((MEMORY, ORDER))

    keep_for_spmd: bool = False

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there is a call whose result looks like the argument that it may equal."""
        return any(map(_may_do_nothing, cls.root_nodes(graph)))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(self._rewrite(graph) for graph in graphs_of(module))

    def _rewrite(self, graph: GraphOp) -> int:
        removed = 0
        replacement = Replacement(graph)
        analyses = replacement.analyses
        levels = [name for name in analyses.by_name if name.startswith(_FUNCTORCH)]
        nested = False
        for op in analyses.named({*NOOP_RULES, *_PYTHON_CLONES, *levels}):
            # A clone inside a functorch level belongs to that level.
            nested = nested or op.name.startswith(_FUNCTORCH)
            source = self._source(op, replacement.facts)
            if source is None or (nested and op.raw_arguments):
                continue
            if replacement.may_replace(op, source) and should_apply(self.name):
                replacement.replace(op, source)
                removed += 1
        return removed

    def _source(self, op: TorchOp, facts: Facts) -> SSAValue | None:
        """The argument that the result of a no-op equals; None for any other op."""
        if op.name in _PYTHON_CLONES and isinstance(op, RawOp):
            return _cloned(op)
        rule = NOOP_RULES.get(op.name)
        if rule is None or not isinstance(op, SchemaOp) or len(op.results) != 1:
            return None
        if rule.kept_for_spmd and self.keep_for_spmd:
            return None
        result = op.results[0]._type
        if type(result) is not TensorType:
            return None
        if len(op._operands) == 1:  # the source, if there is one
            only = op._operands[0]._type
            if type(only) is TensorType and surely_differ(only, result):
                return None
        source = rule.source_of(op)
        if source is None or type(source._type) is not TensorType:
            return None
        return source if rule.holds(op, source._type, facts) else None


@cache
def _rules() -> dict[Any, tuple[NoopRule, int]]:
    """The rules by overload, each with the place of the source among the arguments."""
    classes = {name: op_class_by_name(name) for name in NOOP_RULES}
    return {
        cls.target: (NOOP_RULES[name], cls.table.index[NOOP_RULES[name].source])
        for name, cls in classes.items()
    }


def _may_do_nothing(node: Node) -> bool:
    known = _rules().get(node.target)
    return known is None or known[0].may_apply(node, known[1])


def _cloned(op: RawOp) -> SSAValue | None:
    """The tensor that a Python-level clone copies; None if the call cannot be read."""
    bound = op.bound_arguments()
    if bound is None or len(op.results) != 1:
        return None
    source = bound.get("self", bound.get("input"))
    return source if isinstance(source, SSAValue) else None
