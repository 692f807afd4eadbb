"""`linear_dynamic_fp16`: products with weights that are rounded to float16, by oneDNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import aten, ops
from xductor.transforms.analysis.readers import only_reader
from xductor.transforms.onednn.packed_weights import PackedWeights, is_constant
from xductor.transforms.onednn.packing import Packed, WeightPacking
from xductor.transforms.passes.numerics import ADMITTED, APPROXIMATE, Policy
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle

_ADD, _ADDMM, _BMM = "aten.add.Tensor", "aten.addmm.default", "aten.bmm.default"
_ROUND = "quantized_decomposed.convert_element_type.no_fuse"
_EXPAND, _PERMUTE = "aten.expand.default", "aten.permute.default"
_RESHAPES = ("aten.reshape.default", "aten.view.default")


@dataclass(frozen=True)
class _Linear:
    """A product with a rounded weight `[n, k]`, and what is applied to it.

    - `ops`: what is replaced; the last op gives the result.
    - `data`: `[..., k]`.
    """

    ops: tuple[Any, ...]
    data: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    has_relu: bool = False


@dataclass(frozen=True)
class LinearDynamicFp16(WeightPacking):
    """`mm`, `addmm` and `bmm` with a constant that was rounded to float16 and back become oneDNN's
    linear, which keeps the weight in float16.

    The packed weight is a tensor of layout `_mkldnn` like others; data and sums are of float32.
    oneDNN's relu gives 0 for NaN: only `fast` admits it. A weight stays that has numbers beyond
    float16, which oneDNN would replace by the largest.
    """

    name = "linear_dynamic_fp16"
    inductor = (
        "quantization.py:_register_linear_dynamic_fp16_weight_prepack_pass"
        ".linear_dynamic_fp16_weight_prepack"
    )
    roots = frozenset(("aten.mm.default", _ADDMM, _BMM))
    counter = "qlinear_weight_prepack_matcher_count"

    policy: Policy = "default"

    def _check(self, op: Any, linear: _Linear) -> None:
        self.check_tensors(linear.data, linear.weight, *_given(linear.bias))
        if linear.data.type.dtype is not torch.float32:  # type: ignore[attr-defined]
            raise Declined("the product is not of float32")
        if op.name == _ADDMM and (op.argument("alpha") != 1 or op.argument("beta") not in (0, 1)):
            raise Declined("factors")

    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        linear = _linear(op)
        self._check(op, linear)
        if APPROXIMATE in ADMITTED[self.policy]:
            linear = _with_relu(linear)
        made = weights.pack(linear.weight, ("fp16",), _packed, op)
        given = [handle(one, state.facts) for one in (linear.data, made, linear.bias)]
        call: Any = (
            ops.onednn.linear_relu_dynamic_fp16.default
            if linear.has_relu
            else ops.onednn.linear_dynamic_fp16.default
        )
        result = handle(linear.ops[-1].results[0], state.facts)

        def build() -> Any:
            computed = call(*given)
            if computed.ndim == result.ndim:
                return computed
            return aten.reshape(computed, list(result.shape))

        return Packed(linear.ops, build)


def _packed(weight: torch.Tensor) -> torch.Tensor:
    """The packed weight; oneDNN writes to what it packs. Raises Declined for large numbers."""
    if not bool(torch.isfinite(weight.half()).all()):
        raise Declined("the weight has numbers beyond float16")
    return torch.ops.onednn.linear_prepack_fp16(weight.clone(), None)


def _given(bias: SSAValue | None) -> list[SSAValue]:
    return [] if bias is None else [bias]


def _linear(op: Any) -> _Linear:
    """The product that an op computes. Raises Declined if its weight was not rounded."""
    bias, data, columns = None, op._operands[-2], op._operands[-1]
    if op.name == _ADDMM and op.argument("beta") != 0:
        bias = op.argument("self")
    turned = _maker(columns, _EXPAND) if op.name == _BMM else None
    path = [] if turned is None else [turned]
    turned = _maker(columns if turned is None else turned._operands[0], _PERMUTE)
    if turned is None or list(turned.argument("dims")) not in ([1, 0], [-1, 0]):
        raise Declined("the weight is not turned")
    wide = _maker(turned._operands[0], _ROUND)
    narrow = None if wide is None else _maker(wide._operands[0], _ROUND)
    if wide is None or narrow is None:
        raise Declined("the weight was not rounded")
    dtypes = (narrow.argument("dtype"), wide.argument("dtype"))
    if dtypes != (torch.float16, torch.float32) or not is_constant(narrow._operands[0]):
        raise Declined("the weight is no constant, or was not rounded to float16")
    path = [narrow, wide, turned, *path]
    if op.name == _BMM:
        data, path = _data_of(op, data, path)
    rows = narrow._operands[0].type.shape[0]
    if bias is not None and tuple(bias.type.shape) != (rows,):
        raise Declined("the bias is no vector of a row's size")
    linear = _Linear((*path, op), data, narrow._operands[0], bias)
    return _with_bias(linear, rows) if op.name == _BMM else linear


def _data_of(op: Any, data: Any, path: list[Any]) -> tuple[SSAValue, list[Any]]:
    """What each matrix of a batch is multiplied by one weight for."""
    expand = _maker(data, _EXPAND)
    if expand is None:
        return data, path
    if tuple(expand._operands[0].type.shape) != tuple(data.type.shape):
        return data, path
    return expand._operands[0], [*path, expand]


def _with_bias(linear: _Linear, rows: Any) -> _Linear:
    """With the vector that is added to a batch of products."""
    product = linear.ops[-1].results[0]
    add = only_reader(linear.ops[-1].results[0])
    if getattr(add, "name", "") != _ADD or len(add._operands) != 2 or add.argument("alpha") != 1:
        return linear
    first, second = add._operands
    bias: Any = second if first is product else first
    if tuple(bias.type.shape) != (rows,) or bias.type.dtype is not torch.float32:
        return linear
    return _Linear((*linear.ops, add), linear.data, linear.weight, bias)


def _with_relu(linear: _Linear) -> _Linear:
    """With the relu behind it, and a reshape between."""
    between = list[Any]()
    relu = only_reader(linear.ops[-1].results[0])
    if getattr(relu, "name", "") in _RESHAPES:
        between, relu = [relu], only_reader(relu.results[0])
    if getattr(relu, "name", "") != "aten.relu.default":
        return linear
    replaced = (*linear.ops, *between, relu)
    return _Linear(replaced, linear.data, linear.weight, linear.bias, has_relu=True)


def _maker(value: Any, name: str) -> Any:
    """The op of this name whose result is read here alone."""
    owner = value.owner
    return owner if getattr(owner, "name", None) == name and value.has_one_use() else None


__all__ = ["LinearDynamicFp16"]
