"""Validates a procedural pass on its specimens: values by running, and each kind by a proof."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from xdsl.utils.exceptions import VerifyException

from xductor.backend.pass_validation.specimen import Specimen, Specimens, sampling
from xductor.ir import print_ir, verify
from xductor.transforms.rewriting.contracts import Violation


@dataclass
class PassValidation:
    """The outcome of validating a pass on its specimens.

    - `graphs`: on how many the pass fired, and agreed on every input that was tried.
    - `runs`: on how many inputs in all.
    - `idle`: graphs on which it did not fire, or that took no input: they show nothing.
    - `proofs`: statuses of the proofs that were tried, with counts; "by values" for no proof.
    - `violations`: what was wrong, each with the graph's text.
    """

    name: str
    what: str = ""
    graphs: int = 0
    runs: int = 0
    idle: int = 0
    proofs: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        return bool(self.graphs) and not self.violations

    @property
    def status(self) -> str:
        if self.violations:
            return "violated"
        return "validated" if self.graphs else "vacuous"

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.status}, {self.graphs} graphs, {self.runs} runs"
            + (f", {self.what}" if self.what else "")
        ]
        if self.proofs:
            counts = [f"{count} {status}" for status, count in self.proofs.most_common()]
            lines.append(f"  proofs of single graphs: {', '.join(counts)}")
            lines += [f"  by values, {n} times: {why}" for why, n in self.reasons.most_common(5)]
        if self.idle:
            lines.append(f"  not fired, or no input: {self.idle}")
        lines += self.violations[:3]
        return "\n".join(lines)


def validate_pass(
    name: str,
    specimens: Specimens,
    *,
    every: int = 1,
    prove: bool = False,
    seconds: float = 20.0,
) -> PassValidation:
    """Run a pass on its graphs, and each graph before and after it.

    - `every`: only one in so many graphs is made and validated.
    - `prove`: whether to prove pairs as well; needs z3.
    - `seconds`: the limit for each proof.
    """
    result = PassValidation(name, specimens.what)
    with sampling(every):
        for specimen in specimens.make():
            _try(specimen, specimens, result, prove and not specimens.unproved, seconds)
    return result


def _try(
    specimen: Specimen, specimens: Specimens, result: PassValidation, prove: bool, seconds: float
) -> None:
    changed = specimen.changed()
    if changed is None:
        result.idle += 1
        return
    try:
        verify(changed, "types")
        runs = specimens.agree(specimen.module, changed, specimen.numerics)
    except (VerifyException, Violation) as error:
        text = print_ir(specimen.module)
        result.violations.append(f"{specimen.title}: {error}\nin:\n{text}")
        return
    if not runs:
        result.idle += 1
        return
    result.graphs += 1
    result.runs += runs
    if prove and specimen.provable:
        _prove(specimen, changed, result, seconds)


def _prove(specimen: Specimen, changed: object, result: PassValidation, seconds: float) -> None:
    from xductor.transforms.proving.module_pairs import prove_modules

    proof = prove_modules(
        specimen.module,
        changed,  # type: ignore[arg-type]
        numerics=specimen.numerics,
        name=specimen.title,
        seconds=seconds,
    )
    if proof.status == "refuted":
        result.violations.append(f"{specimen.title}: {proof}")
    elif proof.ok:
        result.proofs[proof.status] += 1
    else:
        result.proofs["by values"] += 1
        result.reasons[proof.reason.splitlines()[0] if proof.reason else proof.status] += 1


__all__ = ["PassValidation", "validate_pass"]
