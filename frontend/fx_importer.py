"""Lowers an `fx.GraphModule` into the IR: one op per node, tuples as several results.

The graph is only read. `operator.getitem` on a tuple and `get_attr` of a subgraph have no op:
they become results and symbol references, and come back when the module is raised.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, OpResult, SSAValue, SSAValues

from xductor.frontend.ambient import capture_ambient, capture_defaults
from xductor.frontend.arguments import ArgumentReader, HandleNames
from xductor.frontend.errors import LoweringError
from xductor.frontend.node_types import (
    MISSING,
    TypeReader,
    leaves_of,
    recorded_keys,
    recorded_value,
    structure_of,
)
from xductor.frontend.recover import recovered_values
from xductor.frontend.storages import Storages
from xductor.ir import (
    ArgsAttr,
    GetAttrOp,
    GraphOp,
    NodeMeta,
    OpaqueCallOp,
    OutputOp,
    SchemaOp,
    SymbolRef,
    SymbolTable,
    TorchOp,
    op_class,
)
from xductor.ir.dialect.arguments import Pack
from xductor.ir.dialect.graph import STAGES, raw_args
from xductor.ir.dialect.op_construction import (
    append_op,
    new_argument,
    new_op,
    set_arguments,
)
from xductor.ir.dialect.registry import method_class, module_class
from xductor.ir.dialect.results import LEAF, StructureAttr
from xductor.ir.effects.aliases import needs_storage_check
from xductor.ir.inference.fake_values import PACKED
from xductor.ir.inference.value_types import MODE, OpaqueInstance
from xductor.ir.symbolic.shape_environments import table_of
from xductor.ir.verification.alias_summary import AliasSummary, alias_summary

Subgraphs = Literal["bodies", "declare"]


def from_fx(
    gm: fx.GraphModule | ExportedProgram,
    stage: str = "joint",
    *,
    example_inputs: Sequence[Any] | None = None,
    subgraphs: Subgraphs = "bodies",
    name: str = "forward",
) -> ModuleOp:
    """The IR of a graph, as xDSL's `builtin.module`; `gm` is never changed.

    The graph of an exported program takes its parameters and buffers as inputs. Until
    `run_decompositions()` it writes to them, so that it is not one of the stage that it is read as.

    - `stage`: "pre_grad", "joint" or "post_grad".
    - `example_inputs`: values for the placeholders, used to find the types of nodes that record
      none (as in a graph from `torch._dynamo.export`), in a separate fake mode.
    - `subgraphs`: "bodies" lowers the graphs of higher-order ops too; "declare" only names them.

    Raises LoweringError (a ValueError) naming the node that cannot be lowered.
    """
    if stage not in STAGES:
        raise ValueError(f"unknown stage {stage!r}; expected one of {', '.join(STAGES)}")
    if isinstance(gm, ExportedProgram):
        gm = gm.graph_module
    if not isinstance(gm, fx.GraphModule):
        raise TypeError(
            f"from_fx takes an fx.GraphModule or an ExportedProgram, not {type(gm).__name__}"
        )
    names = _SubgraphNames(name)
    graphs: list[GraphOp] = []
    values = recovered_values(gm, stage, example_inputs) if example_inputs is not None else {}
    _lower(gm, name, stage, subgraphs, values, names, graphs)
    return ModuleOp(graphs)


class _SubgraphNames:
    """A symbol for each subgraph object, even if it is used several times."""

    def __init__(self, entry: str) -> None:
        self.of: dict[int, str] = {}
        self.taken: set[str] = {entry}
        self.handles = HandleNames()

    def name(self, child: torch.nn.Module, wanted: str) -> tuple[str, bool]:
        """The child's symbol, and whether it is new."""
        known = self.of.get(id(child))
        if known is not None:
            return known, False
        name, count = wanted, 0
        while name in self.taken:
            count += 1
            name = f"{wanted}.{count}"
        self.taken.add(name)
        self.of[id(child)] = name
        return name, True


def _lower(
    gm: fx.GraphModule,
    name: str,
    stage: str,
    subgraphs: Subgraphs,
    values: Mapping[fx.Node, Any],
    names: _SubgraphNames,
    graphs: list[GraphOp],
) -> None:
    lowering = GraphLowering(gm, stage, values, names)
    graph = lowering.run(name)
    graphs.append(graph)
    for child_name, child in lowering.children:
        if subgraphs == "declare":
            graphs.append(_declaration(child_name, stage))
        else:
            _lower(child, child_name, stage, subgraphs, {}, names, graphs)


