"""Writes the source text of a rewrite whose pattern was traced."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xductor.backend.traced_patterns.instances_text import instances_text
from xductor.backend.traced_patterns.python_text import call_text, constant_text
from xductor.backend.traced_patterns.size_text import size_text, sources_of
from xductor.backend.traced_patterns.steps import Reference, Step, Steps
from xductor.backend.traced_patterns.variables import Alternative, Traced, Variable
from xductor.transforms import (
    APPROXIMATE,
    DROPS_ROUNDING,
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    UP_TO_ZERO_SIGN,
    Numerics,
)
from xductor.transforms.matching.patterns import PatternError

_WORDS = ("Rewrite", "Tensor", "all_of", "any_of", "no", "one_of")
_IMPORTED = ("torch", "aten", "ops", "prims", "ranks", *_WORDS)
_NUMERICS: Mapping[Numerics, str] = {
    UP_TO_ZERO_SIGN: "UP_TO_ZERO_SIGN",
    REASSOCIATES: "REASSOCIATES",
    ROUNDS_LESS_OFTEN: "ROUNDS_LESS_OFTEN",
    DROPS_ROUNDING: "DROPS_ROUNDING",
    APPROXIMATE: "APPROXIMATE",
}


class Names:
    """Names that are not taken in a method."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self._taken = {*_IMPORTED, *dir(builtins), "self", *taken}

    def fresh(self, wanted: str) -> str:
        """The wanted name, or with a number behind it."""
        name = re.sub(r"\W", "_", wanted)
        if not name.isidentifier() or keyword.iskeyword(name):
            name = f"{name}_" if name[:1].isalpha() else f"v_{name}"
        number, found = 0, name
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found


