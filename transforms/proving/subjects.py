"""The subjects of proofs: a declared rewrite, or a case of the no-op registry."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Protocol

from xductor.transforms.passes.numerics import Declared
from xductor.transforms.proving.eager_runs import Trial, run_both
from xductor.transforms.proving.instances import Instance, make_instance
from xductor.transforms.proving.mutations import Mutation
from xductor.transforms.proving.path_world import Limits
from xductor.transforms.proving.paths import Path
from xductor.transforms.proving.symbolic import Reads
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.validation.validate import ValidationResult, validate

#: On how many instances both sides must agree if the subject leaves ranks, dtypes and so on open.
LEAST_DECIDED = 24


class Subject(Protocol):
    """Something with a source and a target, on symbolic values and on tensors.

    - `name`: as results and certificates show it; `numerics`: what it declares.
    - `tensors`: how many tensor variables it has.
    - `least_decided`: on how many instances both sides have to agree for a proof.
    - `identity`: a name that no other subject has.
    """

    @property
    def identity(self) -> str: ...

    @property
    def numerics(self) -> Declared: ...

    name: str
    tensors: int
    least_decided: int

    def instance(self, path: Path, limits: Limits, reads: Reads, used: set[str]) -> Instance:
        """The instance of one path. Raises Pruned if nothing is claimed on it."""
        ...

    def run(self, fillings: Sequence[Any]) -> Trial:
        """Run both sides on tensors. Raises NotTaken if nothing is claimed about these."""
        ...

    def mutated(self, mutation: Mutation) -> Subject:
        """A copy with a mistake in it."""
        ...

    def code(self) -> tuple[Any, ...]:
        """The functions and constants that the claim depends on."""
        ...

    def validated(self) -> ValidationResult:
        """Run both sides on generated instances, in place of a proof."""
        ...


class RewriteSubject:
    """A declared rewrite, or a copy of it with a mistake in it."""

    least_decided = LEAST_DECIDED

    def __init__(self, rewrite: Rewrite, mutation: Mutation | None = None) -> None:
        self.rewrite = rewrite
        self.mutation = mutation
        self.name = rewrite.name
        self.numerics: Declared = rewrite.numerics
        self.tensors = sum("tensor" in kind for kind in rewrite.compiled.kinds.values())

    @property
    def identity(self) -> str:
        return type(self.rewrite).record_key()

    def instance(self, path: Path, limits: Limits, reads: Reads, used: set[str]) -> Instance:
        return make_instance(self.rewrite, path, limits, reads, used, self.mutation)

    def run(self, fillings: Sequence[Any]) -> Trial:
        return run_both(self.rewrite, fillings, self.numerics, self.mutation)

    def validated(self) -> ValidationResult:
        return validate(self.rewrite, instances=24, rounds=3)

    def mutated(self, mutation: Mutation) -> RewriteSubject:
        return RewriteSubject(self.rewrite, mutation)

    def code(self) -> tuple[Any, ...]:
        one = type(self.rewrite)
        options = sorted((key, repr(item)) for key, item in self.rewrite.__getstate__().items())
        methods = (one.pattern, one.where, one.replacement)
        return (*methods, *_own(one), one.numerics, repr(one.through), repr(options))


#: Class attributes that do not affect what is computed, nor what it is tried on.
_ELSEWHERE = frozenset(("name", "inductor", "devices", "counter", "stage", "compiled", "pays"))


def _own(cls: type[Rewrite]) -> list[Any]:
    """What the three methods may reach by `self`: other methods, and class attributes by name."""
    found: list[Any] = []
    for base in cls.__mro__[: cls.__mro__.index(Rewrite)]:
        for name, own in sorted(vars(base).items(), key=lambda pair: pair[0]):
            item = own.__func__ if isinstance(own, staticmethod | classmethod) else own
            if name.startswith("__") or name in _ELSEWHERE:
                continue
            if inspect.isfunction(item):
                found.append(item)
            else:
                found.append(f"{name} = {getattr(item, 'name', None) or repr(item)}")
    return found


__all__ = ["LEAST_DECIDED", "RewriteSubject", "Subject"]
