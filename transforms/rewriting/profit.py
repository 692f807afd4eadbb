"""The variables of a rewrite in `pays`: facts, usual sizes, and who reads and holds a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xductor.ir import TensorType
from xductor.transforms.matching.matcher import Match
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import Dim, Tensor, User, handle
from xductor.transforms.rewriting.usual_facts import Knowledge

_HELD = "fx.get_attr"


class AskedTensor(Tensor):
    """A tensor variable in `pays`, which may also read `users` and `is_constant`.

    What is not known of its sizes is decided by those that were seen while the graph was traced.
    """

    __slots__ = ("_state",)

    def __init__(self, tensor: Tensor, state: GraphState, facts: Knowledge | None = None) -> None:
        super().__init__(tensor.type, facts or state.usual_facts, tensor.value)
        self._state = state

    @property
    def at_any_size(self) -> AskedTensor:
        return AskedTensor(self, self._state, self._state.facts)

    @property
    def users(self) -> tuple[User, ...]:
        """The ops that read the value, those of the match included, in order, each once."""
        assert self.value is not None
        found: list[Any] = list(dict.fromkeys(use.operation for use in self.value.uses))
        found.sort(key=self._state.order.key)
        return tuple([User(op.name, op) for op in found])

    @property
    def is_constant(self) -> bool:
        """Whether the module holds the tensor as a parameter, buffer or constant."""
        assert self.value is not None
        return getattr(self.value.owner, "name", "") == _HELD

    @property
    def is_unbacked(self) -> bool:
        """Whether a size or stride depends on data, and so is known only when the program runs."""
        table = self._state.graph.symbols.data if self.type.symbols else {}
        return any(not table[name].backed for name in self.type.symbols if name in table)


def asked_handles(match: Match, names: Sequence[str], state: GraphState) -> list[Any]:
    """The variables of a match as `pays` gets them."""
    return [_asked(handle(match.bindings.get(name), state.facts), state) for name in names]


def _asked(item: Any, state: GraphState) -> Any:
    if type(item) is Tensor and isinstance(item.type, TensorType):
        return AskedTensor(item, state)
    if type(item) is Dim:
        return Dim(item.expr, state.usual_facts, item.value, item.kind)
    return [_asked(one, state) for one in item] if isinstance(item, list) else item


__all__ = ["AskedTensor", "asked_handles"]
