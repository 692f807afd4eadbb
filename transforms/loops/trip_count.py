"""How often a `while_loop` goes round, if that is known while compiling.

The condition must depend on nothing but whole numbers that start as constants and that the body
computes from each other. What it and the body do with these is run, once per trip.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue

from xductor.ir import (
    ArgsAttr,
    GetAttrOp,
    GraphOp,
    OutputOp,
    RawOp,
    Ref,
    SymbolRef,
    SymBoolType,
    SymExpr,
    SymIntType,
    TensorType,
    TorchOp,
    graph_named,
    run,
)
from xductor.ir.dialect.arguments import leaves, map_tree
from xductor.ir.dialect.graph import raw_args
from xductor.ir.text.resources import constant
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.analysis.same_on_every_device import SAME_ON_EVERY_DEVICE
from xductor.transforms.loops.graph_copies import arguments_for, copied_results, returned_leaves
from xductor.transforms.loops.stays import Stays

_CPU = torch.device("cpu")
_INTEGERS = frozenset((torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))
#: Operators that give the same whole numbers on every device.
_COUNTING = SAME_ON_EVERY_DEVICE | frozenset(
    (*("alias", "expand", "reshape", "squeeze", "unsqueeze", "view", "_to_copy", "lift_fresh_copy"),
     *("full", "full_like", "ones", "ones_like", "scalar_tensor", "zeros", "zeros_like"),
     *("all", "any", "floor_divide", "fmod", "remainder", "sum"))
)  # fmt: skip
_PYTHON = "pyfn._operator."


@dataclass(frozen=True)
class WhileLoop:
    """A call of `while_loop`.

    - `carried`: values or numbers that the first trip gets; the results are those of the last one.
    - `shared`: what every trip gets unchanged.
    """

    op: RawOp
    condition: GraphOp
    body: GraphOp
    carried: tuple[Any, ...]
    shared: tuple[Any, ...]

    @classmethod
    def of(cls, op: RawOp, module: ModuleOp) -> WhileLoop:
        """Read a call. Raises Stays if its form is another."""
        if op.keywords or not 3 <= len(op.positional) <= 4:
            raise Stays("it is called with other arguments than graphs and what they take")
        first, second, carried, *rest = op.positional
        condition, body = (
            graph_named(module, one.name) if type(one) is SymbolRef else None
            for one in (first, second)
        )
        if condition is None or condition.is_declaration or body is None or body.is_declaration:
            raise Stays("the graphs that it runs are not known")
        groups = [tuple(map(_as_number, group)) for group in (carried, *rest)]
        made = cls(op, condition, body, groups[0], groups[1] if rest else ())
        given = len(made.given)
        if not len(condition.arguments) == len(body.arguments) == given:
            raise Stays("its graphs take another number of arguments")
        if not len(returned_leaves(body.output.tree)) == len(op.results) == len(made.carried):
            raise Stays("its body returns another number of values than it carries")
        return made

    @property
    def given(self) -> tuple[Any, ...]:
        """What the first trip gets."""
        return (*self.carried, *self.shared)


def _as_number(value: Any) -> Any:
    """The number that a size is, if it is one."""
    type_ = value.type if isinstance(value, SSAValue) else None
    return type_.data if type(type_) is SymIntType and type(type_.data) is int else value


def trip_count(loop: WhileLoop, most: int) -> int:
    """How often the body runs. Raises Stays if that is not known, or is more than `most`."""
    counters = _Counters(loop)
    try:
        with _disable_current_modes():
            values = counters.first()
            for count in range(most + 1):
                if not counters.goes_on(values):
                    return count
                values = counters.following(values)
    except (RuntimeError, ArithmeticError, ValueError, TypeError) as error:
        raise Stays(f"its condition cannot be computed: {error}") from error
    raise Stays(f"it goes round more than {most} times")


class _Counters:
    """The numbers on which the condition of a loop depends.

    - `places`: which of the arguments of its graphs they are.
    """

    def __init__(self, loop: WhileLoop) -> None:
        self.loop = loop
        caller = loop.op.parent_op()
        assert isinstance(caller, GraphOp)
        self.caller = caller
        self.places = self._places()

    def first(self) -> list[Any]:
        """The numbers of the first trip."""
        given = [self.loop.given[place] for place in self.places]
        return self._start(given)

    def goes_on(self, values: Sequence[Any]) -> bool:
        """Whether there is another trip."""
        (answer,) = self._condition(values)
        return bool(answer)

    def following(self, values: Sequence[Any]) -> list[Any]:
        """The numbers of the next trip."""
        return self._body(values)

    def _places(self) -> list[int]:
        """Raises Stays if the condition depends on something else."""
        loop, carried = self.loop, len(self.loop.carried)
        starts = {
            place
            for place, value in enumerate(loop.given)
            if type(value) is int or _computable([value], self.caller, ()) is not None
        }
        conditions = self._needs(loop.condition, loop.condition.output.operands, starts)
        results = returned_leaves(loop.body.output.tree)
        needed: set[int] = set()
        pending = sorted(conditions)
        while pending:
            place = pending.pop()
            if place in needed:
                continue
            needed.add(place)
            if place < carried and type(results[place]) is Ref:
                value = loop.body.output.operands[results[place].index]
                pending += self._needs(loop.body, [value], starts)
        return sorted(needed)

    def _needs(self, graph: GraphOp, roots: Sequence[Any], starts: Collection[int]) -> set[int]:
        """The places of the arguments that values of a graph of the loop are computed from."""
        allowed = [graph.arguments[place] for place in starts]
        found = _computable(roots, graph, allowed)
        if found is None:
            what = "its condition" if graph is self.loop.condition else "what its condition reads"
            raise Stays(f"{what} depends on more than numbers that are known while compiling")
        return {argument.index for argument in found.arguments}

    def _start(self, given: list[Any]) -> list[Any]:
        values = [value for value in given if type(value) is not int]
        found = iter(_Slice(self.caller, values, ())(()))
        return [value if type(value) is int else next(found) for value in given]

    @cached_property
    def _condition(self) -> _Slice:
        graph = self.loop.condition
        return _Slice(graph, graph.output.operands, self.places)

    @cached_property
    def _body(self) -> Callable[[Sequence[Any]], list[Any]]:
        graph, carried = self.loop.body, len(self.loop.carried)
        results = returned_leaves(graph.output.tree)
        computed = [
            place for place in self.places if place < carried and type(results[place]) is Ref
        ]
        values = [graph.output.operands[results[place].index] for place in computed]
        step = _Slice(graph, values, self.places)

        def following(before: Sequence[Any]) -> list[Any]:
            known = dict(zip(self.places, before, strict=True))
            known |= {
                place: results[place]
                for place in known
                if place < carried and place not in computed
            }
            known |= dict(zip(computed, step(before), strict=True))
            return [known[place] for place in self.places]

        return following


@dataclass(frozen=True)
class _Computable:
    """The ops that values are computed by, and the arguments that these start from."""

    ops: frozenset[TorchOp]
    arguments: frozenset[BlockArgument]


def _computable(
    roots: Sequence[SSAValue], graph: GraphOp, allowed: Collection[Any]
) -> _Computable | None:
    """How values are computed from arguments, if these are among `allowed` and all are numbers."""
    ops: set[TorchOp] = set()
    arguments: set[BlockArgument] = set()
    pending: list[Any] = list(roots)
    while pending:
        value = pending.pop()
        if not _is_number(value):
            return None
        if isinstance(value, BlockArgument):
            if value not in allowed:
                return None
            arguments.add(value)
        elif value.op not in ops:
            if not _counts(value.op, graph):
                return None
            ops.add(value.op)
            pending.extend(value.op._operands)
    return _Computable(frozenset(ops), frozenset(arguments))


def _is_number(value: Any) -> bool:
    """Whether a value is one whole number or truth value, in a tensor or not."""
    type_ = getattr(value, "type", None)
    if type(type_) is not TensorType:
        return type(type_) in (SymIntType, SymBoolType)
    return (
        type_.dtype in _INTEGERS
        and all(size == 1 for size in type_.shape)
        and type_.data.layout == "strided"
        and not type_.data.subclass
    )


def _counts(op: Any, graph: GraphOp) -> bool:
    """Whether an op may run while compiling, and gives what it would give later."""
    if type(op) is GetAttrOp:
        return constant(graph, op) is not None
    if any(isinstance(leaf, SymExpr | float) for leaf in leaves(op.args.data)):
        return False
    if not effects_of(op).pure or len(op.results) != 1:
        return False
    if op.name.startswith(_PYTHON):
        return True
    library, name, _ = f"{op.name}..".split(".", 2)
    return library in ("aten", "prims") and name in _COUNTING


class _Slice:
    """What some values of a graph are, for numbers in place of some of its arguments.

    It is a graph of its own, on the CPU.
    """

    def __init__(self, graph: GraphOp, roots: Sequence[SSAValue], places: Sequence[int]) -> None:
        self._source = graph
        self._attributes: dict[str, Any] = {}
        given: list[Any] = [None] * len(graph.arguments)
        block = Block(arg_types=[_on_cpu(graph.arguments[place].type) for place in places])
        for place, argument in zip(places, block.args, strict=True):
            given[place] = argument
        found = _computable(roots, graph, [graph.arguments[place] for place in places])
        assert found is not None
        copies: dict[SSAValue, SSAValue] = {
            graph.arguments[place]: argument
            for place, argument in zip(places, block.args, strict=True)
        }

        def make(op: Any, operands: list[Any]) -> Sequence[Any]:
            copy = self._copied(op, operands)
            block.add_op(copy)
            copies.update(zip(op.results, copy.results, strict=True))
            return copy.results

        copied_results(graph, given, make, found.ops)
        values = [copies[root] for root in roots]
        tree = tuple([Ref(place) for place in range(len(values))])
        block.add_op(OutputOp.make(raw_args((tree,)), values, []))
        made = GraphOp("numbers", graph.stage.data, block, ambient=graph.ambient.data)
        self._module = ModuleOp([made])

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        return list(run(self._module, *values, attributes=self._attributes))

    def _copied(self, op: Any, operands: list[Any]) -> TorchOp:
        args, values = arguments_for(op, operands, {})
        args = ArgsAttr(map_tree(args.data, _device_on_cpu))
        if type(op) is GetAttrOp:
            tensor = constant(self._source, op)
            assert tensor is not None
            self._attributes[op.path] = tensor.cpu()
        types = [_on_cpu(one) for one in op.result_types]
        return type(op).make(args, values, types, structure=op.structure, aliases=op.aliases)


def _device_on_cpu(leaf: Any) -> Any:
    return _CPU if isinstance(leaf, torch.device) else leaf


def _on_cpu(type_: Any) -> Any:
    return TensorType(type_.data._replace(device=_CPU)) if type(type_) is TensorType else type_


__all__ = ["WhileLoop", "trip_count"]
