"""Finds the place of the chunks: at the start of the region, after everything they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from xductor.ir import TorchOp
from xductor.transforms.analysis.block_order import Order
from xductor.transforms.analysis.dependence import above, below
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.auto_chunker.body import Region
from xductor.transforms.auto_chunker.refusal import CannotChunk
from xductor.transforms.editing.editor import Editor


@dataclass(frozen=True)
class Placement:
    """The first op of a region, and the ops that must move before it."""

    first: TorchOp
    moved: tuple[TorchOp, ...]

    @classmethod
    def of(cls, ops: Sequence[TorchOp], region: Region, order: Order) -> Placement:
        """The place of the chunks of a region.

        Raises CannotChunk if an op outside the region both uses its results and is used by it, or
        has an effect between its ops.
        """
        places = [place for place, op in enumerate(ops) if op in region.replaced]
        between = [op for op in ops[places[0] : places[-1] + 1] if op not in region.replaced]
        for op in between:
            effects = effects_of(op)
            if effects.writes or effects.unknown or effects.mode:
                raise CannotChunk.at(op, "it has an effect between what is cut into chunks")
        first, last = ops[places[0]], ops[places[-1]]
        made: list[Any] = [value.owner for value in region.outputs]
        later = below(made, last, order)
        read = [value.owner for value in region.inputs if isinstance(value.owner, Operation)]
        needed = {*read, *above(read, first, order)}
        moved = [op for op in between if op in needed]
        for op in reversed(moved):
            if op in later:
                raise CannotChunk.at(op, "the chunks need it, and it needs all chunks")
            if not effects_of(op).pure:
                raise CannotChunk.at(op, "the chunks need it, and it has an effect")
        return cls(first, tuple(moved))

    def put(self, editor: Editor, made: Sequence[Operation]) -> None:
        """Move the ops that must move, and insert new ops before the region."""
        for op in self.moved:
            editor.move(op, self.first)
        for op in made:
            editor.insert(op, self.first)


__all__ = ["Placement"]
