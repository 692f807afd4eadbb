"""`smooth_quant_linear`: products of int8 that are scaled by rows and columns, by oneDNN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from xdsl.ir import SSAValue

from xductor.ir import TensorType, aten, ops, prims
from xductor.transforms.analysis.readers import only_reader
from xductor.transforms.onednn.packed_weights import PackedWeights, is_constant
from xductor.transforms.onednn.packing import Packed, WeightPacking, name_of
from xductor.transforms.passes.numerics import REASSOCIATES, ROUNDS_LESS_OFTEN, Declared
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle

_CAST = "prims.convert_element_type.default"
_MUL = "aten.mul.Tensor"
_ADD = "aten.add.Tensor"
_RESHAPES = ("aten.reshape.default", "aten.view.default")


@dataclass(frozen=True)
class _Product:
    """`_int_mm(x, weight)`, cast, times the scales of the columns and other factors; and a bias.

    - `ops`: what is replaced; the last op gives the result.
    - `factors`: what the product is multiplied by besides, broadcast to `[m, n]`.
    - `bias`: what is added, if the one other factor is a number for all: oneDNN does both.
    """

    ops: tuple[Any, ...]
    dtype: torch.dtype
    columns: SSAValue
    factors: tuple[SSAValue, ...]
    bias: SSAValue | None = None

    @property
    def has_one_scale(self) -> bool:
        """Whether one number scales all rows."""
        return len(self.factors) == 1 and _count(self.factors[0]) == 1


@dataclass(frozen=True)
class SmoothQuantLinear(WeightPacking):
    """`_int_mm(x, weight) * scales` with a constant weight becomes oneDNN's packed linear.

    The scales of the columns are a vector, or one number for all, in any order with those of the
    rows, or multiplied by them before. oneDNN applies them to the sums, which are then rounded. One
    number for all rows is part of them, and a bias is added there too.
    """

    name = "smooth_quant_linear"
    inductor = "quantization.py:_register_smooth_quant_int_mm_pattern._int_mm_weight_prepack"
    roots = frozenset(("aten._int_mm.default",))
    counter = "qlinear_weight_prepack_matcher_count"
    numerics: ClassVar[Declared] = {
        torch.float32: REASSOCIATES,
        torch.bfloat16: ROUNDS_LESS_OFTEN,
        torch.float16: ROUNDS_LESS_OFTEN,
    }

    def _check(self, op: Any) -> None:
        data, weight = op._operands
        if not is_constant(weight):
            raise Declined("the weight is no constant")
        for one in (data, weight):
            type_: Any = one.type
            if type(type_) is not TensorType or type_.data.layout != "strided":
                raise Declined("no strided tensor")
            if type_.device.type != "cpu" or type_.data.subclass:
                raise Declined(f"a tensor on {type_.device}")
            if any(size == 0 for size in type_.shape):
                raise Declined("no elements")

    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        self._check(op)
        product = _scaled(op)
        if name_of(product.dtype) not in self.packed_dtypes:
            raise Declined(f"oneDNN does not compute with {product.dtype} here")
        rows = op._operands[0].type.shape[0]
        hint = [rows, op._operands[1].type.shape[0]] if isinstance(rows, int) else None
        prepack = torch.ops.onednn.qlinear_prepack
        weight = weights.pack(
            op._operands[1],
            ("int8", rows if hint else None),
            lambda one: prepack(one.t().contiguous(), hint),
            op,
        )
        columns = op._operands[1].type.shape[1]
        zeros = weights.pack(
            op._operands[1],
            ("zero points", columns),
            lambda one: torch.zeros(one.shape[1], dtype=torch.int32),
            op,
        )
        x, packed, zeros, bias, scales, *factors = (
            handle(one, state.facts)
            for one in (
                op._operands[0],
                weight,
                zeros,
                product.bias,
                product.columns,
                *product.factors,
            )
        )

        def build() -> Any:
            columns = aten.reshape(_as_float32(scales), [-1])
            rows = factors
            if product.has_one_scale:
                columns, rows = aten.mul(columns, aten.reshape(_as_float32(rows[0]), [-1])), []
            numbers = (1.0, 0, packed, columns, zeros, bias, 1.0, 0, product.dtype)
            linear = ops.onednn.qlinear_pointwise.default(x, *numbers, "none", [], "")
            for factor in rows:
                linear = aten.mul(linear, factor)
            sizes = handle(product.ops[-1].results[0], state.facts).shape
            return linear if len(sizes) == 2 else aten.reshape(linear, list(sizes))

        return Packed(product.ops, build)


def _as_float32(scales: Any) -> Any:
    if scales.dtype is torch.float32:
        return scales
    return prims.convert_element_type(scales, torch.float32)


def _scaled(op: Any) -> _Product:
    """What becomes of a product of int8. Raises Declined if it is not scaled by columns."""
    cast = only_reader(op.results[0])
    if getattr(cast, "name", "") != _CAST:
        raise Declined("the product is not cast")
    dtype, size = cast.argument("dtype"), op.results[0].type.shape
    replaced, factors = [op, cast], list[SSAValue]()
    for mul, other in _products(cast):
        for part in _parts(other, replaced, size):
            if not _is_broadcast(part, size, dtype):
                raise Declined("a factor of other sizes, or of another dtype")
            factors.append(part)
        replaced.append(mul)
    columns = [one for one in factors if _is_of_columns(one, size[1])]
    columns += [one for one in factors if _count(one) == 1]
    if not columns:
        raise Declined("the product is not scaled by columns")
    factors.remove(columns[0])
    product = _Product(tuple(replaced), dtype, columns[0], tuple(factors))
    return _with_bias(product, size[1]) if product.has_one_scale else product


def _products(cast: Any) -> Iterator[tuple[Any, SSAValue]]:
    """The products of a value by factors, one behind the other, as far as only they are read."""
    op = only_reader(cast.results[0])
    result = cast.results[0]
    while getattr(op, "name", "") == _MUL and len(op._operands) == 2:
        first, second = op._operands
        yield op, second if first is result else first
        result, op = op.results[0], only_reader(op.results[0])


def _parts(factor: SSAValue, replaced: list[Any], size: Any) -> Iterator[SSAValue]:
    """The scales of rows and of columns, where their product was computed first."""
    op: Any = factor.owner
    if getattr(op, "name", "") == _MUL and len(op._operands) == 2 and factor.has_one_use():
        first, second = op._operands
        if any(_is_of_columns(one, size[1]) or _count(one) == 1 for one in (first, second)):
            replaced.append(op)
            yield from (first, second)
            return
    yield factor


def _with_bias(product: _Product, columns: Any) -> _Product:
    """With a vector that is added, behind a reshape or not."""
    last, between = product.ops[-1], list[Any]()
    add = only_reader(last.results[0])
    if getattr(add, "name", "") in _RESHAPES and add.results[0].type.shape[-1:] == (columns,):
        between, add = [add], only_reader(add.results[0])
    if getattr(add, "name", "") != _ADD or len(add._operands) != 2 or add.argument("alpha") != 1:
        return product
    last = between[0] if between else last
    first, second = add._operands
    bias: Any = second if first is last.results[0] else first
    if tuple(bias.type.shape) != (columns,) or bias.type.dtype is not product.dtype:
        return product
    ops = (*product.ops, *between, add)
    return _Product(ops, product.dtype, product.columns, product.factors, bias)


def _is_broadcast(value: Any, size: Any, dtype: torch.dtype) -> bool:
    """Whether a factor is one for each element, row or column, or for all."""
    type_ = value.type
    if type(type_) is not TensorType or type_.dtype is not dtype or type_.rank > len(size):
        return False
    pairs = zip(reversed(type_.shape), reversed(size), strict=False)
    return all(one in (1, other) for one, other in pairs)


def _is_of_columns(value: Any, columns: Any) -> bool:
    shape = tuple(value.type.shape) if isinstance(value.type, TensorType) else ()
    return isinstance(columns, int) and shape in ((columns,), (1, columns))


def _count(value: Any) -> int | None:
    """1 if there is one element; else None."""
    return 1 if all(size == 1 for size in value.type.shape) else None


__all__ = ["SmoothQuantLinear"]
