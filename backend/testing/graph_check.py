"""`check(gm)`: runs the verifier on any FX graph, in one line, in anyone's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xductor.frontend.errors import LoweringError
from xductor.ir import verify
from xductor.ir.verification.verifier import LEVELS, Level
from xductor.transforms import Stage

#: Modules of functions that graphs both before and after autograd call.
_EITHER_LEVEL = ("_operator", "math", "builtins")


def check(
    graph: GraphModule | Graph | ModuleOp | ExportedProgram,
    level: Level = "types",
    stage: Stage | None = None,
    *,
    example_inputs: Sequence[Any] | None = None,
) -> None:
    """Verify an FX graph without changing it.

    - `level`: "structure" (schemas, order, references), "types" (and each recorded value is what
      the op gives: dtype, sizes, strides, device), or "stage" (and the rules of the stage).
    - `stage`: "pre_grad", "joint" or "post_grad"; by default what the graph looks like
      (`stage_of`).
    - `example_inputs`: for a graph whose nodes record no values, such as one made by
      `torch.fx.symbolic_trace`.

    Raises:
        VerifyException: xDSL's; it names the node, the user's source line, what was expected and
            what was found.
        ValueError: For an unknown level or stage.
        TypeError: For anything that is no graph.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}; expected one of {', '.join(LEVELS)}")
    if stage is not None and stage not in get_args(Stage):
        raise ValueError(f"unknown stage {stage!r}; expected one of {', '.join(get_args(Stage))}")
    if isinstance(graph, ModuleOp):
        verify(graph, level)
        return
    gm = graph.owning_module if isinstance(graph, Graph) else graph
    if isinstance(gm, ExportedProgram):
        gm = gm.graph_module
    if not isinstance(gm, GraphModule):
        raise TypeError(
            "check takes an fx.GraphModule, the fx.Graph of one, or an ExportedProgram, not "
            f"{type(graph).__name__}"
        )
    from xductor.frontend import from_fx

    here = stage or stage_of(gm)
    try:
        module = from_fx(gm, here, example_inputs=example_inputs)
    except LoweringError as error:
        raise VerifyException(
            f"this graph cannot be read as one of the {here} stage: {error}"
        ) from error
    verify(module, level)


def stage_of(gm: GraphModule) -> Stage:
    """The stage that a graph looks like.

    Calls of modules, methods and Python functions belong to the pre-grad stage. An ATen graph with
    primals, tangents, and outputs that do not depend on tangents is a joint graph; any other is a
    post-grad graph.
    """
    for node in gm.graph.nodes:
        if node.op == "call_method" or (node.op == "call_module" and not _is_guard(gm, node)):
            return "pre_grad"
        if node.op == "call_function" and _is_torch_level(node.target):
            return "pre_grad"
    return "joint" if _is_joint(gm) else "post_grad"


def _is_guard(gm: GraphModule, node: Node) -> bool:
    """Whether a call checks the inputs of an exported program, and computes nothing."""
    called = dict(gm.named_modules()).get(str(node.target))
    return type(called).__module__.startswith("torch.export.")


def _is_joint(gm: GraphModule) -> bool:
    """Whether a graph takes primals and tangents, and returns what does not depend on tangents.

    A backward graph may take both too, but returns only gradients.
    """
    inputs = gm.graph.find_nodes(op="placeholder")
    late = {node for node in inputs if str(node.target).startswith("tangents_")}
    if not late or not any(str(node.target).startswith("primals_") for node in inputs):
        return False
    for node in gm.graph.nodes:
        if node.op == "output":
            return any(one not in late for one in node.all_input_nodes)
        if not late.isdisjoint(node.all_input_nodes):
            late.add(node)
    return False


def _is_torch_level(target: Any) -> bool:
    if isinstance(target, OpOverload | HigherOrderOperator | torch._ops.OpOverloadPacket):
        return False
    module = getattr(target, "__module__", None) or ""
    name = getattr(target, "__name__", "")
    if module in _EITHER_LEVEL or name.startswith("sym_"):
        return False
    return module.partition(".")[0] == "torch" and not module.startswith(
        ("torch._inductor", "torch.fx", "torch._higher_order_ops")
    )


__all__ = ["check", "stage_of"]
