"""`common_subexpression_elimination`: what a graph computes twice it computes once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, SchemaOp, SymIntType, TorchOp
from xductor.ir.effects.effects import Effects
from xductor.ir.effects.operator_effects import overload_effects
from xductor.transforms import EXACT, Analyses, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.analysis.effect_order import events, is_view
from xductor.transforms.analysis.kept_memory import KeptMemory
from xductor.transforms.analysis.memory import reads_storage
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.editing.replacement import Replacement
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.passes.refusals import left_alone

#: Operators of other libraries may do more than their schemas say.
_LIBRARIES = frozenset(("aten", "prims"))
#: Ops that copy elements without computing any; those without a `pointwise` tag.
_COPIES = frozenset(
    f"aten.{name}.default" for name in ("clone", "reshape", "_unsafe_view", "_to_copy")
)

#: The later of two equal ops, and the first.
Equal = Mapping[Any, TorchOp]


@dataclass(frozen=True)
class CommonSubexpressionElimination(TypedPass):
    """Of ops with equal operands and arguments the first one stands for all, in inference.

    AOTAutograd does so to training graphs, when it cuts them into forward and backward. Inductor
    does nothing of the kind to others: kernels fuse what is computed elementwise, and compute it
    in each kernel anew; a product, a sort, a reduction or a mask for attention is computed twice.

    Merged are calls of ATen and prims that neither draw random numbers nor give undefined memory,
    between the same two writes. No output becomes another output, and none starts to share its
    storage. Constants are equal bit by bit: 0.0 is not -0.0, and 1 is not True.

    A value that is cheap to make anew is not kept in memory for a later op, where all such values
    would take more than a 64th of the memory of the graph's inputs, and more than 2 MiB.
    """

    name = "common_subexpression_elimination"
    stage = "post_grad"
    numerics = EXACT
    preserves = frozenset((MEMORY, ORDER))

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether two nodes call one operator with the same arguments, or are the same size.

        Calls must be spelled alike, as tracing does it; others are merged only beside such calls.
        """
        seen: set[Any] = set()
        for node in graph.nodes:
            target, value = node.target, node.meta.get("val")
            if type(value) is torch.SymInt:
                if value.node.expr in seen:
                    return True
                seen.add(value.node.expr)
            if type(target) is not OpOverload or not _may_be_equal(target):
                continue
            kwargs = node.kwargs
            key = (target, node.args, kwargs) if kwargs else (target, node.args)
            try:
                if key in seen:
                    return True
            except TypeError:  # an argument without a hash
                return True
            seen.add(key)
        return False

    def rewrite(self, module: ModuleOp) -> int:
        return sum(map(_merge, graphs_of(module)))


def _merge(graph: GraphOp) -> int:
    replacement = Replacement(graph)
    equal = _equal_ops(replacement.analyses)
    merged = 0
    for op in _that_pay(equal, replacement) if equal else ():
        first = equal[op]
        if (
            _reads_the_same(op, first)
            and replacement.may_replace(op, *first.results)
            and should_apply(CommonSubexpressionElimination.name)
        ):
            replacement.replace(op, *first.results)
            merged += 1
    return merged


def _reads_the_same(op: TorchOp, first: TorchOp) -> bool:
    """Whether operands of equal content are alike in all that the op can see.

    They are two values if they were not merged, as sizes never are.
    """
    pairs = [
        pair for pair in zip(op._operands, first._operands, strict=True) if pair[0] is not pair[1]
    ]
    return not pairs or (
        not reads_storage(op) and all(one._type is other._type for one, other in pairs)
    )


def _equal_ops(analyses: Analyses) -> Equal:
    """The ops that are equal to one above; those that only differ in equal operands are equal."""
    barriers = set(map(id, filter(_is_barrier, events(analyses.ops, analyses.bodies))))
    known: dict[Any, TorchOp] = {}
    first_of: dict[int, int] = {}
    found: dict[Any, TorchOp] = {}
    for op in analyses.ops:
        cls = type(op)
        if barriers and id(op) in barriers:
            known.clear()
            first_of.clear()
        if not (issubclass(cls, SchemaOp) and _may_be_equal(cls.target)):
            continue
        # A size is known by its expression, wherever it was read; equal arguments are one object.
        numbers = [
            id(value._type) if type(value._type) is SymIntType else id(value)
            for value in op._operands
        ]
        key = cls, id(op.args), *[first_of.get(number, number) for number in numbers]
        first = known.setdefault(key, op)
        if first is not op and effects_of(op).pure:
            found[op] = first
            first_of.update(zip(map(id, op.results), map(id, first.results), strict=True))
    return found


def _is_barrier(op: TorchOp) -> bool:
    """Whether equal ops above and below a call may give different values."""
    effects = effects_of(op)
    rest = Effects(rng=effects.rng, host=effects.host)
    return op.raw_arguments or effects != rest


@cache
def _may_be_equal(target: OpOverload) -> bool:
    """Whether calls of an overload give the same for the same, at least with some arguments."""
    effects = overload_effects(target)
    return target.namespace in _LIBRARIES and (effects.pure or effects == Effects(rng=True))


def _that_pay(equal: Equal, replacement: Replacement) -> Iterator[Any]:
    """The ops that are better merged, in order.

    One that only such ops read goes with them, and nothing of it is kept.
    """
    going = set(equal)
    keeping = _Keeping(replacement)
    for op in reversed(equal):
        if all(use.operation in going for result in op.results for use in result.uses):
            continue
        if not keeping.takes(op, equal[op]):
            left_alone(op, "the first of these would be kept in memory though it is cheap to make")
            going.remove(op)
    return (op for op in equal if op in going)


class _Keeping:
    """What values take that live on for a later equal op."""

    def __init__(self, replacement: Replacement) -> None:
        self.analyses = replacement.analyses
        self.memory = KeptMemory(replacement.graph)

    def takes(self, op: TorchOp, first: TorchOp) -> bool:
        """Whether there is room for what `first` gives until `op`; if so, it is taken."""
        if not _is_cheap(op):
            return True
        more = self.memory.bytes(op.results)
        if not self.memory.has_room(more):
            more = max(0, more - self._spared(op, first))
            if not self.memory.has_room(more):
                return False
        self.memory.kept += more
        return True

    def _spared(self, op: TorchOp, first: TorchOp) -> int:
        """How many bytes are there at `op` anyway, or would no longer be kept for it."""
        memory = self.analyses.memory
        position = memory.position(op)
        if all(memory.storage(result).last_read >= position for result in first.results):
            return self.memory.bytes(op.results)
        return self.memory.bytes(
            [
                operand
                for operand in set(op._operands)
                if not memory.storage(operand).outside
                and memory.storage(operand).last_read == position
            ]
        )


def _is_cheap(op: TorchOp) -> bool:
    """Whether an op takes memory, and is made anew as fast as it is read."""
    if is_view(op):
        return False
    target: Any = op.target
    return not op._operands or op.name in _COPIES or torch.Tag.pointwise in target.tags


__all__ = ["CommonSubexpressionElimination"]
