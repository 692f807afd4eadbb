"""The texts that `xductor rewrite new` writes beside a rewrite."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xductor.ir import XductorContext, print_ir


@dataclass(frozen=True)
class FileCheckText:
    """A graph, and the pass that is run on it."""

    name: str
    made: type[ModulePass]
    graph: ModuleOp


def check_text(one: FileCheckText) -> str:
    """A FileCheck file: the graph, with what the pass makes of it as checks."""
    before = _inner(one.graph)
    changed = one.graph.clone()
    one.made().apply(XductorContext(), changed)
    head, *lines = _inner(changed)
    checks = [f"  // CHECK-NEXT: {line.strip()}" for line in lines if line.strip() != "}"]
    label = head.split(" stage(")[0]
    return "\n".join(
        [
            f"// RUN: xductor-opt %s --load-pass-plugin %S/{one.name}.py -p {one.name} "
            "| filecheck %s",
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


def test_text(name: str, made: str, program: str, called: str, inputs: str) -> str:
    """A test file: validation and a compile.

    - `program`: the lines that define or import the function `called`; `inputs`: a tuple.
    """
    imported = program if program.startswith("from") else ""
    defined = "" if imported else f"\n\n{program}"
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
    stages = xductor_capture({called}, *inputs, rewrites=[{made}])
    torch.testing.assert_close(stages.output, {called}(*inputs))
    xductor_fired({made})
'''


__all__ = ["FileCheckText", "check_text", "test_text"]
