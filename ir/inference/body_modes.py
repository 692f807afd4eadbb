"""The modes under which a graph of a module runs; for a body, those of its caller at the call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.python_calls import CallArguments, NoPythonValue
from xductor.ir.inference.ambient_modes import Modes, UnknownMode, graph_modes, mode_ops


@contextmanager
def modes_of_graph(graph: GraphOp, module: ModuleOp | None) -> Iterator[Modes]:
    """Run a block under the modes that are active when the graph is entered.

    For a body these are the modes of its (first) caller at the call. Raises UnknownMode if an op
    on the way changes modes in a way that cannot be followed.
    """
    path = _callers(graph, module)
    outermost = path[-1][0] if path else graph
    with graph_modes(outermost.ambient.data) as modes, ExitStack() as stack:
        for caller, call in reversed(path):
            for op in mode_ops(caller, call):
                replay(modes, op)
            _enter_wrapper(call, stack)
        yield modes


def replay(modes: Modes, op: TorchOp) -> None:
    """Follow an op that changes modes. Raises UnknownMode if that cannot be done."""

    def refuse(item: Any) -> Any:
        raise NoPythonValue(f"{item} among the arguments of a mode")

    try:
        positional, keywords = CallArguments(refuse, refuse).of(
            type(op), op.args.data, [None] * len(op.operands)
        )
    except NoPythonValue as error:
        raise UnknownMode(f"{op.name}: {error}") from error
    modes.apply(op, positional, keywords)


def _callers(graph: GraphOp, module: ModuleOp | None) -> list[tuple[GraphOp, TorchOp]]:
    """The chain of calls from a body up to a graph without callers, innermost first."""
    path: list[tuple[GraphOp, TorchOp]] = []
    if module is None or module.body.block.first_op is module.body.block.last_op:
        return path  # nobody else is there to call it
    calls: dict[str, tuple[GraphOp, TorchOp]] = {}
    for caller in module.ops:
        if not isinstance(caller, GraphOp) or caller.is_declaration:
            continue
        for op in caller.block.ops:
            if isinstance(op, TorchOp) and op.raw_arguments:
                for name in op.args.subgraphs:
                    calls.setdefault(name, (caller, op))
    found = calls.get(graph.sym_name.data)
    while found is not None and found not in path:
        path.append(found)
        found = calls.get(found[0].sym_name.data)
    return path


def _enter_wrapper(call: TorchOp, stack: ExitStack) -> None:
    """Enter the modes that a higher-order op itself sets for its body."""
    name = call.name.removeprefix("higher_order.")
    arguments = call.args.data[0]
    if name == "wrap_with_set_grad_enabled":
        stack.enter_context(torch.set_grad_enabled(bool(arguments[0])))
    elif name == "wrap_with_autocast":
        device, dtype, enabled, cache = arguments[:4]
        stack.enter_context(torch.autocast(device, dtype, enabled, cache))


__all__ = ["modes_of_graph", "replay"]
