"""Verification level `stage`: what a stage guarantees to the stages around it.

- `pre_grad`: the placeholders and the number of outputs that Dynamo made.
- `joint`, `post_grad`: only ops that code generation accepts; functional, except for writes to
  inputs at the end; random ops in order.
- every stage: no output shares storage that it did not share when the graph was lowered.
"""

from __future__ import annotations

from typing import Any

from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from xdsl.ir import BlockArgument, SSAValue

from xductor.ir.dialect.arguments import leaves
from xductor.ir.dialect.graph import GetAttrOp, GraphOp, OpaqueCallOp, OutputOp, entry_graph
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.inference.infer import storage_root
from xductor.ir.python.qualified_names import qualified_name
from xductor.ir.storage.written import written_operands
from xductor.ir.text.diagnostics import fail, fail_graph
from xductor.ir.verification.alias_summary import (
    AliasSummary,
    alias_summary,
    check_no_new_aliases,
    returned_values,
)

_SYMBOLIC_HOMES = frozenset({"_operator", "operator", "math", "builtins", "torch.ops.aten"})
#: Options of higher-order ops, which AOTAutograd leaves as calls for Inductor's first pass.
_OPTIONS = frozenset({"torch._higher_order_ops._invoke_quant.InvokeQuant"})
#: Ops that write to inputs, which functionalization leaves at the end of a graph.
_EPILOGUE = frozenset(
    {"aten.copy_.default", "aten.set_.source_Tensor", "aten._foreach_copy_.default",
     "inductor.resize_storage_bytes_.default", "inductor.accumulate_grad_.default"}
)  # fmt: skip


def check_stage(graph: GraphOp, *, final: bool | None = None) -> None:
    """Check a graph against the rules of its stage.

    - `final`: whether the last steps of post-grad have run, which reintroduce mutation (buffers
      reused in place, functionalized ops decomposed). By default this is assumed for bodies of a
      post-grad module, which go through these steps before their parent.

    Raises VerifyException, naming the op and the user's source line.
    """
    if graph.is_declaration:
        return
    if graph.stage.data == "pre_grad":
        _check_interface(graph)
    else:
        if final is None:
            final = graph.stage.data == "post_grad" and _is_body(graph)
        for op in graph.block.ops:
            assert isinstance(op, TorchOp)
            _check_lowerable(op)
        if not final:
            _check_functional(graph)
        _check_random_order(graph)
    before = recorded_aliases(graph)
    if before is not None:
        check_no_new_aliases(graph, before)


def recorded_aliases(graph: GraphOp) -> AliasSummary | None:
    """The aliases among inputs and outputs when the graph was lowered; None for parsed graphs."""
    live = graph.live
    return None if live is None else getattr(live, "aliases", None)


def _is_body(graph: GraphOp) -> bool:
    module: Any = graph.parent_op()
    return module is not None and entry_graph(module) is not graph


# ------------------------------------------------------------------------------ before autograd


def _check_interface(graph: GraphOp) -> None:
    """Check that the interface is unchanged, since Dynamo calls the graph as it made it."""
    live = graph.live
    if live is None:
        return
    names = tuple(node.name for node in live.placeholders)
    if graph.argument_names != names:
        fail_graph(
            graph,
            "is not as it was: a pre-grad graph keeps its placeholders\n"
            f"  expected: {', '.join(names)}\n"
            f"  found:    {', '.join(graph.argument_names)}",
        )
    output = graph.output
    origin = output.node.args
    if origin is None:
        return
    expected = sum(1 for _ in leaves((origin.data[0][0],)))
    found = sum(1 for _ in returned_values(graph))
    if expected != found:
        fail(
            output,
            "a pre-grad graph keeps the number of its outputs",
            expected=str(expected),
            found=str(found),
        )


# ------------------------------------------------------------------------------- after autograd


def _check_lowerable(op: TorchOp) -> None:
    """Check that Inductor can lower an op: overloads, higher-order ops, arithmetic on symbols."""
    if isinstance(op, (SchemaOp, OutputOp, GetAttrOp, OpaqueCallOp)):
        return
    if op.fx_op == "call_function" and _is_lowerable_function(op):
        return
    fail(
        op,
        "after autograd a graph holds no Python-level calls",
        expected="an operator overload, a higher-order op, or arithmetic on symbols",
        found=op.name,
        hint="use the overload of torch.ops.aten that the call stands for",
    )


def _is_lowerable_function(op: TorchOp) -> bool:
    target = op.target
    if isinstance(target, (OpOverload, HigherOrderOperator, OpOverloadPacket)):
        return True
    name = qualified_name(target) or op.name.removeprefix("pyfn.")
    if name in _OPTIONS:
        return True
    home, _, last = name.rpartition(".")
    if home in _SYMBOLIC_HOMES:
        return True
    if home != "torch":
        return not home.startswith("torch.") or home.startswith("torch.ops.")
    return last.startswith(("sym_", "_sym_", "_check", "_assert"))


def _check_functional(graph: GraphOp) -> None:
    """Check that a graph writes only to inputs at the end, where nothing reads them any more."""
    written: dict[SSAValue, TorchOp] = {}
    for op in graph.block.ops:
        assert isinstance(op, TorchOp)
        if isinstance(op, OutputOp):
            break
        targets = [] if op.effects.unknown else list(written_operands(op))
        if not targets:
            if written:
                _check_no_stale_read(op, written)
            continue
        for value in targets:
            _check_epilogue(op, value)
        for operand in op.operands:
            root = storage_root(operand)
            if root in written and operand not in targets:
                _fail_stale_read(op, written[root])
        for value in targets:
            written[storage_root(value)] = op


def _check_epilogue(op: TorchOp, value: SSAValue) -> None:
    if op.name not in _EPILOGUE and not op.name.startswith("fsdp."):
        fail(
            op,
            "the op writes to an argument; the graph is functional at this stage",
            expected="an op without side effects on its arguments",
            found=op.name,
            hint="use the functional variant of the op",
        )
    if not isinstance(storage_root(value), BlockArgument):
        fail(
            op,
            "the op writes to a value of the graph; only inputs are written to at this stage",
            expected="a placeholder, or a view of one",
            found="a value computed in the graph",
        )


def _check_no_stale_read(op: TorchOp, written: dict[SSAValue, TorchOp]) -> None:
    for operand in op.operands:
        writer = written.get(storage_root(operand))
        if writer is not None:
            _fail_stale_read(op, writer)


def _fail_stale_read(op: TorchOp, writer: TorchOp) -> None:
    fail(
        op,
        f"reads an input that {writer.name} (node {writer.node.node}) has written to above",
        expected="writes to inputs after every use of them",
        found="a use after the write",
    )


def _check_random_order(graph: GraphOp) -> None:
    """Check that random ops that existed at lowering still draw in their original order."""
    previous: TorchOp | None = None
    for op in graph.block.ops:
        assert isinstance(op, TorchOp)
        origin = op.node.origin
        if origin is None or not op.effects.rng:
            continue
        if previous is not None and not previous.node.origin < origin:
            fail(
                op,
                "random ops have changed their order",
                expected=f"{op.node.node} above {previous.node.node}",
                found=f"{previous.node.node} above {op.node.node}",
                hint="keep random ops in the order in which eager draws",
            )
        previous = op


__all__ = [
    "alias_summary",
    "check_no_new_aliases",
    "check_stage",
    "recorded_aliases",
]
