"""An index of rewrites by the roots of their patterns."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, Node
from xdsl.ir import OpResult

from xductor.ir import TorchOp, op_class_by_name
from xductor.transforms.analysis.fx_targets import holds
from xductor.transforms.matching.needed_ops import Clause
from xductor.transforms.rewriting.rewrite import Rewrite


class NodesAround:
    """FX nodes by op and target, around a root.

    A node is asked for at each root of a stage, and an overload is slow to hash.
    """

    def __init__(self, keys: Iterable[tuple[str, Any]]) -> None:
        functions, others = set[int](), set[tuple[str, Any]]()
        self._keys = tuple(keys)
        for op, target in self._keys:
            if op == "call_function":
                functions.add(id(target))
            else:
                others.add((op, target))
        self._functions, self._others = functions, others

    def __contains__(self, node: Node) -> bool:
        if id(node.target) in self._functions:
            return True
        return bool(self._others) and (node.op, node.target) in self._others

    def are_in(self, graph: Graph) -> bool:
        """Whether a graph holds one of these nodes."""
        return any(holds(graph, op, target) for op, target in self._keys)

    def makes_input_of(self, node: Node) -> bool:
        """Whether one of these nodes makes an input of `node`, or a tuple that it is taken from."""
        functions = self._functions
        for one in node.all_input_nodes:
            target = one.target
            if id(target) in functions or (self._others and one in self):
                return True
            if target is operator.getitem and any(made in self for made in one.all_input_nodes):
                return True
        return False

    def read_input_of(self, node: Node) -> bool:
        """Whether another of these nodes reads an input of `node`."""
        return any(
            user is not node and user in self for one in node.all_input_nodes for user in one.users
        )


class NodesAnywhere:
    """FX nodes by op, target, and the dtypes they are called with, wherever they are in a graph."""

    def __init__(self, clause: Clause) -> None:
        self._keys = tuple((*_fx_key(one.name), one.dtypes) for one in clause)

    def are_in(self, graph: Graph) -> bool:
        """Whether a graph holds one of these nodes."""
        return any(
            not dtypes
            or any(
                _may_have(node, dtypes)
                for node in graph.find_nodes(op=op, target=target, sort=False)
            )
            for op, target, dtypes in self._keys
            if holds(graph, op, target)
        )


def _may_have(node: Node, dtypes: tuple[tuple[int, torch.dtype], ...]) -> bool:
    """Whether a call has these dtypes at these positions, or none there."""
    return all(slot >= len(node.args) or node.args[slot] is dtype for slot, dtype in dtypes)


class RootLookup(NamedTuple):
    """How a root of some rewrites is found in an FX graph."""

    op: str
    target: Any
    #: The types of device that the rewrites run on; empty for all.
    devices: frozenset[str]
    #: The nodes of which one must be among its inputs; None if none need be.
    below: NodesAround | None
    #: The nodes of which one must read an input of it; None if none need do so.
    beside: NodesAround | None
    #: For each rewrite, sets of nodes of which a graph must hold one each.
    elsewhere: tuple[tuple[NodesAnywhere, ...], ...]

    def has_what_it_needs(self, graph: Graph) -> bool:
        """Whether a graph holds, somewhere, all that one of the rewrites needs."""
        return any(all(one.are_in(graph) for one in needed) for needed in self.elsewhere)


class RewriteIndex:
    """Rewrites by the ops that may be their root, and by the ops that must make its operands."""

    def __init__(self, rewrites: Sequence[Rewrite]) -> None:
        self.rewrites = tuple(rewrites)
        self._anything: dict[str, list[int]] = defaultdict(list)
        self._below: dict[str, dict[str, list[int]]] = {}
        self._devices: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for number, one in enumerate(self.rewrites):
            for root in one.compiled.roots:
                self._devices[root].add(one.devices)
            for root, needs in one.compiled.roots.items():
                if needs is None:
                    self._anything[root].append(number)
                else:
                    below = self._below.setdefault(root, defaultdict(list))
                    for name in needs:
                        below[name].append(number)
        self.roots = frozenset((*self._anything, *self._below))

    @cached_property
    def lookups(self) -> tuple[RootLookup, ...]:
        """The roots as they are found in an FX graph, sorted by name."""
        return tuple(
            RootLookup(
                *_fx_key(root),
                self._devices_of(root),
                self._nodes_below(root),
                self._nodes_beside(root),
                self._nodes_elsewhere(root),
            )
            for root in sorted(self.roots)
        )

    def _devices_of(self, root: str) -> frozenset[str]:
        kinds = self._devices[root]
        return frozenset() if () in kinds else frozenset(one for kind in kinds for one in kind)

    def _nodes_below(self, root: str) -> NodesAround | None:
        if root in self._anything:
            return None
        return NodesAround(_fx_key(name) for name in self._below.get(root, ()))

    def _nodes_beside(self, root: str) -> NodesAround | None:
        having = [one.compiled for one in self.rewrites if root in one.compiled.roots]
        if not all(root in one.beside for one in having):
            return None
        names = frozenset[str]().union(*[one.beside[root] for one in having])
        return NodesAround(_fx_key(name) for name in names)

    def _nodes_elsewhere(self, root: str) -> tuple[tuple[NodesAnywhere, ...], ...]:
        having = [one.compiled for one in self.rewrites if root in one.compiled.roots]
        return tuple(
            tuple(
                NodesAnywhere(clause)
                for clause in one.needed
                if all(op.name != root or op.dtypes for op in clause)
            )
            for one in having
        )

    def candidates(self, op: TorchOp) -> Sequence[int]:
        """The numbers of the rewrites that may apply at an op, in order."""
        name = op.name
        anything = self._anything.get(name, ())
        below = self._below.get(name)
        if not below:
            return anything
        found = list(anything)
        for operand in op._operands:
            if type(operand) is OpResult:
                for number in below.get(operand.op.name, ()):
                    if number not in found:
                        found.append(number)
        if len(found) > len(anything):
            found.sort()
        return found


def _fx_key(name: str) -> tuple[str, Any]:
    """The op and target of a node that is lowered to the op called `name`."""
    cls = op_class_by_name(name)
    return cls.fx_op, cls.target


__all__ = ["RewriteIndex", "RootLookup"]
