"""`fuse_split_linear_add_pass`: a sum of products of pieces as one product of what was cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, ClassVar

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import TensorType, TorchOp, aten
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.functions.torch_calls import AtenCall, aten_call
from xductor.ir.functions.torch_spellings import spelled
from xductor.ir.symbolic.expressions import add
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.editing.aliasing import is_outside
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.matching.matcher import Match
from xductor.transforms.matmul.products import (
    PRODUCTS,
    Product,
    joined,
    product_of,
)
from xductor.transforms.passes.numerics import REASSOCIATES, ROUNDS_LESS_OFTEN, Declared
from xductor.transforms.pieces.building import Reader
from xductor.transforms.pieces.joined_reads import JoinedReads
from xductor.transforms.pieces.joins import Join, Run, runs_of
from xductor.transforms.pieces.regions import strided
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

_ADD = "aten.add.Tensor"
_SUMS = frozenset((_ADD,))


#: A product that is added up, and the op that makes it.
Term = tuple[TorchOp, Product]


@dataclass
class Sum:
    """A tree of additions that only its last one lets others see.

    - `ops`: the additions and products. `products`, with the op of each; `others`: further terms.
    """

    op: TorchOp
    ops: list[TorchOp] = field(default_factory=list["TorchOp"])
    products: list[Term] = field(default_factory=list["Term"])
    others: list[Any] = field(default_factory=list[Any])


@dataclass(frozen=True)
class FuseSplitLinearAddPass(ProceduralPass):
    """Linears of the pieces of one tensor, added up, as a linear of the tensor.

    The weights are put together in the graph along what is summed over, and the biases added up.
    Pieces are found by where they lie, in any order; further terms of the sum are added at the end.

    - `freezing`: whether what is made of weights alone is made once and for all.
    """

    name = "fuse_split_linear_add_pass"
    stage = "pre_grad"
    inductor = "pre_grad.py:fuse_split_linear_add_pass"
    numerics: ClassVar[Declared] = {
        torch.float32: REASSOCIATES,
        torch.float64: REASSOCIATES,
        torch.float16: ROUNDS_LESS_OFTEN,
        torch.bfloat16: ROUNDS_LESS_OFTEN,
    }
    roots = spelled(PRODUCTS)

    freezing: bool = False

    def ops_in(self, analyses: Analyses) -> list[Any]:
        return analyses.named(spelled(_SUMS)) if analyses.named(self.roots) else []  # type: ignore[arg-type]

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        work = _Work(self, procedure)
        return sum(work.visit(op) for op in reversed(ops))


class _Work:
    """The pass over one graph."""

    def __init__(self, one: FuseSplitLinearAddPass, procedure: Procedure) -> None:
        self.one = one
        self.procedure = procedure
        self.state = procedure.state
        self.reads = JoinedReads(self.state)
        self.sizes = UsualSizes(self.state.graph)
        self.seen: set[TorchOp] = set()

    def visit(self, op: Any) -> bool:
        """Replace a sum, if it is one of products of pieces."""
        if op in self.seen or op.parent is None:
            return False
        found = self._sum(op)
        if len(found.products) < 2:
            return False
        for run, chosen in self._choices(found):
            try:
                if self._replace(found, run, chosen):
                    self.reads.regions.forget()
                    return True
            except REFUSALS as refusal:
                self.procedure.refuse(op, refusal)
        return False

    def _sum(self, op: TorchOp) -> Sum:
        found = Sum(op)
        call = _addition(op)
        if call is not None and call.results[0].type.dtype in type(self.one).numerics:
            self._add_terms(call, found)
        return found

    def _add_terms(self, call: AtenCall, found: Sum) -> None:
        found.ops.append(call.op)
        self.seen.add(call.op)
        for term in (call.argument("self"), call.argument("other")):
            inner = self._call_within(term, found.op)
            addition = None if inner is None else _addition(inner.op)
            product = None if inner is None else self._product_of(inner)
            if addition is not None:
                self._add_terms(addition, found)
            elif inner is not None and product is not None:
                found.products.append((inner.op, product))
            else:
                found.others.append(term)

    def _product_of(self, call: AtenCall) -> Product | None:
        """A call as a product, if its bias, if there is one, is a number for each column."""
        product = product_of(call) if call.name in PRODUCTS else None
        if product is None or not product.has_plain_bias(self.state.facts):
            return None
        known = strided(product.x) is not None and strided(product.weight) is not None
        return product if known else None

    def _call_within(self, term: Any, root: TorchOp) -> AtenCall | None:
        """The call that makes a term for this sum alone, of its kind and under its modes."""
        if not isinstance(term, OpResult) or len(list(term.uses)) != 1:
            return None
        before, after = strided(term), strided(root.results[0])
        if before is None or after is None or before.dtype is not after.dtype:
            return None
        if not known_equal(before.shape, after.shape, self.state.facts):
            return None
        op: Any = term.op
        return aten_call(op) if self.state.region(op) == self.state.region(root) else None

    def _choices(self, found: Sum) -> Iterator[tuple[Run, list[Term]]]:
        """Products of pieces that lie behind each other, whose weights are alike."""
        by_form: dict[Any, list[Term]] = {}
        for op, product in found.products:
            source = self.reads.regions.of(product.x)
            if source is not None:
                form = (source.reading.root, *_kind(product))
                by_form.setdefault(form, []).append((op, product))
        for terms in by_form.values():
            if len(terms) < 2:
                continue
            terms.sort(key=lambda one: self.sizes.usual(_offset(one[1])))
            runs = runs_of(_joined(found.op, terms), self.reads.regions)
            ends = list(accumulate(len(run.parts) for run in runs))
            for run, end in zip(runs, ends, strict=True):
                if len(run.parts) > 1:
                    yield run, terms[end - len(run.parts) : end]

    def _replace(self, found: Sum, run: Run, chosen: list[Term]) -> bool:
        join, source = _joined(found.op, chosen), run.source
        products = [product for _, product in chosen]
        if source is None or not self._pays(products, found.op):
            return False
        way = self.reads.way(source, join.type.shape, join.parts)
        if way is None:
            return False
        self.reads.check_types(join)
        self.reads.check_modes(join, source.copies)
        reader = Reader(self.state.facts)
        replaced = [op for op, _ in chosen]
        kept = [op.results[0] for op, _ in found.products if op not in replaced]
        others = [*kept, *found.others]

        def build() -> Any:
            made = self._product(reader.build(way, source.reading), products)
            for term in others:
                if isinstance(term, SSAValue) or term != 0:
                    made = aten.add(made, self._handle(term))
            return made

        values = [one for product in products for one in product[:3] if one is not None]
        values += [one for one in others if isinstance(one, SSAValue)]
        matched = [*found.ops, *replaced]
        match = Match.of(found.op, matched, found.op.results[:1], values, source.copies)
        self.procedure.replace(match, build)
        return True

    def _handle(self, item: Any) -> Any:
        return value_handle(item, self.state.facts) if isinstance(item, SSAValue) else item

    def _product(self, x: Any, products: Sequence[Product]) -> Any:
        weights = [self._handle(one.weight) for one in products]
        bias: Any = None
        for one in products:
            if one.bias is not None:
                given = self._handle(one.bias)
                bias = given if bias is None else aten.add(bias, given)
        return joined(products, weights, outer=False).multiplied(x, bias)

    def _pays(self, products: Sequence[Product], op: TorchOp) -> bool:
        """Whether one product is less to read and write.

        The multiplications are the same. A result of each product is not written and read again;
        the weights are read and written to be put together.
        """
        if self.one.freezing and all(is_outside(one.weight) for one in products):
            return True
        saved = len(products) * self.sizes.elements(op.results[0])
        return saved > sum(self.sizes.elements(one.weight) for one in products)


def _addition(op: TorchOp) -> AtenCall | None:
    """A call as an addition without a factor; None for another one."""
    call = aten_call(op)
    if call is None or call.name != _ADD or call.argument("alpha") != 1:
        return None
    return call if strided(call.results[0]) is not None else None


def _kind(product: Product) -> tuple[Any, ...]:
    """What products that are added up as one have in common besides what they read."""
    weight: Any = product.weight.type
    bias: Any = weight if product.bias is None else product.bias.type
    asks = ["requires_grad" in one.data.flags for one in (weight, bias)]
    return weight.dtype, weight.device, *asks


def _offset(product: Product) -> Any:
    type_: Any = product.x.type
    return type_.offset


def _joined(op: TorchOp, terms: Sequence[Term]) -> Join:
    """What a cat of what terms read, along its last dim, would be at an op."""
    parts = [product.x for _, product in terms]
    types: list[Any] = [one.type for one in parts]
    *lead, width = types[0].shape
    for one in types[1:]:
        width = add(width, one.shape[-1])
    shape = (*lead, width)
    data = types[0].data._replace(shape=shape, stride=contiguous_strides(shape), offset=0)
    return Join(op, tuple(parts), len(lead), TensorType(data), False)


__all__ = ["FuseSplitLinearAddPass"]
