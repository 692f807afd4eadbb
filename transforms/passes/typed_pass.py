"""The base class of every pass over the typed IR."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xductor.ir import op_class_by_name
from xductor.ir.dialect.registry import packet_named
from xductor.transforms.analysis.fx_targets import holds
from xductor.transforms.passes.events import tell
from xductor.transforms.passes.numerics import EXACT, Declared
from xductor.transforms.passes.pass_members import check_pass
from xductor.transforms.passes.pass_results import application_count
from xductor.transforms.passes.permits import Permit
from xductor.transforms.passes.refusals import Refused
from xductor.transforms.passes.stage import Stage

if TYPE_CHECKING:
    from torch.fx import Graph, Node


class Ran(NamedTuple):
    """A typed pass that xDSL has applied, and how many applications it made."""

    one: TypedPass
    applications: int


@dataclass(frozen=True)
class TypedPass(ModulePass):
    """A pass over typed IR, named as Inductor names the pass it stands for.

    Subclasses are frozen dataclasses; their fields are the pass's options, given on a command
    line as `name{option=value}`. They implement `rewrite`.
    Class attributes:

    - `name`: Inductor's name for the pass, as its observer or its function has it.
    - `stage`: the stage or stages whose graphs the pass may see.
    - `inductor`: where Inductor has the pass, `"joint_graph.py:pointless_view"`; empty for a
      pass that Inductor does not have.
    - `numerics`: what an application may change about values.
    - `roots`: targets of which an FX graph must hold at least one for the pass to be able to
      fire: operator overloads or their names (`"aten.view.default"`), Python callables or
      their names (`"pyfn.torch.cat"`), and `"method.clone"` for a method call. A pass that is not
      tied to targets (dead code, order) overrides `may_apply` instead.
    - `matched_nodes`: how many nodes Inductor's matcher counts for one application in
      `counters["inductor"]["pattern_matcher_nodes"]`; 0 where stock does not use its matcher.
    - `counter`: a further counter that stock increments at each application.
    - `permits`: what the pass may do although the contracts refuse it to others (`permits`).
    - `preserves`: which of the graph's `analyses` the pass keeps up to date while it changes it.
    - `writes_back`: whether the pass makes ops of a functional graph write, so that the rules of
      its stage hold no longer behind it.
    - `reads_bodies`: whether the pass reads the bodies of subgraphs, with which a graph is lowered
      for it; for others they are only declared.
    - `position`, `before`, `after`: where in its stage a user's pass runs (`xductor.placed`).

    Raises DeclarationError, when the class is made, for an attribute that does not exist or has a
    wrong value.
    """

    stage: ClassVar[Stage | tuple[Stage, ...]]
    inductor: ClassVar[str] = ""
    numerics: ClassVar[Declared] = EXACT
    roots: ClassVar[frozenset[object]] = frozenset()
    matched_nodes: ClassVar[int] = 0
    counter: ClassVar[str | None] = None
    permits: ClassVar[Collection[Permit]] = ()
    preserves: ClassVar[frozenset[str]] = frozenset()
    writes_back: ClassVar[bool] = False
    reads_bodies: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_pass(cls, TypedPass)

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether the pass could fire on `graph`, without lowering it. Must be cheap.

        True promises nothing; False promises that the pass would do nothing.
        """
        return cls.has_root(graph)

    @classmethod
    def has_root(cls, graph: Graph) -> bool:
        """Whether `graph` holds one of `roots`."""
        return any(holds(graph, op, target) for op, target in _lookups(cls))

    @classmethod
    def root_nodes(cls, graph: Graph) -> Iterator[Node]:
        """The nodes of `graph` that call one of `roots`, in no order."""
        for op, target in _lookups(cls):
            yield from graph.find_nodes(op=op, target=target, sort=False)

    @classmethod
    def count_roots(cls, graph: Graph) -> int:
        """How many of `roots` `graph` holds."""
        return sum(
            len(graph.find_nodes(op=op, target=target, sort=False)) for op, target in _lookups(cls)
        )

    def may_fire(self, graph: Graph) -> bool:
        """Whether this instance could fire on `graph`: `may_apply`, refined by its options."""
        return self.may_apply(graph)

    def has_work(self, module: ModuleOp) -> bool:
        """Whether this instance could fire on a graph in the typed IR; True promises nothing."""
        return True

    @abstractmethod
    def rewrite(self, module: ModuleOp) -> int:
        """Rewrite `module` in place and return the number of applications (0: unchanged)."""

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        """Run on a module that is thrown away, and report the ops that nearly matched to `refused`.

        Each comes with the reason why it was left alone. A pass that has no reasons just runs; what
        contracts kept it from is told all the same (`passes.refusals`).
        """
        self.rewrite(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """xDSL's entry point: run `rewrite` and tell that it `Ran`.

        Raises WrongCount if `rewrite` returns no count.
        """
        tell(Ran(self, application_count(self, self.rewrite(op))))


@cache
def _lookups(cls: type[TypedPass]) -> tuple[tuple[str, Any], ...]:
    """The (node op, node target) pairs by which the roots of `cls` are found in an FX graph."""
    pairs: list[tuple[str, Any]] = []
    for root in cls.roots:
        if isinstance(root, str) and root.startswith("method."):
            pairs.append(("call_method", root.removeprefix("method.")))
        elif isinstance(root, str) and root.startswith("pyfn."):
            pairs.append(("call_function", op_class_by_name(root).target))
        else:
            pairs.extend(("call_function", target) for target in _targets(root))
    return tuple(pairs)


def _targets(root: object) -> tuple[object, ...]:
    """The call targets that a root stands for: itself, a named overload, or all of a packet's."""
    import torch

    if isinstance(root, str):
        namespace, name = root.split(".")[:2]
        packet_named(namespace, name)  # imports what registers the operators of a library of ours
        found: object = torch.ops
        for part in root.split("."):
            found = getattr(found, part)
        root = found
    if isinstance(root, torch._ops.OpOverloadPacket):
        return (root, *(getattr(root, overload) for overload in root.overloads()))
    return (root,)
