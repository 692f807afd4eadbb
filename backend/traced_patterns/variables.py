"""Which constants of a trace stay open: those that differ between traces of the same calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from xductor.backend.traced_patterns.size_text import same_size_text, sources_of
from xductor.backend.traced_patterns.stage_trace import StageTrace
from xductor.backend.traced_patterns.steps import (
    Constant,
    Size,
    Steps,
    leaves,
    same_leaf,
    skeleton,
    steps_of,
    with_leaves,
)
from xductor.ir.dialect.arguments import same_constant
from xductor.transforms.matching.patterns import PatternError


@dataclass(frozen=True)
class Variable:
    """A constant or a size that a pattern leaves open.

    - `annotation`: as the pattern declares it; `is_clause`: what it must equal, for `where`.
    - `seen`: what it was in each trace; `note`: what it is, where no parameter says so.
    """

    name: str
    annotation: str
    is_clause: str = ""
    seen: tuple[Any, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Traced:
    """A trace with its calls.

    - `asked`: False if a parameter is another than it was asked for, to see what depends on it.
    - `open_sizes`: whether the sizes of its inputs are symbols.
    """

    trace: StageTrace
    steps: Steps
    asked: bool = True
    open_sizes: bool = True

    @classmethod
    def of(cls, trace: StageTrace, *, asked: bool, open_sizes: bool) -> Traced:
        return cls(trace, steps_of(trace), asked, open_sizes)

    def covers(self, other: Traced) -> bool:
        """Whether this is the other one with sizes left open."""
        open_here = self.asked and self.open_sizes and not other.open_sizes
        return open_here and self.trace.given is other.trace.given


@dataclass
class Alternative:
    """Traces of the same calls, with what they leave open in its place.

    - `steps`: the calls with variables among the leaves; `variables`: by name.
    """

    members: list[Traced]
    steps: Steps = field(init=False)
    variables: dict[str, Variable] = field(init=False)

    @property
    def asked(self) -> list[Traced]:
        """The traces that say where the pattern may match."""
        asked = [one for one in self.members if one.asked]
        return [one for one in asked if not any(other.covers(one) for other in asked)]


def alternatives_of(traces: Iterable[Traced]) -> list[Alternative]:
    """The traces by their calls, in order, without variables yet."""
    found: dict[Any, Alternative] = {}
    for one in traces:
        key = skeleton(one.steps), tuple(one.trace.inputs)
        if key in found:
            found[key].members.append(one)
        else:
            found[key] = Alternative([one])
    return list(found.values())


def open_up(one: Alternative, fresh: Callable[[str], str]) -> None:
    """Find what the traces of an alternative leave open; `fresh` makes names that are not taken.

    Raises PatternError for a size that the sizes of the inputs do not give.
    """
    namer = _Namer(one.members, fresh)
    columns = zip(*[leaves(member.steps) for member in one.members], strict=True)
    one.steps = with_leaves(one.members[0].steps, [namer.leaf(column) for column in columns])
    one.variables = {variable.name: variable for variable in namer.made.values()}


class _Namer:
    """Gives a name to each thing that is open."""

    def __init__(self, members: Sequence[Traced], fresh: Callable[[str], str]) -> None:
        self.members = members
        self.fresh = fresh
        self.made: dict[Any, Variable] = {}

    def leaf(self, column: Sequence[Constant | Size]) -> Any:
        """The leaf that stands for one place in all traces."""
        if any(isinstance(one, Size) for one in column):
            return self._size(column)
        values = [one.value for one in column if isinstance(one, Constant)]
        if isinstance(values[0], torch.device):
            return self._device(column[0], values)
        if all(same_leaf(one, column[0]) for one in column):
            return column[0]
        return self._parameter(values) or self._dtype(values) or self._other(values)

    def _size(self, column: Sequence[Constant | Size]) -> Variable:
        pairs = [
            (one, member.trace)
            for one, member in zip(column, self.members, strict=True)
            if isinstance(one, Size)
        ]
        if any(
            isinstance(one, Constant) and member.open_sizes
            for one, member in zip(column, self.members, strict=True)
        ):
            raise PatternError(
                "a size is a plain number in some of the traces, so that nothing tells how it "
                "depends on the parameters; trace with larger sizes, or with sizes='given'"
            )
        sources = [sources_of(trace.inputs) for _, trace in pairs]
        given = [trace.given for _, trace in pairs]
        clause = same_size_text([size.expr for size, _ in pairs], sources, given)
        first = pairs[0][0]
        source = sources[0].get(first.expr.text)
        name = "size" if source is None else f"{source[0]}_size_{source[1]}"
        return self._made((first.expr, id(first.value)), name, "int", clause, ())

    def _device(self, leaf: Constant | Size, values: Sequence[Any]) -> Any:
        for name, type_ in self.members[0].trace.inputs.items():
            if type_.device == values[0]:
                return self._made("device", "device", "torch.device", f"{name}.device", values)
        return leaf

    def _parameter(self, values: Sequence[Any]) -> Variable | None:
        for name in self.members[0].trace.given:
            given = [one.trace.given[name] for one in self.members]
            if all(map(same_constant, given, values)):
                return self._made(name, name, annotation_of(values[0]), "", values)
        return None

    def _dtype(self, values: Sequence[Any]) -> Variable | None:
        for name in self.members[0].trace.inputs:
            found = [one.trace.inputs[name].dtype for one in self.members]
            if found == list(values):
                clause = f"{name}.dtype"
                return self._made(clause, f"{name}_dtype", "torch.dtype", clause, values)
        return None

    def _other(self, values: Sequence[Any]) -> Variable:
        if len({type(one) for one in values}) > 1:
            raise PatternError(f"a constant is of several types: {', '.join(map(repr, values))}")
        key = tuple(map(repr, values))
        shown = ", ".join(dict.fromkeys(key))
        changed = [name for name in self.members[0].trace.given if self._changes(name)]
        base = changed[0] if changed else "constant"
        note = f"computed from {' and '.join(changed)}: {shown}" if changed else shown
        annotation = annotation_of(values[0])
        return self._made(key, f"{base}_{len(self.made)}", annotation, "", values, note)

    def _changes(self, name: str) -> bool:
        given = [one.trace.given[name] for one in self.members]
        numbers = not isinstance(given[0], torch.Tensor)
        return numbers and not all(same_constant(given[0], one) for one in given)

    def _made(
        self,
        key: Any,
        name: str,
        annotation: str,
        clause: str,
        values: Sequence[Any],
        note: str = "",
    ) -> Variable:
        if key not in self.made:
            given = self.members[0].trace.given
            shown = name if name == key and name in given else self.fresh(name)
            self.made[key] = Variable(shown, annotation, clause, tuple(values), note)
        return self.made[key]


def annotation_of(value: Any) -> str:
    """How a pattern declares a variable for such a constant."""
    kinds = {torch.dtype: "torch.dtype", torch.device: "torch.device"}
    name = kinds.get(type(value), type(value).__name__)
    return name if name in ("int", "float", "bool", "str", *kinds.values()) else "Any"


# Changing one parameter, to see what in the graph comes from it.

_OTHER_DTYPE: Mapping[torch.dtype, torch.dtype] = {
    torch.float32: torch.float64,
    torch.float64: torch.float32,
    torch.bfloat16: torch.float16,
    torch.float16: torch.bfloat16,
    torch.int64: torch.int32,
    torch.int32: torch.int64,
}


def changed(
    given: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The parameters to change, each with what the function may be called with for that.

    Numbers and dtypes are changed, one at a time, unless what is given has several already. Flags,
    strings and devices stay: they choose what is computed.
    """
    for one in given:
        for name, value in one.items():
            values = _others(value)
            if values and all(same_constant(other.get(name), value) for other in given):
                yield name, [{**one, name: value} for value in values]


def _others(value: Any) -> list[Any]:
    if type(value) is int:
        return [value * 2, value + 1, value - 1] if value else [1, 2]
    if type(value) is float:
        return [value / 2 if value else 0.5]
    other = _OTHER_DTYPE.get(value) if isinstance(value, torch.dtype) else None
    return [] if other is None else [other]


__all__ = ["Alternative", "Traced", "Variable", "alternatives_of", "changed", "open_up"]
