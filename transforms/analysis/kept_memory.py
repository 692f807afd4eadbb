"""How much memory a graph may keep for longer than its ops need, to compute less."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import GraphOp, TensorType
from xductor.transforms.analysis.usual_sizes import UsualSizes

#: Which share of the inputs' memory, which is taken all the while, may be kept on top.
_SHARE = 64
#: How many bytes may be kept in any case: an allocator's smallest block on GPU.
_ALWAYS = 2 << 20


class KeptMemory:
    """What is kept of one graph.

    - `kept`: how many bytes by now.
    """

    def __init__(self, graph: GraphOp) -> None:
        self._graph = graph
        self._sizes = UsualSizes(graph)
        self.kept = 0

    @cached_property
    def room(self) -> int:
        """How many bytes may be kept in all."""
        return max(_ALWAYS, self.bytes(self._graph.block.args) // _SHARE)

    def has_room(self, more: int) -> bool:
        """Whether so many bytes may be kept beside what is kept by now."""
        return self.kept + more <= self.room

    def bytes(self, values: Iterable[SSAValue]) -> int:
        """How many bytes the elements of those take that are tensors."""
        types: list[Any] = [one.type for one in values if type(one._type) is TensorType]
        return sum(map(self._of, types))

    def _of(self, type_: TensorType) -> int:
        found = type_.dtype.itemsize
        for size in type_.shape:
            found *= self._sizes.usual(size)
        return found


__all__ = ["KeptMemory"]
