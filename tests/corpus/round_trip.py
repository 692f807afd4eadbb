"""Everything that must hold when a captured graph goes through the IR and back.

`check_round_trip(call)` runs inside the compile, on the very graph that the stage is about to get.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch.fx as fx
from xdsl.dialects.builtin import ModuleOp

from tests.corpus.capture import StageCall
from tests.corpus.sample_values import equal_values, run_graph
from xductor.backend.fx.export import to_fx
from xductor.backend.fx.fresh_graph_module import attribute_path
from xductor.frontend import from_fx
from xductor.ir import GraphOp, TorchOp, entry_graph, parse_ir, print_ir, same, verify
from xductor.ir.dialect.arguments import Handle, leaves
from xductor.ir.execution.sample_inputs import NoSample, sample_inputs
from xductor.ir.text.resources import constants, resource_key
from xductor.ir.verification.verifier import Level


class RoundTripError(AssertionError):
    """What did not survive: the step, and the first difference."""


@dataclass(frozen=True)
class Outcome:
    """A graph that came through; `not_run` says why its values were not compared, if so."""

    stage: str
    nodes: int
    text: str
    not_run: str | None = None


def check_round_trip(call: StageCall, level: Level = "types") -> Outcome:
    """Lower, verify, print, parse, compare values, raise; `call.gm` must not notice.

    Raises RoundTripError for the first thing that differs; errors of the IR come through.
    """
    gm = call.gm
    before = snapshot(gm)
    code = _code(gm)
    module = from_fx(gm, call.stage)
    _unchanged(before, gm, "from_fx")
    verify(module, level)
    text = print_ir(module)
    _same_text(print_ir(parse_ir(text)), text)
    # With the tensors that the graph holds: the parsed module then computes by itself.
    whole = print_ir(module, with_constants=True)
    parsed = parse_ir(whole)
    _same_text(print_ir(parsed, with_constants=True), whole)
    if not same(module, parsed):
        raise RoundTripError("the parsed module prints the same text but is not `same`")
    verify(parsed, level)
    not_run = _compare_values(gm, module, parsed)
    if to_fx(module, into=gm) is not gm or _code(gm) != code:
        raise RoundTripError("to_fx(from_fx(gm), into=gm) changed gm.code")
    _unchanged(before, gm, "to_fx of the module as lowered")
    to_fx(module.clone(), into=gm)
    _unchanged(before, gm, "to_fx of a clone of the module")
    return Outcome(call.stage, len(gm.graph.nodes), whole, not_run)


def _code(gm: fx.GraphModule) -> str:
    """`gm.code`, or its text alone where it holds live objects, so that it does not compile."""
    try:
        return gm.code
    except SyntaxError:
        return gm.graph.python_code("self").src


def _compare_values(gm: fx.GraphModule, module: ModuleOp, parsed: ModuleOp) -> str | None:
    """Raise the parsed module and run both; the reason where the graph cannot be run here."""
    attributes, bindings = live_objects(module)
    in_text = {key for key, _ in constants(parsed)}
    name = entry_graph(parsed).sym_name.data
    rest = {p: v for p, v in attributes.items() if resource_key(name, p) not in in_text}
    raised = to_fx(parsed, attributes=rest, bindings=bindings)
    try:
        inputs = sample_inputs(entry_graph(module))
        wanted = run_graph(gm, inputs)
    except NoSample as error:
        return str(error)
    except Exception as error:  # made-up inputs need not suit the graph
        return f"{type(error).__name__}: {error}"
    difference = equal_values(run_graph(raised, inputs), wanted)
    if difference is not None:
        raise RoundTripError(f"the parsed module computes other values: {difference}")
    return None


def live_objects(module: ModuleOp) -> tuple[dict[str, Any], dict[str, Any]]:
    """What text only names: tensors by path, objects by handle."""
    attributes: dict[str, Any] = {}
    bindings: dict[str, Any] = {}
    for graph in module.ops:
        assert isinstance(graph, GraphOp)
        for op in graph.block.ops:
            assert isinstance(op, TorchOp)
            path = attribute_path(op)
            if path is not None:
                value: Any = graph.live.gm
                for part in path.split("."):
                    value = getattr(value, part)
                attributes[path] = value
            for leaf in leaves(op.args.data):
                if type(leaf) is Handle:
                    bindings[leaf.ident] = leaf.live
    return attributes, bindings


def snapshot(gm: fx.GraphModule) -> dict[str, Any]:
    """What going through the IR must leave alone: code, nodes, their order, their metadata."""
    return {
        "graph": id(gm.graph),
        "code": gm.graph.python_code("self").src,
        "nodes": [id(node) for node in gm.graph.nodes],
        "arguments": [(str(node.args), str(node.kwargs)) for node in gm.graph.nodes],
        "metadata": [_metadata(node.meta) for node in gm.graph.nodes],
        "module metadata": _metadata(gm.meta),
    }


def _metadata(meta: Mapping[str, Any]) -> dict[str, int]:
    return {key: id(value) for key, value in meta.items()}


def _unchanged(before: Mapping[str, Any], gm: fx.GraphModule, what: str) -> None:
    after = snapshot(gm)
    for key, value in before.items():
        if after[key] == value:
            continue
        if isinstance(value, str):
            _same_text(after[key], value, f"{what} changed the {key}")
        if isinstance(value, list):
            for node, old, new in zip(gm.graph.nodes, value, after[key], strict=False):
                if old != new:
                    raise RoundTripError(f"{what} changed the {key} at '{node.name}'")
        raise RoundTripError(f"{what} changed the {key}")


def _same_text(found: str, wanted: str, what: str = "the text changed by parsing") -> None:
    if found == wanted:
        return
    ours, theirs = found.splitlines(), wanted.splitlines()
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False), 1):
        if a != b:
            raise RoundTripError(f"{what}, line {number}:\n  was {b}\n  now {a}")
    raise RoundTripError(f"{what}: {len(theirs)} lines, now {len(ours)}")


__all__ = ["Outcome", "RoundTripError", "check_round_trip", "live_objects", "snapshot"]
