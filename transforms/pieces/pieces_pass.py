"""What all passes over joins of pieces share. Each says which joins it takes and what it makes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from xdsl.ir import OpResult

from xductor.ir import (
    Facts,
    TensorType,
    TorchOp,
    aten,
    result_aliases,
)
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.numerics import EXACT
from xductor.transforms.pieces.building import Reader, Way
from xductor.transforms.pieces.joined_reads import JoinedReads
from xductor.transforms.pieces.joins import JOINS, Join, Run, join_of, parted, runs_of, whole_of
from xductor.transforms.pieces.regions import (
    KEEP_ORDER,
    Regions,
    Source,
    is_reshape,
    strided,
)
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.layouts import check_users
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

_SPELLED = spelled(JOINS)

#: Ops that give one index of a dim, or take a dim of size one away or add it.
ROWS = ("aten.select.int", "aten.unbind.int", "aten.squeeze.dim", "aten.unsqueeze.default")

#: What may stand for a join: a view of what was cut; a reshape of such a view, which copies; a
#: join of fewer pieces.
Form = Literal["view", "reshape", "fewer"]


class Pieces:
    """A join and what is known of its parts."""

    def __init__(self, join: Join, regions: Regions) -> None:
        self.join = join
        self.regions = regions

    @cached_property
    def runs(self) -> list[Run]:
        """The parts in the fewest runs that are views."""
        return runs_of(self.join, self.regions)

    @cached_property
    def whole(self) -> Source | None:
        """What the result reads, if it is a view or a reshape of one root."""
        return whole_of(self.join, self.runs, self.regions.facts)

    def are_rows(self) -> bool:
        """Whether every part is one index of a dim of a tensor."""
        return self.are_made_by(*ROWS)

    def has_rows(self) -> bool:
        """Whether some part is one index of a dim of a tensor."""
        return self.has_one_made_by(*ROWS)

    def has_one_made_by(self, *names: str) -> bool:
        """Whether some part is made by an op with one of the names."""
        return any(
            isinstance(one, OpResult) and aten_name(one.op) in names for one in self.join.parts
        )

    def are_made_by(self, *names: str) -> bool:
        """Whether every part is made by an op with one of the names."""
        return all(
            isinstance(one, OpResult) and aten_name(one.op) in names for one in self.join.parts
        )


@dataclass(frozen=True)
class PiecesPass(ProceduralPass):
    """Cats and stacks of pieces read what was cut, with less work.

    Where a part lies makes it a piece, not the op that cut it. The result is built by slices, a
    permutation and a reshape of a tensor that is there, under the contracts of rewrites.
    """

    stage = "post_grad"
    numerics = EXACT
    roots = JOINS

    @abstractmethod
    def forms(self, pieces: Pieces) -> Sequence[Form]:
        """What may replace a join, the best first."""

    def wants(self, run: Run) -> bool:
        """Whether a run becomes one piece where the join stays."""
        return True

    def ops_in(self, analyses: Analyses) -> list[Any]:
        return analyses.named(_SPELLED if analyses.graph.stage.data == "pre_grad" else JOINS)

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        work = _Work(self, procedure)
        return sum(work.visit(op) for op in ops)


class _Work:
    """One pass on one graph."""

    def __init__(self, one: PiecesPass, procedure: Procedure) -> None:
        self.one = one
        self.procedure = procedure
        self.facts: Facts = procedure.state.facts
        self.reads = JoinedReads(procedure.state)
        self.regions = self.reads.regions

    def visit(self, op: Any) -> bool:
        join = join_of(op) if op.parent is not None else None
        if join is None:
            return False
        pieces = Pieces(join, self.regions)
        for form in self.one.forms(pieces):
            try:
                if self._make(form, pieces):
                    self.regions.forget()
                    return True
            except REFUSALS as refusal:
                self.procedure.refuse(op, refusal)
        return False

    def _make(self, form: Form, pieces: Pieces) -> bool:
        if form == "fewer":
            return self._make_fewer(pieces)
        whole = pieces.whole
        if whole is None or (form == "view") is not whole.reading.is_view:
            return False
        join = pieces.join
        way = self.reads.way(whole, join.type.shape, join.parts)
        if way is None:
            return False
        self.reads.check_types(join)
        self.reads.check_modes(join, whole.copies)
        reader = Reader(self.facts)
        match = _match(join, whole.copies)

        def build() -> Any:
            made = reader.build(way, whole.reading)
            self._check_layout(join, made.type)
            return made

        self.procedure.replace(match, build)
        return True

    def _make_fewer(self, pieces: Pieces) -> bool:
        join = pieces.join
        runs = parted(pieces.runs, join, self.regions, self.one.wants)
        found: list[tuple[Run, Way | None]] = []
        for run in runs:
            way = self._way_of(run)
            found += [(run, way)] if way else [(Run((part,), None), None) for part in run.parts]
        if len(found) >= len(join.parts):
            return False
        self.reads.check_types(join)
        sources = [run.source for run, way in found if way is not None]
        copies = dict.fromkeys(op for one in sources if one is not None for op in one.copies)
        self.reads.check_modes(join, tuple(copies))
        reader = Reader(self.facts)

        def build() -> Any:
            parts = [self._part(run, way, join, reader) for run, way in found]
            if len(parts) == 1 and join.type.is_contiguous:
                # In generated code a cat of one part has the strides of that part.
                return aten.clone(parts[0], memory_format=torch.contiguous_format)
            return aten.cat(parts, join.dim)

        self.procedure.replace(_match(join, tuple(copies)), build)
        return True

    def _part(self, run: Run, way: Way | None, join: Join, reader: Reader) -> Any:
        """A run as one part of a cat."""
        if way is not None and run.source is not None:
            return reader.build(way, run.source.reading)
        part: Any = value_handle(run.parts[0], self.facts)
        return aten.unsqueeze(part, join.dim) if join.stacks else part

    def _check_layout(self, join: Join, found: TensorType) -> None:
        """Check that no reader lays out its result by the stride of a dim of size one, as eager
        calls do that look for channels last. Raises Declined.
        """
        if found.stride == join.type.stride:
            return
        result = join.op.results[0]
        fault = check_users(result, found, self.procedure.state)
        for use in result.uses if fault is None else ():
            user = use.operation
            after = strided(user.results[0]) if aten_name(user) in KEEP_ORDER else None
            if after is not None and result_aliases(user)[0] is not None:  # type: ignore[arg-type]
                moved = TensorType(after.data._replace(offset=found.offset))
                if not is_reshape(found, moved, self.facts):
                    fault = f"and {user.name} would have to copy"
        if fault is not None:
            raise Declined(f"strides change to {list(found.stride)}, {fault}")

    def _way_of(self, run: Run) -> Way | None:
        """How to read a run of several parts as one tensor; None if it stays as it is."""
        if len(run.parts) == 1 or run.source is None:
            return None
        dims = run.source.reading.dims
        sizes = tuple([steps[0].size if steps else 1 for steps in dims])
        return self.reads.way(run.source, sizes, run.parts)


def _match(join: Join, copies: Sequence[TorchOp]) -> Match:
    """A join, and the copies through which its parts are pieces, as the match that contracts ask
    about."""
    return Match.of(join.op, [join.op], join.op.results[:1], join.parts, copies)


__all__ = ["Form", "Pieces", "PiecesPass"]
