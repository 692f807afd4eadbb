"""`qconv_post_op_fusion`: oneDNN computes what follows a convolution of 8 bits together with it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, ops
from xductor.transforms.onednn.packing import laid_out
from xductor.transforms.quantized.dequantised_operands import DEQUANTISE, data_behind
from xductor.transforms.quantized.int8_operators import OTHER
from xductor.transforms.quantized.int8_post_ops import NARROW, Int8PostOps, Site, Sum
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import handle

QCONV = "xductor.qconv.default"


@dataclass(frozen=True)
class QconvPostOps(Int8PostOps):
    """Convolutions of 8 bits, with an activation, or with a sum and perhaps a relu of it; those
    over one dim with a relu alone.

    What is added has the result's sizes. It was quantised to the dtype of the quantised result;
    or, where nothing else reads it, it is added as it was dequantised. oneDNN writes the sum to
    it, or to a copy where it is read later.
    """

    name = "qconv_post_op_fusion"
    inductor = "quantization.py:_register_qconv_post_op_fusion_pass.qconv"
    roots = frozenset((QCONV,))
    counter = "qconv_unary_matcher_count"
    activations = frozenset((("relu", ""), ("hardtanh", ""), ("hardswish", ""), ("swish", "")))
    keeps_strides = False  # `laid_out` sees to the strides

    def build(self, site: Site, procedure: Procedure) -> Callable[[], Any]:
        state = procedure.state
        call, settings, last = site.call(state.facts), site.settings(), site.end.owner

        def made() -> Any:
            if site.sum is None:
                attribute = (site.activation, list(site.numbers), site.algorithm)
                return ops.xductor.qconv.default(*call, *settings, *attribute)
            added = site.sum
            return ops.xductor.qconv_binary.default(
                *call[:OTHER],
                handle(added.read, state.facts),
                *call[OTHER:],
                *settings,
                added.scale,
                added.zero,
                site.activation,
            )

        return lambda: laid_out(site.bounded(made()), last, state)

    def activations_of(self, op: SchemaOp) -> Collection[tuple[str, str]]:
        result: Any = op.results[0].type
        return (("relu", ""),) if result.rank == 3 else self.activations

    def sum_of(self, site: Site, other: SSAValue) -> Sum:
        result: Any = site.packed.results[0].type
        if result.rank != 4:
            raise Declined(f"a sum of {result.rank} dims")
        if site.quantise is not None:
            data = data_behind(other, (), NARROW)
            found: Any = data.values.type
            if data.is_by_tensors or found.dtype is not site.dtype:
                raise Declined(f"{found.dtype} is added to what becomes {site.dtype}")
            return Sum(data.values, data.scale, data.zero, is_finite=True)
        type_: Any = other.type
        if getattr(other.owner, "name", "") != DEQUANTISE or type_.dtype is not site.dtype:
            raise Declined("what is added was not quantised")
        data_behind(other, (), NARROW)
        if len(list(other.uses)) != 1:
            raise Declined("what is added is read elsewhere")
        return Sum(other, is_finite=True)


__all__ = ["QCONV", "QconvPostOps"]
