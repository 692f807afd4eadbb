"""What the values of a graph read, found from their types and from alias facts."""

from __future__ import annotations

from typing import Any, NamedTuple

from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, TensorType, TorchOp, result_aliases
from xductor.ir.functions.torch_calls import aten_name
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.pieces.readings import Reading, reading_by_type, reshaped, same_elements

_BITS = frozenset(("conj", "neg"))

# They give the elements of their operand in the same order, with storage of their own or without.
KEEP_ORDER = frozenset(
    {"aten.reshape.default", "aten.view.default", "aten._unsafe_view.default",
     "aten.clone.default", "aten.contiguous.default", "aten.alias.default",
     "aten.unsqueeze.default", "aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims",
     "aten.flatten.using_ints", "aten.unflatten.int", "aten.ravel.default",
     "aten.view_as.default", "aten.reshape_as.default"}
)  # fmt: skip


class Source(NamedTuple):
    """What a value reads, and the copies through which it reads it; the copies stay in place."""

    reading: Reading
    copies: tuple[TorchOp, ...] = ()


class Regions:
    """The readings of the values of one graph, each found once."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._known: dict[SSAValue, Source | None] = {}

    def of(self, value: SSAValue) -> Source | None:
        """What a value reads; None if its type does not tell where its elements lie."""
        if value not in self._known:
            self._known[value] = self._find(value)
        return self._known[value]

    def forget(self) -> None:
        """Forget what is known, since values were replaced."""
        self._known.clear()

    def _find(self, value: SSAValue) -> Source | None:
        type_ = strided(value)
        if type_ is None or not all(self._is_true(one) for one in bases(value)[:-1]):
            return None
        return self._behind_copy(value, type_) or Source(
            reading_by_type(bases(value)[-1], type_), ()
        )

    def _is_true(self, value: SSAValue) -> bool:
        """Whether a view under other sizes has the elements that its type claims."""
        assert isinstance(value, OpResult)
        if aten_name(value.op) not in KEEP_ORDER:
            return True
        operand, type_ = strided(value.op.operands[0]), strided(value)
        return operand is not None and type_ is not None and is_reshape(operand, type_, self.facts)

    def _behind_copy(self, value: SSAValue, type_: TensorType) -> Source | None:
        """What a value reads that views a copy, if the copy keeps the order of elements."""
        current = value
        while isinstance(current, OpResult) and aten_name(current.op) in KEEP_ORDER:
            op: Any = current.op
            operand = op._operands[0]
            source = strided(operand)
            if source is None or source.dtype is not type_.dtype or _writes(op):
                return None
            if has_gradient(source) is not has_gradient(type_):
                return None
            fact = result_aliases(op)[current.index]
            if fact is None or not fact[1]:
                above = self.of(operand)
                if above is None:
                    return None
                reading = reshaped(above.reading, type_.shape, self.facts)
                return None if reading is None else Source(reading, (*above.copies, op))
            current = operand
        return None


def is_reshape(before: TensorType, after: TensorType, facts: Facts) -> bool:
    """Whether a view of one type, under the sizes of another, lies where the other type says.

    PyTorch's fake kernels accept some views that are not possible.
    """
    root: Any = None
    found = reshaped(reading_by_type(root, before), after.shape, facts)
    return found is not None and same_elements(found, reading_by_type(root, after), facts)


def bases(value: SSAValue) -> list[SSAValue]:
    """The value and the values it is certainly a view of, up to the root.

    All are plain strided tensors of one dtype without conjugate or negative bit, and a gradient
    flows through all of them or through none.
    """
    found = [value]
    own = strided(value)
    while own is not None and isinstance(value, OpResult) and isinstance(value.op, TorchOp):
        facts = result_aliases(value.op)
        fact = facts[value.index] if value.index < len(facts) else None
        if fact is None or not fact[1] or _writes(value.op):
            break
        value = value.op._operands[fact[0]]
        type_ = strided(value)
        if type_ is None or type_.dtype is not own.dtype or type_.device != own.device:
            break
        if has_gradient(type_) is not has_gradient(own):
            break
        found.append(value)
    return found


def makers(value: SSAValue) -> list[TorchOp]:
    """The ops that make a value a view of its root, or of a copy of what it reads."""
    return [one.op for one in bases(value)[:-1] if isinstance(one, OpResult)]  # type: ignore[misc]


def strided(value: SSAValue) -> TensorType | None:
    """The type of a value whose elements lie where its sizes, strides and offset say."""
    type_ = value._type
    if type(type_) is not TensorType:
        return None
    data = type_.data
    if data.layout != "strided" or data.subclass or not _BITS.isdisjoint(data.flags):
        return None
    return type_


def has_gradient(type_: TensorType) -> bool:
    """Whether a tensor requires a gradient, as types say before autograd."""
    return "requires_grad" in type_.data.flags


def _writes(op: TorchOp) -> bool:
    effects = effects_of(op)
    return bool(effects.writes) or effects.unknown


__all__ = ["KEEP_ORDER", "Regions", "Source", "bases", "is_reshape", "makers", "strided"]