def _declaration(name: str, stage: str) -> GraphOp:
    return GraphOp(name, stage, Block(), declared=True)


@dataclass(frozen=True, slots=True)
class Callee:
    """What lowering must know about every call of one target.

    - `may_give_one`: whether its value may be a single tensor, which is its one result.
    - `storage_check`: whether only the recorded values tell which storages results share.
    """

    cls: type[TorchOp]
    may_give_one: bool
    storage_check: bool

    @staticmethod
    @cache
    def of(op: type[TorchOp]) -> Callee:
        one = not issubclass(op, SchemaOp) or (op.table.returns == 1 and not op.table.is_tuple)
        return Callee(op, one, needs_storage_check(op.target))


class GraphLowering:
    """The state of lowering one graph."""

    def __init__(
        self, gm: fx.GraphModule, stage: str, values: Mapping[fx.Node, Any], names: _SubgraphNames
    ) -> None:
        self.gm = gm
        self.stage = stage
        self.values = values
        self.names = names
        self.value_key = recorded_keys(stage)[0]
        self.types = TypeReader(stage)
        self.block = Block()
        self.env: dict[fx.Node, Any] = {}
        self.children: list[tuple[str, fx.GraphModule]] = []
        self.arguments = ArgumentReader(self.env, self.types, names.handles)
        self.placeholders: list[fx.Node] = []
        self.getitems: dict[fx.Node, TorchOp] = {}
        self.ops: list[tuple[TorchOp, NodeMeta]] = []
        self.storages = Storages(self.value, self.placeholders)
        self.callees: dict[int, Callee] = {}
        self.methods: dict[str, Callee] = {}
        self.node_count = len(gm.graph.nodes)
        self.aliases: AliasSummary = frozenset()

    def run(self, name: str) -> GraphOp:
        handlers = {
            "call_function": self.call_function,
            "call_method": self.call_method,
            "placeholder": self.placeholder,
            "get_attr": self.get_attr,
            "call_module": self.call_module,
            "output": self.output,
        }
        for node in self.gm.graph.nodes:
            handler = handlers.get(node.op)
            if handler is None:
                raise LoweringError(
                    node, f"'{node.op}' is no opcode of FX", f"known: {', '.join(handlers)}"
                )
            try:
                handler(node)
            except LoweringError:
                raise
            except Exception as error:  # a node may hold anything, and the error has to name it
                raise LoweringError(
                    node, f"it cannot be lowered: {type(error).__name__}: {error}"
                ) from error
        if not isinstance(self.block.last_op, OutputOp):
            raise LoweringError(
                None, "the graph has no output node", "add one with graph.output(...)"
            )
        set_arguments(self.block, [self.env[node] for node in self.placeholders])
        graph = GraphOp(
            name,
            self.stage,
            self.block,
            self.symbol_table(),
            capture_ambient() if self.stage == "pre_grad" else capture_defaults(),
            arguments=[node.name for node in self.placeholders],
        )
        graph.live = self
        self.aliases = alias_summary(graph)
        return graph

    def symbol_table(self) -> SymbolTable:
        if not self.types.symbols:
            return SymbolTable()
        if self.types.shape_env is None:
            raise LoweringError(
                None, f"symbols {sorted(self.types.symbols)} but no ShapeEnv that has them"
            )
        return table_of(self.types.shape_env, self.types.symbols)

    def value(self, node: fx.Node) -> Any:
        found = self.values.get(node, MISSING) if self.values else MISSING
        return recorded_value(node, self.stage) if found is MISSING else found

    def placeholder(self, node: fx.Node) -> None:
        value = self.value(node)
        if value is MISSING:
            raise LoweringError(
                node,
                "no type is recorded (meta has neither 'val' nor 'example_value')",
                "pass example_inputs=..., or run FakeTensorProp over the graph first",
            )
        index = len(self.placeholders)
        self.placeholders.append(node)
        self.env[node] = new_argument(index, self.types.type_of(value), self.block)

    def call_function(self, node: fx.Node) -> None:
        target = node.target
        if target is operator.getitem and self.tuple_getitem(node):
            return
        callee = self.callees.get(id(target))  # the graph keeps its targets alive
        if callee is None:
            cls = op_class(target)
            if cls is None:
                self.opaque_call(node)
                return
            callee = self.callees[id(target)] = Callee.of(cls)
        self.call(node, callee)

    def call(self, node: fx.Node, callee: Callee) -> None:
        """Add the op of a call."""
        operands: list[SSAValue] = []
        if callee.cls.raw_arguments:
            args = self.arguments.raw_call(node, callee.cls, operands)
        else:
            args = self.arguments.in_schema_order(node, callee.cls, operands)  # type: ignore[arg-type]
        if callee.may_give_one and not self.values:
            value = node.meta.get(self.value_key)
            if type(value) is FakeTensor:
                self.emit_tensor(node, callee, args, operands, value)
                return
        self.emit(node, callee.cls, args, operands)

    def emit_tensor(
        self,
        node: fx.Node,
        callee: Callee,
        args: ArgsAttr,
        operands: list[SSAValue],
        value: FakeTensor,
    ) -> None:
        """Do the work of `emit` for a call that gives one tensor, as most do."""
        used = SSAValues(operands)
        meta = NodeMeta.of_call(node, args, used)
        types = (self.types.tensor_type(value),)
        op = new_op(callee.cls, used, types, {"args": args}, {"node": meta})
        append_op(self.block, op)
        self.ops.append((op, meta))
        if callee.storage_check:
            aliases = self.storages.aliases_of_one(op, value)
            if aliases is not None:
                op.properties["aliases"] = aliases
        (self.env[node],) = op.results

    def append(self, op: TorchOp, meta: NodeMeta) -> None:
        vars(meta)["operands"] = op._operands
        append_op(self.block, op)
        self.ops.append((op, meta))

    def read_aliases(self, op: TorchOp, value: Any) -> None:
        aliases = self.storages.aliases(op, value)
        if aliases is not None:
            op.properties["aliases"] = aliases

    def call_method(self, node: fx.Node) -> None:
        name = str(node.target)
        callee = self.methods.get(name)
        if callee is None:
            callee = self.methods[name] = Callee.of(method_class(name))
        self.call(node, callee)

    def call_module(self, node: fx.Node) -> None:
        self.call(node, Callee.of(module_class(str(node.target))))

    def opaque_call(self, node: fx.Node) -> None:
        operands: list[SSAValue] = []
        target = node.target
        handle = self.names.handles.callable(target)
        args = self.arguments.raw(node, node.args, node.kwargs, operands)
        data = ((handle, *args.data[0]), args.data[1])
        self.emit(node, OpaqueCallOp, ArgsAttr(data), operands)

    def get_attr(self, node: fx.Node) -> None:
        path = str(node.target)
        attribute = attribute_at(self.gm, path, node)
        if isinstance(attribute, fx.GraphModule):
            name, new = self.names.name(attribute, path)
            if new:
                self.children.append((name, attribute))
            self.env[node] = SymbolRef(name)
            return
        value = self.value(node)
        if value is MISSING or _is_packed(attribute):
            value = attribute  # fake tensors do not tell that it is packed
        self.emit(node, GetAttrOp, raw_args((path,)), [], value)

    def output(self, node: fx.Node) -> None:
        operands: list[SSAValue] = []
        args = self.arguments.raw(node, node.args, {}, operands)
        meta = NodeMeta((), node=node.name, origin=node, args=args)
        op = OutputOp.make(args, operands, (), meta)
        self.append(op, meta)

    def tuple_getitem(self, node: fx.Node) -> bool:
        """Map a `getitem` on a tuple-valued op to one of its results; False for any other."""
        source, index = node.args
        found = self.env.get(source) if isinstance(source, fx.Node) else None
        if (
            type(found) is not Pack
            or not isinstance(index, (int, slice))
            or isinstance(index, bool)
        ):
            return False
        try:
            part = found[index]
        except IndexError:
            raise LoweringError(
                node,
                f"index {index} of a tuple of {len(found)} values",
                "the producer's metadata is stale",
            ) from None
        self.env[node] = Pack(part) if isinstance(index, slice) else part
        op = self.getitems.get(source)  # type: ignore[arg-type]
        if op is None:
            return True
        self.getitems[node] = op
        if type(part) is OpResult:
            meta, slot = op.node, part.index
            items = meta.__dict__["getitems"]
            items.setdefault(slot, []).append(node)
            if not meta.data[slot]:
                named = (*meta.data[:slot], node.name, *meta.data[slot + 1 :])
                vars(meta)["data"] = named
        else:
            op.node.__dict__["getitems"].setdefault(-1, []).append(node)
        return True

    def emit(
        self,
        node: fx.Node,
        cls: type[TorchOp],
        args: ArgsAttr,
        operands: list[SSAValue],
        value: Any = MISSING,
    ) -> None:
        """Add the op of a node, with results according to its recorded value."""
        if value is MISSING:
            value = self.value(node)
            if value is MISSING:
                value = self.value_without_record(node, cls)
        if issubclass(cls, SchemaOp) and cls.table.returns == 0 and not node.users:
            value = None  # Inductor leaves the value of the op's functional form here
        structure: StructureAttr | None = None
        if isinstance(value, (tuple, list)) and not isinstance(value, torch.Tensor):
            shape = structure_of(value)
            types = [self.types.type_of(leaf) for leaf in leaves_of(value)]
            if cls.raw_arguments or any(part != LEAF for part in shape) or not cls.table.is_tuple:  # type: ignore[attr-defined]
                structure = StructureAttr(shape)
            names: tuple[str, ...] = ("",) * len(types)
            meta = NodeMeta(names, node=node.name, origin=node, getitems={}, args=args)
        else:
            shape = LEAF
            nothing = (
                value is None
                and not node.users
                and issubclass(cls, SchemaOp)
                and cls.table.returns == 0
            )
            types = [] if nothing else [self.types.type_of(value)]
            meta = NodeMeta((node.name,) * len(types), node=node.name, origin=node, args=args)
        if not cls.raw_arguments:
            _check_results(node, cls, value, len(types))  # type: ignore[arg-type]
        op = cls.make(args, operands, types, meta, structure=structure)
        self.append(op, meta)
        if needs_storage_check(op.target):
            self.read_aliases(op, value)
        if shape == LEAF:
            self.env[node] = op.results[0] if types else None
        else:
            self.env[node] = _packed(shape, iter(op.results))
            self.getitems[node] = op

    def value_without_record(self, node: fx.Node, cls: type[TorchOp]) -> Any:
        """The value to assume for a node without metadata: None if its callable returns nothing."""
        if issubclass(cls, SchemaOp):
            if cls.table.returns == 0:
                return None
            if not node.users:
                return (None,) * (cls.table.returns or 0) if cls.table.is_tuple else None
        if not node.users or cls.target is OpaqueCallOp.target:
            return None
        from xductor.ir.effects.target_effects import target_effects

        if isinstance(cls.target, type) and not issubclass(cls.target, torch.Tensor):
            return OpaqueInstance(cls.target)  # options, which AOTAutograd leaves as a call
        effects = target_effects(cls.target)
        if effects.mode or effects.host:
            return MODE
        raise LoweringError(
            node,
            "no type is recorded (meta has neither 'val' nor 'example_value')",
            "pass example_inputs=..., or run FakeTensorProp over the graph first",
        )


