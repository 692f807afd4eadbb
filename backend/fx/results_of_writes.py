"""Replaces the results of in-place ops that return nothing.

Inductor turns functional ops on lists into in-place ones (`_foreach_mul` into `_foreach_mul_`) and
keeps the users of their results: generated code takes the results to be what was written. An eager
kernel returns nothing, so the users are given what was written.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch

from xductor.backend.fx.views_and_writes import written_by

if TYPE_CHECKING:
    from torch.fx import Graph, Node


def read_what_was_written(graph: Graph) -> int:
    """Let users of results that do not exist read the written tensors; returns how many did.

    Raises RuntimeError if a user takes the results as a whole.
    """
    users = [(node, user) for node in graph.nodes if _returns_nothing(node) for user in node.users]
    for node, user in users:
        if user.target is not operator.getitem or type(user.args[1]) is not int:
            raise RuntimeError(
                f"{node.target} ('{node.name}') returns nothing, and '{user.name}' ({user.target}) "
                "reads what it returns: a graph that is run as FX has only the elements of that, "
                "which are what was written; compile it with generated code"
                f"{_line(node)}"
            )
        user.replace_all_uses_with(written_by(node)[user.args[1]])
        graph.erase_node(user)
    return len(users)


def _returns_nothing(node: Node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or target._schema.returns:
        return False
    return bool(written_by(node))


def _line(node: Node) -> str:
    trace = (node.meta.get("stack_trace") or "").strip()
    return f"\n{trace}" if trace else ""


__all__ = ["read_what_was_written"]
