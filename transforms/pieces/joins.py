"""Cats and stacks, and the runs of adjacent pieces among their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType, TorchOp
from xductor.ir.functions.torch_calls import aten_call
from xductor.transforms.pieces.readings import Reading, covered, put_together, reading_by_type
from xductor.transforms.pieces.regions import Regions, Source, bases, strided

JOINS = frozenset(("aten.cat.default", "aten.stack.default"))


@dataclass(frozen=True)
class Join:
    """A cat or a stack.

    - `parts`: the tensors that are joined; `dim`: the dim of the result along which they lie.
    - `stacks`: whether each part takes one index of that dim.
    """

    op: TorchOp
    parts: tuple[SSAValue, ...]
    dim: int
    type: TensorType
    stacks: bool


@dataclass(frozen=True)
class Run:
    """Consecutive parts of a join, and what they read as one tensor.

    `source` is None for a part whose place in memory is not known.
    """

    parts: tuple[SSAValue, ...]
    source: Source | None

    @property
    def is_all_of_one(self) -> bool:
        """Whether the parts are all pieces of what the first was cut from, in any order."""
        if self.source is None:
            return False
        return any(self._is(base) for base in bases(self.parts[0])[1:])

    def _is(self, base: SSAValue) -> bool:
        type_ = strided(base)
        assert type_ is not None
        assert self.source is not None
        reading = self.source.reading
        whole = reading_by_type(reading.root, type_)
        return reading == whole or covered(reading) == covered(whole) is not None


def join_of(op: Any) -> Join | None:
    """The call as a join; None if it is not a join, has no elements, or has unknown parts."""
    call = aten_call(op)
    if call is None or call.name not in JOINS or len(op.results) != 1:
        return None
    type_ = strided(op.results[0])
    parts, dim = call.argument("tensors"), call.argument("dim")
    if type_ is None or type(dim) is not int or 0 in type_.shape:
        return None
    if not isinstance(parts, tuple) or not all(isinstance(one, SSAValue) for one in parts):
        return None
    return Join(op, parts, dim % type_.rank, type_, call.name == "aten.stack.default")


def runs_of(join: Join, regions: Regions) -> list[Run]:
    """The parts of a join in the fewest runs that are views.

    Any stretch of a run is a run, so taking the longest one each time gives the fewest.
    """
    found: list[Run] = []
    for part in join.parts:
        source = _part_source(part, join, regions)
        last = found[-1].source if found else None
        if source is not None and last is not None:
            reading = put_together(last.reading, source.reading, join.dim, regions.facts)
            if reading is not None and reading.is_view:
                both = Source(reading, tuple(dict.fromkeys((*last.copies, *source.copies))))
                found[-1] = Run((*found[-1].parts, part), both)
                continue
        found.append(Run((part,), source))
    return found


def _part_source(part: SSAValue, join: Join, regions: Regions) -> Source | None:
    """What a part reads, with the dims of the result; None if that is not known.

    A part of another dtype is cast; a part of another rank is the empty vector, which cat ignores.
    """
    type_ = strided(part)
    if type_ is None or type_.dtype is not join.type.dtype:
        return None
    if type_.rank + join.stacks != join.type.rank:
        return None
    source = regions.of(part)
    if source is None or not join.stacks:
        return source
    dims = source.reading.dims
    return source._replace(
        reading=replace(source.reading, dims=(*dims[: join.dim], (), *dims[join.dim :]))
    )


def whole_of(join: Join, runs: Sequence[Run], facts: Facts) -> Source | None:
    """What a join reads of one root, as a view or a reshape; None for several roots."""
    first = runs[0].source
    if first is None:
        return None
    reading: Reading | None = first.reading
    copies = dict.fromkeys(first.copies)
    for run in runs[1:]:
        if run.source is None or reading is None:
            return None
        reading = put_together(reading, run.source.reading, join.dim, facts)
        copies.update(dict.fromkeys(run.source.copies))
    return None if reading is None else Source(reading, tuple(copies))


def parted(
    runs: Sequence[Run], join: Join, regions: Regions, keeps: Callable[[Run], bool]
) -> list[Run]:
    """The runs, with those that `keeps` rejects split into single parts."""
    found: list[Run] = []
    for run in runs:
        if len(run.parts) == 1 or keeps(run):
            found.append(run)
        else:
            found += [Run((part,), _part_source(part, join, regions)) for part in run.parts]
    return found


__all__ = ["JOINS", "Join", "Run", "join_of", "parted", "runs_of", "whole_of"]
