"""Validates a procedural pass on generated calls of one operator."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch

from xductor.ir import entry_graph, print_ir
from xductor.transforms.passes.numerics import Numerics, weakest
from xductor.transforms.passes.typed_pass import TypedPass
from xductor.transforms.rewriting.contracts import Violation
from xductor.transforms.validation.fragments import Fragments
from xductor.transforms.validation.instance_choices import Choices
from xductor.transforms.validation.instances import NoInstance, make_call
from xductor.transforms.validation.validate import (
    DTYPES,
    ValidationResult,
    first_tensor,
    reason_of,
)
from xductor.transforms.validation.values import compare_fragments

#: How many calls are tried for each requested instance before validation gives up.
_ATTEMPTS = 60


def validate_calls(
    name: str,
    one: TypedPass,
    *,
    numerics: Numerics | None = None,
    instances: int = 40,
    dtypes: Sequence[torch.dtype] = DTYPES,
    rounds: int = 4,
    seed: int = 0,
) -> ValidationResult:
    """Apply a pass to graphs of one call of the operator `name`, and run them before and after.

    Only graphs that the pass changes count. `numerics` defaults to that of the pass.
    """
    declared = numerics or weakest(one.numerics)
    result = ValidationResult(f"{one.name} of {name}", declared)
    kinds = list(itertools.product(dtypes, (False, False, True)))
    for number in range(instances * _ATTEMPTS):
        if result.instances >= instances or result.violations:
            break
        dtype, symbolic = kinds[number % len(kinds)]
        choices = Choices(seed + number, dtype, torch.device("cpu"), symbolic=symbolic)
        _try(name, one, choices, declared, rounds, result)
    result.status = (
        "violated" if result.violations else "validated" if result.instances else "vacuous"
    )
    return result


def _try(
    name: str,
    one: TypedPass,
    choices: Choices,
    numerics: Numerics,
    rounds: int,
    result: ValidationResult,
) -> None:
    try:
        module = make_call(name, choices)
    except NoInstance as error:
        result.declined[reason_of(error)] += 1
        return
    text = print_ir(module)
    changed = module.clone()
    if not one.rewrite(changed):
        result.declined["the pass does not apply"] += 1
        return
    pairs: list[Any] = list(
        zip(entry_graph(module).output.operands, entry_graph(changed).output.operands, strict=True)
    )
    fragments = Fragments(module, changed, tuple(pairs))
    try:
        checked = compare_fragments(fragments, numerics, [True] * len(pairs), rounds=rounds)
    except Violation as error:
        result.violations.append(f"{error}\nin:\n{text}")
        return
    result.runs += checked.runs
    if checked.runs:
        result.counted(first_tensor(module), text)
    else:
        result.declined[checked.skipped] += 1


__all__ = ["validate_calls"]
