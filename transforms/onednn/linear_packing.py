"""`linear`, Inductor's packing of the weights of products for oneDNN and MKL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from xductor.ir import aten, ops
from xductor.ir.symbolic.symbol_values import number, symbol_values
from xductor.transforms.onednn.packed_weights import (
    PackedWeights,
    is_constant_or_joined,
)
from xductor.transforms.onednn.packing import Packed, WeightPacking, check_vector
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle

_ADDMM = "aten.addmm.default"

#: As many products of two numbers take oneDNN less time than MKL, both with a packed weight.
_LEAST_FLOAT32 = 1 << 20


@dataclass(frozen=True)
class LinearWeightPacking(WeightPacking):
    """`aten.mm` and `aten.addmm` become a packed linear: MKL's in float32, or oneDNN's.

    MKL's packs for a number of rows that is known, and computes nothing together with the product.

    - `mkl_is_narrow`: whether MKL computes float32 in vectors half as wide as oneDNN's. Large
      products are oneDNN's then; Inductor leaves them to MKL.
    - `packs_for_mkl`: whether float32 is MKL's: not in a compile ahead of time, whose constants
      move in memory, nor where products of float32 may be computed in a narrower dtype.
    - `packs_float32`: whether float32 is packed at all.
    """

    name = "mkldnn_linear_packing"
    inductor = "mkldnn_fusion.py:_register_weight_pack_pass.linear"
    roots = frozenset(("aten.mm.default", _ADDMM))
    counter = "mkldnn_linear_weight_pack_matcher_count"

    mkl_is_narrow: bool = False
    packs_for_mkl: bool = True
    packs_float32: bool = True

    def _check(self, op: Any) -> None:
        bias, data, weight = _operands(op)
        if not is_constant_or_joined(weight):
            raise Declined("the weight is no constant")
        self.check_tensors(data, weight, *([] if bias is None else [bias]))
        if op.name == _ADDMM and (op.argument("alpha") != 1 or op.argument("beta") not in (0, 1)):
            raise Declined("factors")
        if weight.type.dtype is torch.float32 and not self.packs_float32:
            raise Declined("without MKL, products of float32 are not packed")
        if bias is not None:
            if tuple(bias.type.shape) != tuple(weight.type.shape[1:]):
                raise Declined("the bias is no vector of a row's size")
            check_vector(bias, "elements of the bias")

    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        self._check(op)
        return Packed([op], self._call(op, weights, state), relaid=True)

    def _call(self, op: Any, weights: PackedWeights, state: GraphState) -> Callable[[], Any]:
        """Packs the weight; returns what builds the call."""
        bias, data, weight = _operands(op)
        rows, facts = data.type.shape[0], state.facts
        if self._is_mkls(rows, weight.type):
            reorder: Any = torch.ops.mkl._mkl_reorder_linear_weight
            made = weights.pack(weight, ("mkl", rows), lambda one: reorder(one.t(), rows), op)
            x, packed, plain, b = (handle(one, facts) for one in (data, made, weight, bias))
            return lambda: ops.mkl._mkl_linear.default(
                x, packed, aten.permute(plain, [1, 0]), b, rows
            )
        reorder = torch.ops.mkldnn._reorder_linear_weight
        hint = rows if isinstance(rows, int) else _usual(rows, state)
        made = weights.pack(weight, ("mkldnn", hint), lambda one: reorder(one.t(), hint), op)
        x, packed, b = (handle(one, facts) for one in (data, made, bias))
        return lambda: ops.mkldnn._linear_pointwise.default(x, packed, b, "none", [], "")

    def _is_mkls(self, rows: Any, weight: Any) -> bool:
        """Whether MKL packs the weight. It must know the rows, and should not be slower."""
        if weight.dtype is not torch.float32 or not self.packs_for_mkl or type(rows) is not int:
            return False
        return not self.mkl_is_narrow or rows * prod(weight.shape) < _LEAST_FLOAT32


def _usual(rows: Any, state: GraphState) -> int:
    """The number of rows that there are for the usual values of symbols, for which it is packed."""
    return number(rows, symbol_values(state.graph.symbols.data))


def _operands(op: Any) -> tuple[Any, Any, Any]:
    """Bias, data and weight of a product; no bias where it is not read."""
    if op.name != _ADDMM:
        return None, op.argument("self"), op.argument("mat2")
    bias = None if op.argument("beta") == 0 else op.argument("self")
    return bias, op.argument("mat1"), op.argument("mat2")


__all__ = ["LinearWeightPacking"]
