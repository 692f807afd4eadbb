"""Collects all errors of a module, while `verify` stops at the first one."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.verification.stage_rules import check_stage
from xductor.ir.verification.structure import check_graph, check_op
from xductor.ir.verification.type_check import check_types
from xductor.ir.verification.verifier import LEVELS, Level, verify


def problems(module: ModuleOp, level: Level = "types") -> list[VerifyException]:
    """All errors of a module at a level and at those before it, in the order of the text.

    A graph is checked for types only if its structure is right, and for the rules of its stage
    only if its types are. The list is empty exactly if `verify` raises nothing.

    Raises ValueError for an unknown level.
    """
    if level not in LEVELS:
        verify(module, level)  # raises for an unknown level
    found: list[VerifyException] = []
    for graph in module.ops:
        if isinstance(graph, GraphOp):
            found += _of_graph(graph, module, level)
    if not found:
        _collect(found, lambda: verify(module, level))
    return found


def _of_graph(graph: GraphOp, module: ModuleOp, level: Level) -> list[VerifyException]:
    found: list[VerifyException] = []
    for op in graph.block.ops:
        if isinstance(op, TorchOp):
            _collect(found, lambda op=op: check_op(op))
    if not found:
        _collect(found, lambda: check_graph(graph))
    if level != "structure" and not found:
        check_types(graph, module, errors=found)
    if level == "stage" and not found:
        _collect(found, lambda: check_stage(graph))
    return found


def _collect(found: list[VerifyException], check: Callable[[], object]) -> None:
    try:
        check()
    except VerifyException as error:
        found.append(error)


__all__ = ["problems"]
