"""Packs constants as oneDNN and MKL want their weights, at compile time.

A packed weight is opaque: it has sizes, and no strides that anything may ask for. Its type says so
by the layout `_mkldnn`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.ir import SSAValue

from xductor.ir import GetAttrOp, TorchOp
from xductor.ir.inference.value_types import TypeReader
from xductor.ir.text.resources import constant
from xductor.transforms.editing.editor import Editor
from xductor.transforms.rewriting.contracts import Declined

_CAT = "aten.cat.default"

#: The weights that are packed together, and how.
Key = tuple[tuple[SSAValue, ...], tuple[Hashable, ...]]


@dataclass
class PackedWeights:
    """The packed weights of one graph; what is packed twice alike is held once."""

    editor: Editor
    _held: dict[Key, list[SSAValue]] = field(default_factory=dict[Key, list[SSAValue]])

    def pack(
        self,
        weight: SSAValue,
        how: tuple[Hashable, ...],
        pack: Callable[[torch.Tensor], torch.Tensor],
        above: TorchOp,
    ) -> SSAValue:
        """A read of the packed weight, above an op.

        - `how`: what tells this packing of the weight apart from others.

        Raises Declined if the elements of the weight are not known, or if a kernel refuses them.
        """
        return self.pack_together([weight], how, lambda given: [pack(*given)], above)[0]

    def pack_together(
        self,
        weights: Sequence[SSAValue],
        how: tuple[Hashable, ...],
        pack: Callable[[Sequence[torch.Tensor]], Sequence[torch.Tensor]],
        above: TorchOp,
    ) -> list[SSAValue]:
        """Reads of weights whose packing depends on each other, as `pack`."""
        key = (tuple(weights), how)
        if key in self._held:
            return self._held[key]
        with _disable_current_modes(), torch.no_grad():
            elements = [self._elements(one) for one in weights]
            try:
                packed = pack(elements)
            except RuntimeError as error:
                raise Declined(f"the weight cannot be packed: {error}") from error
        types = TypeReader("post_grad")
        made = [self.editor.constant(one, types.type_of(one), above) for one in packed]
        self._held[key] = [one.results[0] for one in made]
        return self._held[key]

    def _elements(self, weight: SSAValue) -> torch.Tensor:
        if is_constant(weight):
            return self._constant(weight)
        op: Any = weight.owner
        return torch.cat(
            [self._constant(one) for one in op.argument("tensors")], op.argument("dim")
        )

    def _constant(self, value: SSAValue) -> torch.Tensor:
        op: Any = value.owner
        held = constant(self.editor.graph, op)
        if held is None:
            raise Declined("the elements of the weight are not known")
        return held.detach()

    def drop_unread(self) -> None:
        """Let the graph forget what nothing reads: weights as they were, and packed in vain."""
        for values in self._held.values():
            for value in values:
                self._drop(value, packed=True)
        for weight in dict.fromkeys(one for weights, _ in self._held for one in weights):
            self._drop(weight)
        self._held.clear()

    def _drop(self, value: SSAValue, *, packed: bool = False) -> None:
        op: Any = value.owner
        if value.first_use is not None or getattr(op, "parent", None) is None:
            return
        if packed:
            del self.editor.graph.new_constants[op.path]
        read = list(op._operands)
        self.editor.erase(op)
        for one in read:
            self._drop(one)


def is_constant(value: SSAValue) -> bool:
    """Whether a value is held by the module."""
    return type(value.owner) is GetAttrOp


def is_constant_or_joined(value: SSAValue) -> bool:
    """Whether a value is held by the module, or is put together of such values."""
    if is_constant(value):
        return True
    op: Any = value.owner
    return getattr(op, "name", "") == _CAT and all(map(is_constant, op.argument("tensors")))


__all__ = ["PackedWeights", "is_constant", "is_constant_or_joined"]
