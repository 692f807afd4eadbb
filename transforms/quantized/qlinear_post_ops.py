"""`qlinear_post_op_fusion`: oneDNN computes what follows a product of 8 bits together with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import ops
from xductor.transforms.quantized.int8_operators import OTHER
from xductor.transforms.quantized.int8_post_ops import Int8PostOps, Site, Sum
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import handle

QLINEAR = "onednn.qlinear_pointwise.default"
QLINEAR_BY_TENSORS = "onednn.qlinear_pointwise.tensor"


@dataclass(frozen=True)
class QlinearPostOps(Int8PostOps):
    """Products of 8 bits, with a relu or GELU, or with a sum and perhaps a relu of it.

    What is added is float32 or bfloat16, and has the result's sizes. Scale and zero point of the
    data may be tensors.
    """

    name = "qlinear_post_op_fusion"
    inductor = "quantization.py:_register_qlinear_post_op_fusion_pass.qlinear_post_op_fusion"
    roots = frozenset((QLINEAR, QLINEAR_BY_TENSORS))
    counter = "qlinear_unary_matcher_count"
    activations = frozenset((("relu", ""), ("gelu", "none"), ("gelu", "tanh")))

    def build(self, site: Site, procedure: Procedure) -> Callable[[], Any]:
        facts = procedure.state.facts
        call, settings = site.call(facts), site.settings()
        calls, by_tensors = ops.onednn.qlinear_pointwise, site.packed.name == QLINEAR_BY_TENSORS

        def made() -> Any:
            if site.sum is None:
                attribute = (site.activation, list(site.numbers), site.algorithm)
                plain = calls.tensor if by_tensors else calls.default
                return plain(*call, *settings, *attribute)
            sums = ops.xductor.qlinear_binary
            binary = sums.tensor if by_tensors else sums.default
            other = handle(site.sum.read, facts)
            return binary(*call[:OTHER], other, *call[OTHER:], *settings, site.activation)

        return lambda: site.bounded(made())

    def sum_of(self, site: Site, other: SSAValue) -> Sum:
        return Sum(other)


__all__ = ["QLINEAR", "QLINEAR_BY_TENSORS", "QlinearPostOps"]
