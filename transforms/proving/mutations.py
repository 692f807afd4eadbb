"""Copies of a rewrite with one mistake, which a sound prover must refute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from xductor.ir import SchemaOp, TorchOp, op_class_by_name
from xductor.ir.functions.op_functions import BoundCall

Kind = Literal["condition dropped", "operands swapped", "constant changed", "result reversed"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Caller = Callable[[type[TorchOp], tuple[Any, ...]], Any]


class Mutation:
    """One change to what a rewrite does; `applied` says whether there was anything to change.

    - `condition dropped`: `where` is not called.
    - `operands swapped`: swaps the tensors of the replacement's first call with two of them.
    - `constant changed`: changes the number in the first call that has one.
    - `result reversed`: reverses the first result along its last dim.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind: Kind = kind
        self.applied = False
        self._done = False

    def begin(self) -> None:
        """Prepare for a run of the replacement."""
        self._done = False

    @property
    def drops_condition(self) -> bool:
        if self.kind == "condition dropped":
            self.applied = True
        return self.kind == "condition dropped"

    def builder(self, inner: Any) -> Any:
        return _MutatingBuilder(inner, self)

    def arguments(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of a call of the replacement, changed if this is the call to change."""
        if self._done:
            return items
        changed = list(items)
        if self.kind == "operands swapped":
            tensors = [k for k, one in enumerate(items) if _is_tensor(one)][:2]
            if len(tensors) == 2 and items[tensors[0]] is not items[tensors[1]]:
                first, second = tensors
                changed[first], changed[second] = items[second], items[first]
                self._done = self.applied = True
        elif self.kind == "constant changed":
            for place, one in enumerate(items):
                other = _another(one)
                if other is not None:
                    changed[place] = other
                    self._done = self.applied = True
                    break
        return tuple(changed)

    def outputs(self, found: list[Any], call: Caller) -> list[Any]:
        """The results, with the first one reversed if that is the change."""
        if self.kind != "result reversed" or not found or not _is_tensor(found[0]):
            return found
        if not found[0].ndim:
            return found
        self.applied = True
        flip: Any = op_class_by_name("aten.flip.default")
        return [call(flip, (found[0], [found[0].ndim - 1])), *found[1:]]


def _is_tensor(item: Any) -> bool:
    return getattr(item, "kind", None) == "tensor"


def _another(item: Any) -> Any:
    """A different constant of the same kind; None if the item is none."""
    if type(item) is int:
        return item + 1
    if type(item) is float:
        return item + 1.0
    if isinstance(item, list | tuple) and item and all(type(one) is int for one in item):
        return [*item[1:], item[0]] if len(set(item)) > 1 else [item[0] + 1, *item[1:]]
    return None


class _MutatingBuilder:
    """A builder that changes calls before passing them on."""

    def __init__(self, inner: Any, mutation: Mutation) -> None:
        self.inner = inner
        self.mutation = mutation

    def call(self, name: str, calls: list[BoundCall]) -> Any:
        cls: type[SchemaOp] = calls[0].cls
        return self.inner(cls, self.mutation.arguments(calls[0].args))

    def raw_call(self, cls: type[TorchOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.inner.raw_call(cls, args, kwargs)


__all__ = ["KINDS", "Kind", "Mutation"]
