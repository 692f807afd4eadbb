"""Sets of CPU tensors that can move to another device, with all that is computed from them.

A set holds tensors that are made on CPU, or scalar inputs on CPU, and the ops that depend on them.
It moves as a whole or not at all. It ends at ops on the other device that accept CPU tensors, which
need no change when the tensors move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import OutputOp, SchemaOp, TensorType, TorchOp, result_aliases
from xductor.transforms import Analyses
from xductor.transforms.analysis.op_effects import effects_of, written_operands
from xductor.transforms.analysis.same_on_every_device import SAME_ON_EVERY_DEVICE

_LIBRARIES = ("aten.", "prims.")
_COPY_INTO = "aten.copy_.default"
_PUTS = frozenset(("aten.index_put.default", "aten.index_put_.default"))
_TAKES_CPU_TENSORS = _PUTS | {
    "aten.index.Tensor",
    "aten.copy.default",
    _COPY_INTO,
    "aten.slice_scatter.default",
}
_FILLED = frozenset(
    ("empty", "empty_strided", "eye", "full", "iota", "ones", "scalar_tensor", "tril_indices",
     "triu_indices", "zeros")
)  # fmt: skip
_REARRANGED = frozenset(
    ("cat", "constant_pad_nd", "flip", "gather", "index", "index_select", "repeat", "roll",
     "select_scatter", "slice_scatter", "stack", "tril", "triu")
)  # fmt: skip
_SUMMED = frozenset(("cumsum", "sum"))
_MASKS = (torch.bool, torch.uint8)


@dataclass(eq=False)
class MovableSet:
    """Values and ops that move together.

    - `sources`: results of ops that make tensors, and scalar inputs, in order.
    - `followers`: the ops on CPU that are computed from them, in order.
    - `devices`: the devices of the ops at which the set ends.
    - `refusals`: the ops that keep the set on CPU, each with the reason.
    """

    sources: list[SSAValue] = field(default_factory=list[SSAValue])
    followers: list[TorchOp] = field(default_factory=list[TorchOp])
    devices: set[torch.device] = field(default_factory=set[torch.device])
    refusals: list[tuple[TorchOp, str]] = field(default_factory=list[tuple[TorchOp, str]])
    _parent: MovableSet | None = None

    def root(self) -> MovableSet:
        """The set into which this one has been merged."""
        found = self
        while found._parent is not None:
            if found._parent._parent is not None:
                found._parent = found._parent._parent
            found = found._parent
        return found

    def take(self, other: MovableSet) -> MovableSet:
        """Merge two sets, and return the result."""
        if other is self:
            return self
        larger, smaller = self, other
        if len(self.sources) + len(self.followers) < len(other.sources) + len(other.followers):
            larger, smaller = other, self
        larger.sources += smaller.sources
        larger.followers += smaller.followers
        larger.devices |= smaller.devices
        larger.refusals += smaller.refusals
        smaller._parent = larger
        return larger


@dataclass
class MovableSets:
    """The sets of one graph, found in one walk over its ops.

    - `target`: the type of the devices to which they may move.
    - `scalars`: whether scalar inputs are sources too, and ops on the other device whose only CPU
      operands are scalars are ends.
    - `same_bits`: move only what has the same bits on every device.
    """

    analyses: Analyses
    target: str
    scalars: bool = False
    same_bits: bool = True
    _of: dict[SSAValue, MovableSet] = field(default_factory=dict[SSAValue, MovableSet])

    def find(self) -> list[MovableSet]:
        """The sets, ordered by their first sources, including those with refusals."""
        if self.scalars:
            for argument in self.analyses.graph.block.args:
                if is_cpu_scalar(argument):
                    self._of[argument] = MovableSet([argument])
        for op in self.analyses.ops:
            if self._makes(op):
                self._of[op.results[0]] = MovableSet([op.results[0]])
            else:
                self._visit(op)
        return list(dict.fromkeys(one.root() for one in self._of.values()))

    def _makes(self, op: Any) -> bool:
        """Whether an op makes a tensor on CPU from numbers only, as any device could."""
        if not isinstance(op, SchemaOp) or not _takes_no_tensor(type(op)):
            return False
        device = op.args.data[op.table.index["device"]]
        if type(device) is not torch.device or device.type != "cpu":
            return False
        if len(op.results) != 1 or not _on_cpu(op.results[0]):
            return False
        effects = effects_of(op)
        if effects.rng or not effects.removable(fallback_random=True):
            return False
        pinned = op.table.index.get("pin_memory")
        if op.name.startswith("prims.inductor_") or (pinned is not None and op.args.data[pinned]):
            return False
        return not self.same_bits or _short(op) in _FILLED

    def _visit(self, op: TorchOp) -> None:
        moving = [value for value in op._operands if value in self._of and not _stays(value, op)]
        if not moving:
            return
        refusal = self._refusal(op, moving)
        if refusal is None and self._ends(op):
            self._end(op, moving)
            return
        one = self._of[moving[0]].root()
        for other in moving[1:]:
            one = one.take(self._of[other].root())
        refusal = refusal or self._refusal_to_follow(op, moving)
        if refusal is not None:
            one.refusals.append((op, refusal))
            return
        one.followers.append(op)
        self._of.update((result, one) for result in op.results)

    def _end(self, op: TorchOp, moving: list[SSAValue]) -> None:
        """Note an op at which the set ends: each operand may move without the others."""
        filled = _filled_at_mask(op) if op.name in _PUTS else None
        for value in moving:
            one = self._of[value].root()
            one.devices.add(_tensor(op.results[0]).device)  # type: ignore[union-attr]
            if value is filled:
                reason = "a scalar on CPU is put at a mask without waiting for the device"
                one.refusals.append((op, reason))

    def _refusal(self, op: TorchOp, moving: list[SSAValue]) -> str | None:
        """Why an op needs its operands on CPU; None if it may follow them or take either device."""
        if type(op) is OutputOp:
            return "the graph returns a tensor on CPU"
        if not isinstance(op, SchemaOp) or not op.name.startswith(_LIBRARIES):
            return "only operators of ATen and prims are known to run anywhere"
        written = written_operands(op, self.analyses.bodies)
        if any(op._operands[index] in moving for index in written):
            return "it writes to the tensor"
        return None

    def _refusal_to_follow(self, op: Any, moving: list[SSAValue]) -> str | None:
        if not effects_of(op).pure or not all(map(_on_cpu, op.results)):
            return "it has an effect, or a result that is no tensor on CPU"
        if any(type(one) is torch.device for one in op.args.data):
            return "it names a device"
        if any(_tensor(one) is not None and one not in moving for one in op._operands):
            return "it reads another tensor too, which stays where it is"
        if self.same_bits and not _has_same_bits(op):
            return "its results have other bits on another device"
        return None

    def _ends(self, op: TorchOp) -> bool:
        """Whether an op is on another device, and accepts operands from there as well."""
        type_ = _tensor(op.results[0]) if op.results else None
        if type_ is None or type_.device.type != self.target:
            return False
        return op.name in _TAKES_CPU_TENSORS or (self.scalars and takes_scalars(op, self.target))


def takes_scalars(op: TorchOp, target: str) -> bool:
    """Whether all tensors that an op reads are scalars on CPU or on a type of device."""
    return all(
        is_cpu_scalar(one) or _tensor(one).device.type == target  # type: ignore[union-attr]
        for one in op._operands
        if _tensor(one) is not None
    )


def keeps_cpu_tensors(op: TorchOp) -> bool:
    """Whether an op reads tensors on CPU as they are, and says itself when it waits for them."""
    return op.name in _TAKES_CPU_TENSORS


def _stays(value: SSAValue, op: TorchOp) -> bool:
    """Whether an op reads a scalar input as the caller's own tensor."""
    if isinstance(value, OpResult):
        return False
    return type(op) is OutputOp or (op.name == _COPY_INTO and op._operands[0] is value)


