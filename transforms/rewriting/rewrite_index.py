"""Rewrites by the root of their patterns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from xdsl.ir import OpResult

from xductor.ir.operations import TorchOp
from xductor.transforms.rewriting.rewrite import Rewrite


class RewriteIndex:
    """Rewrites by the ops that may root them, and by what must stand below the root."""

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

    def devices_of(self, root: str) -> frozenset[str]:
        """The kinds of device that rewrites of a root run on; empty for all."""
        kinds = self._devices[root]
        return frozenset() if () in kinds else frozenset(one for kind in kinds for one in kind)

    def takes_anything_below(self, root: str) -> bool:
        """Whether a rewrite of this root asks for no op below it."""
        return root in self._anything

    def asked_below(self, root: str) -> frozenset[str]:
        """The ops of which one must stand below a root."""
        return frozenset(self._below.get(root, ()))

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


__all__ = ["RewriteIndex"]
