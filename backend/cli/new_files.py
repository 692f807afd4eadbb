"""The texts that `xductor rewrite new` writes beside a rewrite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xductor.backend.cli.command import CommandError
from xductor.ir import XductorContext, print_ir
from xductor.transforms import Numerics
from xductor.transforms.passes.numerics import Policy, admits


@dataclass(frozen=True)
class FileCheckText:
    """A graph, and the pass that is run on it."""

    name: str
    made: type[ModulePass]
    graph: ModuleOp
    policy: Policy


def policy_for(numerics: Numerics) -> Policy:
    """The policy under which a rewrite with these numerics runs: the default if it admits them."""
    return "default" if admits("default", numerics) else "fast"


def check_text(one: FileCheckText) -> str:
    """A FileCheck file: the graph, with what the pass makes of it as checks.

    Raises CommandError if the pass changes nothing: there would be nothing to check.
    """
    before = _inner(one.graph)
    changed = one.graph.clone()
    options: dict[str, Any] = {} if one.policy == "default" else {"policy": one.policy}
    one.made(**options).apply(XductorContext(), changed)
    if _inner(changed) == before:
        graph = "\n".join(before)
        raise CommandError(f"{one.name} changes nothing of the graph that it is made for:\n{graph}")
    given = f"'{one.name}{{policy={one.policy}}}'" if options else one.name
    head, *lines = _inner(changed)
    checks = [f"  // CHECK-NEXT: {line.strip()}" for line in lines if line.strip() != "}"]
    label = head.split(" stage(")[0]
    return "\n".join(
        [
            f"// RUN: xductor-opt %s --load-pass-plugin %S/{one.name}.py -p {given} | filecheck %s",
            "",
            f"// CHECK-LABEL: {label}",
            before[0],
            *checks,
            *before[1:],
            "",
        ]
    )


def _inner(module: ModuleOp) -> list[str]:
    """The lines of the graph of a module, without the module around it and without locations."""
    lines = print_ir(module, locations=False).rstrip().splitlines()
    inside = lines[1:-1] if lines[0].startswith("builtin.module") else lines
    return [line.removeprefix("  ") for line in inside if line.strip()]


def test_text(name: str, made: str, program: str, called: str, inputs: str, policy: Policy) -> str:
    """A test file: validation and a compile.

    - `program`: the lines that define or import the function `called`; `inputs`: a tuple.
    - `policy`: `xductor.numerics` of the compile.
    """
    imported = program if program.startswith("from") else ""
    defined = "" if imported else f"\n\n{program}"
    asked, chosen = f"rewrites=[{made}]", ""
    if policy != "default":
        asked += ", options=options"
        chosen = f'    options = {{"xductor.numerics": "{policy}"}}\n'
    return f'''"""Tests of {made}; pytest runs {name}.mlir as well."""

import torch
{imported}from {name} import {made}

import xductor
{defined}

def test_it_is_right_on_generated_graphs():
    found = xductor.validate({made})
    assert found.ok, found


def test_it_is_applied_in_a_compile(xductor_capture, xductor_fired):
    inputs = {inputs}
{chosen}    stages = xductor_capture({called}, *inputs, {asked})
    torch.testing.assert_close(stages.output, {called}(*inputs))
    xductor_fired({made})
'''


__all__ = ["FileCheckText", "check_text", "policy_for", "test_text"]
