"""Makes a fresh GraphModule for a module of the IR."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from torch.fx._lazy_graph_module import _LazyGraphModule
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.call_arguments import RaisingError, ValueNodes, live_object
from xductor.backend.fx.value_metadata import record_rebuilt_values
from xductor.ir import GetAttrOp, GraphOp, OutputOp, TorchOp, entry_graph, graph_named
from xductor.ir.dialect.arguments import Handle, leaves
from xductor.ir.text.resources import constant
from xductor.ir.verification.structure import check_graph
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.op_effects import subgraphs_of


def fresh_graph_module(
    module: ModuleOp, attributes: dict[str, Any], bindings: dict[str, Any]
) -> fx.GraphModule:
    """A GraphModule for the entry graph of a well-formed module, and for its subgraphs.

    Raises RaisingError for an attribute or object that neither the module nor the caller has.
    """
    return _Fresh(module, attributes, bindings).build(entry_graph(module))


def new_child(module: ModuleOp, name: str) -> fx.GraphModule:
    """The GraphModule of a body that a pass added to the module.

    Raises RaisingError if `name` has no body in the module, or one that was lowered.
    """
    graph = graph_named(module, name)
    if graph is None or graph.is_declaration or graph.live is not None:
        raise RaisingError(f"@{name} is no subgraph of the GraphModule that is edited")
    made = ModuleOp([graph.clone()])
    for used in _named_by(graph, module):
        made.body.block.add_op(used.clone())
    check_graph(entry_graph(made))
    return fresh_graph_module(made, {}, {})


def _named_by(graph: GraphOp, module: ModuleOp) -> list[GraphOp]:
    """The graphs that a graph refers to, and those that they refer to."""
    found: dict[str, GraphOp] = {}
    pending = [graph]
    while pending:
        for op in ops_of(pending.pop().block):
            for name in subgraphs_of(op):
                used = graph_named(module, name)
                if used is not None and name not in found and not used.is_declaration:
                    found[name] = used
                    pending.append(used)
    return list(found.values())


def attribute_path(op: TorchOp) -> str | None:
    """The path of the attribute or submodule that an op uses, if it uses one."""
    if isinstance(op, GetAttrOp):
        return op.path
    return str(op.target) if op.fx_op == "call_module" else None


class _Fresh:
    """Builds GraphModules for the graphs of one module; a shared subgraph is built once."""

    def __init__(
        self, module: ModuleOp, attributes: dict[str, Any], bindings: dict[str, Any]
    ) -> None:
        self.module = module
        self.attributes = attributes
        self.bindings = bindings
        self.children: dict[str, fx.GraphModule] = {}

    def build(self, source: GraphOp) -> fx.GraphModule:
        root = torch.nn.Module()
        graph = fx.Graph()
        subgraphs: dict[str, fx.Node] = {}

        def subgraph(name: str) -> fx.Node:
            found = subgraphs.get(name)
            if found is None:
                attribute = name.replace(".", "_")
                setattr(root, attribute, self.child(name, source))
                found = subgraphs[name] = graph.get_attr(attribute)
            return found

        nodes = ValueNodes(graph, source, subgraph)
        for argument, name in zip(source.arguments, source.argument_names, strict=True):
            node = graph.placeholder(name)
            nodes.of_value[argument] = node
            nodes.arguments.append(node)
        for op in source.block.ops:
            assert isinstance(op, TorchOp)
            self.bind(op)
            if isinstance(op, OutputOp):
                graph.output(nodes.tree(op, op.tree))
                continue
            path = attribute_path(op)
            if path is not None:
                self.give_attribute(root, op, path, source)
            opcode, target, args, kwargs = nodes.call(op)
            nodes.define(
                op, graph.create_node(opcode, target, args, kwargs, name=op.node.node or None)
            )
        # Lazy, as Inductor's are: Python code for live objects would not compile.
        made = _LazyGraphModule(root, graph)
        record_rebuilt_values(source, nodes)
        made.graph.lint()
        return made

    def bind(self, op: TorchOp) -> None:
        """Bind the op's handles to the objects that were passed for them."""
        for leaf in leaves(op.args.data):
            if type(leaf) is Handle and leaf.live is None:
                leaf.live = live_object(op, leaf, self.bindings)

    def child(self, name: str, source: GraphOp) -> fx.GraphModule:
        found = self.children.get(name)
        if found is None:
            graph = graph_named(self.module, name)
            if graph is None:
                raise RaisingError(f"the module has no graph @{name}")
            if graph.is_declaration:
                found = self._declared(name, source)
            elif source.live is None and graph.live is not None:
                found = graph.live.gm  # what a body that a pass made calls was there before
            else:
                found = self.build(graph)
            self.children[name] = found
        return found

    def _declared(self, name: str, source: GraphOp) -> fx.GraphModule:
        live = source.live
        for child_name, child in live.children if live is not None else ():
            if child_name == name:
                return child
        raise RaisingError(f"@{name} is only declared; its body is not in the module")

    def give_attribute(
        self, root: torch.nn.Module, op: TorchOp, path: str, source: GraphOp
    ) -> None:
        if path in self.attributes:
            value = self.attributes[path]
        elif path in source.new_constants:
            value = source.new_constants[path]
        elif source.live is not None:
            value = source.live.gm
            for part in path.split("."):
                value = getattr(value, part)
        elif (value := constant(source, op) if isinstance(op, GetAttrOp) else None) is None:
            what = "tensor" if isinstance(op, GetAttrOp) else "module"
            raise RaisingError(
                f'{op.name} "{path}": text does not hold the {what}; '
                f"pass attributes={{'{path}': {what}}}"
            )
        *parents, last = path.split(".")
        owner = root
        for part in parents:
            if not hasattr(owner, part):
                setattr(owner, part, torch.nn.Module())
            owner = getattr(owner, part)
        if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
            if not hasattr(owner, last):
                owner.register_buffer(last, value, persistent=False)
        else:
            setattr(owner, last, value)


__all__ = ["attribute_path", "fresh_graph_module", "new_child"]
