"""`unroll_while_loop`: a loop that is known to go round a few times becomes straight-line code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import TensorType, TorchOp
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.op_effects import Bodies, effects_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.calls_pass import CallsPass
from xductor.transforms.loops.graph_copies import GraphCopies, with_own_storage
from xductor.transforms.loops.known_sizes import KnownSizes
from xductor.transforms.loops.stays import Stays
from xductor.transforms.loops.trip_count import WhileLoop, trip_count
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply


@dataclass(frozen=True)
class UnrollWhileLoop(CallsPass):
    """A `while_loop` whose number of trips is known is replaced by its body, once for each trip.

    Generated code asks for the condition at each trip, which on a GPU waits for the device, and
    runs the body as a graph of its own. What is unrolled is fused, planned and captured with all
    that surrounds it.

    The results of a loop have storage of their own. A result that would not becomes a clone.

    - `trips`: how many trips are unrolled at most. With more, what a trip saves is small beside
      what the body takes to be compiled again.
    - `ops`: how many ops may be made for one loop, so that compiling takes no longer than for a
      model of usual size.
    """

    name = "unroll_while_loop"
    stage = "joint"
    roots: ClassVar[frozenset[str]] = frozenset(("higher_order.while_loop",))

    trips: int = 32
    ops: int = 256

    def replaced(self, op: Any, module: ModuleOp, editor: Editor) -> bool:
        loop = WhileLoop.of(op, module)
        _check_effects(loop, editor.analyses.bodies)
        trips = trip_count(loop, self.trips)
        copies = GraphCopies(editor, loop.op)
        try:
            values = list(loop.carried)
            for _ in range(trips):
                values = copies.copy(loop.body, [*values, *loop.shared])
                if len(copies.made) > self.ops:
                    raise Stays(f"{trips} trips would take more than {self.ops} ops")
            values = _as_results(loop.op, values, copies)
            pairs = zip(loop.op.results, values, strict=True)
            read = [(result, value) for result, value in pairs if result.first_use is not None]
            tensors = [one for one in read if type(one[0].type) is TensorType]
            sizes = KnownSizes(editor, loop.op, dict(one for one in read if one not in tensors))
        except Stays:
            copies.discard()
            raise
        if not should_apply(self.name):
            copies.discard()
            return False
        copies.insert([value for _, value in read])
        applied(loop.op, *[value for _, value in tensors])
        for result, value in tensors:
            editor.take_over(result, value)
        sizes.apply()
        editor.erase(loop.op)
        return True


def _check_effects(loop: WhileLoop, bodies: Bodies) -> None:
    """Raises Stays for ops that do more than compute results; a body may draw numbers."""
    for graph in (loop.condition, loop.body):
        for op in graph.block.ops:
            assert isinstance(op, TorchOp)
            effects = effects_of(op) | bodies.effects(op)
            if graph is loop.body:
                effects = replace(effects, rng=False)
            if not effects.silent:
                raise Stays(f"{op.name} in its body or condition does more than compute")


def _as_results(op: TorchOp, values: list[Any], copies: GraphCopies) -> list[Any]:
    """The values that stand for the results that are read, each in a storage of its own.

    Raises Stays if one has another layout than its result.
    """
    made = set(copies.made)
    taken: set[SSAValue] = set()
    found: list[Any] = []
    for result, value in zip(op.results, values, strict=True):
        if result.first_use is None or type(result.type) is not TensorType:
            found.append(value)
            continue
        if not isinstance(value, SSAValue):
            raise Stays(f"its body returns {value!r} for {result.type}")
        root = storage_root(value)
        is_fresh = isinstance(root, OpResult) and root.op in made and root not in taken
        taken.add(root)
        if not is_fresh or value.type != result.type:
            value = copies.call("aten.clone.default", value, None)
        if with_own_storage(value.type) != with_own_storage(result.type):
            raise Stays(f"it returns {result.type}, and its body {value.type}")
        found.append(value)
    return found


__all__ = ["UnrollWhileLoop"]
