"""`qlinear_weight_prepack`: products that PT2E quantised are computed in 8 bits by oneDNN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, aten, ops
from xductor.transforms.analysis.readers import only_reader
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.quantized.dequantised_operands import (
    WIDE,
    Int8Weight,
    Quantised,
    check_bias,
    check_sums,
    check_tensor,
    data_behind,
    known_sizes,
    weight_behind,
)
from xductor.transforms.quantized.int8_packing import Found, Int8Packing
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle

_ADDMM, _MM, _BMM = "aten.addmm.default", "aten.mm.default", "aten.bmm.default"
_ADD = "aten.add.Tensor"
_TURN, _SPREAD = "aten.permute.default", "aten.expand.default"
_RESHAPES = ("aten.reshape.default", "aten.view.default")


class _Product(NamedTuple):
    """The operands of a product, and the op behind it that adds its bias, if there is one."""

    data: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    added_by: Any = None


@dataclass(frozen=True)
class QlinearWeightPrepack(Int8Packing):
    """`aten.mm`, `addmm` and `bmm` of dequantised data by a turned weight become a packed call.

    The data is uint8 or int8, its scale and zero point numbers, or tensors that are computed. The
    weight is int8, with a scale for each column. Reshapes of rows around a product go away. In a
    batched product, all matrices have one weight, and a vector that is added is the bias. The
    result is float32, or bfloat16 where data and weight are cast to it.
    """

    name = "qlinear_weight_prepack"
    inductor = "quantization.py:_register_qlinear_weight_prepack_pass.qlinear_weight_prepack"
    roots = frozenset((_ADDMM, _MM, _BMM))
    counter = "qlinear_weight_prepack_matcher_count"

    def found(self, op: Any, state: GraphState) -> Found:
        check_tensor(op.results[0], WIDE, "the result")
        product = _product_of(op, state.facts)
        is_batch = op.name == _BMM
        views = (_SPREAD,) if is_batch else _RESHAPES
        data = data_behind(product.data, views, (torch.uint8, torch.int8))
        weight = weight_behind(
            product.weight, (_TURN, _SPREAD) if is_batch else (_TURN,), state.graph
        )
        _check_weight(weight)
        check_sums(data, weight)
        dims: Any = weight.values.type
        columns, inner = dims.shape
        check_bias(product.bias, columns, state.facts)
        values = _values(data, product.data, inner, state.facts)
        given: Any = values.type
        rows = _after(op, product, [*given.shape[:-1], columns], state.facts)
        sizes = known_sizes(given.shape)
        pack: Any = torch.ops.onednn.qlinear_prepack
        call = _Call(op, data, values, weight, product.bias, state.facts, rows[-1])
        return Found(
            rows,
            weight,
            ("qlinear", repr(sizes)),
            lambda one, scales: pack(one, sizes),
            call.read,
            call.build,
        )


@dataclass(frozen=True)
class _Call:
    """The packed call of a product, and the op whose result it stands for."""

    op: Any
    data: Quantised
    values: SSAValue
    weight: Int8Weight
    bias: SSAValue | None
    facts: Facts
    last: Any

    @property
    def read(self) -> list[SSAValue]:
        found = [self.values, self.bias, self.data.scale, self.data.zero]
        return [one for one in found if isinstance(one, SSAValue)]

    def build(self, packed: SSAValue, zeros: SSAValue) -> Any:
        x, scale, zero, w, scales, z, b = (
            handle(one, self.facts)
            for one in (
                self.values,
                self.data.scale,
                self.data.zero,
                packed,
                self.weight.scales,
                zeros,
                self.bias,
            )
        )
        dtype = self.op.results[0].type.dtype
        how = (scale, zero, w, scales, z, b, 1.0, 0, dtype, "none", [], "")
        calls = ops.onednn.qlinear_pointwise
        made = (calls.tensor if self.data.is_by_tensors else calls.default)(x, *how)
        sizes = self.last.results[0].type.shape
        if known_equal(made.value.type.shape, sizes, self.facts):
            return made
        return aten.reshape(made, [handle(one, self.facts) for one in sizes])


def _product_of(op: Any, facts: Facts) -> _Product:
    """The operands of a product. Raises Declined for factors."""
    if op.name == _ADDMM:
        if op.argument("alpha") != 1 or op.argument("beta") not in (0, 1):
            raise Declined("factors")
        bias = None if op.argument("beta") == 0 else op.argument("self")
        return _Product(op.argument("mat1"), op.argument("mat2"), bias)
    data, weight = op.argument("self"), op.argument("mat2")
    if op.name == _MM:
        return _Product(data, weight, None)
    added_by = only_reader(op.results[0])
    if added_by is None or added_by.name != _ADD or added_by.argument("alpha") != 1:
        return _Product(data, weight, None)
    first, second = added_by.argument("self"), added_by.argument("other")
    bias = second if first is op.results[0] else first
    if not isinstance(bias, SSAValue) or bias is op.results[0]:
        return _Product(data, weight, None)
    try:
        check_bias(bias, op.results[0].type.shape[-1], facts)
    except Declined:
        return _Product(data, weight, None)
    if added_by.results[0].type != op.results[0].type:
        return _Product(data, weight, None)
    return _Product(data, weight, bias, added_by)


def _check_weight(weight: Int8Weight) -> None:
    """Raises Declined for a weight that is not turned, or not the same for all matrices."""
    dims: Any = weight.values.type
    turns = [op for op in weight.passed if op.name == _TURN]
    if (
        dims.rank != 2
        or len(turns) != 1
        or list(turns[0].argument("dims")) not in ([1, 0], [-1, 0])
    ):
        raise Declined("the weight is no matrix that is turned")
    if any(op.name == _SPREAD and op._operands[0].type.rank != 2 for op in weight.passed):
        raise Declined("the weight is not the same for all matrices")


def _values(data: Quantised, reader: SSAValue, inner: Any, facts: Facts) -> SSAValue:
    """The quantised rows. Raises Declined if the product reads others than they are."""
    values: Any = data.values.type
    read: Any = reader.type
    if values.rank < 2 or not known_equal(values.shape[-1:], (inner,), facts):
        raise Declined("the data is reshaped to other rows")
    for op in data.passed:
        if op.name == _SPREAD and not known_equal(values.shape, read.shape, facts):
            raise Declined("the data is repeated")
    return data.values


def _after(op: Any, product: _Product, sizes: Sequence[Any], facts: Facts) -> list[Any]:
    """The product, and what goes away behind it: the sum with its bias, a reshape of its rows."""
    if product.added_by is not None:
        return [op, product.added_by]
    reader = only_reader(op.results[0])
    if reader is None or reader.name not in _RESHAPES:
        return [op]
    reshaped: Any = reader.results[0].type
    return [op, reader] if known_equal(reshaped.shape, tuple(sizes), facts) else [op]


__all__ = ["QlinearWeightPrepack"]
