"""Packs constants as oneDNN and MKL want their weights, at compile time.

A packed weight is opaque: it has sizes, and no strides that anything may ask for. Its type says so
by the layout `_mkldnn`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
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

#: A weight, and how it is packed.
Key = tuple[SSAValue, *tuple[Hashable, ...]]


@dataclass
class PackedWeights:
    """The packed weights of one graph; what is packed twice alike is held once."""

    editor: Editor
    _held: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])

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
        key = (weight, *how)
        if key in self._held:
            return self._held[key]
        with _disable_current_modes(), torch.no_grad():
            elements = self._elements(weight)
            try:
                packed = pack(elements)
            except RuntimeError as error:
                raise Declined(f"the weight cannot be packed: {error}") from error
        type_ = TypeReader("post_grad").type_of(packed)
        made = self.editor.constant(packed, type_, above)
        self._held[key] = made.results[0]
        return made.results[0]

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
        for value in self._held.values():
            self._drop(value, packed=True)
        for weight in dict.fromkeys(key[0] for key in self._held):
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
