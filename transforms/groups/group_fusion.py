"""What all group fusions share. Each says what form an op has and what replaces a group."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from torch.fx import Graph
from xdsl.ir import SSAValue

from xductor.ir import Facts, TensorType, TorchOp, aliases_through
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.editing.moved_ops import MovedOps
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.independence import Dependencies
from xductor.transforms.groups.search import Everywhere, Search
from xductor.transforms.groups.stacking import Stacking
from xductor.transforms.matching.matcher import Match
from xductor.transforms.rewriting.contracts import Declined
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import value_handle
from xductor.transforms.rewriting.layouts import check_users
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass


class Group:
    """The ops of a group, in the order of their results; operands are asked for by position."""

    def __init__(self, ops: Sequence[TorchOp], stacking: Stacking, facts: Facts) -> None:
        self.ops = ops
        self.stacking = stacking
        self._facts = facts

    def operands(self, place: int) -> list[Any]:
        """The operand of each op at one position."""
        return [value_handle(op._operands[place], self._facts) for op in self.ops]

    def stacked(self, place: int) -> Any:
        """The operands at one position, stacked along a new leading dim."""
        return self.stacking.stack(self.operands(place))

    def rows(self, stacked: Any) -> list[Any]:
        """A view of each entry of the leading dim, one for each op."""
        return self.stacking.rows(stacked, len(self.ops))


@dataclass(frozen=True)
class GroupFusion(ProceduralPass):
    """Fuse independent ops of one form that one consumer reaches.

    - `min_fuse_set_size`, `max_fuse_set_size`: the fewest and the most ops of a group.
    - `max_fuse_search_depth`: how many ops above itself a consumer searches; None searches the
      whole graph instead.
    - `fuse_nodes_with_same_parent`: only ops whose operands have the same producer.
    - `fuse_nodes_with_same_users`: only ops whose results have the same readers.

    Class attributes: `stacking`, how the stage stacks tensors. A fusion whose members draw random
    numbers permits "draws", since a group draws them all at once.
    """

    roots: ClassVar[frozenset[str]] = frozenset()
    stacking: ClassVar[Stacking]

    min_fuse_set_size: int = 5
    max_fuse_set_size: int = 300
    max_fuse_search_depth: int | None = 5
    fuse_nodes_with_same_parent: bool = False
    fuse_nodes_with_same_users: bool = False

    @abstractmethod
    def form(self, op: Any, forms: Forms) -> Hashable | None:
        """What the ops of a group share besides their name; None if an op joins no group."""

    def kind(self, op: Any) -> str:
        """The overload that an op calls."""
        return op.name

    @abstractmethod
    def fused(self, group: Group) -> list[Any]:
        """Build the value that replaces the result of each op of a group."""

    def pays(self, group: Group, forms: Forms, copied: Sequence[TorchOp]) -> bool:
        """Whether a group is less work when it is fused.

        - `copied`: the ops whose results have to be copied out of the fused one.
        """
        return True

    def group_of(self, ops: Sequence[TorchOp], facts: Facts) -> Group:
        """The ops as `fused` sees them."""
        return Group(ops, self.stacking, facts)

    def may_fire(self, graph: Graph) -> bool:
        return self.count_roots(graph) >= self.min_fuse_set_size

    def ops_in(self, analyses: Analyses) -> list[Any]:
        ops = super().ops_in(analyses)
        return ops if len(ops) >= self.min_fuse_set_size else []

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        return _Work(self, procedure).run(ops)


class _Work:
    """One fusion in one graph."""

    def __init__(self, one: GroupFusion, procedure: Procedure) -> None:
        self.one = one
        self.procedure = procedure
        self.state = procedure.state
        self.forms = Forms(self.state)

    @cached_property
    def dependencies(self) -> Dependencies:
        return Dependencies(self.state.analyses, self.state.footprints)

    def form(self, op: Any) -> Hashable | None:
        if op.name not in self.one.roots:
            return None
        found = self.one.form(op, self.forms)
        if found is None or self.forms.is_written(op.results[0]):
            return None
        return (self.one.kind(op), self.state.region(op), found)

    def run(self, ops: Sequence[Any]) -> int:
        forms = {op: found for op in ops if (found := self.form(op)) is not None}
        fewest = self.one.min_fuse_set_size
        if not any(count >= fewest for count in Counter(forms.values()).values()):
            return 0
        analyses = self.state.analyses
        depth = self.one.max_fuse_search_depth
        self.search = Everywhere(forms) if depth is None else Search(analyses.ops, forms, depth)
        return sum(
            self.fuse(group)
            for members in self.search.sets(self.state.graph.block.last_op)
            if len(members) >= fewest
            for group in self.groups(members)
        )

    def groups(self, members: list[Any]) -> Iterator[list[Any]]:
        """The members split into sets of independent ops, each in the order found."""
        fewest, most = self.one.min_fuse_set_size, self.one.max_fuse_set_size
        in_order = sorted(members, key=self.state.order.key)
        levels = self.dependencies.below(in_order).levels
        by_level: dict[int, list[Any]] = {}
        for op in members:
            by_level.setdefault(levels[op], []).append(op)
        for _, found in sorted(by_level.items()):
            for start in range(0, len(found), most):
                group = found[start : start + most]
                if len(group) >= fewest:
                    yield group

    def fuse(self, members: list[Any]) -> bool:
        in_order = sorted(members, key=self.state.order.key)
        last = in_order[-1]
        # The group takes the place of its last op, so ops that depend on the others move below.
        hanging = self.dependencies.below(in_order).ops
        sunk = MovedOps(self.state.analyses, hanging, last._next_op)
        group = self.one.group_of(members, self.state.facts)
        try:
            replaced = self.procedure.replace(_match(members, in_order), lambda: self._build(group))
        except REFUSALS as refusal:
            sunk.undo()
            self.procedure.refuse(last, refusal)
            return False
        self.search.fused(members)
        if replaced.renewed and self.dependencies.has_effects:
            del self.dependencies
        else:
            self.dependencies.stand_for(members, replaced.made)
        return True

    def _build(self, group: Group) -> list[Any]:
        """The value that replaces each result, copied where sharing a storage would show.

        Raises Declined if it does not pay.
        """
        pairs = list(zip(group.ops, self.one.fused(group), strict=True))
        copied = [op for op, row in pairs if self._needs_storage(op.results[0], row.type)]
        if not self.one.pays(group, self.forms, copied):
            raise Declined("at once it would be more to read and write")
        return [group.stacking.copy(row) if op in copied else row for op, row in pairs]

    def _needs_storage(self, result: SSAValue, row: TensorType) -> bool:
        if self.forms.is_seen(result) or self._is_viewed_elsewhere(result):
            return True
        steps = result.type.stride  # type: ignore[union-attr]
        return steps != row.stride and check_users(result, row, self.state) is not None

    def _is_viewed_elsewhere(self, result: SSAValue) -> bool:
        """Whether a result is viewed under other modes than it was made under.

        Under `no_grad` a view of one of several views requires no gradient, while a view of a
        tensor that is not a view may.
        """
        if not self.forms.requires_grad(result):
            return False
        place = self.state.region(result.owner)  # type: ignore[arg-type]
        users: Any = [use.operation for use in result.uses if aliases_through(use)]
        return any(self.state.region(user) != place for user in users)


def _match(members: Sequence[TorchOp], in_order: Sequence[TorchOp]) -> Match:
    """A group as the match that the contracts ask about."""
    operands = [operand for op in members for operand in op._operands]
    return Match.of(in_order[-1], members, [op.results[0] for op in members], operands)


__all__ = ["Group", "GroupFusion"]
