"""The structural difference of two modules: names are ignored, and so is order without effect.

Ops of two graphs correspond if they compute the same from corresponding values. The other ops are
aligned in order, first by op and arguments, then by op alone, so that one change is shown once and
not again for each op that depends on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, Literal, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir.dialect.graph import GraphOp, OutputOp
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.dialect.results import alias_text
from xductor.ir.dialect.types import TensorType
from xductor.ir.inference.infer import storage_root
from xductor.ir.storage.written import written_operands
from xductor.ir.symbolic.symbols import SymbolInfo
from xductor.ir.text.html import fragment
from xductor.ir.text.printing import constant_text, op_arguments, op_name, op_tail, value_names

Kind = Literal["added", "removed", "changed"]
T = TypeVar("T")
Pairs = dict[TorchOp, TorchOp]
_SIGNS: dict[Kind, str] = {"added": "+", "removed": "-", "changed": "~"}

_HTML = """\
{% for name in diff.only_left %}<p>@{{ name }}: only on the left</p>{% endfor %}
{% for name in diff.only_right %}<p>@{{ name }}: only on the right</p>{% endfor %}
{% for graph in diff.graphs %}
<p><b>@{{ graph.name }}</b>{% if not graph %}: same structure{% endif %}</p>
{% for line in graph.interface + graph.reordered %}
<pre class="changed">! {{ line }}</pre>
{% endfor %}
{% for op in graph.ops %}
<pre class="{{ op.kind }}">{{ op }}</pre>
{% endfor %}
{% endfor %}
"""


@dataclass(frozen=True)
class OpChange:
    """An op that is only on one side, or that differs.

    - `left`, `right`: the op as each text shows it; empty on a side that lacks it.
    - `details`: the differences of a changed op: `argument 'dim': 0 -> 1`.
    """

    kind: Kind
    left: str
    right: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind != "changed":
            return f"  {_SIGNS[self.kind]} {self.left or self.right}"
        return "\n".join([f"  ~ {self.right}", *(f"      {detail}" for detail in self.details)])


@dataclass
class GraphDiff:
    """The difference of two graphs.

    - `interface`: differences in arguments, stage, symbols or ambient modes.
    - `ops`: ops added, removed and changed, in the order of the right graph.
    - `reordered`: ops with effects, or that read what is written, whose order differs.
    - `metadata`: differences in locations, tags and the like, or in the order of other ops. They
      do not make the graphs different.
    """

    name: str
    interface: list[str] = field(default_factory=list[str])
    ops: list[OpChange] = field(default_factory=list[OpChange])
    reordered: list[str] = field(default_factory=list[str])
    metadata: list[str] = field(default_factory=list[str])

    def __bool__(self) -> bool:
        return bool(self.interface or self.ops or self.reordered)

    def __str__(self) -> str:
        if not self:
            return f"@{self.name}: same structure"
        counts = {kind: sum(change.kind == kind for change in self.ops) for kind in _SIGNS}
        said = [f"{count} {kind}" for kind, count in counts.items() if count]
        lines = [f"@{self.name}: {', '.join(said) or 'ops are the same'}"]
        lines += [f"  ! {line}" for line in (*self.interface, *self.reordered)]
        return "\n".join([*lines, *map(str, self.ops)])


@dataclass
class ModuleDiff:
    """The difference of two modules; true if they differ in more than metadata."""

    graphs: list[GraphDiff]
    only_left: list[str]
    only_right: list[str]

    def __bool__(self) -> bool:
        return bool(self.only_left or self.only_right or any(self.graphs))

    @property
    def metadata(self) -> list[str]:
        """Differences in metadata only."""
        return [f"@{graph.name}: {line}" for graph in self.graphs for line in graph.metadata]

    def _repr_html_(self) -> str:
        """The changes with colors, for notebooks."""
        return fragment(_HTML, diff=self)

    def __str__(self) -> str:
        lines = [f"@{name}: only on the left" for name in self.only_left]
        lines += [f"@{name}: only on the right" for name in self.only_right]
        return "\n".join([*lines, *map(str, self.graphs)])


def diff(left: ModuleOp, right: ModuleOp, *, names: bool = False) -> ModuleDiff:
    """How two modules differ in structure.

    - `names`: also report values and nodes that differ only in name, as metadata.

    The entry graphs are compared regardless of their names, subgraphs by name.
    """
    if not isinstance(left, ModuleOp) or not isinstance(right, ModuleOp):
        raise TypeError("diff takes two modules of the IR (from_fx and parse_ir give them)")
    ours, theirs = _graphs(left), _graphs(right)
    pairs: list[tuple[GraphOp, GraphOp]] = []
    if ours and theirs:
        pairs.append((ours.pop(0), theirs.pop(0)))
    by_name = {graph.sym_name.data: graph for graph in theirs}
    only_left: list[str] = []
    for graph in ours:
        other = by_name.pop(graph.sym_name.data, None)
        if other is None:
            only_left.append(graph.sym_name.data)
        else:
            pairs.append((graph, other))
    return ModuleDiff([_Comparison(*pair, names).diff() for pair in pairs], only_left, [*by_name])


def _graphs(module: ModuleOp) -> list[GraphOp]:
    return [op for op in module.ops if isinstance(op, GraphOp)]


class _Comparison:
    """Two graphs and their corresponding ops."""

    def __init__(self, left: GraphOp, right: GraphOp, with_names: bool) -> None:
        self.left, self.right, self.with_names = left, right, with_names
        self.ours = [op for op in left.block.ops if isinstance(op, TorchOp)]
        self.theirs = [op for op in right.block.ops if isinstance(op, TorchOp)]
        self.names = {**value_names(left), **value_names(right)}
        self.images: dict[SSAValue, SSAValue] = dict(_argument_pairs(left, right))
        self.found = GraphDiff(right.sym_name.data)

    def diff(self) -> GraphDiff:
        self._compare_interfaces()
        pairs = corresponding(self.images, self.ours, self.theirs)
        for ours, theirs in pairs.items():
            self.images.update(zip(ours.results, theirs.results, strict=False))
        self._order(pairs)
        originals = {theirs: ours for ours, theirs in pairs.items()}
        self.found.ops = list(self._changes(pairs, originals))
        return self.found

    def _changes(self, pairs: Pairs, originals: Pairs) -> Iterator[OpChange]:
        """The changes in order; removed ops come before the first op that followed and remains."""
        removed = iter(self.ours)
        told: set[TorchOp] = set()
        for theirs in self.theirs:
            ours = originals.get(theirs)
            if ours is None:
                yield OpChange("added", "", self.line(theirs))
                continue
            if ours not in told:
                for op in removed:
                    if op is ours:
                        break
                    told.add(op)
                    if op not in pairs:
                        yield OpChange("removed", self.line(op), "")
            details = self._details(ours, theirs)
            if details:
                yield OpChange("changed", self.line(ours), self.line(theirs), tuple(details))
            self._compare_metadata(ours, theirs)
        for op in removed:
            if op not in pairs:
                yield OpChange("removed", self.line(op), "")

    def line(self, op: TorchOp) -> str:
        """The op as its text shows it."""
        results = ", ".join(self.names[result] for result in op.results)
        head = f"{results} = " if results else ""
        return f"{head}{op_name(op.name)}{op_tail(op, self.names, locations=False)}"

    def _image(self, value: SSAValue) -> str:
        image = self.images.get(value)
        if image is None:
            return f"{self.names[value]} (removed)"
        return self.names[image]

    def _details(self, ours: TorchOp, theirs: TorchOp) -> list[str]:
        details: list[str] = []
        texts = [
            _argument_texts(ours, lambda ref: self._image(ours._operands[ref.index])),
            _argument_texts(theirs, lambda ref: self.names[theirs._operands[ref.index]]),
        ]
        for label in dict.fromkeys([*texts[0], *texts[1]]):
            a, b = (text.get(label, "(none)") for text in texts)
            if a != b:
                details.append(f"{label}: {a} -> {b}")
        types = [[result.type for result in op.results] for op in (ours, theirs)]
        for index, (a, b) in enumerate(zip(*types, strict=False)):
            if a != b:
                which = f"type of result {index}" if len(ours.results) > 1 else "type"
                details.append(f"{which}: {a} -> {b}")
        if len(types[0]) != len(types[1]):
            details.append(f"results: {len(types[0])} -> {len(types[1])}")
        elif ours.structure != theirs.structure:
            details.append("nesting of the results")
        if ours.aliases != theirs.aliases:
            a, b = (alias_text(op.aliases.data) if op.aliases else "none" for op in (ours, theirs))
            details.append(f"alias facts: {a} -> {b}")
        return details

    def _compare_metadata(self, ours: TorchOp, theirs: TorchOp) -> None:
        a, b = ours.node, theirs.node
        told: list[str] = []
        if a.text_items() != b.text_items():
            told.append(f"metadata {a.text_items()} -> {b.text_items()}")
        if a.location() != b.location():
            told.append(f"location {_place(a.location())} -> {_place(b.location())}")
        if self.with_names and (a.names, a.node) != (b.names, b.node):
            told.append(f"name {a.node or a.names} -> {b.node or b.names}")
        label = ", ".join(self.names[result] for result in theirs.results) or theirs.name
        self.found.metadata += [f"{label}: {line}" for line in told]

    def _compare_interfaces(self) -> None:
        left, right, told = self.left, self.right, self.found.interface
        for label in ("stage", "ambient"):
            a, b = (getattr(graph, label).data for graph in (left, right))
            if a != b:
                told.append(f"{label}: {getattr(a, 'text', a)} -> {getattr(b, 'text', b)}")
        if left.is_declaration != right.is_declaration:
            told.append("one of the graphs is only declared")
        told += [
            f"argument removed: {self.names[argument]} : {argument.type}"
            for argument in left.arguments
            if argument not in self.images
        ]
        images = set(self.images.values())
        told += [
            f"argument added: {self.names[argument]} : {argument.type}"
            for argument in right.arguments
            if argument not in images
        ]
        for ours, theirs in self.images.items():
            if ours.type != theirs.type:
                told.append(f"type of argument {self.names[theirs]}: {ours.type} -> {theirs.type}")
        self._compare_symbols()
        if self.with_names and left.argument_names != right.argument_names:
            self.found.metadata.append("names of the arguments differ")

    def _compare_symbols(self) -> None:
        ours, theirs = self.left.symbols.data, self.right.symbols.data
        for name in dict.fromkeys([*ours, *theirs]):
            a, b = ours.get(name), theirs.get(name)
            if a == b:
                continue
            texts = [info.text if info is not None else "(none)" for info in (a, b)]
            line = f"symbol {texts[0]} -> {texts[1]}"
            if a is not None and b is not None and _facts(a) == _facts(b):
                self.found.metadata.append(line)
            else:
                self.found.interface.append(line)

    def _order(self, pairs: Pairs) -> None:
        places = {op: place for place, op in enumerate(self.theirs)}
        moved = _out_of_order([(op, places[pairs[op]]) for op in self.ours if op in pairs])
        if moved:
            self.found.metadata.append(f"{len(moved)} ops stand in another order")
        ordered = _ordered(self.ours)
        fixed = [(op, places[pairs[op]]) for op in self.ours if op in pairs and op in ordered]
        for op in _out_of_order(fixed):
            self.found.reordered.append(
                f"an op whose order matters stands elsewhere: {self.line(op)}"
            )


def _facts(info: SymbolInfo) -> SymbolInfo:
    return replace(info, hint=None, sources=())


def _ordered(ops: Sequence[TorchOp]) -> set[TorchOp]:
    """Ops whose order matters: those with effects, and those that read what one of them writes."""
    written = {storage_root(value) for op in ops for value in written_operands(op)}
    return {
        op
        for op in ops
        if not isinstance(op, OutputOp)
        and (not op.effects.pure or any(storage_root(value) in written for value in op.operands))
    }


def _place(location: tuple[str, int] | None) -> str:
    return "none" if location is None else f"{location[0]}:{location[1]}"


def _argument_texts(op: TorchOp, ref_text: Callable[[Any], str]) -> dict[str, str]:
    """The arguments as text, by their names in messages."""
    if not isinstance(op, SchemaOp):
        return {"arguments": op_arguments(op, ref_text)}
    return {
        f"argument '{param.name}'": constant_text(item, ref_text)
        for param, item in zip(op.table.params, op.args.data, strict=True)
    }


def _argument_pairs(left: GraphOp, right: GraphOp) -> list[tuple[SSAValue, SSAValue]]:
    """Pairs of arguments in order; if one side has more, those with the same dtype and rank."""
    ours, theirs = left.arguments, right.arguments
    if len(ours) == len(theirs):
        return list(zip(ours, theirs, strict=True))

    def key(value: SSAValue) -> Hashable:
        type_ = value.type
        fields = (type_.dtype, type_.rank) if isinstance(type_, TensorType) else ()
        return type(type_), fields

    return list(_aligned(ours, theirs, key).items())


def corresponding(
    arguments: dict[SSAValue, SSAValue], ours: Sequence[TorchOp], theirs: Sequence[TorchOp]
) -> Pairs:
    """Pairs of corresponding ops of the left and the right graph, each op at most once.

    `arguments` gives the corresponding arguments of the graphs.
    """
    pairs = _same_computations(arguments, ours, theirs)
    taken = set(pairs.values())
    free = [op for op in ours if op not in pairs], [op for op in theirs if op not in taken]
    for key in (lambda op: (op.name, op.args), lambda op: op.name):
        found = _aligned(*free, key)
        pairs.update(found)
        taken = set(found.values())
        free = [op for op in free[0] if op not in found], [op for op in free[1] if op not in taken]
    return pairs


def _same_computations(
    arguments: dict[SSAValue, SSAValue], ours: Sequence[TorchOp], theirs: Sequence[TorchOp]
) -> Pairs:
    """Pairs of ops that compute the same from the arguments; equal ones pair in text order."""
    numbers: dict[Hashable, int] = {}
    buckets: dict[int, list[TorchOp]] = defaultdict(list)
    places = {argument: place for place, argument in enumerate(arguments.values())}
    for op, number in _numbered({a: places[b] for a, b in arguments.items()}, ours, numbers):
        buckets[number].append(op)
    pairs: Pairs = {}
    for bucket in buckets.values():
        bucket.reverse()
    for op, number in _numbered(places, theirs, numbers):
        if buckets.get(number):
            pairs[buckets[number].pop()] = op
    return pairs


def _numbered(
    places: Mapping[SSAValue, int],
    ops: Sequence[TorchOp],
    numbers: dict[Hashable, int],
) -> Iterator[tuple[TorchOp, int]]:
    """Each op with a number; ops have the same number if they compute the same."""
    values: dict[SSAValue, Hashable] = {
        argument: ("argument", place) for argument, place in places.items()
    }
    for op in ops:
        # An argument that only one side has equals no other value.
        inputs = tuple(values.get(operand, id(operand)) for operand in op._operands)
        key = (op.name, op.args, inputs)
        number = numbers.setdefault(key, len(numbers))
        for place, result in enumerate(op.results):
            values[result] = (number, place)
        yield op, number


def _aligned(ours: Sequence[T], theirs: Sequence[T], key: Callable[[T], Hashable]) -> dict[T, T]:
    """A longest common run of two sequences, and recursively of the rest on both sides of it."""
    matcher = SequenceMatcher(None, [*map(key, ours)], [*map(key, theirs)], autojunk=False)
    return {
        ours[block.a + step]: theirs[block.b + step]
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


def _out_of_order(places: Sequence[tuple[TorchOp, int]]) -> list[TorchOp]:
    """The fewest ops without which the places of the others ascend."""
    ends: list[int] = []
    best: list[int] = []
    for _, place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
        best.append(at)
    kept: set[int] = set()
    wanted = len(ends) - 1
    for index in range(len(places) - 1, -1, -1):
        if best[index] == wanted:
            kept.add(index)
            wanted -= 1
    return [op for index, (op, _) in enumerate(places) if index not in kept]


__all__ = ["GraphDiff", "ModuleDiff", "OpChange", "diff"]
