"""The effects and writes of a call in a graph, from its target, arguments and subgraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import GetAttrOp, GraphOp, OutputOp, RawOp, SchemaOp, TorchOp
from xductor.ir.dialect.arguments import FunctionArg, references
from xductor.ir.dialect.operations import results_of
from xductor.ir.effects.effects import PURE, UNKNOWN, Effects
from xductor.ir.effects.operator_effects import overload_effects
from xductor.ir.effects.target_effects import call_effects, is_registered, target_effects
from xductor.ir.python import targets


def effects_of(op: TorchOp) -> Effects:
    """The effects of a call itself, without those of the subgraphs that it runs.

    A call of a module is UNKNOWN: the graph does not say what the module does.
    """
    cls = type(op)
    if cls is GetAttrOp or cls is OutputOp:
        return PURE
    if op.fx_op == "call_module":
        return UNKNOWN
    # Effects of operators, also of those that an op carries, are registered while the program runs.
    if _is_higher_order_class(cls) or is_registered(cls.target):
        return _effects_of(op)
    # Calls with equal arguments have the same effects, whatever their operands.
    fields = vars(op.properties["args"])
    remembered: dict[type[TorchOp], Effects] | None = fields.get("effects")
    if remembered is None:
        remembered = fields["effects"] = {}
    effects = remembered.get(cls)
    if effects is None:
        effects = remembered[cls] = _effects_of(op)
    return effects


def _effects_of(op: TorchOp) -> Effects:
    effects = target_effects(op.target)
    if effects.pure and not _is_higher_order(op):
        return PURE
    arguments = arguments_of(op)
    return effects if arguments is None else call_effects(op.target, arguments)


def arguments_of(op: TorchOp) -> dict[str, Any] | None:
    """The arguments of a call by name; None if its signature is not known."""
    if isinstance(op, SchemaOp):
        values = op.argument_tree(op.args.data)
        return dict(zip(op.table.index, values, strict=True))
    if not isinstance(op, RawOp):
        return None
    bound = op.bound_arguments()
    if bound is not None or not _is_higher_order(op):
        return bound
    given: dict[str, Any] = {str(place): item for place, item in enumerate(op.positional)}
    given.update(op.keywords)
    return {name: _callable(item) for name, item in given.items()}


def _is_higher_order(op: TorchOp) -> bool:
    return _is_higher_order_class(type(op))


@cache
def _is_higher_order_class(cls: type[TorchOp]) -> bool:
    from torch._ops import HigherOrderOperator

    return isinstance(cls.target, HigherOrderOperator)


def _callable(item: Any) -> Any:
    """The operator that a higher-order op refers to by name."""
    if type(item) is not FunctionArg:
        return item
    try:
        return targets.resolve(item.name)
    except LookupError:
        return item


def subgraphs_of(op: TorchOp) -> tuple[str, ...]:
    """The names of the graphs that a call refers to."""
    return op.args.subgraphs if op.raw_arguments else ()


@cache
def never_draws(cls: type[TorchOp]) -> bool:
    """Whether the schema of a class's overload says that it draws no random numbers."""
    return issubclass(cls, SchemaOp) and not overload_effects(cls.target).rng


@cache
def never_writes(cls: type[TorchOp]) -> bool:
    """Whether the schema of a class's overload lets it write to no operand."""
    return issubclass(cls, SchemaOp) and not overload_effects(cls.target).writes


def written_operands(op: TorchOp, bodies: Bodies) -> Sequence[int]:
    """The indices of the operands that a call may write to."""
    if not op._operands:
        return ()
    if never_writes(type(op)):
        return ()
    effects = effects_of(op)
    if effects.unknown or "*" in effects.writes or bodies.write_inputs(op):
        return range(len(op._operands))
    if not effects.writes:
        return ()
    if isinstance(op, SchemaOp):
        data, positions = op.args.data, op.table.index
        items = tuple([data[positions[name]] for name in effects.writes if name in positions])
        written = {op._operands[ref.index] for ref in references(items)}
    else:
        arguments = arguments_of(op)
        if arguments is None:
            return range(len(op._operands))
        written = {value for name in effects.writes for value in _values(arguments.get(name))}
    return [index for index, operand in enumerate(op._operands) if operand in written]


def _values(tree: Any) -> Iterator[SSAValue]:
    if isinstance(tree, tuple | list):
        for item in tree:
            yield from _values(item)
    else:
        yield from results_of(tree)


class Bodies:
    """The effects of the subgraphs of a module, each examined once.

    A declaration says nothing about its body. Before autograd that may write to its inputs; in
    later graphs bodies are functional.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.graphs = {
            graph.sym_name.data: graph for graph in module.ops if isinstance(graph, GraphOp)
        }
        self._effects: dict[str, Effects] = {}

    def effects(self, op: TorchOp) -> Effects:
        """The effects of all the subgraphs that a call refers to; UNKNOWN if one is not here."""
        effects = PURE
        for name in subgraphs_of(op):
            effects |= self._of(name)
        return effects

    def declared(self, op: TorchOp) -> bool:
        """Whether the call refers to a subgraph that is only declared."""
        return any(
            name not in self.graphs or self.graphs[name].is_declaration for name in subgraphs_of(op)
        )

    def write_inputs(self, op: TorchOp) -> bool:
        """Whether a subgraph of the call may write to its inputs."""
        for name in subgraphs_of(op):
            graph = self.graphs.get(name)
            if graph is None or graph.is_declaration:
                if graph is None or graph.stage.data == "pre_grad":
                    return True
            elif self._of(name).writes or self._of(name).unknown:
                return True
        return False

    def _of(self, name: str) -> Effects:
        known = self._effects.get(name)
        if known is not None:
            return known
        graph = self.graphs.get(name)
        if graph is None or graph.is_declaration:
            return UNKNOWN
        self._effects[name] = UNKNOWN  # for a body that refers to itself
        effects = PURE
        for op in graph.block.ops:
            assert isinstance(op, TorchOp)
            effects |= effects_of(op) | self.effects(op)
        self._effects[name] = effects
        return effects
