"""`convolution`, Inductor's packing of the weights of convolutions for oneDNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from xductor.ir import ops
from xductor.transforms.onednn.packed_weights import PackedWeights, is_constant
from xductor.transforms.onednn.packing import Packed, WeightPacking, check_vector
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle


@dataclass(frozen=True)
class ConvolutionWeightPacking(WeightPacking):
    """`aten.convolution` over two or three dims becomes a packed call, transposed or not.

    How a weight is packed depends on the sizes of the data. Where these are symbols, the weight
    stays as it is, and a transposed convolution too.
    """

    name = "mkldnn_convolution_packing"
    inductor = "mkldnn_fusion.py:_register_weight_pack_pass.convolution"
    roots = frozenset(("aten.convolution.default",))
    counter = "mkldnn_conv_weight_pack_matcher_count"

    def _check(self, op: Any) -> None:
        data, weight = op.argument("input"), op.argument("weight")
        if not is_constant(weight):
            raise Declined("the weight is no constant")
        bias = op.argument("bias")
        self.check_tensors(data, weight, *([] if bias is None else [bias]))
        if bias is not None:
            check_vector(bias, "elements of the bias")
        if not data.type.rank == weight.type.rank in (4, 5):
            raise Declined(f"data of {data.type.rank} dims, a weight of {weight.type.rank}")
        if op.argument("transposed"):
            _check_transposed(op, data.type.shape, weight.type.shape)

    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        self._check(op)
        facts, sizes = state.facts, op.argument("input").type.shape
        transposed = op.argument("transposed")
        names = ("padding", "output_padding", "stride", "dilation", "groups")
        given = [_numbers(op, name) for name in names if transposed or name != "output_padding"]
        weight = op.argument("weight")
        if _are_numbers(sizes):
            pack: Any = (
                torch.ops.mkldnn._reorder_convolution_transpose_weight
                if transposed
                else torch.ops.mkldnn._reorder_convolution_weight
            )
            how = (transposed, repr(given), tuple(sizes))
            weight = weights.pack(weight, how, lambda one: pack(one, *given, list(sizes)), op)
        call = (
            ops.mkldnn._convolution_transpose_pointwise.default
            if transposed
            else ops.mkldnn._convolution_pointwise.default
        )
        tensors = [op.argument("input"), weight, op.argument("bias")]

        def build() -> Any:
            return call(*[handle(one, facts) for one in tensors], *given, "none", [], "")

        return Packed([op], build, relaid=True)


def _check_transposed(op: Any, sizes: Any, weight: Any) -> None:
    """Raises Declined for transposed convolutions that oneDNN does not compute."""
    if not _are_numbers(sizes):
        raise Declined("a transposed convolution of data with symbolic sizes")
    groups = op.argument("groups")
    if groups > 1 and groups == weight[0]:
        raise Declined("a transposed convolution of each channel by itself")
    pairs = zip(_numbers(op, "output_padding"), _numbers(op, "stride"), strict=False)
    if any(more >= step for more, step in pairs):
        raise Declined("more padding of the output than its stride")


def _numbers(op: Any, name: str) -> Any:
    """An argument that is numbers. Raises Declined for others."""
    found = op.argument(name)
    numbers = list(found) if isinstance(found, tuple | list) else [found]
    if not _are_numbers(numbers):
        raise Declined(f"{name} {found} is not known")
    return numbers if isinstance(found, tuple | list) else found


def _are_numbers(sizes: Any) -> bool:
    return all(isinstance(size, int) for size in sizes)


__all__ = ["ConvolutionWeightPacking"]