@dataclass
class ClassText:
    """What the text of a rewrite is made of.

    - `tensors`: the tensor variables; `alternatives`: with what they leave open.
    - `replacement`: the calls of the replacement, None if somebody writes it by hand.
    - `asks`: what `where` asks of the tensors: of "dtypes", "ranks" and "sizes".
    """

    name: str
    function: str
    place: str
    stage: str
    numerics: Numerics
    tensors: Sequence[str]
    alternatives: Sequence[Alternative]
    replacement: Alternative | None
    asks: frozenset[str]
    which: str = ""
    variables: dict[str, Variable] = field(init=False)

    def __post_init__(self) -> None:
        self.variables = {}
        for one in self.alternatives:
            self.variables.update(one.variables)

    def text(self) -> str:
        """The module: imports and the class."""
        body = [*self._head(), "", *self._pattern(), *self._where(), *self._replacement()]
        body += instances_text(self.tensors, self.alternatives, self.which)
        code = "\n".join(f"    {line}" if line else "" for line in body)
        abstract = "" if self.replacement else ", abstract=True"
        title = f"Traced as graphs of the {self.stage} stage have it, from\n{self.place}\n"
        imports = "\n".join(self._imports(code))
        head = f"class {self.name}(Rewrite{abstract}):"
        return f'"""{title}"""\n\n{imports}\n\n\n{head}\n{code}\n'

    def _imports(self, code: str) -> Iterator[str]:
        live = re.sub(r"(?m)^ *#.*$", "", code)
        words = {*_used([*_NUMERICS.values(), *_WORDS], live), "Rewrite"}
        if _used(["torch"], live):
            yield "import torch"
            yield ""
        yield f"from xductor import {', '.join(sorted(words))}"
        yield f"from xductor.ir import {', '.join(_used(['aten', 'ops', 'prims'], live))}"

    def _head(self) -> Iterator[str]:
        yield f'"""What `{self.function}` computes."""'
        yield ""
        yield f'stage = "{self.stage}"'
        if self.numerics != EXACT:
            yield f"numerics = {_NUMERICS[self.numerics]}"

    # The pattern.

    def _pattern(self) -> Iterator[str]:
        notes = [f"{one.name}: {one.annotation}" for one in self.variables.values()]
        if self.which:
            notes.append(f"{self.which}: int")
        given = [f"{name}: Tensor" for name in self.tensors]
        yield from call_text("def pattern", ["self", *given, *notes], ":")
        for variable in self.variables.values():
            if variable.note:
                yield f"    # {variable.name} is {variable.note}"
        results: list[str] = []
        taken = [*self.tensors, *self.variables, self.which]
        names = Names(taken)
        for one in self.alternatives:
            lines, returned = statements(one.steps, names)
            yield from (f"    {line}" for line in lines)
            results.append(", ".join(returned))
        if self.which:
            yield f"    return one_of({', '.join(results)}, as_={self.which})"
        else:
            yield f"    return {results[0]}"

    # The conditions.

    def _where(self) -> Iterator[str]:
        cases = [list(self._cases(one)) for one in self.alternatives]
        if not any(ranks or clauses for case in cases for ranks, clauses in case):
            return
        body: list[str] = []
        if "ranks" in self.asks and len(self.tensors) > 1:
            body += call_text("ranks = ", [f"{name}.ndim" for name in self.tensors])
        asked = "ranks" if len(self.tensors) > 1 else f"{self.tensors[0]}.ndim"
        for number, case in enumerate(cases):
            lines = list(_by_ranks(asked, case))
            if self.which and number < len(cases) - 1:
                body.append(f"if {self.which} == {number}:")
                lines = [f"    {line}" for line in lines]
            body += lines
        text = "\n".join(body)
        names = [*self.tensors, *self.variables, *([self.which] if self.which else [])]
        notes = [f"{name}: {self._annotation(name)}" for name in _used(names, text)]
        yield ""
        yield from call_text("def where", ["self", *notes], ":")
        yield from (f"    {line}" for line in body)

    def _annotation(self, name: str) -> str:
        if name in self.tensors:
            return "Tensor"
        return "int" if name == self.which else self.variables[name].annotation

    def _cases(self, one: Alternative) -> Iterator[Case]:
        """For each trace: the ranks of the tensors, and what has to hold for these."""
        seen: set[tuple[tuple[int, ...], tuple[str, ...]]] = set()
        sizes = [
            f"{variable.name} == {variable.is_clause}"
            for variable in one.variables.values()
            if variable.is_clause
        ]
        for member in one.asked:
            ranks: tuple[int, ...] = ()
            if "ranks" in self.asks:
                ranks = tuple([member.trace.inputs[name].rank for name in self.tensors])
            clauses = [*self._clauses(member), *sizes]
            if (ranks, tuple(clauses)) not in seen:
                seen.add((ranks, tuple(clauses)))
                yield ranks, clauses

    def _clauses(self, member: Traced) -> Iterator[str]:
        inputs = member.trace.inputs
        if "dtypes" in self.asks:
            for name in self.tensors:
                yield f"{name}.dtype == {inputs[name].dtype}"
        if "ranks" not in self.asks:
            return
        if not member.open_sizes:
            for name in self.tensors:
                if inputs[name].rank:
                    yield f"{name}.has_sizes({list(inputs[name].shape)})"
            return
        sources = sources_of(inputs)
        for name in self.tensors:
            for dim, size in enumerate(inputs[name].shape):
                here = f"{name}.shape[{dim}]"
                text = size_text(size, sources)
                if text != here:
                    yield f"{here} == {text}"

    # The replacement.

    def _replacement(self) -> Iterator[str]:
        if self.replacement is None:
            yield ""
            yield "# What takes its place goes here; then remove `abstract=True`:"
            yield "#"
            given = ", ".join(["self", *[f"{name}: Tensor" for name in self.tensors]])
            yield f"#     def replacement({given}):"
            yield f"#         return ops.mylib.fused({', '.join(self.tensors)})"
            return
        names = Names([*self.tensors, *self.variables])
        lines, returned = statements(self.replacement.steps, names, self._in_replacement)
        text = "\n".join([*lines, *returned])
        known = [*self.tensors, *self.variables]
        notes = [f"{name}: {self._annotation(name)}" for name in _used(known, text)]
        yield ""
        yield from call_text("def replacement", ["self", *notes], ":")
        yield from (f"    {line}" for line in lines)
        yield f"    return {', '.join(returned)}"

    def _in_replacement(self, variable: Variable) -> str:
        """A variable of the replacement in the words of the pattern."""
        if variable.is_clause:
            return variable.is_clause
        if variable.name in self.variables:
            return variable.name
        for known in self.variables.values():
            if known.seen == variable.seen and known.annotation == variable.annotation:
                return known.name
        raise PatternError(
            f"the replacement uses {variable.name} ({variable.note or variable.seen[0]}), which "
            "the pattern does not have: where the pattern is matched, nothing tells what it is"
        )


