"""How the join itself may read what its parts read."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xductor.ir import NotInferred, TorchOp
from xductor.ir.dialect.types import Dim
from xductor.ir.inference.infer import NotApplicable, infer_types
from xductor.transforms.pieces.building import Way, way_to
from xductor.transforms.pieces.joins import Join
from xductor.transforms.pieces.regions import Regions, Source, bases, makers
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState


class JoinedReads:
    """The readings of the values of one graph, and the conditions for reading at the join."""

    def __init__(self, state: GraphState) -> None:
        self.state = state
        self.facts = state.facts
        self.regions = Regions(self.facts)

    def check_types(self, join: Join) -> None:
        """Check that the parts lie where their types say. Raises Declined."""
        env = self.state.env
        for op in dict.fromkeys(op for part in join.parts for op in makers(part)):
            try:
                types = infer_types(op, env)
            except (NotApplicable, NotInferred) as error:
                raise Declined(f"where {op.name} reads is not known: {error}") from error
            if types != [result.type for result in op.results]:
                raise Declined(f"the recorded types of {op.name} are not what it gives")

    def check_modes(self, join: Join, copies: Sequence[TorchOp]) -> None:
        """Check that before autograd the parts, and the tensors that they are copies of, are cut
        under the modes of the join. Raises Declined.

        No gradient flows through a view that is made under `no_grad`, whatever its type says.
        """
        state = self.state
        if state.graph.stage.data != "pre_grad":
            return
        region = state.region(join.op)
        for value in (*join.parts, *[op._operands[0] for op in copies]):
            for op in makers(value):
                if state.region(op) != region:
                    raise Declined(f"{op.name} stands under other modes")

    def way(self, source: Source, sizes: tuple[Dim, ...], parts: Sequence[SSAValue]) -> Way | None:
        """The shortest way to a reading, from the root or a view that the parts come through."""
        behind = [op._operands[0] for op in source.copies]
        candidates = dict.fromkeys(
            base for value in (parts[0], parts[-1], *behind) for base in reversed(bases(value))
        )
        of_root = [one for one in candidates if bases(one)[-1] is source.reading.root]
        return way_to(source.reading, sizes, of_root, self.facts)


__all__ = ["JoinedReads"]
