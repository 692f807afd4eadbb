"""What an FX graph calls, found without a walk over its nodes."""

from __future__ import annotations

from typing import Any

from torch.fx import Graph


def called_functions(graph: Graph) -> list[Any]:
    """The targets of the `call_function` nodes of a graph, each once.

    From the table that `Graph.find_nodes` reads: few targets are many nodes', and whether a pass
    could fire is asked of every pass in every stage.
    """
    table = graph._find_nodes_lookup_table.table
    return [key[1] for key, nodes in table.items() if key[0] == "call_function" and nodes]


def holds(graph: Graph, op: str, target: Any) -> bool:
    """Whether a graph has a node of this op and target: `Graph.find_nodes` without the list.

    Most of what passes look for is not there, and they look for it in every graph.
    """
    if op == "call_function":
        return bool(graph._find_nodes_lookup_table.table.get((op, target)))
    return bool(graph.find_nodes(op=op, target=target, sort=False))


__all__ = ["called_functions", "holds"]