def _used(names: Sequence[str], code: str) -> list[str]:
    """The names that some code reads."""
    return [name for name in names if re.search(rf"(?<![\w.]){re.escape(name)}\b(?!=[^=])", code)]


def statements(
    steps: Steps, names: Names, named: Callable[[Variable], str] = lambda one: one.name
) -> tuple[list[str], list[str]]:
    """The calls as statements, and the expressions of what is returned."""
    results: list[str] = []
    lines: list[str] = []

    def text(argument: Any) -> str:
        if isinstance(argument, Variable):
            return named(argument)
        if isinstance(argument, Reference):
            name = argument.source if isinstance(argument.source, str) else results[argument.source]
            return name if argument.item is None else f"{name}[{argument.item}]"
        if isinstance(argument, list):
            return f"[{', '.join(map(text, argument))}]"
        if isinstance(argument, tuple):
            return f"({', '.join(map(text, argument))}{',' * (len(argument) == 1)})"
        return constant_text(argument.value)

    for step in steps.calls:
        parts = [*map(text, step.args), *[f"{name}={text(one)}" for name, one in step.keywords]]
        results.append(names.fresh(_short(step)))
        lines += call_text(f"{results[-1]} = {step.function}", parts)
    return lines, [text(output) for output in steps.outputs]


def _short(step: Step) -> str:
    """A name for the result of a call."""
    parts = step.function.removeprefix("ops.").split(".")
    return parts[1] if parts[0] in ("aten", "prims") else parts[-1]


Case = tuple[tuple[int, ...], list[str]]
"""Ranks, none if they are not asked about, and clauses that hold where they are these."""


def _by_ranks(asked: str, cases: Sequence[Case]) -> Iterator[str]:
    """The body of `where` for one alternative. Shapes are read only where the ranks are right."""
    by_ranks: dict[tuple[int, ...], list[list[str]]] = {}
    for ranks, clauses in cases:
        by_ranks.setdefault(ranks, []).append(clauses)
    for ranks, several in by_ranks.items():
        answer = list(_answer(several))
        if not ranks:
            yield from answer
            return
        yield f"if {asked} == {_shown(ranks)}:"
        yield from (f"    {line}" for line in answer)
    yield f'return no("it was traced with ranks {" or ".join(map(_shown, by_ranks))}")'


def _shown(ranks: tuple[int, ...]) -> str:
    return str(ranks) if len(ranks) != 1 else str(*ranks)


def _answer(several: Sequence[list[str]]) -> Iterator[str]:
    common = [one for one in several[0] if all(one in other for other in several)]
    rest = [[one for one in clauses if one not in common] for clauses in several]
    parts = list(common)
    if all(rest):
        parts.append(_wrapped("any_of", [_joined(one) for one in rest]))
    if not parts:
        yield "return True"
    elif len(parts) == 1:
        yield from f"return {parts[0]}".split("\n")
    else:
        yield from call_text("return all_of", parts)


def _joined(clauses: Sequence[str]) -> str:
    return clauses[0] if len(clauses) == 1 else _wrapped("all_of", clauses)


def _wrapped(head: str, parts: Sequence[str]) -> str:
    return "\n".join(call_text(head, parts))


__all__ = ["ClassText", "Names", "statements"]
