"""The results of proofs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from xductor.transforms.passes.numerics import Numerics

Status = Literal[
    "proved",
    "proved up to re-association",
    "bounded",
    "validated",
    "undecided",
    "vacuous",
    "refuted",
]

#: The statuses that are errors if a proof was asked for.
FAILED: tuple[Status, ...] = ("undecided", "vacuous", "refuted")


class ProofError(Exception):
    """A rewrite is refuted, vacuous or undecided, though a proof was asked for."""


@dataclass(frozen=True)
class CounterExample:
    """Values for which a rewrite is wrong, run in eager.

    - `inputs`, `attributes`: by variable; `before`, `after`: the results of both sides.
    - `script`: a program that fails because they differ.
    """

    problem: str
    inputs: dict[str, Any]
    attributes: dict[str, Any]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    script: str


@dataclass
class Proof:
    """The result of proving one rewrite.

    - `needed`: the numerics that the proof needed; `declared`: those that the rewrite declares.
    - `ranks`: the least and the largest rank of tensors; `dtypes`: those of instances, or `any`.
    - `bounds`: what the proof leaves out.
    - `instances`: on how many symbolic instances both sides agree; if validated, on how many
      generated ones, with `runs` the number of inputs.
    - `engines`: what decided; `axioms`: what was assumed about sums.
    - `reason`: why the status is not a better one; `not_taken`: if vacuous, why instances were
      refused or could not be made.
    """

    rewrite: str
    status: Status = "vacuous"
    declared: str = "exact"
    needed: Numerics = "exact"
    ranks: tuple[int, int] = (0, 0)
    dtypes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("cpu",)
    bounds: tuple[str, ...] = ()
    instances: int = 0
    engines: tuple[str, ...] = ()
    axioms: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    reason: str = ""
    runs: int = 0
    not_taken: tuple[str, ...] = ()
    seconds: float = 0.0
    counter_example: CounterExample | None = None
    mutations: dict[str, str] = field(default_factory=dict[str, str])
    cached: bool = False

    @property
    def ok(self) -> bool:
        """Whether it is proved, for all sizes or up to a bound."""
        return self.status in ("proved", "proved up to re-association", "bounded")

    def raise_if_wrong(self) -> Proof:
        """Return the proof itself. Raises ProofError if it is refuted, vacuous or undecided."""
        if self.status in FAILED:
            raise ProofError(str(self))
        return self

    def __str__(self) -> str:
        lines = [f"{self.rewrite}: {self.status} ({self.seconds:.1f} s)"]
        if self.ok:
            how = "bit-exact" if self.needed == "exact" else self.needed
            lines.append(
                f"  all sizes at ranks {self.ranks[0]} to {self.ranks[1]}, dtypes "
                f"{', '.join(self.dtypes)}, {how}; {self.instances} instances"
            )
        elif self.status == "validated":
            lines.append(f"  run: {self.instances} generated instances, {self.runs} runs")
        if self.engines:
            lines.append(f"  by {', '.join(self.engines)}")
        lines += [f"  axiom: {one}" for one in self.axioms]
        lines += [f"  bound: {one}" for one in self.bounds]
        lines += [f"  with {kind}: {status}" for kind, status in self.mutations.items()]
        if self.reason:
            lines.append(f"  {self.reason}")
        lines += [f"  {one}" for one in self.not_taken]
        if self.counter_example is not None:
            lines.append("  " + self.counter_example.problem.replace("\n", "\n  "))
            lines += ["", self.counter_example.script]
        return "\n".join(lines)


__all__ = ["FAILED", "CounterExample", "Proof", "ProofError", "Status"]
