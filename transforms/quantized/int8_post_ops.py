"""The base of passes that let oneDNN compute what follows a packed call of 8 bits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, GraphOp, SchemaOp, TensorType, aten
from xductor.transforms.analysis.readers import only_reader
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.matching.matcher import Match
from xductor.transforms.onednn.packed_calls import NOTHING, arguments
from xductor.transforms.onednn.unary_fusion import activation_of
from xductor.transforms.passes.numerics import (
    ADMITTED,
    APPROXIMATE,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    NumericsByDtype,
    Policy,
)
from xductor.transforms.quantized.dequantised_operands import CAST, WIDE, check_numbers, is_finite
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

_ADD, _RELU, _COPY = "aten.add.Tensor", "aten.relu.default", "aten.clone.default"
_QUANTISE = "quantized_decomposed.quantize_per_tensor.default"
#: The dtypes to which PT2E quantises.
NARROW = (torch.uint8, torch.int8)

#: The last arguments of a packed call: how it is quantised, its dtype, and its activation.
_SETTINGS = 6


class Sum(NamedTuple):
    """A sum behind a packed call.

    - `read`: what oneDNN adds, which was quantised with `scale` and `zero`, or as it is.
    - `is_finite`: whether it is known to hold no NaN and no infinities.
    """

    read: SSAValue
    scale: float = 1.0
    zero: int = 0
    is_finite: bool = False


@dataclass
class Site:
    """A packed call, and what follows it up to `end`, the value that is replaced.

    - `ops`: the ops that follow.
    - `quantise`: the last of them, if it quantises.
    """

    packed: SchemaOp
    end: SSAValue
    ops: list[Any] = field(default_factory=list[Any])
    activation: str = NOTHING
    numbers: Sequence[Any] = ()
    algorithm: str = ""
    sum: Sum | None = None
    quantise: Any = None

    @property
    def has_post_ops(self) -> bool:
        return (self.activation, self.sum, self.quantise) != (NOTHING, None, None)

    @property
    def dtype(self) -> torch.dtype:
        type_: Any = self.end.type
        return type_.dtype

    def match(self) -> Match:
        read = [*self.packed._operands, *([] if self.sum is None else [self.sum.read])]
        last: Any = self.end.owner
        return Match.of(last, [self.packed, *self.ops], [self.end], read)

    def settings(self) -> list[Any]:
        """Scale, zero point and dtype of the result."""
        if self.quantise is None:
            return [1.0, 0, self.dtype]
        return [self.quantise.argument(one) for one in ("scale", "zero_point", "dtype")]

    def call(self, facts: Facts) -> list[Any]:
        """The arguments of the packed call but for its settings."""
        return arguments(self.packed, facts)[:-_SETTINGS]

    def bounded(self, made: Any) -> Any:
        """The result within the bounds of the quantisation, where its dtype has wider ones."""
        if self.quantise is None:
            return made
        low, high = (self.quantise.argument(one) for one in ("quant_min", "quant_max"))
        limits = torch.iinfo(self.dtype)
        if low > limits.min:
            made = aten.clamp_min(made, low)
        return aten.clamp_max(made, high) if high < limits.max else made


@dataclass(frozen=True)
class Int8PostOps(ProceduralPass):
    """What follows a packed call of 8 bits becomes part of it, in this order: a sum or an
    activation, a relu of a sum, a quantisation.

    Nothing else reads what stands between. A copy in another layout moves behind them. Casts go:
    what is quantised is rounded once, and may therefore differ by one step of the quantisation.
    oneDNN's relu and hardtanh give a number for NaN: where the result is not quantised, and may be
    NaN, only `fast` admits them.

    - `activations`: those of oneDNN's that the call computes, with their algorithms.
    - `keeps_strides`: whether the call lays its result out as what it stands for.
    """

    stage = "post_grad"
    numerics = NumericsByDtype({torch.float32: REASSOCIATES, torch.bfloat16: ROUNDS_LESS_OFTEN})
    activations: ClassVar[Collection[tuple[str, str]]]
    keeps_strides: ClassVar[bool] = True

    policy: Policy = "default"

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        # The last first: of a sum of two calls, the later one takes the result of the earlier.
        return sum(self._replace(op, procedure) for op in reversed(ops) if op.parent is not None)

    def _replace(self, op: SchemaOp, procedure: Procedure) -> bool:
        if not _is_plain(op):
            return False
        try:
            site = self._site(op, procedure)
            if not site.has_post_ops:
                return False
            build = self.build(site, procedure)
            procedure.replace(site.match(), build, strides=self.keeps_strides)
        except REFUSALS as refusal:
            procedure.refuse(op, refusal)
            return False
        return True

    @abstractmethod
    def build(self, site: Site, procedure: Procedure) -> Any:
        """What makes the one call that stands for a site."""

    def activations_of(self, op: SchemaOp) -> Collection[tuple[str, str]]:
        """The activations that a call computes."""
        return self.activations

    @abstractmethod
    def sum_of(self, site: Site, other: SSAValue) -> Sum:
        """The sum with a tensor at a site. Raises Declined if oneDNN does not compute it."""

    def _site(self, op: SchemaOp, procedure: Procedure) -> Site:
        copy = _copy_of(op)
        start, ops = (op, []) if copy is None else (copy, [copy])
        add = only_reader(start.results[0])
        if add is not None and add.name == _ADD:
            return self._with_sum(Site(op, start.results[0], ops), add, procedure)
        site = Site(op, start.results[0], ops)
        found = activation_of(start, procedure)
        if found is None:
            return self._quantised(site)
        kind = (found.activation.name, found.activation.algorithm)
        if kind not in self.activations_of(op) or not found.activation.takes(*found.numbers):
            raise Declined(f"oneDNN computes no {found.activation.name} with it")
        site.activation, site.algorithm, site.numbers = *kind, found.numbers
        site.ops = [*ops, *(one for one in found.match.removable() if one is not start)]
        site.end = found.match.outputs[0]
        site = self._quantised(site)
        if found.activation.numerics == APPROXIMATE:
            self._check_nan(site, procedure.state.graph)
        return site

    def _with_sum(self, site: Site, add: SchemaOp, procedure: Procedure) -> Site:
        """The site with a sum behind it, and the sum's relu and quantisation if there are any."""
        other = _beside(site.end, add, procedure.state.facts)
        graph = procedure.state.graph
        summed = Site(site.packed, add.results[0], [*site.ops, add])
        relu = _reader_through_casts(add.results[0])[0]
        if relu is not None and relu.name == _RELU:
            with_relu = _beyond(Site(site.packed, summed.end, summed.ops), relu)
            with_relu.activation = "relu"
            try:
                return self._summed(with_relu, other, graph)
            except Declined as refusal:
                procedure.refuse(site.packed, refusal)
        return self._summed(summed, other, graph)

    def _summed(self, site: Site, other: SSAValue, graph: GraphOp) -> Site:
        site = self._quantised(site)
        site.sum = self.sum_of(site, other)
        if site.activation != NOTHING:
            self._check_nan(site, graph)
        return site

    def _quantised(self, site: Site) -> Site:
        """The site with the quantisation behind it, if there is one."""
        reader = _reader_through_casts(site.end)[0]
        if reader is None or reader.name != _QUANTISE:
            return site
        low, high, dtype = (reader.argument(one) for one in ("quant_min", "quant_max", "dtype"))
        if dtype not in NARROW or low > high:
            raise Declined(f"quantised to {dtype} within {low} and {high}")
        check_numbers(reader.argument("scale"), reader.argument("zero_point"))
        site = _beyond(site, reader)
        site.quantise = reader
        return site

    def _check_nan(self, site: Site, graph: GraphOp) -> None:
        """Raises Declined where a result that may be NaN would become a number."""
        if site.quantise is not None or APPROXIMATE in ADMITTED[self.policy]:
            return
        added = site.sum is None or site.sum.is_finite
        by_numbers = isinstance(site.packed.argument("x_scale"), float)  # numbers are finite
        if not (added and by_numbers and is_finite(site.packed.argument("bias"), graph)):
            raise Declined(f"oneDNN's {site.activation} gives a number for NaN")


