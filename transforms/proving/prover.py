"""Proves a declared rewrite by running its own methods on symbolic instances of its pattern."""

from __future__ import annotations

import copy
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

import torch

from xductor.transforms.passes.numerics import (
    EXACT,
    REASSOCIATES,
    Numerics,
    numerics_at,
    numerics_text,
)
from xductor.transforms.proving import counterexamples
from xductor.transforms.proving.instances import LARGEST_RANK, Instance
from xductor.transforms.proving.mutations import KINDS, Mutation
from xductor.transforms.proving.path_world import Limits
from xductor.transforms.proving.paths import Path, Pruned, Refused, Unmade, all_paths
from xductor.transforms.proving.results import CounterExample, Proof
from xductor.transforms.proving.solving.equality import Budget, Verdict
from xductor.transforms.proving.solving.levels import Elements
from xductor.transforms.proving.solving.size_classes import FINENESS, each_class
from xductor.transforms.proving.solving.solver import z3_module
from xductor.transforms.proving.subjects import LEAST_DECIDED, RewriteSubject, Subject
from xductor.transforms.proving.symbolic import NotSymbolic, Reads, SymbolicTensor
from xductor.transforms.rewriting.driver import NOT_OF_THIS_DTYPE
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.semantics.scalars import KNOWN
from xductor.transforms.semantics.terms import Term, eq, negation, var, within
from xductor.transforms.semantics.values import NoMeaning, dtypes_of_both
from xductor.transforms.validation.named_rewrite import rewrite_of


@dataclass
class Found:
    """What the instances of a rewrite have shown so far.

    - `ranks`: those at which both sides agree; `open_ranks`: those at which this was asked.
    - `not_taken`: why other instances were refused or not made, with counts; `first_of`: the first
      path of each.
    """

    needed: Numerics = EXACT
    engines: set[str] = field(default_factory=set[str])
    axioms: set[str] = field(default_factory=set[str])
    bounds: dict[str, None] = field(default_factory=dict[str, None])
    ranks: set[int] = field(default_factory=set[int])
    open_ranks: set[int] = field(default_factory=set[int])
    not_taken: Counter[str] = field(default_factory=Counter[str])
    first_of: dict[str, Path] = field(default_factory=dict[str, Path])
    stopped: bool = False
    refused_later: int = 0
    dtypes: dict[torch.dtype, None] = field(default_factory=dict[torch.dtype, None])
    instances: int = 0
    unknown: str = ""
    suspicions: int = 0
    undecided: int = 0
    example: CounterExample | None = None


class _Enough(Exception):
    """A counter-example was found, the time is up, or no proof is possible any more."""


class _AsksForMore(Exception):
    """A dtype or device was read, so that all of them have to be looked at."""


#: How many refused sources of the same dtypes and ranks eager is asked about before giving up.
_MOST_REFUSALS = 4

_DEVICES = ("cpu", "cuda:0")

#: After how many differences without an example the rest is left to generated instances.
_MOST_SUSPICIONS = 12


def prove(rewrite: Rewrite | type[Rewrite] | str, *, seconds: float = 120.0) -> Proof:
    """Decide whether a rewrite's two sides agree on all instances.

    - `seconds`: the time after which what has not been looked at becomes a bound.

    Raises ProverUnavailable if z3 is not installed, TypeError or ValueError for
    what is no rewrite.
    """
    return prove_subject(RewriteSubject(rewrite_of(rewrite)), seconds=seconds)


def prove_subject(subject: Subject, *, seconds: float = 120.0) -> Proof:
    """Decide whether the source and the target of `subject` agree on all instances, as `prove`."""
    z3_module()
    start = time.thread_time()
    prover = _Prover(subject, seconds)
    proof = prover.proof()
    if proof.ok:
        mutations = _of_mutations(prover)
        if "refuted" not in mutations.values():
            proof = prover.validated(
                "no copy of it with a mistake is refuted, so that a proof would tell nothing"
            )
        proof.mutations = mutations
    proof.seconds = time.thread_time() - start
    return proof


