"""`unroll_while_loop`: a loop that is known to go round a few times becomes straight-line code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import TensorType, TorchOp, entry_graph
from xductor.ir.inference.infer import storage_root
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.analysis.op_effects import Bodies, effects_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.graph_copies import GraphCopies, NotCopied
from xductor.transforms.loops.known_sizes import KnownSizes
from xductor.transforms.loops.trip_count import NotCounted, WhileLoop, trip_count
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.passes.refusals import Refused


@dataclass(frozen=True)
class UnrollWhileLoop(TypedPass):
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
    numerics = EXACT
    reads_bodies = True
    roots: ClassVar[frozenset[str]] = frozenset(("higher_order.while_loop",))

    trips: int = 32
    ops: int = 256

    def rewrite(self, module: ModuleOp) -> int:
        return self._run(module, None)

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        self._run(module, refused)

    def _run(self, module: ModuleOp, refused: Refused | None) -> int:
        count = 0
        with Editor(entry_graph(module)) as editor:
            bodies = Bodies(module)
            for op in editor.analyses.named(self.roots):
                try:
                    count += self._unroll(WhileLoop.of(op, module), editor, bodies)
                except (NotCounted, NotCopied) as error:
                    if refused is not None:
                        refused(op, str(error))
        return count

    def _unroll(self, loop: WhileLoop, editor: Editor, bodies: Bodies) -> bool:
        _check_effects(loop, bodies)
        trips = trip_count(loop, self.trips)
        copies = GraphCopies(editor, loop.op)
        try:
            values = list(loop.carried)
            for _ in range(trips):
                values = copies.copy(loop.body, [*values, *loop.shared])
                if len(copies.made) > self.ops:
                    raise NotCopied(f"{trips} trips would take more than {self.ops} ops")
            values = _with_own_storage(loop.op, values, copies)
            pairs = zip(loop.op.results, values, strict=True)
            read = [(result, value) for result, value in pairs if result.first_use is not None]
            tensors = [one for one in read if type(one[0].type) is TensorType]
            sizes = KnownSizes(editor, loop.op, dict(one for one in read if one not in tensors))
        except NotCopied:
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
    """Raises NotCopied for ops that do more than compute results; a body may draw numbers."""
    for graph in (loop.condition, loop.body):
        for op in graph.block.ops:
            assert isinstance(op, TorchOp)
            effects = effects_of(op) | bodies.effects(op)
            if graph is loop.body:
                effects = replace(effects, rng=False)
            if not effects.silent:
                raise NotCopied(f"{op.name} in its body or condition does more than compute")


def _with_own_storage(op: TorchOp, values: list[Any], copies: GraphCopies) -> list[Any]:
    """The values that stand for the results that are read, each in a storage of its own.

    Raises NotCopied if one has another layout than its result.
    """
    made = set(copies.made)
    taken: set[SSAValue] = set()
    found: list[Any] = []
    for result, value in zip(op.results, values, strict=True):
        if result.first_use is None or type(result.type) is not TensorType:
            found.append(value)
            continue
        if not isinstance(value, SSAValue):
            raise NotCopied(f"its body returns {value!r} for {result.type}")
        root = storage_root(value)
        is_fresh = isinstance(root, OpResult) and root.op in made and root not in taken
        taken.add(root)
        if not is_fresh or value.type != result.type:
            value = copies.call("aten.clone.default", value, None)
        if _own(value.type) != _own(result.type):
            raise NotCopied(f"it returns {result.type}, and its body {value.type}")
        found.append(value)
    return found


def _own(type_: Any) -> Any:
    return TensorType(type_.data._replace(offset=0, flags=()))


__all__ = ["UnrollWhileLoop"]
