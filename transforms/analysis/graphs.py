"""What passes ask of a module as a whole: which graphs to visit, and facts about their symbols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import Facts, GraphOp, SymExpr, SymIntType
from xductor.transforms.analysis.block_order import ops_of


def graphs_of(module: ModuleOp) -> Iterator[GraphOp]:
    """The graphs of a module that have a body; not those that are added meanwhile."""
    for op in ops_of(module.body.block):
        if type(op) is GraphOp and not op.is_declaration:
            yield op


def free_subgraph_name(module: ModuleOp, graph: GraphOp, name: str) -> str:
    """A name that no graph of the module has, and no attribute of the GraphModule behind it."""
    taken = {other.sym_name.data for other in module.ops if isinstance(other, GraphOp)}
    gm = graph.live.gm if graph.live is not None else None
    free, number = name, 0
    while free in taken or hasattr(gm, free):
        free, number = f"{name}_{number}", number + 1
    return free


def facts_of(graph: GraphOp) -> Facts:
    """The facts about a graph's symbols, from its live ShapeEnv or else its symbol table.

    Made once for each graph, so that passes share the answers.
    """
    memory = vars(graph)
    table = graph.symbols
    made: tuple[Any, Facts] | None = memory.get("_facts")
    if made is not None and made[0] is table:
        return made[1]
    environment = getattr(getattr(graph.live, "types", None), "shape_env", None)
    facts = (
        Facts.from_table(table.data) if environment is None else Facts.from_shape_env(environment)
    )
    memory["_facts"] = (table, facts)
    return facts


def integer(argument: Any) -> int | SymExpr | None:
    """An integer argument as an expression: a constant, or a symint's expression; else None."""
    if type(argument) is int or type(argument) is SymExpr:
        return argument
    if isinstance(argument, SSAValue) and type(argument._type) is SymIntType:
        return argument._type.expr
    return None
