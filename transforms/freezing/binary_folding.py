"""`binary_folding`: arithmetic with constants after a convolution or a product, in its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, GraphOp, SchemaOp, aten, prims
from xductor.transforms import APPROXIMATE, REASSOCIATES, Tensor
from xductor.transforms.freezing.computations import Addmm, Convolution
from xductor.transforms.freezing.sites import (
    KINDS,
    Site,
    is_of_constants,
    is_read_once,
    site_of,
)
from xductor.transforms.passes.numerics import ADMITTED, NumericsByDtype, Policy, numerics_at
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class BinaryFolding(ProceduralPass):
    """`conv(x, w, b) * c` becomes `conv(x, w * c, b * c)`; sums, differences and quotients alike.

    The new weight and bias depend on constants alone, so `constant_fold` computes them at compile
    time. The other operand is a number, or a tensor of the module with one element or one for each
    channel; it is finite, and not 0 where it is a divisor. 16-bit weights would be rounded once
    more, which only `fast` admits. The sum that begins a hardsigmoid stays.

    - `enable_linear_binary_folding`: fold into products too, not only into convolutions.
    """

    name = "binary_folding"
    stage = "post_grad"
    inductor = "binary_folding.py:folded_op"
    numerics = NumericsByDtype(
        {
            torch.float32: REASSOCIATES,
            torch.float64: REASSOCIATES,
            torch.float16: APPROXIMATE,
            torch.bfloat16: APPROXIMATE,
        }
    )
    roots = frozenset(KINDS)
    counter = "binary_folding"

    enable_linear_binary_folding: bool = True
    policy: Policy = "default"

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        folded, state = 0, procedure.state
        for op in ops:
            site = site_of(op)
            if site is None:
                continue
            try:
                self._check(site, state.graph)
                procedure.replace(site.match(), Folded(site, state.facts).build)
                folded += 1
            except REFUSALS as refusal:
                procedure.refuse(op, refusal)
        return folded

    def _check(self, site: Site, graph: GraphOp) -> None:
        """Raise Declined where a computation must keep the other operand."""
        computation, type_ = site.computation, site.result.type
        if not self.enable_linear_binary_folding and not isinstance(computation, Convolution):
            raise Declined("products are not folded: enable_linear_binary_folding is off")
        if numerics_at(self.numerics, type_.dtype) not in ADMITTED[self.policy]:
            raise Declined(f"a weight of {type_.dtype} would be rounded once more")
        for value in site.values_between:
            if len(list(value.uses)) != 1:
                raise Declined("what stands between is used elsewhere too")
        for value in (computation.weight, computation.bias):
            if value is not None and not is_of_constants(value):
                raise Declined("a weight or a bias is no constant")
        if not is_read_once(computation.weight, graph):
            raise Declined("the weight is used elsewhere too, and would be held twice")
        if _begins_hardsigmoid(site):
            raise Declined("oneDNN computes the whole hardsigmoid with the call")
        site.check_other(graph)


def _begins_hardsigmoid(site: Site) -> bool:
    """Whether the result, `y + 3`, is clamped to 0 and 6."""
    if site.kind != "add" or isinstance(site.other, SSAValue) or site.other != 3:
        return False
    low = _only_reader(site.op, "aten.clamp_min.default")
    if low is None or low.argument("min") != 0:
        return False
    high = _only_reader(low, "aten.clamp_max.default")
    return high is not None and high.argument("max") == 6


def _only_reader(op: SchemaOp, name: str) -> Any:
    """The one op that reads the result of an op, if it has this name; else None."""
    readers: list[Any] = [use.operation for use in op.results[0].uses]
    return readers[0] if [one.name for one in readers] == [name] else None


class Folded:
    """Builds the replacement of a site: the computation with another weight and bias."""

    def __init__(self, site: Site, facts: Facts) -> None:
        self.site = site
        self.computation = site.computation
        self.facts = facts

    def build(self) -> Any:
        """Build the value that replaces the result of the site."""
        site, computation = self.site, self.computation
        weight, bias = handle(computation.weight, self.facts), self._bias()
        other = self._vector()
        if site.kind in ("mul", "div"):
            scale = aten.mul if site.kind == "mul" else aten.div
            weight = computation.scaled_weight(weight, other, scale)
            bias = None if bias is None else scale(bias, other)
        else:
            sign = -1 if site.kind == "sub" else 1
            result, beside = (1, sign * site.alpha) if site.is_first else (sign * site.alpha, 1)
            weight = _times(weight, result)
            before = self._no_bias() if bias is None else _times(bias, result)
            bias = aten.add(before, other, alpha=beside)
        made = computation.call(handle(computation.data, self.facts), weight, bias)
        if site.reshape is None:
            return made
        return aten.reshape(made, list(handle(site.result, self.facts).shape))

    def _bias(self) -> Any:
        """The bias that the computation adds; None if it adds none."""
        bias = handle(self.computation.bias, self.facts)
        if bias is None or not isinstance(self.computation, Addmm):
            return bias
        return _times(bias, self.computation.op.argument("beta"))

    def _no_bias(self) -> Any:
        """Zeros in the form of a bias."""
        weight = handle(self.computation.weight, self.facts)
        sizes = [self.computation.channels]
        return aten.full(sizes, 0.0, dtype=weight.dtype, device=weight.device, pin_memory=False)

    def _vector(self) -> Any:
        """The other operand: a number, or a tensor of one dim in the weight's dtype."""
        other = handle(self.site.other, self.facts)
        if not isinstance(other, Tensor):
            return other
        vector = aten.reshape(other, [-1])
        dtype = handle(self.computation.weight, self.facts).dtype
        return vector if vector.dtype is dtype else prims.convert_element_type(vector, dtype)


def _times(tensor: Any, number: Any) -> Any:
    return tensor if number == 1 else aten.mul(tensor, number)


__all__ = ["BinaryFolding"]