def _of_mutations(original: _Prover) -> dict[str, str]:
    """The statuses of copies with a mistake: a prover that accepts them all proves nothing."""
    found: dict[str, str] = {}
    for kind in KINDS:
        mutation = Mutation(kind)
        prover = _Prover(original.subject.mutated(mutation), _SECONDS_FOR_MUTATION)
        prover.may_validate = False
        if not mutation.drops_condition:
            prover.take_instances_of(original)
        status = prover.proof().status
        if mutation.applied:
            found[kind] = status
    return found


_SECONDS_FOR_MUTATION = 8.0


class _Prover:
    """One proof."""

    may_validate = True

    def __init__(self, subject: Subject, seconds: float) -> None:
        self.subject = subject
        self.seconds = seconds
        self.end = time.thread_time() + seconds
        self.reads = Reads()
        self.budget = Budget(total=seconds)
        self.elements: dict[Numerics, Elements] = {}
        self.reads.dtype = not isinstance(subject.numerics, str)
        self.found = Found()
        self.used: set[str] = set()
        self.limits = Limits()
        self._decided: list[Instance] = []
        self._taken: set[Any] = set()
        self._refusals: dict[Any, list[str]] = {}
        self._begins: dict[Limits, list[tuple[int, ...]]] = {}

    def take_instances_of(self, other: _Prover) -> None:
        """Look only at instances that `other`, with the same source and condition, accepted."""
        self.reads = copy.deepcopy(other.reads)
        self._taken, self._begins = set(other._taken), dict(other._begins)

    def proof(self) -> Proof:
        rank = LARGEST_RANK.get(self.subject.tensors, 2)
        reason = ""
        for listed in (False, True):
            limits = Limits(rank=rank, listed_ints=listed, listed_numbers=listed)
            limits = replace(limits, longest_shape=3) if listed else limits
            if listed:  # time spent on the first attempt must not be missing here
                self.end = max(self.end, time.thread_time() + self.seconds / 2)
                self.budget = Budget(total=self.seconds)
                for one in self.elements.values():
                    one.budget = self.budget
            try:
                # Low ranks first: their counter-examples are small.
                self._explore(replace(limits, rank=min(1, rank), longest_shape=2))
                self._until_stable(limits)
                if self.may_validate:  # for a copy with a mistake, the number does not matter
                    self._until_enough(limits)
            except NotSymbolic as error:
                reason = str(error)
                self.found = Found()
                continue
            except NoMeaning as error:
                return self.validated(str(error))
            except RecursionError:
                return self.validated("its terms are nested more deeply than Python's stack allows")
            return self._finished()
        return self.validated(reason)

    def _until_enough(self, limits: Limits) -> None:
        """Split the cases that one instance stood for, while there are too few instances."""
        for more in ({"dtypes": KNOWN}, {"devices": _DEVICES}):
            limits = replace(limits, **more)
            if self._are_few() and self._with_what_is_asked(limits) != self.limits:
                self._until_stable(limits)
        try:
            for many in FINENESS:
                if self._are_few():
                    self._look_by_sizes(many)
        except _Enough:
            pass

    def _are_few(self) -> bool:
        found = self.found
        if found.stopped or found.unknown or found.example is not None:
            return False
        return 0 < found.instances < self.subject.least_decided

    def _look_by_sizes(self, many: int) -> None:
        """Look at decided instances again, by classes of their sizes.

        All of the first classes; of finer ones only as many as are needed.
        """
        decided = 0

        def look(instance: Instance) -> bool:
            nonlocal decided
            self._check_time()
            decided += self._agrees(instance)
            return many == FINENESS[0] or decided < self.subject.least_decided

        for one in self._decided:
            if not each_class(one.assumptions, one.sizes, many, partial(look, one)):
                break
        self.found.instances = max(self.found.instances, decided)

    def _until_stable(self, limits: Limits) -> None:
        """Explore again as long as it turns out that dtypes or devices are read."""
        while self.found.example is None:
            self.found = Found()
            self._decided.clear()
            self._refusals.clear()
            try:
                self._explore(self._with_what_is_asked(limits), whole=True)
            except _AsksForMore:
                continue
            return

    def _with_what_is_asked(self, limits: Limits) -> Limits:
        dtypes = KNOWN if self.reads.dtype else limits.dtypes
        devices = _DEVICES if self.reads.device else limits.devices
        return replace(limits, dtypes=dtypes, devices=devices)

    def _explore(self, limits: Limits, *, whole: bool = False) -> None:
        """Look at all instances.

        - `whole`: require that they are all there are, and raise _AsksForMore if not.
        """
        asked = self._asked()
        self.limits = limits

        def run(path: Path) -> Instance:
            return self.subject.instance(path, limits, self.reads, self.used)

        begins: dict[tuple[int, ...], None] = {}

        def pruned(path: Path, error: Pruned) -> None:
            if path.source:
                begins[tuple(path.taken[: path.source])] = None
            self._pruned(path, error)

        try:
            for path, instance in all_paths(run, pruned, self._begins.get(limits, [()])):
                if whole and self._asked() != asked:
                    raise _AsksForMore
                self._check(instance)
                self._check_time()
                begins[tuple(path.taken[: path.source])] = None
            self._begins[limits] = list(begins)
        except _Enough:
            pass
        if whole and self.found.example is None and self._asked() != asked:
            raise _AsksForMore

    def _asked(self) -> tuple[bool, bool]:
        return self.reads.dtype, self.reads.device

    def _check_time(self) -> None:
        """Raise _Enough when the time is up; paths that are not taken cost time too."""
        if time.thread_time() > self.end:
            self.found.bounds[f"stopped after {self.seconds:g} s"] = None
            self.found.stopped = True
            raise _Enough

    def _pruned(self, path: Path, error: Pruned) -> None:
        """Record why a path was not taken, unless it contradicts itself."""
        self._check_time()
        if isinstance(error, Unmade):
            self._note_not_taken(f"cannot be made: {error}", path)
        elif isinstance(error, Refused):
            self._note_not_taken(str(error), path)

    def _note_not_taken(self, why: str, path: Path) -> None:
        self.found.not_taken[why] += 1
        self.found.first_of.setdefault(why, path)

    # One instance.

    def _is_refused_by_eager(self, instance: Instance) -> bool:
        """Whether eager refuses the source; asked until one of these dtypes and ranks passes."""
        constants = [str(one) for one in instance.fillings if isinstance(one, torch.dtype)]
        key = (instance.dtypes, instance.ranks, *constants)
        if key in self._taken:
            return False
        refusals = self._refusals.setdefault(key, [])
        if len(refusals) < _MOST_REFUSALS:
            why = counterexamples.refusal_of_eager(self.subject.run, instance)
            if not why:
                self._taken.add(key)
                return False
            refusals.append(why)
        self._note_not_taken(f"is refused by eager: {refusals[-1]}", instance.path)
        return True

    def _check(self, instance: Instance) -> None:
        found = self.found
        if self._is_refused_by_eager(instance):
            return
        if numerics_at(self.subject.numerics, _dtype_of(instance)) is None:
            self._note_not_taken(NOT_OF_THIS_DTYPE, instance.path)
            return
        found.open_ranks |= set(instance.ranks)
        if instance.problem:
            self._suspect(instance, instance.problem)
            return
        if not self._agrees(instance):
            return
        if found.instances < self.subject.least_decided:
            self._decided.append(instance)
        found.instances += 1
        found.ranks |= set(instance.ranks)
        found.dtypes.update(dict.fromkeys(instance.dtypes))
        found.bounds.update(dict.fromkeys(instance.bounds))

    def _agrees(self, instance: Instance) -> bool:
        """Whether both sides agree, as far as can be decided."""
        found = self.found
        before = (found.undecided, found.suspicions, found.refused_later)
        self._obligations(instance)
        for place, (old, new) in enumerate(zip(instance.source, instance.target, strict=True)):
            if new is not None:
                self._output(instance, place, old, new)
        return (found.undecided, found.suspicions, found.refused_later) == before

    def _suspect(
        self,
        instance: Instance,
        why: str,
        conditions: tuple[Term, ...] = (),
        values: Any = None,
        extra: Any = None,
    ) -> None:
        """Search for an example of something that may be wrong; running it decides."""
        example = counterexamples.find(
            self.subject.run,
            instance,
            conditions,
            values,
            extra,
            numerics=self._numerics_of(instance),
        )
        if example is not None:
            self.found.example = example
            raise _Enough
        refusal = counterexamples.refusal_of_eager(self.subject.run, instance)
        if refusal:
            self._note_not_taken(f"is refused by eager: {refusal}", instance.path)
            self.found.refused_later += 1
            return
        found, where = self.found, "; ".join(instance.path.notes)
        found.unknown = found.unknown or f"{why}, but no example shows it ({where})"
        found.suspicions += 1
        if found.suspicions >= _MOST_SUSPICIONS:
            raise _Enough

    def _obligations(self, instance: Instance) -> None:
        for one in instance.obligations:
            if not instance.assumptions.implies(one.condition):
                self._suspect(instance, f"the replacement: {one.why}", (negation(one.condition),))

    def _output(self, instance: Instance, place: int, old: Any, new: Any) -> None:
        if not isinstance(old, SymbolicTensor) or not isinstance(new, SymbolicTensor):
            raise NoMeaning(f"output {place}, which is no tensor")
        before, after = old.meaning, new.meaning
        if before.rank != after.rank:
            self._suspect(instance, f"rank {before.rank} becomes {after.rank}")
            return
        dtype, other = dtypes_of_both(before, after)
        if dtype is not other:
            self._suspect(instance, f"{dtype} becomes {other}")
            return
        if before.device != after.device:
            self._suspect(instance, f"{before.device} becomes {after.device}")
            return
        assumptions = instance.assumptions
        for a, b in zip(before.shape, after.shape, strict=True):
            if a is not b and not assumptions.implies(eq(a, b)):
                self._suspect(instance, f"size {a} becomes {b}", (negation(eq(a, b)),))
                return
        index = [var(f"i{k}") for k in range(before.rank)]
        ranges = [within(i, n) for i, n in zip(index, before.shape, strict=True)]
        if not assumptions.possible(*ranges):
            return  # nothing but empty tensors
        with assumptions.under(*ranges):
            self._elements(instance, before.element(index), after.element(index), index)

    def _elements(self, instance: Instance, a: Term, b: Term, index: list[Term]) -> None:
        found = self.found
        agreement = self._elements_at(instance).agreement(instance.assumptions, a, b)
        found.engines |= agreement.engines
        level = agreement.level
        if level is None:
            self._different(instance, agreement.verdict, index)
            return
        found.needed = _weaker(found.needed, level.numerics)
        found.axioms.update(level.axioms)

    def _elements_at(self, instance: Instance) -> Elements:
        """The comparison of elements under the numerics of an accepted instance."""
        numerics = self._numerics_of(instance)
        if numerics not in self.elements:
            self.elements[numerics] = Elements(numerics, self.budget)
        return self.elements[numerics]

    def _numerics_of(self, instance: Instance) -> Numerics:
        """What an accepted instance may change."""
        numerics = numerics_at(self.subject.numerics, _dtype_of(instance))
        assert numerics is not None
        return numerics

    def _different(self, instance: Instance, verdict: Verdict, index: list[Term]) -> None:
        if verdict.answer == "unknown":
            if len(self.found.bounds) < 3:  # numbers may show what the solver cannot
                example = counterexamples.find(
                    self.subject.run, instance, rounds=12, numerics=self._numerics_of(instance)
                )
                if example is not None:
                    self.found.example = example
                    raise _Enough
            self.found.bounds[verdict.why] = None
            self.found.undecided += 1
            if not self.found.instances and self.found.undecided >= _MOST_SUSPICIONS:
                raise _Enough
            return
        self._suspect(
            instance,
            verdict.why,
            verdict.conditions,
            verdict.values,
            {str(one): one for one in index},
        )

    # The result.

    def _base(self) -> Proof:
        found = self.found
        dtypes = tuple(str(one).removeprefix("torch.") for one in found.dtypes)
        return Proof(
            self.subject.name,
            declared=numerics_text(self.subject.numerics),
            needed=found.needed,
            ranks=(min(found.ranks, default=0), max(found.ranks, default=0)),
            dtypes=dtypes if self.reads.dtype else ("any",),
            devices=("cpu", "cuda") if self.reads.device else ("any",),
            bounds=(*found.bounds, *self._at_one_length()),
            instances=found.instances,
            engines=tuple(sorted(found.engines)),
            axioms=tuple(sorted(found.axioms)),
            ops=tuple(sorted(self.used)),
        )

    def _at_one_length(self) -> list[str]:
        """Lists that were tried at one length only, though nothing fixes it."""
        lengths = {
            name: min(tried) for name, tried in self.reads.lengths.items() if len(tried) == 1
        }
        return [f"{name}: lists of length {length} only" for name, length in lengths.items()]

    def _finished(self) -> Proof:
        found, proof = self.found, self._base()
        if found.example is not None:
            proof.status, proof.counter_example = "refuted", found.example
            return proof
        if found.unknown:
            return self.validated(found.unknown)
        if not found.instances and found.undecided:
            return self.validated(next(iter(found.bounds)))
        if not found.instances and not found.stopped:
            reason = "no instance of the pattern is taken by `where`"
            if self.may_validate:  # the rewrite may name instances that no variable leads to
                return self.validated(reason)
            proof.status, proof.reason = "vacuous", reason
            return proof
        too_few = self._too_few()
        if too_few:
            return self.validated(too_few)
        whole = "proved up to re-association" if found.needed == REASSOCIATES else "proved"
        proof.status = "bounded" if proof.bounds else whole
        return proof

    def _too_few(self) -> str:
        """Why what was decided is too little for a proof; "" if it is enough."""
        found = self.found
        if found.instances < self.subject.least_decided:
            bounds = f": {', '.join(found.bounds)}" if found.bounds else ""
            return f"decided on {found.instances} symbolic instances only{bounds}"
        looked_at_all = not found.stopped and found.open_ranks == found.ranks
        if len(found.ranks) == 1 and self.reads.several_ranks and not looked_at_all:
            return f"decided at rank {min(found.ranks)} only, which the pattern leaves open"
        return ""

    def _not_taken(self) -> tuple[str, ...]:
        """Why instances were not taken, those that came nearest first, with an example of each."""
        found = self.found
        order = sorted(
            found.not_taken.items(), key=lambda one: (one[0].startswith("cannot"), -one[1])
        )
        return tuple([self._reason(why, count) for why, count in order[:_MOST_REASONS]])

    def _reason(self, why: str, count: int) -> str:
        path = self.found.first_of[why]
        notes = f" (such as {'; '.join(path.notes)})" if path.notes else ""
        return f"{count} times: {self._explained(why, path)}{notes}"

    def _explained(self, why: str, path: Path) -> str:
        """A reason with the clause of `where` that said no, if `where` gave no reason."""
        limits = replace(self.limits, explain=True)
        try:
            self.subject.instance(Path(tuple(path.taken)), limits, self.reads, self.used)
        except Refused as error:
            return str(error)
        except Pruned:
            pass
        return why

    def validated(self, reason: str) -> Proof:
        """Run generated instances in place of a proof, for the given reason."""
        proof = self._base()
        proof.reason = reason
        if not self.may_validate:
            proof.status = "undecided"
            return proof
        result = self.subject.validated()
        proof.instances, proof.runs = result.instances, result.runs
        decided = self.found.instances
        proof.status = {
            "validated": "validated",
            "incomplete": "undecided",
            "vacuous": "undecided" if decided else "vacuous",
            "violated": "refuted",
        }[result.status]  # type: ignore[assignment]
        if result.status == "vacuous":
            proof.not_taken = (
                *self._not_taken(),
                *[
                    f"{count} times, of those generated: {why}"
                    for why, count in result.declined.most_common(_MOST_REASONS)
                ],
            )
        proof.not_taken += tuple(result.gaps[:_MOST_REASONS])
        if result.violations:
            proof.reason += "\n" + result.violations[0]
        return proof


_MOST_REASONS = 6


def _weaker(a: Numerics, b: Numerics) -> Numerics:
    return max(a, b, key=lambda kind: get_args(Numerics).index(kind))


def _dtype_of(instance: Instance) -> torch.dtype | None:
    """The dtype of the first output, if it is a tensor."""
    first = instance.source[0] if instance.source else None
    return first.meaning._dtype if isinstance(first, SymbolicTensor) else None


__all__ = ["LEAST_DECIDED", "prove", "prove_subject"]