def _check_results(node: fx.Node, cls: type[SchemaOp], value: Any, found: int) -> None:
    """Raise LoweringError for a recorded value that the operator cannot have returned."""
    table = cls.table
    is_tuple = isinstance(value, (tuple, list)) and not isinstance(value, torch.Tensor)
    if table.returns is None:
        fits = is_tuple or not table.is_tuple
    else:
        fits = found == table.returns and is_tuple == table.is_tuple
        fits = fits or (value is None and table.returns == 0)
    if not fits:
        wanted = "a list" if table.returns is None else f"{table.returns} values"
        kind = f"a tuple of {len(value or ())}" if is_tuple else f"one {type(value).__name__}"
        raise LoweringError(
            node,
            f"its metadata records {kind}, {cls.name} returns {wanted}",
            "the metadata is stale",
        )


def _is_packed(attribute: Any) -> bool:
    """Whether an attribute is a weight that oneDNN has packed."""
    return isinstance(attribute, torch.Tensor) and str(attribute.layout) == f"torch.{PACKED}"


def _packed(structure: Any, results: Any) -> Any:
    """Results as a `Pack` with the nesting of a structure."""
    if structure == LEAF:
        return next(results)
    return Pack([_packed(part, results) for part in structure])


def attribute_at(gm: torch.nn.Module, path: str, node: fx.Node | None = None) -> Any:
    """The module's attribute at a dotted path. Raises LoweringError if there is none."""
    current: Any = gm
    for part in path.split("."):
        if not hasattr(current, part):
            raise LoweringError(node, f"the module has no attribute '{path}'")
        current = getattr(current, part)
    return current


__all__ = [
    "GraphLowering",
    "from_fx",
]
