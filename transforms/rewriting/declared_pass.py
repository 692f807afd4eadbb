"""Makes a pass class under the name of a pass of Inductor's from declared rewrites."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from typing import Any, ClassVar

from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.transforms.analysis.analyses import ORDER, analyses_of
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.passes.numerics import Policy
from xductor.transforms.passes.typed_pass import TypedPass
from xductor.transforms.rewriting.driver import Driver, RewriteIndex
from xductor.transforms.rewriting.prefilter import may_match
from xductor.transforms.rewriting.rewrite import Rewrite


@dataclass(frozen=True)
class DeclaredPass(TypedPass):
    """One or more rewrites that form one pass; `pass_of` makes the subclasses.

    `policy` says which of them may run; the other fields are the rewrites' options.
    """

    preserves = frozenset((ORDER,))
    rewrite_classes: ClassVar[tuple[type[Rewrite], ...]] = ()

    policy: Policy = "default"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether the graph holds a root of one of the rewrites, and what it needs around it."""
        return may_match(_index(cls, ()), graph)

    @property
    def index(self) -> RewriteIndex:
        """The rewrites with this pass's options, ready for matching; made once for each choice."""
        options = tuple([(one.name, getattr(self, one.name)) for one in fields(self)[1:]])
        return _index(type(self), options)

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        return self.index.rewrites

    def has_work(self, module: ModuleOp) -> bool:
        roots = self.index.roots
        return any(analyses_of(graph).has_one_of(roots) for graph in graphs_of(module))

    def rewrite(self, module: ModuleOp) -> int:
        return Driver(self.index, self.policy).rewrite(module)


@cache
def _index(cls: type[DeclaredPass], options: tuple[tuple[str, Any], ...]) -> RewriteIndex:
    given = dict(options)
    return RewriteIndex(
        [
            one(**{name: given[name] for name in _options(one) if name in given})
            for one in cls.rewrite_classes
        ]
    )


@cache
def pass_of(*rewrites: type[Rewrite]) -> type[DeclaredPass]:
    """The class of a pass that applies `rewrites`, which must share one name.

    Its fields are the policy and the options of the rewrites.
    """
    first = rewrites[0]
    options: dict[str, Any] = {}
    for one in rewrites:
        assert one.name == first.name, f"{one.name} is no part of {first.name}"
        options.update(_options(one))
    attributes: dict[str, Any] = {
        "__doc__": "\n\n".join(inspect.cleandoc(one.__doc__ or "") for one in rewrites),
        "__module__": first.__module__,
        "name": first.name,
        "stage": first.stage,
        "inductor": first.inductor,
        "numerics": first.numerics,
        "roots": frozenset(_index_of(rewrites).roots),
        "rewrite_classes": rewrites,
    }
    return make_dataclass(
        first.__name__,
        [(name, kind, field(default=default)) for name, (kind, default) in options.items()],
        bases=(DeclaredPass,),
        namespace=attributes,
        frozen=True,
    )


def _index_of(rewrites: Sequence[type[Rewrite]]) -> RewriteIndex:
    return RewriteIndex([one() for one in rewrites])


@cache
def _options(cls: type[Rewrite]) -> dict[str, tuple[Any, Any]]:
    """The options of a rewrite: type and default by name."""
    if cls.__init__ is object.__init__:
        return {}
    kinds = typing.get_type_hints(cls.__init__)
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return {one.name: (kinds.get(one.name, Any), one.default) for one in parameters}


__all__ = ["DeclaredPass", "pass_of"]
