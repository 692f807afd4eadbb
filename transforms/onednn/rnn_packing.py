"""`mkldnn_rnn_layer`: Inductor's packing of the weights of recurrent layers for oneDNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms.onednn.packed_weights import PackedWeights, is_constant
from xductor.transforms.onednn.packing import Packed, WeightPacking
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import handle

#: What the order of a packed weight depends on, beside the two weights.
_SETTINGS = ("hidden_size", "reverse", "has_biases", "batch_first")


@dataclass(frozen=True)
class RnnWeightPacking(WeightPacking):
    """`aten.mkldnn_rnn_layer` with constant weights reads them as oneDNN wants them."""

    name = "mkldnn_rnn_layer"
    inductor = "mkldnn_fusion.py:_register_weight_pack_pass.mkldnn_rnn_layer"
    roots = frozenset(("aten.mkldnn_rnn_layer.default",))
    counter = "mkldnn_rnn_weight_pack_matcher_count"

    def _check(self, op: Any) -> None:
        weights = [op.argument(name) for name in ("weight0", "weight1")]
        if not all(map(is_constant, weights)):
            raise Declined("the weights are no constants")
        if op.argument("train"):
            raise Declined("packed weights have no gradients")
        self.check_tensors(*[op.argument(name) for name in ("input", "hx_", "cx_")], *weights)

    def packed(self, op: Any, weights: PackedWeights, state: GraphState) -> Packed:
        self._check(op)
        pair = [op.argument(name) for name in ("weight0", "weight1")]
        settings = tuple(op.argument(name) for name in _SETTINGS)
        reorder = torch.ops.mkldnn._reorder_mkldnn_rnn_layer_weight
        made = weights.pack_together(pair, settings, lambda given: reorder(*given, *settings), op)
        x, _, _, *others = [op.argument(name) for name in op.table.index]
        given = [handle(one, state.facts) for one in (x, *made, *others)]
        return Packed([op], lambda: list(aten.mkldnn_rnn_layer(*given)))


__all__ = ["RnnWeightPacking"]
