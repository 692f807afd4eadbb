"""The shape every generated op has: operands, results, and one `args` attribute."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.ir import Attribute, OpTraits, SSAValue, SSAValues
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    OpDef,
    OptAttributeDef,
    OptPropertyDef,
    PropertyDef,
    RangeOf,
    VarOperandDef,
    VarResultDef,
)

from xductor.ir.dialect.arguments import ArgsAttr, Pack, Ref, map_tree
from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.dialect.op_construction import new_op
from xductor.ir.dialect.results import AliasAttr, StructureAttr
from xductor.ir.dialect.schema import SchemaTable
from xductor.ir.dialect.traits import TorchMemoryEffects
from xductor.ir.effects.effects import UNKNOWN, Effects
from xductor.ir.effects.target_effects import target_effects


class _OpClass(ABCMeta):
    """Classes of which nothing registers a virtual subclass.

    `ABCMeta` looks for one whenever `isinstance` is asked, and passes ask it of every op.
    """

    __instancecheck__ = type.__instancecheck__


class TorchOp(IRDLOperation, metaclass=_OpClass):
    """A call of a torch callable in an `fx.graph`.

    The operands are the values among the arguments in order of appearance; `args` holds the whole
    argument list with `Ref(i)` in their place. Subclasses are generated, one for each callable.
    """

    #: The callable (an OpOverload, a function, a higher-order op) or the name of a method.
    target: ClassVar[Any]

    #: The FX opcode of such a call.
    fx_op: ClassVar[str] = "call_function"

    #: If true, `args` is `(positional, keyword)` as in the graph; else it is in schema order.
    raw_arguments: ClassVar[bool] = True

    _definition: ClassVar[OpDef | None] = None
    traits: ClassVar[OpTraits] = OpTraits(lambda: (TorchMemoryEffects(),))

    def __post_init__(self) -> None:
        """Skip xDSL's defaults: `args` is always given."""

    @classmethod
    def make(
        cls,
        args: ArgsAttr,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        node: NodeMeta | None = None,
        *,
        structure: StructureAttr | None = None,
        aliases: AliasAttr | None = None,
    ) -> Self:
        """A new op; `node` names its results."""
        properties: dict[str, Attribute] = {"args": args}
        if structure is not None:
            properties["structure"] = structure
        if aliases is not None:
            properties["aliases"] = aliases
        if node is None:
            node = NodeMeta(("",) * len(result_types))
        return new_op(cls, operands, result_types, properties, {"node": node})

    @classmethod
    def get_irdl_definition(cls) -> OpDef:
        definition = cls.__dict__.get("_definition")
        if definition is None:
            definition = OpDef(
                name=cls.name,
                operands=[("operand_list", VarOperandDef(RangeOf(AnyAttr())))],
                results=[("results", VarResultDef(RangeOf(AnyAttr())))],
                properties={
                    "args": PropertyDef(BaseAttr(ArgsAttr)),
                    "structure": OptPropertyDef(BaseAttr(StructureAttr)),
                    "aliases": OptPropertyDef(BaseAttr(AliasAttr)),
                },
                attributes={"node": OptAttributeDef(BaseAttr(NodeMeta))},
                traits=cls.traits,
            )
            cls._definition = definition
        return definition

    @property
    def operand_list(self) -> SSAValues[SSAValue]:
        """The operands, in the form xDSL's generic verifier takes them."""
        return SSAValues(self._operands)

    @property
    def args(self) -> ArgsAttr:
        return self.properties["args"]  # type: ignore[return-value]

    @args.setter
    def args(self, args: ArgsAttr) -> None:
        self.properties["args"] = args

    @property
    def node(self) -> NodeMeta:
        """Names and provenance; made on demand for an op that was built without them."""
        found = self.attributes.get("node")
        if found is None:
            found = self.attributes["node"] = NodeMeta(("",) * len(self.results))
        return found  # type: ignore[return-value]

    @property
    def structure(self) -> StructureAttr | None:
        """The nesting of the results in the call's value; None for one plain value."""
        return self.properties.get("structure")  # type: ignore[return-value]

    @property
    def tuple_valued(self) -> bool:
        """Whether the call's value is a tuple or a list with the results as elements."""
        return self.structure is not None

    @property
    def aliases(self) -> AliasAttr | None:
        """The operand with which each result shares storage, if the schema does not say."""
        return self.properties.get("aliases")  # type: ignore[return-value]

    @property
    def effects(self) -> Effects:
        """The effects of a call of the target, without those of its subgraphs."""
        # A submodule's path must not be taken for a method's name; both are strings.
        return UNKNOWN if self.fx_op == "call_module" else target_effects(self.target)

    def argument_tree(self, tree: Any) -> Any:
        """A part of `args` with SSA values instead of references."""
        operands = tuple(self._operands)  # xDSL's own sequence is slow to index
        return map_tree(tree, lambda leaf: operands[leaf.index] if type(leaf) is Ref else leaf)

    def argument(self, name: str) -> Any:
        """The argument with that name: an SSA value, a constant, or a container of both.

        Raises AttributeError if the callable has no such parameter.
        """
        raise NotImplementedError

    @classmethod
    def parse(cls, parser: Any) -> Self:
        from xductor.ir.text.parsing import parse_lone_op

        parsed: Any = parse_lone_op(cls, parser)
        return parsed

    def print(self, printer: Any) -> None:
        from xductor.ir.text.printing import print_lone_op

        print_lone_op(self, printer)

    def verify(self, verify_nested_ops: bool = True) -> None:
        from xductor.ir.verification.structure import check_op

        check_op(self)


