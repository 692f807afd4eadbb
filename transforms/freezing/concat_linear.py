"""`matmul_fuse_pattern` and its kin: products of one tensor with constants become one product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts, GetAttrOp, GraphOp, aten
from xductor.transforms.freezing.computations import has_known_sizes, is_plain, sizes_of
from xductor.transforms.freezing.raised_reads import raise_reads
from xductor.transforms.freezing.sites import is_read_once
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.numerics import REASSOCIATES, Declared
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.layouts import check_followers
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


@dataclass(frozen=True)
class Member:
    """A product of a tensor with a constant, and what is applied to it column by column.

    - `ops`: what is replaced; the last op gives the result.
    - `data`: the tensor; `weight`: the constant, of `columns` columns.
    - `vectors`: other constants with something for each column.
    - `is_reshaped`: whether the result has other sizes than the product.
    - `form`: what else the members of a group share.
    """

    ops: tuple[Any, ...]
    data: SSAValue
    weight: SSAValue
    columns: int
    vectors: tuple[SSAValue, ...] = ()
    form: Hashable = None
    is_reshaped: bool = False

    @property
    def result(self) -> SSAValue:
        return self.ops[-1].results[0]

    @property
    def constants(self) -> tuple[SSAValue, ...]:
        return (self.weight, *self.vectors)


@dataclass(frozen=True)
class ConcatLinear(ProceduralPass):
    """Products of one tensor by weights that only they read become one product.

    The weights stand side by side in one constant, and each result is a slice of the product; it is
    copied where readers cannot follow to other strides.

    - `enable_concat_linear`: fuse on a CPU too.

    Class attributes: `fewest`, the fewest products that are worth it. A subclass says what a member
    of a group is, and how the product of all of them is computed.
    """

    stage = "post_grad"
    numerics: ClassVar[Declared] = REASSOCIATES
    fewest: ClassVar[int]

    enable_concat_linear: bool = False

    @abstractmethod
    def member(self, op: Any) -> Member | None:
        """The product that an op computes; None if it joins no group."""

    @abstractmethod
    def joined(
        self, like: Member, data: Any, weights: Sequence[Any], vectors: Sequence[Sequence[Any]]
    ) -> Any:
        """The product of `data` with all weights, with their columns side by side.

        - `like`: a member of the group; `weights` and `vectors` are those of all members.
        """

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        fused = 0
        for group in self._groups(ops, procedure.state.graph):
            constants = [value for one in group for value in one.constants]
            raised = raise_reads(constants, group[0].ops[-1], procedure.state)
            work = _Fused(group, self, procedure.state)
            try:
                procedure.replace(work.match(), work.build, strides=False)
                fused += 1
            except REFUSALS as refusal:
                raised.undo()
                procedure.refuse(group[0].ops[-1], refusal)
        return fused

    def _groups(self, ops: Sequence[Any], graph: GraphOp) -> Iterator[list[Member]]:
        """The products of one tensor, if there are enough of them."""
        by_form: dict[Hashable, list[Member]] = {}
        for op in ops:
            one = self.member(op)
            if one is not None and self._may_join(one, graph):
                by_form.setdefault((one.data, one.form), []).append(one)
        for group in by_form.values():
            if len(group) >= self.fewest:
                yield group

    def _may_join(self, one: Member, graph: GraphOp) -> bool:
        if not all(_is_constant(each) for each in one.constants):
            return False
        if _kind(one.data)[1].type == "cpu" and not self.enable_concat_linear:
            return False
        return is_read_once(one.weight, graph)  # else it would be held twice


def _is_constant(value: SSAValue) -> bool:
    return type(value.owner) is GetAttrOp and has_known_sizes(value)


class _Fused:
    """Builds the product that replaces a group."""

    def __init__(self, group: Sequence[Member], one: ConcatLinear, state: GraphState) -> None:
        self.group = group
        self.one = one
        self.state = state
        self.facts: Facts = state.facts

    def match(self) -> Match:
        """The group as the match that the contracts ask about."""
        group = self.group
        values = [value for one in group for value in (one.data, *one.constants)]
        ops = [op for one in group for op in one.ops]
        return Match.of(group[-1].ops[-1], ops, [one.result for one in group], values)

    def build(self) -> list[Any]:
        """Build the value that replaces the result of each product."""
        group = self.group
        weights = self._handles(one.weight for one in group)
        vectors = [
            self._handles(alike) for alike in zip(*[one.vectors for one in group], strict=True)
        ]
        product = self.one.joined(
            group[0], value_handle(group[0].data, self.facts), weights, vectors
        )
        ends = list(accumulate(one.columns for one in group))
        parts = [
            self._part(one, aten.slice(product, 1, start, end))
            for one, start, end in zip(group, [0, *ends[:-1]], ends, strict=True)
        ]
        results = [one.result for one in group]
        copied = self._copied(dict(zip(results, parts, strict=True)))
        return [
            # A plain copy would keep the strides of the wide product in a result of one row.
            aten.clone(part, memory_format=torch.contiguous_format) if result in copied else part
            for result, part in zip(results, parts, strict=True)
        ]

    def _part(self, one: Member, columns: Any) -> Any:
        if not one.is_reshaped:
            return columns
        return aten.reshape(columns, list(value_handle(one.result, self.facts).shape))

    def _handles(self, values: Iterable[SSAValue]) -> list[Any]:
        return [value_handle(one, self.facts) for one in values]

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

    def member(self, op: Any) -> Member | None:
        data, weight = op._operands
        if not is_plain(weight):
            return None
        inner, columns = sizes_of(weight)
        return Member((op,), data, weight, columns, form=(inner, *_kind(weight)))

    def joined(
        self, like: Member, data: Any, weights: Sequence[Any], vectors: Sequence[Sequence[Any]]
    ) -> Any:
        return aten.mm(data, aten.cat(weights, 1))


@dataclass(frozen=True)
class AddmmFusePatternSecond(ConcatLinear):
    """Three or more `addmm` of one tensor, without factors."""

    name = "addmm_fuse_pattern_second"
    inductor = "freezing_patterns.py:addmm_fuse_pattern_second"
    roots = frozenset(("aten.addmm.default",))
    fewest = 3

    def member(self, op: Any) -> Member | None:
        bias, data, weight = op._operands
        if not (op.argument("alpha") == 1 and op.argument("beta") == 1):
            return None
        if not is_plain(weight) or _kind(bias) != _kind(weight):
            return None
        inner, columns = sizes_of(weight)
        if sizes_of(bias) != (columns,):
            return None
        return Member((op,), data, weight, columns, (bias,), (inner, *_kind(weight)))

    def joined(
        self, like: Member, data: Any, weights: Sequence[Any], vectors: Sequence[Sequence[Any]]
    ) -> Any:
        return aten.addmm(aten.cat(vectors[0], 0), data, aten.cat(weights, 1))


def _kind(value: Any) -> tuple[torch.dtype, torch.device]:
    return value.type.dtype, value.type.device


__all__ = ["AddmmFusePatternSecond", "ConcatLinear", "MatmulFusePattern", "Member"]