def _filled_at_mask(op: Any) -> SSAValue | None:
    """The one-element CPU tensor that an `index_put` writes at a mask.

    Eager fills with it without waiting for the device.
    """
    values = op.argument("values")
    type_ = _tensor(values)
    if type_ is None or type_.device.type != "cpu" or any(size != 1 for size in type_.shape):
        return None
    indices = [_tensor(one) for one in op.argument("indices") if one is not None]
    return values if any(one is not None and one.dtype in _MASKS for one in indices) else None


def _has_same_bits(op: SchemaOp) -> bool:
    if op.table.index and all(fact is not None and fact[1] for fact in result_aliases(op)):
        return True  # views
    name = _short(op)
    types = [one for one in map(_tensor, (*op._operands, *op.results)) if one is not None]
    if any(one.dtype.is_complex for one in types):
        return False
    if name in SAME_ON_EVERY_DEVICE or name in _REARRANGED:
        return True
    exact = not any(one.dtype.is_floating_point for one in types)
    return exact and (torch.Tag.pointwise in op.target.tags or name in _SUMMED)


def _short(op: SchemaOp) -> str:
    return op.name.split(".", 2)[1]


@cache
def _takes_no_tensor(cls: type[SchemaOp]) -> bool:
    """Whether an operator has a device argument and no tensor arguments."""
    if not cls.name.startswith(_LIBRARIES) or "device" not in cls.table.index:
        return False
    return all("Tensor" not in str(one.type) for one in cls.target._schema.arguments)


def _tensor(value: Any) -> TensorType | None:
    type_ = value._type if isinstance(value, SSAValue) else None
    return type_ if type(type_) is TensorType else None


def _on_cpu(value: SSAValue) -> bool:
    """Whether a value is a plain strided tensor on CPU."""
    type_ = _tensor(value)
    if type_ is None or type_.device.type != "cpu":
        return False
    return type_.data.layout == "strided" and not type_.data.subclass and not type_.data.flags


def is_cpu_scalar(value: SSAValue) -> bool:
    """Whether a value is a plain tensor of no dims on CPU."""
    return _on_cpu(value) and _tensor(value).rank == 0  # type: ignore[union-attr]


__all__ = ["MovableSet", "MovableSets", "is_cpu_scalar", "keeps_cpu_tensors", "takes_scalars"]
