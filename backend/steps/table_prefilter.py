"""Whether an entry of one of Inductor's pattern tables could match, found without running any.

A stage asks before it raises its typed graph for a table, so the calls of a graph are read from
where they are at that moment: the typed graph if it has changes, or else the FX graph.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from xdsl.ir import OpResult

from xductor.backend.steps import stock
from xductor.ir import OpaqueCallOp
from xductor.transforms import graphs_of
from xductor.transforms.analysis.analyses import analyses_of

if TYPE_CHECKING:
    from torch.fx import Graph
    from xdsl.dialects.builtin import ModuleOp

    from xductor.backend.stage_runs.stage_run import StageRun

#: A call as FX has it: opcode and target.
Call = tuple[str, Any]

_GETITEM: Call = ("call_function", operator.getitem)


class Calls(Protocol):
    """The calls of a graph. Those that cannot be told are given, so that nothing is overlooked."""

    @abstractmethod
    def making(self, call: Call) -> Sequence[Any]:
        """What makes a call."""

    @abstractmethod
    def call_of(self, maker: Any) -> Call | None:
        """The call that something makes; None if it may stand for several."""

    @abstractmethod
    def inputs_of(self, maker: Any) -> Iterable[Any]:
        """What makes the arguments of a call."""


class NodeCalls(Calls):
    """The calls of an FX graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def making(self, call: Call) -> Sequence[Any]:
        return self._graph.find_nodes(op=call[0], target=call[1], sort=False)

    def call_of(self, maker: Any) -> Call | None:
        return maker.op, maker.target

    def inputs_of(self, maker: Any) -> Iterable[Any]:
        return maker.all_input_nodes


class OpCalls(Calls):
    """The calls that a typed graph will make in FX: all its ops, and what picks their results."""

    def __init__(self, module: ModuleOp) -> None:
        self._made: dict[Call, list[Any]] = {}
        for graph in graphs_of(module):
            for ops in analyses_of(graph).by_name.values():
                if ops[0].raw_arguments:  # one class may stand for several callables of one name
                    for op in ops:
                        self._made.setdefault(_raw_call(op), []).append(op)
                else:
                    self._made.setdefault((ops[0].fx_op, ops[0].target), []).extend(ops)

    @cached_property
    def _picked(self) -> list[Any]:
        return [op for ops in self._made.values() for op in ops if op.tuple_valued]

    def making(self, call: Call) -> Sequence[Any]:
        made = self._made.get(call, ())
        return made if call != _GETITEM else [*made, *self._picked]

    def call_of(self, maker: Any) -> Call | None:
        if maker.tuple_valued:  # what picks its results is no op
            return None
        return _raw_call(maker) if maker.raw_arguments else (maker.fx_op, maker.target)

    def inputs_of(self, maker: Any) -> Iterable[Any]:
        return [one.op for one in maker._operands if type(one) is OpResult]


def _raw_call(op: Any) -> Call:
    """The call of the node that an op was lowered from, or will become."""
    if op.node.origin is not None:
        return op.node.origin.op, op.node.origin.target
    return op.fx_op, op.handle.live if isinstance(op, OpaqueCallOp) else op.target


def calls_of(run: StageRun) -> Calls:
    """The calls of a stage's graph as it is now."""
    group = run.group
    return OpCalls(group.module) if group and group.changed else NodeCalls(run.gm.graph)


def may_match(table: Any, calls: Calls) -> bool:
    """Whether an entry of a pattern table could match somewhere in a graph.

    A table of another class than Inductor's, or with another `apply`, may look elsewhere.
    """
    matcher = stock.lookup("torch._inductor.pattern_matcher:PatternMatcherPass")
    if type(table) is not matcher or "apply" in vars(table) or not stock.is_stock(matcher.apply):
        return True
    search = _Search(calls)
    return any(search.may_match(call, found) for call, found in table.patterns.items())


class _Search:
    """Looks for beginnings of matches: calls of the right targets, whatever else they get."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.known = _classes_of_patterns()

    def may_match(self, begin: Call, entries: Sequence[Any]) -> bool:
        if begin[0] == "call_module":  # found by their classes: the paths of calls say nothing
            return bool(entries) and bool(self.calls.making(("call_module", None)))
        makers = self.calls.making(begin) if entries else ()
        return bool(makers) and any(
            self.has_parts(pattern) and any(self.fits(pattern, one) for one in makers)
            for pattern in [getattr(entry, "pattern", None) for entry in entries]
        )

    def has_parts(self, pattern: Any) -> bool:
        """Whether the graph makes, for each call of a pattern, one that it could be."""
        return type(pattern) not in self.known or (
            all(map(self.has_parts, _parts(pattern)))  # the rarest are far from the beginning
            and any(self.calls.making((pattern.op, target)) for target in pattern.fns)
        )

    def fits(self, pattern: Any, maker: Any) -> bool:
        """Whether a call, and those that make its arguments, could be those of a pattern."""
        call = self.calls.call_of(maker)
        if type(pattern) not in self.known or call is None:
            return True
        if call[0] != pattern.op or call[1] not in pattern.fns_set:
            return False
        inputs = self.calls.inputs_of(maker)
        return all(any(self.fits(part, one) for one in inputs) for part in self.calls_in(pattern))

    def calls_in(self, pattern: Any) -> Iterator[Any]:
        """The parts of a pattern that are calls, as far as their classes tell."""
        return (part for part in _parts(pattern) if type(part) in self.known)


def _parts(pattern: Any) -> Sequence[Any]:
    """The patterns and constants of a pattern's arguments, all of which have to match."""
    return getattr(pattern, "flat_args_kwargs", ((),))[0]


def _classes_of_patterns() -> frozenset[Any]:
    """Inductor's classes of patterns for one call, whose match needs matches of all its parts."""
    names = ("CallFunction", "CallFunctionVarArgs", "CallMethod", "CallMethodVarArgs")
    found = [stock.lookup(f"torch._inductor.pattern_matcher:{name}") for name in names]
    return frozenset(one for one in found if one is not None and stock.is_stock(one._match))


__all__ = ["Calls", "NodeCalls", "OpCalls", "calls_of", "may_match"]
