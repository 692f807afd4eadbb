"""`xductor.pattern_from`: a rewrite's pattern, traced from a function."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, get_args

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.config.placement import Place
from xductor.backend.explaining import Explanation, explain
from xductor.backend.traced_patterns.class_text import ClassText, Names
from xductor.backend.traced_patterns.source_module import module_of
from xductor.backend.traced_patterns.stage_trace import (
    StageTrace,
    name_of,
    parameters_of,
    state_names,
    traced,
)
from xductor.backend.traced_patterns.steps import skeleton
from xductor.backend.traced_patterns.variables import (
    Alternative,
    Traced,
    alternatives_of,
    changed,
    open_up,
)
from xductor.ir import InferenceEnv, TorchOp
from xductor.transforms import EXACT, Numerics, Rewrite, Stage, graphs_of
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.explaining.where_answers import refusal
from xductor.transforms.matching.matcher import Matcher
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.rewriting.graph_state import GraphState

Asked = Literal["given", "any"]


@dataclass(frozen=True)
class TracedPattern:
    """What `pattern_from` made: `rewrite` as a class, `source` as text to keep and to edit.

    The class has no replacement unless one was traced too. Give it one in a subclass. `graph` is
    the graph of the first inputs at the stage, which the pattern matches.
    """

    rewrite: type[Rewrite]
    source: str
    graph: ModuleOp = field(repr=False)

    def __str__(self) -> str:
        return self.source


def pattern_from(
    function: Callable[..., Any],
    *inputs: Any,
    stage: Stage = "post_grad",
    replacement: Callable[..., Any] | None = None,
    also: Sequence[Sequence[Any]] = (),
    sizes: Asked = "any",
    dtypes: Asked = "given",
    ranks: Asked = "given",
    numerics: Numerics = EXACT,
    name: str | None = None,
) -> TracedPattern:
    """The pattern that matches what `function` computes, as graphs of a stage have it.

    The function is compiled without kernels and run on copies of `inputs`. The pattern consists of
    the calls that a rewrite would see in it after the stage's own passes: decomposed, with casts,
    and spelled as the stage spells them. The tensors become tensor variables. So does each number
    or dtype among the inputs become a variable: write `lambda x, eps: ...` and pass an `eps`, and
    every constant that comes from it is open. A number in the function's own code is a constant of
    the pattern. Flags, strings and devices choose what is computed, and are no variables. Tensors
    require no gradient: the pattern is that of the forward.

    - `replacement`: a function of the same inputs that computes the same, traced too. Without it
      the class is abstract: a subclass has the method `replacement`.
    - `also`: more inputs, such as those of another dtype. Traces of the same calls become one
      pattern, whose constants are open where they differ; other calls become alternatives.
    - `sizes`: "given" lets the pattern match the sizes of the inputs only. With "any" sizes are
      open, but for those of one; sizes that are equal in the inputs have to be equal.
    - `dtypes`, `ranks`: "any" leaves out what `where` asks of the dtypes and ranks of the inputs.
    - `numerics`: how the replacement may change values.
    - `name`: of the class; by default that of the function.

    Functions that were compiled before are compiled again at their next call.

    Raises:
        ValueError: `name` is no name of a class, or an option has a value that it does not know.
        PatternError: The function is no single graph, writes to an argument, or returns what is no
            tensor of its own; a parameter changes which calls are made; nothing can name an
            argument; the pattern or the replacement does not hold for the traces themselves.
        Exception: What compiling and running the function raise.
    """
    _check_options(name, numerics)
    makes = _Maker(function, stage, sizes == "any")
    given = [parameters_of(function, one) for one in (inputs, *also)]
    text = _text(makes, given, replacement, name, _asks(sizes, dtypes, ranks), numerics)
    module = module_of(text.text())
    rewrite: type[Rewrite] = getattr(module, text.name)
    _check(rewrite, text)
    members = [member for one in text.alternatives for member in one.members]
    graph = next(one.trace.module for one in members if one.asked and not one.open_sizes)
    return TracedPattern(rewrite, text.text(), graph)


def _check_options(name: str | None, numerics: Any) -> None:
    known = get_args(Numerics)
    if numerics not in known:
        close = get_close_matches(str(numerics), known, n=1)
        hint = f"did you mean {close[0]!r}? Known are" if close else "known are"
        listed = ", ".join(map(repr, known))
        raise ValueError(f"numerics is {numerics!r}; {hint} {listed}")
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise ValueError(f"name is {name!r}, which is no name of a Python class")


def _asks(sizes: Asked, dtypes: Asked, ranks: Asked) -> frozenset[str]:
    values = {"sizes": sizes, "dtypes": dtypes, "ranks": ranks}
    for key, value in values.items():
        if value not in ("given", "any"):
            raise ValueError(f"{key} is {value!r}; expected 'given' or 'any'")
    return frozenset(key for key, value in values.items() if value == "given")


@dataclass(frozen=True)
class _Maker:
    """Traces a function at a stage."""

    function: Callable[..., Any]
    stage: Stage
    open_sizes: bool

    def traces(self, given: Sequence[Mapping[str, Any]]) -> Iterator[Traced]:
        """Traces for what is given, and for each parameter with another value.

        Sizes that are numbers may be decomposed in another way than symbols, so both are traced.
        """
        for one in given:
            if self.open_sizes:
                yield self._trace(one, asked=True, open_sizes=True)
            yield self._trace(one, asked=True, open_sizes=False)
        for name, several in changed(given):
            yield self._with_another(name, several)

    def _with_another(self, name: str, several: Sequence[Mapping[str, Any]]) -> Traced:
        """A trace with another value of a parameter, the first of several with which it runs."""
        last: Exception | None = None
        for given in several:
            try:
                return self._trace(given, asked=False, open_sizes=self.open_sizes)
            except Exception as error:  # the function is the user's
                last = error
        tried = " or ".join(repr(given[name]) for given in several)
        raise PatternError(
            f"{name_of(self.function)} does not run with {name} = {tried}, which would show what "
            f"comes from it; give inputs with another {name} in `also`, or make it no parameter"
        ) from last

    def _trace(self, given: Mapping[str, Any], *, asked: bool, open_sizes: bool) -> Traced:
        trace = traced(self.function, given, self.stage, Place(), dynamic=open_sizes)
        return Traced.of(trace, asked=asked, open_sizes=open_sizes)


def _text(
    makes: _Maker,
    given: Sequence[Mapping[str, Any]],
    replacement: Callable[..., Any] | None,
    name: str | None,
    asks: frozenset[str],
    numerics: Numerics,
) -> ClassText:
    function = makes.function
    alternatives = alternatives_of(makes.traces(given))
    first = alternatives[0].members[0].trace
    tensors = [one for one in first.inputs if one in _used(first)]
    _check_all_used(function, given[0], tensors, alternatives)
    names = Names([*first.inputs, *given[0]])
    for one in alternatives:
        _check_asked(function, one, alternatives)
        open_up(one, names.fresh)
    if len(alternatives) > 1 and any(len(one.steps.outputs) > 1 for one in alternatives):
        raise PatternError(
            f"{name_of(function)} is {len(alternatives)} different patterns for these inputs, and "
            "returns several tensors; make a rewrite from each"
        )
    built = _replacement(makes, replacement, given, names) if replacement is not None else None
    text = ClassText(
        name or class_name(name_of(function)),
        name_of(function),
        _place(function),
        makes.stage,
        numerics,
        tensors,
        alternatives,
        built,
        asks,
        names.fresh("which") if len(alternatives) > 1 else "",
    )
    if "ranks" not in asks and any(one.is_clause for one in text.variables.values()):
        sizes = [key for key, one in text.variables.items() if ".shape[" in one.is_clause]
        if sizes:
            raise PatternError(
                f"{name_of(function)} passes sizes on ({', '.join(sizes)}), and where they come "
                "from depends on ranks; leave out ranks='any'"
            )
    return text


def _used(trace: StageTrace) -> set[str]:
    owners = {getattr(op, "op", op) for op in trace.ops}
    return {
        name
        for value, name in trace.values.items()
        if any(use.operation in owners for use in value.uses)
    }


def _check_all_used(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    tensors: Sequence[str],
    alternatives: Sequence[Alternative],
) -> None:
    own = state_names(function, []) if isinstance(function, torch.nn.Module) else {}
    for name, value in given.items():
        if isinstance(value, torch.Tensor) and name not in tensors and name not in own:
            raise PatternError(
                f"{name_of(function)} computes its results without `{name}`, at this stage; leave "
                "the parameter out"
            )
    for one in alternatives:
        for member in one.members:
            found = [name for name in member.trace.inputs if name in _used(member.trace)]
            if found != list(tensors):
                raise PatternError(
                    f"{name_of(function)} reads {', '.join(tensors)} for the first inputs, and "
                    f"{', '.join(found)} for others; make a rewrite from each"
                )


def _check_asked(
    function: Callable[..., Any], one: Alternative, alternatives: Sequence[Alternative]
) -> None:
    """Check that calls do not depend on a parameter that was changed to see what comes from it."""
    if one.asked:
        return
    trace = one.members[0].trace
    for other in alternatives:
        for member in other.asked:
            known = member.trace.given
            differ = [key for key, value in trace.given.items() if known[key] is not value]
            if len(differ) == 1:
                now, before = trace.given[differ[0]], known[differ[0]]
                raise PatternError(
                    f"which calls {name_of(function)} makes depends on {differ[0]}: they are "
                    f"others for {now!r} than for {before!r}. "
                    "Make it no parameter, or give inputs for each of its values in `also`"
                )
    raise PatternError(f"which calls {name_of(function)} makes depends on its parameters")


def _replacement(
    makes: _Maker,
    replacement: Callable[..., Any],
    given: Sequence[Mapping[str, Any]],
    names: Names,
) -> Alternative:
    maker = _Maker(replacement, makes.stage, makes.open_sizes)
    as_given = [
        dict(zip(one, parameters_of(replacement, list(one.values())).values(), strict=True))
        for one in given
    ]
    found = alternatives_of(maker.traces(as_given))
    if len(found) > 1:
        kinds = {skeleton(one.members[0].steps) for one in found}
        raise PatternError(
            f"{name_of(replacement)} is {len(kinds)} different lists of calls for these inputs; "
            "a replacement is one. Make a rewrite from each inputs, or write the method by hand"
        )
    open_up(found[0], names.fresh)
    return found[0]


def class_name(function: str) -> str:
    """The name of a class from that of a function: `rms_norm` as `RmsNorm`."""
    if not function.isidentifier():
        return "Traced"
    if function[:1].isupper():
        return function
    words = [word for word in re.split(r"_+", function) if word]
    return "".join(word[:1].upper() + word[1:] for word in words) or "Traced"


def _place(function: Callable[..., Any]) -> str:
    called = type(function) if isinstance(function, torch.nn.Module) else function
    try:
        file, line = inspect.getsourcefile(called), inspect.getsourcelines(called)[1]
    except (OSError, TypeError):  # typed in, or written in C
        return name_of(function)
    return f"{name_of(function)} ({file}:{line})"


# The class has to do what it was made for.


def _check(rewrite: type[Rewrite], text: ClassText) -> None:
    """Check that the rewrite holds for the graphs that it was traced from.

    With sizes that are symbols a replacement may need a guard, which no rewrite may add; it is then
    for graphs whose sizes are numbers.
    """
    complete = text.replacement is not None
    one = rewrite if complete else _with_no_replacement(rewrite)
    asked = [it for alternative in text.alternatives for it in alternative.members if it.asked]
    for member in asked:
        if not _matches(one(), member.trace):
            raise PatternError(
                f"the pattern does not match the graph that it was traced from:\n{text.text()}"
            )
    for member in asked if complete else ():
        found = explain(one, member.trace.module)
        if not found.matched and (not member.open_sizes or _needs_no_guard(found)):
            raise PatternError(
                f"the replacement cannot stand for what was traced:\n{found}\n{text.text()}"
            )


def _needs_no_guard(found: Explanation) -> bool:
    return not any(entry.outcome == "declined" for entry in found.near)


def _with_no_replacement(rewrite: type[Rewrite]) -> type[Rewrite]:
    def replacement(self: Any) -> Any:
        raise NotImplementedError(f"{rewrite.__name__} has no replacement")

    return type(rewrite.__name__, (rewrite,), {"replacement": replacement})


def _matches(one: Rewrite, trace: StageTrace) -> bool:
    bodies = Bodies(trace.module)
    for graph in graphs_of(trace.module):
        with InferenceEnv.of(graph) as env:
            state = GraphState(graph, bodies, env)
            matcher = Matcher(state.facts, one.compiled.spellings, state.order.before)
            for op in graph.block.ops:
                if not isinstance(op, TorchOp):
                    continue
                outputs: Any = one.compiled.outputs
                if matcher.match_at(outputs, op, lambda it: refusal(one, it, state) is None):  # noqa: B023
                    return True
    return False


__all__ = ["TracedPattern", "pattern_from"]
