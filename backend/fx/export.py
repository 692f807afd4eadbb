"""Raises the IR to FX: a fresh GraphModule, or an existing one brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch.fx as fx
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.call_arguments import RaisingError
from xductor.backend.fx.fresh_graph_module import fresh_graph_module
from xductor.backend.fx.reconcile import reconcile
from xductor.backend.fx.value_metadata import NewValues
from xductor.ir import entry_graph
from xductor.ir.verification.structure import check_graph


def to_fx(
    module: ModuleOp,
    into: fx.GraphModule | ExportedProgram | None = None,
    *,
    attributes: Mapping[str, Any] | None = None,
    bindings: Mapping[str, Any] | None = None,
    recompile: bool = True,
    values: NewValues = "run",
) -> fx.GraphModule:
    """The module as an `fx.GraphModule`.

    - Without `into`: a fresh one. Parameters, buffers and constants come from the module it was
      lowered from, or from `attributes` by path; objects that text only names from `bindings`.
    - With `into`: that GraphModule is edited in place; nodes that did not change keep identity,
      name, order and metadata. If anything fails it is left exactly as it was.
      An exported program's signature then names the results that its graph has now.
      `recompile=False` leaves its Python code stale, for callers that edit the graph further.
      `values` says how the values of new calls are made: `"run"` runs each on the values of its
      arguments and compares the result with the types, `"types"` makes them from the types, and
      `"checked"` does so and compares them with what running gives.

    Raises:
        VerifyException: If the module is not well-formed.
        RaisingError: If something that raising needs is missing.
        TypeError: If `module` is no module of the IR.
    """
    if not isinstance(module, ModuleOp):
        raise TypeError(
            f"to_fx takes a module of the IR (from_fx gives one), not {type(module).__name__}"
        )
    graph = entry_graph(module)
    if into is not None:
        gm = into.graph_module if isinstance(into, ExportedProgram) else into
        changed = reconcile(module, graph, gm, values)
        if changed and recompile:
            gm.recompile()
        if isinstance(into, ExportedProgram):
            _name_results(into)
        return gm
    check_graph(graph)
    return fresh_graph_module(module, dict(attributes or {}), dict(bindings or {}))


def _name_results(program: ExportedProgram) -> None:
    """Let the signature name the nodes that are returned, which a pass may have replaced.

    A result is known by its place; the maps from names to buffers and inputs that are written are
    made from these specifications.
    """
    (returned,) = program.graph.output_node().args
    assert isinstance(returned, tuple | list)
    for spec, node in zip(program.graph_signature.output_specs, returned, strict=True):
        if isinstance(node, fx.Node) and not isinstance(spec.arg, ConstantArgument):
            spec.arg = replace(spec.arg, name=node.name)


__all__ = ["RaisingError", "to_fx"]