class SchemaOp(TorchOp):
    """A call of a dispatcher overload; `args` is in schema order with defaults filled in."""

    raw_arguments: ClassVar[bool] = False
    table: ClassVar[SchemaTable]

    @property
    def tuple_valued(self) -> bool:
        return self.table.is_tuple or self.structure is not None

    def argument(self, name: str) -> Any:
        position = self.table.index.get(name)
        if position is None:
            known = ", ".join(self.table.index)
            raise AttributeError(f"{self.name} has no argument '{name}'; it has: {known}")
        return self.argument_tree(self.args.data[position])


class RawOp(TorchOp):
    """A call with positional and keyword arguments as in the graph."""

    @property
    def positional(self) -> tuple[Any, ...]:
        return self.argument_tree(self.args.data[0])

    @property
    def keywords(self) -> dict[str, Any]:
        return dict(self.argument_tree(self.args.data[1]))

    def wrong_form(self) -> str:
        """What is wrong with the form of the arguments, for ops that require one; else empty."""
        return ""

    def bound_arguments(self) -> dict[str, Any] | None:
        """Arguments by parameter name with defaults; None if no signature is known or fits."""
        return None

    def argument(self, name: str) -> Any:
        bound = self.bound_arguments()
        if bound is not None and name in bound:
            return bound[name]
        keywords = self.keywords
        if name in keywords:
            return keywords[name]
        raise AttributeError(f"{self.name} has no argument '{name}' in this call")


class ArgumentAccessor:
    """An attribute of a generated class, such as `op.dim`: an argument of the call."""

    __slots__ = ("argument", "position")

    def __init__(self, argument: str, position: int) -> None:
        self.argument = argument
        self.position = position

    def __get__(self, op: SchemaOp | None, owner: type | None = None) -> Any:
        if op is None:
            return self
        tree = op.properties["args"].data[self.position]  # type: ignore[attr-defined]
        if type(tree) is Ref:
            return op._operands[tree.index]
        return op.argument_tree(tree) if isinstance(tree, tuple) else tree


def results_of(value: Any) -> tuple[SSAValue, ...]:
    """The SSA values in a value, a `Pack` or a nesting of both."""
    if isinstance(value, SSAValue):
        return (value,)
    if type(value) is Pack:
        return tuple(leaf for element in value for leaf in results_of(element))
    return ()


__all__ = [
    "ArgumentAccessor",
    "RawOp",
    "SchemaOp",
    "TorchOp",
    "results_of",
]
