"""The form of a call: its constants, and the kinds and ranks of its values.

Which overload a call is, and how torch's own code writes it, follows from the form. A pass makes
calls of a few forms many times; what follows is found once and kept without the values.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from xductor.ir.dialect.arguments import (
    CONSTANT_TYPES,
    ListArg,
    Ref,
    SliceArg,
    constant_key,
    map_tree,
)

_CONTAINERS = frozenset((tuple, list, ListArg, SliceArg))
_CONSTANTS = frozenset(CONSTANT_TYPES)

#: Stands for what is not known of a form.
UNKNOWN = object()

#: A process may meet any number of sizes.
_MOST = 4096


class Form(NamedTuple):
    """The form of a call; `values` are its values, each once, in order of appearance."""

    key: Hashable
    values: list[Any]


def form_of(
    args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, *, ranks: bool = False
) -> Form | None:
    """The form of a call; None where an argument is neither a value nor a plain constant.

    - `ranks`: whether ranks are part of it, which the variables of a pattern do not have.
    """
    reading = _Reading(ranks)
    try:
        key = reading.key(tuple(args))
        if kwargs:
            key = (key, *[(name, reading.key(item)) for name, item in kwargs.items()])
    except _NoForm:
        return None
    return Form(key, reading.values)


class _NoForm(Exception):
    """An argument is neither a value nor a plain constant."""


class _Reading:
    """The values met while a form is read."""

    def __init__(self, ranks: bool) -> None:
        self.ranks = ranks
        self.values: list[Any] = []
        self.places: dict[int, int] = {}

    def key(self, item: Any) -> Hashable:
        cls = type(item)
        if cls in _CONTAINERS:
            return (cls, *[self.key(part) for part in item])
        if cls in _CONSTANTS:
            return constant_key(item)
        kind = getattr(item, "kind", None)
        if not isinstance(kind, str):
            raise _NoForm
        place = self.places.get(id(item))
        if place is None:
            place = self.places[id(item)] = len(self.values)
            self.values.append(item)
        return (Ref, place, kind, getattr(item, "ndim", None) if self.ranks else None)


class FormTable:
    """What follows from the forms met so far: trees of arguments that mention a call's values."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def find(self, key: Hashable, values: Sequence[Any]) -> Any:
        """What is known of a form, with the values of a call of it; else `UNKNOWN`."""
        found = self._known.get(key, UNKNOWN)
        if found is None or found is UNKNOWN:
            return found
        return map_tree(found, lambda leaf: values[leaf.index] if type(leaf) is Ref else leaf)

    def keep(self, key: Hashable, values: Sequence[Any], tree: Any) -> None:
        """Keep what follows from a form, without the values; what holds others is not kept."""
        places = {id(value): Ref(place) for place, value in enumerate(values)}
        try:
            kept = map_tree(tree, lambda leaf: places.get(id(leaf)) or _constant(leaf))
        except _NoForm:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = kept


def _constant(leaf: Any) -> Any:
    if type(leaf) in _CONSTANTS or isinstance(leaf, type):
        return leaf
    raise _NoForm


__all__ = ["UNKNOWN", "Form", "FormTable", "form_of"]
