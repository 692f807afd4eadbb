"""Validates a single rewrite on generated instances of its pattern."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import TensorType, TorchOp, entry_graph, print_ir
from xductor.transforms.explaining.explain import explain_module
from xductor.transforms.passes.events import listening
from xductor.transforms.passes.numerics import EXACT, numerics_text, weakest
from xductor.transforms.rewriting.contracts import Declined, Violation
from xductor.transforms.rewriting.decisions import Undecided
from xductor.transforms.rewriting.driver import (
    Application,
    Driver,
    RewriteIndex,
    watching,
)
from xductor.transforms.rewriting.rewrite import Rewrite, stages_of
from xductor.transforms.validation.coverage import Coverage, is_optional_call, text_of
from xductor.transforms.validation.float64_reference import Errors
from xductor.transforms.validation.fragments import Fragments
from xductor.transforms.validation.given_instances import (
    Given,
    Names,
    given_instances,
)
from xductor.transforms.validation.instance_choices import Choices
from xductor.transforms.validation.instances import NoInstance, make_instance
from xductor.transforms.validation.named_rewrite import rewrite_of
from xductor.transforms.validation.values import check_values, compare_fragments

Status = Literal["validated", "incomplete", "violated", "vacuous"]

#: The dtypes that are tried if none are given.
DTYPES = (
    torch.float32,
    torch.bfloat16,
    torch.int64,
    torch.float64,
    torch.float16,
    torch.int32,
    torch.bool,
    torch.uint8,
    torch.complex64,
    torch.int8,
)
#: How many graphs are tried for each requested instance before validation gives up.
_ATTEMPTS = 30

#: For how many of the graphs to which nothing applied the reason is looked for.
_MOST_EXPLAINED = 100


#: With how many seeds a binding is tried: the graph may return its outputs or only read them, and
#: what the binding leaves open is generated.
_TRIES_OF_GIVEN = 6

#: How many graphs are tried for an alternative that no other graph exercised.
_TRIES_OF_ALTERNATIVE = 90


#: How many gaps, and how many notes, a report shows.
_MOST_SHOWN = 5


class ValidationError(Exception):
    """A rewrite is wrong on an instance, or no instance shows anything about it or a part of it."""


@dataclass
class ValidationResult:
    """The outcome of validating a rewrite on generated instances.

    - `status`: `"validated"`; `"violated"` if an instance shows that it is wrong; `"vacuous"` if
      there is no instance on which it applied and could be run; `"incomplete"` if it agreed on some
      instances, and there are `gaps`.
    - `instances`: on how many graphs it applied and agreed on every input that was tried.
    - `runs`: on how many inputs in all.
    - `dtypes`, `ranks`: how many of the instances had a first tensor of each dtype and rank.
    - `symbolic`: how many of them had symbolic sizes.
    - `declined`: why it did not apply to other graphs, with counts.
    - `violations`: what was wrong, each with the graph's text.
    - `errors`: against float64, if the rewrite declares that it rounds less often.
    - `gaps`: what was asked for and could not be tried: bindings of `instances` that are malformed,
      alternatives and traced dtypes that no instance exercised; `notes`: bindings that the rewrite
      refuses, and the like.
    """

    rewrite: str
    numerics: str = EXACT
    status: Status = "vacuous"
    instances: int = 0
    runs: int = 0
    symbolic: int = 0
    dtypes: Counter[torch.dtype] = field(default_factory=Counter[torch.dtype])
    ranks: Counter[int] = field(default_factory=Counter[int])
    declined: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])
    errors: Errors = field(default_factory=Errors)
    gaps: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        return self.status == "validated"

    def counted(self, first: TensorType | None, text: str) -> None:
        """Count an instance on which all runs agreed; `first` is its first tensor."""
        self.instances += 1
        self.symbolic += "[s" in text or ", s" in text
        if first is not None:
            self.dtypes[first.dtype] += 1
            self.ranks[first.rank] += 1

    def raise_if_wrong(self) -> ValidationResult:
        """Return the result itself. Raises ValidationError if it is anything but validated."""
        if not self.ok:
            raise ValidationError(str(self))
        return self

    def __str__(self) -> str:
        lines = [
            f"{self.rewrite}: {self.status}, {self.numerics}, {self.instances} instances, "
            f"{self.runs} runs"
        ]
        if self.dtypes:
            counts = [f"{_name(dtype)} {count}" for dtype, count in self.dtypes.most_common()]
            lines.append(f"  dtypes: {', '.join(counts)}")
            ranks = [f"{rank} {count}" for rank, count in sorted(self.ranks.items())]
            lines.append(f"  ranks: {', '.join(ranks)}; symbolic sizes: {self.symbolic}")
        for reason, count in self.declined.most_common(5 if self.instances else 20):
            lines.append(f"  not applied, {count} times: {reason}")
        for kind, several in (("not validated", self.gaps), ("note", self.notes)):
            lines += [f"  {kind}: {one}" for one in several[:_MOST_SHOWN]]
            if len(several) > _MOST_SHOWN:
                lines.append(f"  {kind}: {len(several) - _MOST_SHOWN} more")
        lines += self.violations[:1]
        if self.status == "vacuous":
            lines.append(
                "  nothing was validated: give `instances(self)`, which yields values of the "
                "variables, on which the rewrite applies"
            )
        return "\n".join(lines)


def validate(
    rewrite: Rewrite | type[Rewrite] | str,
    *,
    instances: int = 40,
    dtypes: Sequence[torch.dtype] | None = None,
    devices: Sequence[torch.device | str] = ("cpu",),
    rounds: int = 4,
    seed: int = 0,
) -> ValidationResult:
    """Apply a rewrite to generated graphs that its pattern matches, and run both sides.

    - `instances`: how many graphs it should apply to; fewer may be found.
    - `dtypes`, `devices`: those of the tensors; by default ten dtypes on the CPU.
    - `rounds`: how many inputs are tried for each.

    If a rewrite has a method `instances(self)`, the bindings that it yields (dicts by variable
    name: a tensor, a constant, a list, or a function of the seed that gives one) are tried first,
    with the tensors' own values; of a tensor on `meta` only the type is used. A binding without the
    number of an alternative (`one_of(..., as_=which)`) is tried with each. Those that never apply
    are named in the result.

    Raises TypeError or ValueError for what is no rewrite; InvalidInstances if `instances` raises,
    or yields what is no dict.
    """
    one = rewrite_of(rewrite)
    trial = _Validation(one, rounds, seed)
    trial.try_all_given(given_instances(one, seed), instances, torch.device(devices[0]))
    chosen = tuple(dtypes or DTYPES)
    kinds = list(itertools.product(chosen, map(torch.device, devices), (False, False, True)))
    with_grad = stages_of(one)[0] == "pre_grad"
    for number in range(instances * _ATTEMPTS):
        if trial.result.instances >= instances or trial.result.violations:
            break
        dtype, device, symbolic = kinds[number % len(kinds)]
        trial.try_instance(
            Choices(seed + number, dtype, device, symbolic=symbolic, with_grad=with_grad)
        )
    trial.try_missing_alternatives(kinds, with_grad=with_grad)
    return trial.finished()


class _Validation:
    """The validation of one rewrite, instance by instance."""

    def __init__(self, rewrite: Rewrite, rounds: int, seed: int) -> None:
        self.rewrite = rewrite
        self.rounds = rounds
        self.seed = seed
        self.result = ValidationResult(rewrite.name, numerics_text(rewrite.numerics))
        self.explained = 0
        self.driver_index = RewriteIndex([rewrite])
        self.names = Names.of(rewrite)
        self.coverage = Coverage(rewrite)
        self.dtypes: set[tuple[Any, ...]] = set()
        self.given: list[Mapping[str, Any]] = []

    # The bindings that the rewrite names itself.

    def try_all_given(self, several: Iterable[Given], most: int, device: torch.device) -> None:
        """Try what `instances` yields: of the class's own the first ones, of a traced one all."""
        own = 0
        for given in several:
            own += not given.traced
            if not given.traced and own > most:
                self.result.notes.append(f"only the first {most} of its `instances` were tried")
                return
            self._try_given(given, device)

    def _try_given(self, given: Given, device: torch.device) -> None:
        """Try a binding with all alternatives that it leaves open; say so if it never applies."""
        result, names, values = self.result, self.names, given.values
        wrong = names.of_wrong_kind(values)
        if wrong:
            result.gaps.append(f"{given} was not tried: {', '.join(wrong)}")
            return
        unknown, missing = names.unknown(values), names.missing(values)
        self.given.append(values)
        before = result.declined.copy()
        applied = False
        for one in names.with_alternatives(values):
            for number in range(_TRIES_OF_GIVEN):
                if self.try_instance(Choices(self.seed + number, torch.float32, device), one):
                    applied = True
                    break
        if result.violations or (applied and not unknown):
            return
        left_out = [f"nothing is given for `{name}`" for name in missing]
        if unknown and (missing or not applied):
            result.gaps.append(f"{given}: {', '.join([*unknown, *left_out])}")
        elif unknown:
            text = f"in `instances`, {', '.join(unknown)}"
            result.notes += [] if text in result.notes else [text]
        elif given.traced:
            self._note_traced(given)
        else:
            why = " or ".join(list(result.declined - before)[:2]) or "it does not apply"
            to = result.gaps if missing else result.notes
            to.append(f"{given} was not applied: {', '.join([why, *left_out])}")

    def _note_traced(self, given: Given) -> None:
        """Say if the dtypes that a class was traced with are applied by no other instance."""
        dtypes = [(name, getattr(one, "dtype", None)) for name, one in given.values.items()]
        wanted = {one for one in dtypes if one[1] is not None}
        if not any(wanted <= set(known) for known in self.dtypes):
            shown = ", ".join(f"{name} {_name(dtype)}" for name, dtype in dtypes if dtype)
            text = f"never applied with dtypes that it was traced with: {shown}"
            if text not in self.result.gaps:
                self.result.gaps.append(text)

    # The alternatives.

    def try_missing_alternatives(self, kinds: Sequence[Any], *, with_grad: bool) -> None:
        """Try graphs with each alternative that nothing exercised, and name what stays so."""
        result = self.result
        open_kinds = itertools.cycle(kinds)
        for one, place in self.coverage.missing() if result.instances else ():
            tries = [*self.given, *[None] * _TRIES_OF_ALTERNATIVE]
            for number, given in enumerate(tries):
                if result.violations or (one, place) not in self.coverage.missing():
                    break
                dtype, device, symbolic = next(open_kinds)
                seed = self.seed + number
                symbolic = symbolic and given is None
                choices = Choices(seed, dtype, device, symbolic=symbolic, with_grad=with_grad)
                choices.forced = {one: place}
                self.try_instance(choices, given)
        for one, place in self.coverage.missing():
            to = result.notes if is_optional_call(one) else result.gaps
            to.append(f"never applied: {text_of(one, place)}")

    def try_instance(self, choices: Choices, given: Mapping[str, Any] | None = None) -> bool:
        """Make a graph and run both sides; whether the rewrite applied and they agreed."""
        try:
            module = make_instance(self.rewrite, choices, given)
        except NoInstance as error:
            self.result.declined[reason_of(error)] += 1
            return False
        text = print_ir(module)
        first = first_tensor(module)
        before = self.result.declined.total()
        applied = self._apply(module, text, given, choices)
        if applied:
            self.result.counted(first, text)
        elif self.result.declined.total() == before and not self.result.violations:
            self.result.declined[self._why_not(module)] += 1
        return applied

    def _why_not(self, module: ModuleOp) -> str:
        """Why nothing applied, if nothing was reported; looked for in the first graphs only."""
        if self.explained >= _MOST_EXPLAINED:
            return "`where` says no, or the pattern does not match"
        self.explained += 1
        entries = explain_module(self.rewrite, module).entries
        refused = [one.reason for one in entries if one.outcome == "refused"]
        return refused[0] if refused else "the pattern does not match the graph that was made"

    def _apply(
        self, module: ModuleOp, text: str, given: Mapping[str, Any] | None, choices: Choices
    ) -> bool:
        """Whether the rewrite applied and both sides ran and agreed."""
        result, ran = self.result, [False]
        violations: list[str] = []

        def listener(application: Application) -> None:
            checked = check_values(application, rounds=self.rounds, seed=self.seed, given=given)
            result.runs += checked.runs
            result.errors.add(checked.errors)
            if checked.skipped:
                result.declined[checked.skipped] += 1
            if checked.runs:
                ran[0] = True
                bindings = application.match.bindings
                self.coverage.applied(bindings, choices.picked)
                dtypes = [(name, _dtype_of(one)) for name, one in bindings.items()]
                self.dtypes.add(tuple(dtypes))
            raise Declined("validated")  # never connected, so that only generated graphs are tried

        def report(one: Rewrite, op: TorchOp, error: Exception) -> None:
            if isinstance(error, Undecided):
                result.declined[f"not known whether {error.fact.text}"] += 1
            elif isinstance(error, Declined):
                if str(error) != "validated":
                    result.declined[str(error)] += 1
            elif isinstance(error.__cause__, Violation):
                violations.append(f"{error}\nin:\n{text}")
            else:
                result.declined[str(error.__cause__ or error).splitlines()[0]] += 1

        with (
            listening(Application, listener),
            watching(report=report, any_device=True, even_unprofitable=True),
        ):
            Driver(self.driver_index, "fast").rewrite(module)
        refusal = self._refusal_of_eager(module, given) if violations and not ran[0] else ""
        if refusal:
            result.declined[refusal] += 1
        else:
            result.violations += violations
        return ran[0]

    def _refusal_of_eager(self, module: ModuleOp, given: Mapping[str, Any] | None) -> str:
        """Why eager refuses a graph for every input; empty if it runs, or cannot be run."""
        pairs: list[Any] = [(one, one) for one in entry_graph(module).output.operands]
        checked = compare_fragments(
            Fragments(module, module, tuple(pairs)),
            weakest(self.rewrite.numerics),
            [False] * len(pairs),
            rounds=self.rounds,
            seed=self.seed,
            given=given,
        )
        return checked.skipped if checked.rejected and not checked.runs else ""

    def finished(self) -> ValidationResult:
        result = self.result
        problem = result.errors.problem()
        if problem is not None:
            result.violations.append(f"{result.rewrite}: {problem}")
        if result.violations:
            result.status = "violated"
        elif result.instances:
            result.status = "incomplete" if result.gaps else "validated"
        return result


def _dtype_of(value: Any) -> torch.dtype | None:
    """The dtype of a tensor that a variable is bound to."""
    type_ = getattr(value, "type", None)
    return type_.dtype if isinstance(type_, TensorType) else None


def first_tensor(module: ModuleOp) -> TensorType | None:
    """The type of the first tensor among the arguments of the entry graph, if there is one."""
    types: list[Any] = [argument.type for argument in entry_graph(module).arguments]
    return next((one for one in types if isinstance(one, TensorType)), None)


def reason_of(error: NoInstance) -> str:
    """Why no graph was made, without numbers, so that equal reasons count together."""
    line = (str(error).splitlines() or [""])[0]
    return "cannot be made: " + _NUMBERS.sub("#", line)


_NUMBERS = re.compile(r"(?<![\w.])-?[0-9]+(, -?[0-9]+)*")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


__all__ = [
    "DTYPES",
    "ValidationError",
    "ValidationResult",
    "first_tensor",
    "reason_of",
    "validate",
]
