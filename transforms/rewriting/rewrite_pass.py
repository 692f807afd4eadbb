"""Runs declared rewrites as a pass: one walk applies all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.transforms.passes.numerics import EXACT, Policy
from xductor.transforms.passes.typed_pass import TypedPass
from xductor.transforms.rewriting.driver import Driver, RewriteIndex
from xductor.transforms.rewriting.prefilter import may_match
from xductor.transforms.rewriting.rewrite import Rewrite


@dataclass(frozen=True)
class RewritePass(TypedPass):
    """Applies the given rewrites in one walk; `policy` says which numerics are admitted."""

    name = "rewrites"
    stage = ("pre_grad", "joint", "post_grad")
    inductor = ""
    numerics = EXACT  # each rewrite has its own

    rewrites: tuple[Rewrite, ...] = ()
    policy: Policy = "default"

    @classmethod
    def of(cls, rewrites: Iterable[Rewrite | type[Rewrite]], policy: Policy = "default") -> Any:
        """A pass of rewrites given as instances or, for their default options, as classes."""
        return cls(tuple(instance(one) for one in rewrites), policy)

    def may_fire(self, graph: Graph) -> bool:
        """Whether an FX graph holds a root of one of the rewrites, and what it needs around it."""
        return may_match(self.index, graph)

    @cached_property
    def index(self) -> RewriteIndex:
        return RewriteIndex(self.rewrites)

    def rewrite(self, module: ModuleOp) -> int:
        return Driver(self.index, self.policy).rewrite(module)


def instance(one: Any) -> Any:
    """A rewrite or pass, given as an instance or as a class."""
    return one() if isinstance(one, type) else one


__all__ = ["RewritePass", "instance"]