def _is_plain(op: SchemaOp) -> bool:
    """Whether nothing is done to the result of a packed call yet."""
    *_, scale, zero, dtype, name, _, _ = op.argument_tree(op.args.data)
    return (scale, zero, name) == (1.0, 0, NOTHING) and dtype in WIDE


def _copy_of(op: SchemaOp) -> Any:
    """The copy in another layout that alone reads a result; None if there is none."""
    reader = only_reader(op.results[0])
    return reader if reader is not None and reader.name == _COPY else None


def _beside(result: Any, add: SchemaOp, facts: Facts) -> SSAValue:
    """What is added to a result. Raises Declined for what has not its sizes."""
    first, second = add.argument("self"), add.argument("other")
    other = second if first is result else first
    if not isinstance(other, SSAValue) or other is result or add.argument("alpha") != 1:
        raise Declined("the sum is none of two tensors")
    type_ = other.type
    if type(type_) is not TensorType or type_.dtype not in WIDE or type_.device.type != "cpu":
        raise Declined(f"{type_} stands beside the result")
    if not known_equal(type_.shape, result.type.shape, facts):
        raise Declined(f"sizes {list(type_.shape)} beside {list(result.type.shape)}")
    return other


def _reader_through_casts(value: SSAValue) -> tuple[Any, list[Any]]:
    """The op that alone reads a value, through casts between wide dtypes, and these casts."""
    casts: list[Any] = []
    reader = only_reader(value)
    while reader is not None and reader.name == CAST and reader.results[0].type.dtype in WIDE:
        casts.append(reader)
        reader = only_reader(reader.results[0])
    return reader, casts


def _beyond(site: Site, reader: Any) -> Site:
    """The site with an op that alone reads its end, through casts."""
    found, casts = _reader_through_casts(site.end)
    assert found is reader
    site.ops = [*site.ops, *casts, reader]
    site.end = reader.results[0]
    return site


__all__ = ["NARROW", "Int8PostOps", "Site", "Sum"]
