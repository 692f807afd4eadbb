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


__all__ = ["called_functions"]
