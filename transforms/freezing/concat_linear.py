"""`matmul_fuse_pattern` and its kin: products of one tensor with constants become one product."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

from xdsl.ir import SSAValue

from xductor.ir import Facts, GetAttrOp, GraphOp, aten
from xductor.transforms.freezing.computations import is_plain, sizes_of
from xductor.transforms.freezing.sites import is_read_once
from xductor.transforms.passes.numerics import REASSOCIATES
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.layouts import check_followers
from xductor.transforms.rewriting.matcher import Match
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class ConcatLinear(ProceduralPass):
    """Products of one tensor by weights that only they read become one product.

    The weights stand side by side in one constant, and each result is a slice of the product; it is
    copied where readers cannot follow to other strides.

    - `enable_concat_linear`: on a CPU too.

    Class attributes: `fewest`, the fewest products that are worth it.
    """

    stage = "post_grad"
    numerics = REASSOCIATES
    fewest: ClassVar[int]

    enable_concat_linear: bool = False

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        fused = 0
        for group in self._groups(ops, procedure.state.graph):
            hoisted = _Hoisted(group, procedure.state)
            work = _Fused(group, procedure.state)
            try:
                procedure.replace(work.match(), work.build, strides=False)
                fused += 1
            except REFUSALS as refusal:
                hoisted.undo()
                procedure.refuse(group[0], refusal)
        return fused

    def _groups(self, ops: Sequence[Any], graph: GraphOp) -> Iterator[list[Any]]:
        """The products of one tensor, where they are enough."""
        by_form: dict[Hashable, list[Any]] = {}
        for op in ops:
            form = self._form(op, graph)
            if form is not None:
                by_form.setdefault(form, []).append(op)
        for group in by_form.values():
            if len(group) >= self.fewest:
                yield group

    def _form(self, op: Any, graph: GraphOp) -> Hashable | None:
        """What the products of a group share; None if a product joins no group."""
        *bias, data, weight = op._operands
        if bias and not (op.argument("alpha") == 1 and op.argument("beta") == 1):
            return None
        if not all(_is_constant(one) for one in (*bias, weight)):
            return None
        if data.type.device.type == "cpu" and not self.enable_concat_linear:
            return None
        inner, columns = sizes_of(weight)
        if any(sizes_of(one) != (columns,) or not _are_alike(one, weight) for one in bias):
            return None
        if not is_read_once(weight, graph):  # it would be held twice
            return None
        return data, inner, weight.type.dtype, weight.type.device


def _is_constant(value: SSAValue) -> bool:
    return type(value.owner) is GetAttrOp and is_plain(value)


def _are_alike(one: Any, other: Any) -> bool:
    return one.type.dtype is other.type.dtype and one.type.device == other.type.device


class _Hoisted:
    """Reads of constants that were moved above the first product, and can be moved back."""

    def __init__(self, group: Sequence[Any], state: GraphState) -> None:
        self._analyses, order = state.analyses, state.order
        first = group[0]
        reads = dict.fromkeys(value.owner for op in group for value in op._operands)
        below = [one for one in reads if type(one) is GetAttrOp and order.before(first, one)]
        self._back = [(one, one.next_op) for one in below]
        for one in below:
            self._analyses.move(one, first)

    def undo(self) -> None:
        for one, place in reversed(self._back):
            self._analyses.move(one, place)


class _Fused:
    """Builds the product that replaces a group."""

    def __init__(self, group: Sequence[Any], state: GraphState) -> None:
        self.group = group
        self.state = state
        self.facts: Facts = state.facts

    def match(self) -> Match:
        """The group as the match that the contracts ask about."""
        group = self.group
        operands = [operand for op in group for operand in op._operands]
        return Match.of(group[-1], group, [op.results[0] for op in group], operands)

    def build(self) -> list[Any]:
        """Build the value that replaces the result of each product."""
        *biases, data, weights = zip(*[op._operands for op in self.group], strict=True)
        x = value_handle(data[0], self.facts)
        weight = self._side_by_side(weights, 1)
        if biases:
            product = aten.addmm(self._side_by_side(biases[0], 0), x, weight)
        else:
            product = aten.mm(x, weight)
        ends = list(accumulate(sizes_of(one)[1] for one in weights))
        parts = [
            aten.slice(product, 1, start, end)
            for start, end in zip([0, *ends[:-1]], ends, strict=True)
        ]
        results: list[SSAValue] = [op.results[0] for op in self.group]
        copied = self._copied(dict(zip(results, parts, strict=True)))
        return [
            aten.clone(part) if result in copied else part
            for result, part in zip(results, parts, strict=True)
        ]

    def _side_by_side(self, values: Sequence[SSAValue], dim: int) -> Any:
        return aten.cat([value_handle(one, self.facts) for one in values], dim)

    def _copied(self, parts: Mapping[SSAValue, Any]) -> set[SSAValue]:
        """The results that must keep a storage of their own."""
        state = self.state
        moved = {
            result: part.type
            for result, part in parts.items()
            if result not in state.returned_roots
            and not state.is_written(result)
            and check_followers({result: part.type}, state) is None
        }
        if check_followers(moved, state) is not None:
            return set(parts)
        return parts.keys() - moved.keys()


@dataclass(frozen=True)
class MatmulFusePattern(ConcatLinear):
    """Two or more `mm` of one tensor."""

    name = "matmul_fuse_pattern"
    inductor = "freezing_patterns.py:matmul_fuse_pattern"
    roots = frozenset(("aten.mm.default",))
    fewest = 2


@dataclass(frozen=True)
class AddmmFusePatternSecond(ConcatLinear):
    """Three or more `addmm` of one tensor, without factors."""

    name = "addmm_fuse_pattern_second"
    inductor = "freezing_patterns.py:addmm_fuse_pattern_second"
    roots = frozenset(("aten.addmm.default",))
    fewest = 3


__all__ = ["AddmmFusePatternSecond", "ConcatLinear", "MatmulFusePattern"]
