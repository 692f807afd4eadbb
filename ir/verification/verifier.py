"""`verify(module, level)`: checks a module at one of three levels.

- `structure`: schemas, definition order, references, symbols, names.
- `types`: each result type is the one that the op's meta kernel infers.
- `stage`: the rules of the stage (functional except for the epilogue, no new alias, lowerable ops).
"""

from __future__ import annotations

from typing import Literal

from xdsl.dialects.builtin import ModuleOp

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.text.diagnostics import fail, fail_graph
from xductor.ir.verification.structure import check_graph

Level = Literal["structure", "types", "stage"]
LEVELS: tuple[Level, ...] = ("structure", "types", "stage")


def verify(module: ModuleOp, level: Level = "types") -> None:
    """Check a module at a level and at those before it.

    Raises:
        VerifyException: xDSL's, naming the op, the user's source line, expected and found.
        ValueError: the level is unknown.
    """
    if not isinstance(module, ModuleOp):
        raise TypeError(
            f"verify takes a module of the IR (from_fx gives one), not {type(module).__name__}"
        )
    if level not in LEVELS:
        raise ValueError(
            f"unknown verification level {level!r}; expected one of {', '.join(LEVELS)}"
        )
    _check_places(module)
    graphs = [op for op in module.ops if isinstance(op, GraphOp)]
    _check_names(graphs)
    for graph in graphs:
        check_graph(graph)
    if level == "structure":
        return
    from xductor.ir.verification.type_check import check_types

    for graph in graphs:
        check_types(graph, module)
    if level == "types":
        return
    from xductor.ir.verification.stage_rules import check_stage

    for graph in graphs:
        check_stage(graph)


def _check_places(module: ModuleOp) -> None:
    """Check that ops of graphs are in graphs, and that graphs are at the top of the module."""
    for outer in module.ops:
        if isinstance(outer, GraphOp):
            continue
        for op in outer.walk():
            if isinstance(op, TorchOp):
                fail(op, "it stands in no graph; its place is in the body of an fx.graph")
            if isinstance(op, GraphOp):
                fail_graph(op, f"stands in {outer.name}; its place is at the top of the module")


def _check_names(graphs: list[GraphOp]) -> None:
    seen: set[str] = set()
    for graph in graphs:
        name = graph.sym_name.data
        if name in seen:
            fail_graph(graph, f"is one of two: two graphs of the module are called @{name}")
        seen.add(name)
