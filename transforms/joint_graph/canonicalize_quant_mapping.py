"""`canonicalize_quant_mapping`: quantized calls in the form that patterns and codegen expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from xductor.ir import (
    GetAttrOp,
    GraphOp,
    NodeMeta,
    OutputOp,
    RawOp,
    Ref,
    SymbolRef,
    TorchOp,
    graph_named,
    op_class,
)
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.metadata import quantization_text
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.graphs import free_subgraph_name
from xductor.transforms.editing.editor import Editor, raw_call_args

_PACKED = "higher_order.invoke_quant_packed"
_OPTIONS = "quant_options"


@dataclass(frozen=True)
class CanonicalizeQuantMapping(TypedPass):
    """`invoke_quant_packed(@f, x, quant_options=o)` becomes `invoke_quant(@f, x)`.

    The options move from an argument into the metadata of the call. If the body returns a tuple of
    one value, the call gets a copy of the body that returns the value itself, so that no `getitem`
    is needed, which is how patterns are written. The bodies must be part of the module. A call is
    left alone if its options are not constants or if its body cannot be copied.
    """

    name = "canonicalize_quant_mapping"
    stage = "joint"
    inductor = "joint_graph.py:canonicalize_quant_mapping"
    numerics = EXACT
    roots = frozenset((torch.ops.higher_order.invoke_quant_packed,))

    def rewrite(self, module: ModuleOp) -> int:
        unpacked: dict[str, str] = {}
        changed = 0
        for graph in list(graphs_of(module)):
            editor = Editor(graph)
            for op in editor.analyses.named((_PACKED,)):
                changed += _canonicalize(module, editor, op, unpacked)
        return changed


def _canonicalize(module: ModuleOp, editor: Editor, op: RawOp, unpacked: dict[str, str]) -> bool:
    """Put a call in its canonical form; False if its options or its body do not allow it."""
    body, *arguments = op.positional
    keywords = op.keywords
    options_op, options = _options(keywords.pop(_OPTIONS, None))
    if options is None or type(body) is not SymbolRef:
        return False
    single: str | None = None
    if len(op.results) == 1 and op.tuple_valued:
        single = _unpacked(module, editor.graph, body.name, unpacked)
        if single is None:
            return False
    from torch._higher_order_ops import invoke_quant

    cls: Any = op_class(invoke_quant)
    args, operands = raw_call_args((SymbolRef(single or body.name), *arguments), keywords)
    made = cls.make(
        args,
        operands,
        op.result_types,
        _with_options(op, options, packed=single is None),
        structure=None if single is not None else op.structure,
    )
    editor.insert(made, op)
    editor.replace(op, *made.results)
    if options_op is not None and all(one.first_use is None for one in options_op.results):
        editor.erase(options_op)
    return True


def _options(value: Any) -> tuple[TorchOp | None, Any]:
    """The op that makes the options of a call, if any, and the options; None if not constant."""
    from torch._higher_order_ops import InvokeQuant

    if value is None:
        return None, InvokeQuant()
    op = value.op if isinstance(value, OpResult) else None
    if not isinstance(op, RawOp) or op.target is not InvokeQuant or op._operands:
        return None, None
    return op, InvokeQuant(*op.positional, **op.keywords)


def _with_options(op: RawOp, options: Any, *, packed: bool) -> NodeMeta:
    """The metadata of the call, with the options added."""
    name = op.node.node
    meta = op.node.inherited(op.node.names if packed else (name,), name)
    textual: dict[str, str] = meta.textual or {}
    textual[_OPTIONS] = quantization_text(options)
    vars(meta)["textual"] = textual
    return meta


def _unpacked(module: ModuleOp, graph: GraphOp, name: str, unpacked: dict[str, str]) -> str | None:
    """The name of a copy of a body that returns the value that the body returns in a tuple of one.

    None if it cannot be copied: it is not in this module, does not return a tuple of one, or refers
    to subgraphs or attributes.
    """
    if name in unpacked:
        return unpacked[name]
    body = graph_named(module, name)
    if body is None or body.is_declaration:
        return None
    tree = body.output.tree
    if not isinstance(tree, tuple) or len(tree) != 1 or type(tree[0]) is not Ref:
        return None
    if any(_refers(op) for op in body.block.ops):
        return None
    made = body.clone()
    made.live = None
    for op in made.block.ops:
        assert isinstance(op, TorchOp)
        op.attributes["node"] = op.node.inherited(op.node.names, op.node.node)
    made.properties["sym_name"] = type(body.sym_name)(free_subgraph_name(module, graph, name))
    output = made.output
    value = output._operands[0]
    made.block.erase_op(output)
    made.block.add_op(OutputOp.make(raw_args((Ref(0),)), [value], []))
    module.body.block.insert_op_after(made, body)
    unpacked[name] = made.sym_name.data
    return unpacked[name]


def _refers(op: Any) -> bool:
    """Whether an op names a subgraph or an attribute of the module."""
    return type(op) is GetAttrOp or bool(op.args.subgraphs)


__all__ = ["CanonicalizeQuantMapping"]
