"""`fold_tables`: tables that depend on no input, and take long to compute, are computed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from torch import TensorType
from torch._ops import OpOverload
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GraphOp, SchemaOp
from xductor.transforms import EXACT, Analyses, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.analysis.dear_functions import DEAR_FUNCTIONS
from xductor.transforms.analysis.effect_order import is_view
from xductor.transforms.analysis.fx_targets import called_functions
from xductor.transforms.analysis.kept_memory import KeptMemory
from xductor.transforms.editing.editor import Editor
from xductor.transforms.freezing.computed import Computed
from xductor.transforms.freezing.foldable import Foldable
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply

#: Operators of other libraries may do more than their schemas say.
_LIBRARIES = frozenset(("aten", "prims"))
_DEAR = DEAR_FUNCTIONS | frozenset(
    f"aten.{name}"
    for name in (
        *(f"{function}.default" for function in ("cumsum", "cumprod", "sort", "topk", "mm", "bmm")),
        "sort.stable",
    )
)
#: So few elements are computed in no time.
_FEW = 1024


@dataclass(frozen=True)
class FoldTables(TypedPass):
    """Positions, masks and the like that take an exponential or a product, as constants.

    Buckets of relative positions take a logarithm for each pair of tokens; generated code computes
    them at each call, in each kernel that reads them and for each head. Here eager's kernels
    compute them once, while the graph is compiled in inference. What makes a table larger stays,
    views and broadcasts. What a graph returns or writes to is made anew at each call.

    Not more is held than a 64th of the memory of the graph's inputs, or 2 MiB if that is more.

    - `devices`: where tables are held.
    """

    name = "fold_tables"
    stage = "post_grad"
    numerics = EXACT
    roots = _DEAR
    preserves = frozenset((MEMORY, ORDER))

    devices: tuple[str, ...] = ("cpu",)

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there is a call of a dear operator that depends on no input."""
        return cls.has_root(graph) and _has_dear_constant(graph)

    def rewrite(self, module: ModuleOp) -> int:
        return sum(map(self._fold, graphs_of(module)))

    def _fold(self, graph: GraphOp) -> int:
        editor = Editor(graph)
        foldable = _Tables(editor.analyses, self.devices)
        if not foldable.held:
            return 0
        computed, held = _Computed(foldable), 0
        for table, tensor in list(computed.read_elsewhere()):
            if not should_apply(self.name):
                continue
            op: Any = table.owner
            named = len(op.results) == 1
            made = editor.constant(tensor, table.type, op, named=named).results[0]
            applied(op, made)
            editor.take_over(table, made)
            held += 1
        for op in reversed(computed.ops):
            if all(result.first_use is None for result in op.results):
                editor.erase(op)
        return held


def _has_dear_constant(graph: Graph) -> bool:
    """Whether a dear operator is called below nothing but calls without an input."""
    pending = [
        node
        for target in called_functions(graph)
        if _needs_no_tensor(target)
        for node in graph.find_nodes(op="call_function", target=target, sort=False)
        if not node.all_input_nodes
    ]
    found = set(pending)
    while pending:
        node = pending.pop()
        if _is_dear(node.target):
            return True
        for user in node.users:
            if type(user.target) is OpOverload and found.issuperset(user.all_input_nodes):
                pending.append(user)
                found.add(user)
    return False


@cache
def _needs_no_tensor(target: Any) -> bool:
    return type(target) is OpOverload and not any(
        isinstance(argument.type, TensorType) for argument in target._schema.arguments
    )


@cache
def _is_dear(target: OpOverload) -> bool:
    return f"{target.namespace}.{target.__name__}" in _DEAR


class _Tables(Foldable):
    """The ops of one graph that depend on no input, and the values that are worth being held.

    - `held`: they take long to compute, and ops that depend on inputs need them.
    """

    def __init__(self, analyses: Analyses, devices: tuple[str, ...]) -> None:
        memory = KeptMemory(analyses.graph)
        memory.kept = sum(one.nbytes for one in analyses.graph.new_constants.values())
        super().__init__(analyses, memory.room, ())
        self._find_ops()
        self.held: set[SSAValue] = set()
        largest = self._largest_dear()
        for table in self._tables(largest):
            type_: Any = table.type
            size = memory.bytes([table])
            if largest[table.owner] < _FEW or type_.device.type not in devices:
                continue
            if memory.has_room(size):
                memory.kept += size
                self.held.add(table)

    def _read_constants(self) -> None:
        """Freezing folds what depends on constants."""

    def _may_fold(self, op: SchemaOp) -> bool:
        return op.target.namespace in _LIBRARIES and super()._may_fold(op)

    def _tables(self, largest: dict[Any, int]) -> Iterator[SSAValue]:
        """The values to hold, so that nothing dear is left to do for ops that depend on inputs.

        Each is the last that has no more elements than something dear above it: what is made of it,
        views included, takes more memory, and no time.
        """
        pending: list[Any] = [
            result
            for op in self.ops
            for result in op.results
            if any(use.operation not in largest for use in result.uses)
        ]
        seen = set(pending)
        while pending:
            value = pending.pop()
            op: Any = value.owner
            if not largest[op]:
                continue
            if not is_view(op) and _elements(value) <= largest[op]:
                yield value
                continue
            for operand in op._operands:
                if operand not in seen:
                    seen.add(operand)
                    pending.append(operand)

    def _largest_dear(self) -> dict[Any, int]:
        """For each op how many elements the largest dear value has that it makes or depends on."""
        largest: dict[Any, int] = {}
        for op in self.ops:
            own = max(map(_elements, op.results)) if op.name in _DEAR else 0
            largest[op] = max([own, *(largest[operand.owner] for operand in op._operands)])
        return largest


def _elements(value: Any) -> int:
    return prod(value.type.shape)


class _Computed(Computed):
    """The values of the ops that tables are computed by."""

    def _is_held(self, result: OpResult, computed: set[Any]) -> bool:
        return isinstance(self.foldable, _Tables) and result in self.foldable.held


__all__ = ["FoldTables"]
