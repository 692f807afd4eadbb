"""The `fx` dialect: graphs, their output, attributes of the module, calls of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_attr_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from xductor.ir.dialect.arguments import ArgsAttr, Handle
from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.dialect.operations import RawOp
from xductor.ir.dialect.symbol_attr import Ambient, AmbientAttr, SymbolTableAttr
from xductor.ir.symbolic.symbols import SymbolTable

#: FX's name for the output node; text leaves this name out.
OUTPUT_NAME = "output"

#: The three points at which Inductor hands a graph to its passes.
STAGES = ("pre_grad", "joint", "post_grad")


@irdl_op_definition
class GraphOp(IRDLOperation):
    """One FX graph: `fx.graph @forward stage(joint) symbols(...) (%x : type, ...) { ... }`.

    The block's arguments are the placeholders; the terminator is `fx.output`. Subgraphs of
    higher-order ops are further graphs of the module; a declaration has no body.
    """

    name = "fx.graph"

    sym_name = prop_def(StringAttr)
    stage = prop_def(StringAttr)
    symbols = prop_def(SymbolTableAttr)
    ambient = prop_def(AmbientAttr)
    declared = opt_prop_def(UnitAttr)
    body = region_def()
    node = opt_attr_def(NodeMeta)

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        stage: str,
        block: Block,
        symbols: SymbolTable | None = None,
        ambient: Ambient | None = None,
        *,
        arguments: Sequence[str] = (),
        declared: bool = False,
    ) -> None:
        """A graph from a finished block; `arguments` are the names of the block's arguments."""
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "stage": StringAttr(stage),
            "symbols": SymbolTableAttr(symbols if symbols is not None else SymbolTable()),
            "ambient": AmbientAttr(ambient if ambient is not None else Ambient()),
        }
        if declared:
            properties["declared"] = UnitAttr()
        names = tuple(arguments) or tuple(f"arg{index}" for index in range(len(block.args)))
        super().__init__(
            properties=properties,
            attributes={"node": NodeMeta(names)},
            regions=[Region(block)],
        )

    @property
    def live(self) -> Any:
        """The live objects of lowering (the ShapeEnv, the fake mode); None after parsing."""
        return self.__dict__.get("_live")

    @live.setter
    def live(self, lowering: Any) -> None:
        vars(self)["_live"] = lowering

    @property
    def constants(self) -> Any:
        """Tensors that the text holds (`GraphConstants`); None if the graph was not parsed."""
        return self.__dict__.get("_constants")

    @constants.setter
    def constants(self, held: Any) -> None:
        vars(self)["_constants"] = held

    @property
    def new_constants(self) -> dict[str, Any]:
        """Tensors that passes gave the graph, by path; raising gives them to the GraphModule."""
        return vars(self).setdefault("_new_constants", {})

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def arguments(self) -> tuple[BlockArgument, ...]:
        return self.body.block.args

    @property
    def argument_names(self) -> tuple[str, ...]:
        node = self.node
        return (
            node.names if node is not None else tuple(f"arg{i}" for i in range(len(self.arguments)))
        )

    @property
    def output(self) -> OutputOp:
        """The terminator. Raises VerifyException if there is none."""
        last = self.body.block.last_op
        if not isinstance(last, OutputOp):
            raise VerifyException(f"fx.graph @{self.sym_name.data} does not end in fx.output")
        return last

    @property
    def is_declaration(self) -> bool:
        return self.declared is not None

    def clone_without_regions(self, *args: Any, **kwargs: Any) -> Self:
        made = super().clone_without_regions(*args, **kwargs)
        made.live = self.live
        made.constants = self.constants
        made.new_constants.update(self.new_constants)
        return made

    @classmethod
    def parse(cls, parser: Any) -> GraphOp:
        from xductor.ir.text.parsing import parse_graph

        return parse_graph(parser)

    def print(self, printer: Any) -> None:
        from xductor.ir.text.printing import print_graph

        print_graph(self, printer)

    def verify_(self) -> None:
        from xductor.ir.verification.structure import check_graph

        check_graph(self)


class OutputOp(RawOp):
    """`fx.output (%a, none)`: what the graph returns, nested as FX has it."""

    name = "fx.output"
    target: ClassVar[Any] = "output"
    fx_op: ClassVar[str] = "output"
    traits = traits_def(IsTerminator())

    def wrong_form(self) -> str:
        if len(self.args.data[0]) == 1 and not self.args.data[1]:
            return ""
        return "it takes one argument, what the graph returns"

    @property
    def tree(self) -> Any:
        """The returned value with references to operands."""
        return self.args.data[0][0]

    @property
    def value(self) -> Any:
        """The returned value with SSA values in place."""
        return self.argument_tree(self.tree)


class GetAttrOp(RawOp):
    """`fx.get_attr "linear.weight" : type`: a parameter, buffer or constant of the module."""

    name = "fx.get_attr"
    target: ClassVar[Any] = "get_attr"
    fx_op: ClassVar[str] = "get_attr"

    def wrong_form(self) -> str:
        positional, keywords = self.args.data
        if len(positional) == 1 and type(positional[0]) is str and not keywords:
            return ""
        return "it takes the path of an attribute, a string"

    @property
    def path(self) -> str:
        return self.args.data[0][0]


class OpaqueCallOp(RawOp):
    """A call of a callable without a name: `fx.opaque_call opaque<callable, id>, %x`."""

    name = "fx.opaque_call"
    target: ClassVar[Any] = "opaque"

    def wrong_form(self) -> str:
        positional = self.args.data[0]
        if positional and type(positional[0]) is Handle:
            return ""
        return "its first argument is the callable, opaque<kind, id>"

    @property
    def handle(self) -> Handle:
        return self.args.data[0][0]


def entry_graph(module: ModuleOp) -> GraphOp:
    """The graph that is not a subgraph: the first of the module.

    Raises VerifyException for a module without graphs.
    """
    for op in module.ops:
        if isinstance(op, GraphOp) and not op.is_declaration:
            return op
    raise VerifyException("the module has no fx.graph")


def graph_named(module: ModuleOp, name: str) -> GraphOp | None:
    """The graph with that symbol, or None."""
    for op in module.ops:
        if isinstance(op, GraphOp) and op.sym_name.data == name:
            return op
    return None


def raw_args(positional: tuple[Any, ...] = (), keywords: tuple[Any, ...] = ()) -> ArgsAttr:
    """The `args` of a call with positional and keyword arguments."""
    return ArgsAttr((positional, keywords))


__all__ = [
    "STAGES",
    "GetAttrOp",
    "GraphOp",
    "OpaqueCallOp",
    "OutputOp",
    "entry_graph",
    "graph_named",
    "raw_args",
]
