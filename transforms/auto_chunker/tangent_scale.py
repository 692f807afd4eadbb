"""Finds the values of the region that must be multiplied by the true tangent.

The chunks run before the true tangent is known. They assume that it is one, and values that depend
on it are multiplied by it afterwards. This is correct if every op on the way is linear in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, TensorType, TorchOp
from xductor.transforms.auto_chunker.refusal import CannotChunk
from xductor.transforms.auto_chunker.region import is_constant

#: Ops that are linear in their first operand, with the others fixed.
_IN_FIRST = frozenset(
    (
        "aten.alias.default", "aten.clone.default", "aten.neg.default", "aten.view.default",
        "aten._unsafe_view.default", "aten.reshape.default", "aten.permute.default",
        "aten.t.default", "aten.transpose.int", "aten.expand.default", "aten.squeeze.default",
        "aten.squeeze.dim", "aten.squeeze.dims", "aten.unsqueeze.default", "aten.select.int",
        "aten.slice.Tensor", "aten.sum.default", "aten.sum.dim_IntList", "aten.mean.dim",
        "aten.mean.default", "aten.detach.default",
        "aten.mul.Scalar", "aten.div.Scalar", "aten.div.Tensor", "aten.gather.default",
        "aten.cumsum.default", "aten._softmax_backward_data.default",
        "aten._log_softmax_backward_data.default", "prims.convert_element_type.default",
    )
)  # fmt: skip

#: Ops that are linear in each operand, with the other fixed.
_IN_EACH = frozenset(("aten.mul.Tensor", "aten.mm.default", "aten.bmm.default"))

#: Ops that are linear in all their tensors together, except for an index.
_IN_ALL = frozenset(
    (
        "aten.cat.default", "aten.scatter_add.default", "aten.scatter.src",
        "aten.slice_scatter.default", "aten.select_scatter.default",
    )
)  # fmt: skip

Scale = SSAValue | None
Scales = dict[SSAValue, SSAValue]


def scales(region: Sequence[TorchOp], tangents: Sequence[SSAValue]) -> Scales:
    """The tangent by which each value of the region is multiplied, for the values that have one.

    Raises CannotChunk if an op is not known to be linear in an operand that depends on a tangent,
    if a tangent is not a scalar, or if none is used.
    """
    found: Scales = {}
    used = {value for op in region for value in op._operands}
    for tangent in tangents:
        if tangent in used:
            type_: Any = tangent.type
            if type(type_) is not TensorType or type_.shape or not type_.dtype.is_floating_point:
                raise CannotChunk(f"the tangent {type_} is no number")
            found[tangent] = tangent
    if not found:
        raise CannotChunk("no tangent is used: for inference only, or the loss is too simple")
    for op in region:
        if any(value in found for value in op._operands):
            assert isinstance(op, SchemaOp)
            found[op.results[0]] = _scale(op, found)
    return found


def _scale(op: SchemaOp, known: Scales) -> SSAValue:
    scaled = [known.get(value) for value in op._operands]
    if op.name in _IN_FIRST:
        found = _single(scaled[:1], scaled[1:]) if _keeps_floats(op) else None
    elif op.name in _IN_EACH:
        found = _single(scaled)
    else:
        rule = _RULES.get(op.name)
        found = rule(op, known) if rule is not None else None
    if found is None:
        raise CannotChunk.at(op, "it is not known to be linear in what depends on the tangent")
    return found


def _single(scaled: Sequence[Scale], fixed: Sequence[Scale] = ()) -> Scale:
    """The scale of the only operand that has one."""
    found = [one for one in scaled if one is not None]
    return found[0] if len(found) == 1 and not any(fixed) else None


def _keeps_floats(op: SchemaOp) -> bool:
    type_: Any = op.results[0].type
    return type_.dtype.is_floating_point


def _common(terms: Sequence[tuple[Scale, bool]]) -> Scale:
    """The common scale of all terms that are not zero."""
    found = {scale for scale, zero in terms if not zero}
    return found.pop() if len(found) == 1 else None


def _term(value: Any, known: Scales) -> tuple[Scale, bool]:
    """The scale of a term, and whether the term is zero and so has any scale."""
    if not isinstance(value, SSAValue):
        return None, value == 0
    if is_constant(value):
        op: Any = value.owner
        return None, op.argument("fill_value") == 0
    return known.get(value), False


def _sum(op: SchemaOp, known: Scales) -> Scale:
    return _common([_term(op.argument(name), known) for name in ("self", "other")])


def _where(op: SchemaOp, known: Scales) -> Scale:
    if op.argument("condition") in known:
        return None
    return _sum(op, known)


def _fma(op: SchemaOp, known: Scales) -> Scale:
    left, right, added = (op.argument(param.name) for param in op.table.params[:3])
    product = _single([known.get(left), known.get(right)])
    return None if product is None else _common([(product, False), _term(added, known)])


def _addmm(op: SchemaOp, known: Scales) -> Scale:
    product = _single([known.get(op.argument("mat1")), known.get(op.argument("mat2"))])
    if product is None:
        return None
    return _common([(product, False), _term(op.argument("self"), known)])


def _all(op: SchemaOp, known: Scales) -> Scale:
    index = op.argument("index") if "index" in op.table.index else None
    if index is not None and index in known:
        return None
    return _common([_term(value, known) for value in op._operands if value is not index])


def _filled(op: SchemaOp, known: Scales) -> Scale:
    """The scale of a fill; the filled value must be zero."""
    if op.argument("value") != 0:
        return None
    first = op.argument("self")
    return _single([known.get(first)], [known.get(one) for one in op._operands if one is not first])


_RULES: dict[str, Callable[[SchemaOp, Scales], Scale]] = {
    "aten.add.Tensor": _sum,
    "aten.sub.Tensor": _sum,
    "aten.where.self": _where,
    "aten.addmm.default": _addmm,
    "aten.scatter.value": _filled,
    "aten.masked_fill.Scalar": _filled,
    "aten.constant_pad_nd.default": _filled,
    "prims.fma.default": _fma,
    **dict.fromkeys(_IN_ALL, _all),
}


def loses_small_numbers(region: Sequence[TorchOp], known: Scales) -> TorchOp | None:
    """An op whose unscaled result may underflow to zero although the scaled one would not.

    The gradients of a loss that is not scaled up are too small for float16.
    """
    for op in region:
        type_: Any = op.results[0].type
        if op.results[0] in known and type_.dtype is torch.float16:
            return op
    return None


__all__ = ["Scales", "loses_small_numbers", "scales"]
