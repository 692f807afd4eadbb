"""Which ops of a graph must keep their order, besides definitions and uses.

A write and a read of one storage, or two writes; two random draws; two effects on the host; two
collectives of one group; a change of modes and anything else. Whatever moves, groups or sorts ops
asks here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverloadPacket
from xdsl.ir import BlockArgument, SSAValue

from xductor.ir import (
    GetAttrOp,
    GraphOp,
    OutputOp,
    SchemaOp,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TorchOp,
    result_aliases,
)
from xductor.ir.dialect.registry import PythonOp
from xductor.ir.effects.effects import Effects
from xductor.ir.effects.operator_effects import overload_effects
from xductor.ir.effects.target_effects import is_registered, target_effects
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.op_effects import (
    Bodies,
    arguments_of,
    effects_of,
    subgraphs_of,
    written_operands,
)

_OUTSIDE = "a tensor from outside"
_DRAWS = "both draw random numbers"
_HOST = "both have effects outside of the graph"
_ACCESS = "one writes to what the other reads or writes"
_MODE = "autocast, grad mode or the like changes there"
_GEOMETRY = "the geometry of a tensor"
_ANY_GROUP = "*"
_NUMBERS = (SymIntType, SymFloatType, SymBoolType)
_WAITS = "wait_tensor"

# They change what a view of their argument would be. ATen tags them `inplace_view`.
_CHANGE_GEOMETRY = frozenset(
    {"as_strided_", "detach_", "requires_grad_", "rename_", "resize_", "resize_as_", "set_",
     "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"}
)  # fmt: skip
_KEEP_SIZES = frozenset({"detach_", "rename_", "requires_grad_"})


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a call touches that other calls may touch too.

    - `reads`, `writes`: storages, by their root values; what is written counts as read.
    - `touches`: other things, which count as read and written at once: draws, host, collectives.
    - `everything`: a change of modes, which nothing crosses.
    """

    reads: frozenset[Any]
    writes: frozenset[Any]
    touches: frozenset[Any]
    everything: bool = False

    @property
    def has_effect(self) -> bool:
        """Whether others can tell when the call runs."""
        return bool(self.writes or self.touches or self.everything)

    def conflict(self, other: Footprint) -> str | None:
        """Why the two may not change places; None if they may."""
        if self.everything or other.everything:
            return _MODE
        for a, b in ((self, other), (other, self)):
            if not a.writes.isdisjoint(b.reads):
                return _ACCESS
        for touched in (_DRAWS, _HOST):
            if touched in self.touches and touched in other.touches:
                return touched
        groups, others = _groups(self.touches), _groups(other.touches)
        if groups and others and (groups & others or _ANY_GROUP in groups | others):
            return "both are collectives of one group"
        return None


def _groups(touches: frozenset[Any]) -> set[Any]:
    return {item[1] for item in touches if type(item) is tuple}


class Footprints:
    """The footprints of the calls of one graph, each computed once.

    - `draws_anew`: whether random numbers need not be those that they were. Draws may then change
      places among themselves, and not with what sets or reads the seed.
    """

    def __init__(self, graph: GraphOp, bodies: Bodies, draws_anew: bool = False) -> None:
        self._bodies = bodies
        self._draws_anew = draws_anew
        # Before autograd nothing says that two inputs are disjoint: a write to one may hit any.
        self._inputs_overlap = graph.stage.data == "pre_grad"
        self._known: dict[int, tuple[TorchOp, Footprint]] = {}

    def of(self, op: TorchOp) -> Footprint:
        """The footprint of a call. A view reads the geometry of its operand, not its content."""
        known = self._known.get(id(op))
        if known is None or known[0] is not op:
            known = self._known[id(op)] = (op, self._of(op))
        return known[1]

    def forget(self) -> None:
        """Forget all footprints: values have been replaced, so storages may have other roots."""
        self._known.clear()

    def _of(self, op: TorchOp) -> Footprint:
        effects = effects_of(op) | self._bodies.effects(op)
        written = set(written_operands(op, self._bodies)) if type(op) is not OutputOp else set()
        waits = effects.collective and f".{_WAITS}." in op.name
        if waits:
            # From here on the tensor holds what the collective delivers.
            written.update(range(len(op._operands)))
        geometry = bool(written) and changes_geometry(type(op))
        reads: set[Any] = set()
        writes: set[Any] = set()
        is_view_only = not written and is_view(op)
        for index, operand in enumerate(op._operands):
            if type(operand._type) in _NUMBERS:
                continue
            root = storage_root(operand)
            heads: list[Any] = [root]
            if _is_outside(root):
                heads.append(_OUTSIDE)
            reads.add((_GEOMETRY, root))
            if not is_view_only:
                reads.update(heads)
            if index in written:
                writes.update(heads if self._inputs_overlap or op.raw_arguments else (root,))
                if geometry:
                    writes.add((_GEOMETRY, root))
        touches = set(_touches(op, effects, waits))
        if self._draws_anew and _DRAWS in touches:
            touches.remove(_DRAWS)
            reads.add(_DRAWS)
            if effects.host or effects.unknown:
                writes.add(_DRAWS)
        return Footprint(frozenset(reads), frozenset(writes), frozenset(touches), effects.mode)


def _is_outside(root: SSAValue) -> bool:
    return type(root) is BlockArgument or type(root.owner) is GetAttrOp


def _touches(op: TorchOp, effects: Effects, waits: bool) -> Iterator[Any]:
    if effects.rng or effects.unknown:
        yield _DRAWS
    if effects.host or effects.unknown:
        yield _HOST
    if effects.unknown:
        yield ("group", _ANY_GROUP)
    elif effects.collective and not waits:
        yield ("group", _group_of(op))


def _group_of(op: TorchOp) -> str:
    """The name of a collective's group; a group that is not known may be any."""
    named = (arguments_of(op) or {}).get("group_name")
    return named if isinstance(named, str) else _ANY_GROUP


@cache
def changes_geometry(cls: type[TorchOp]) -> bool:
    """Whether a call gives its argument other sizes or strides, or makes it another tensor.

    Before autograd the graph records for that argument what it is afterwards.
    """
    target: Any = cls.target
    if isinstance(target, torch._ops.OpOverload):
        return torch.Tag.inplace_view in target.tags
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    return name in _CHANGE_GEOMETRY or name in ("setattr", "delattr")


@cache
def resizes(cls: type[TorchOp]) -> bool:
    """Whether a call may give its argument other sizes or strides."""
    return changes_geometry(cls) and _name(cls) not in _KEEP_SIZES


@cache
def exchanges_storage(cls: type[TorchOp]) -> bool:
    """Whether a call gives its argument the storage of another tensor, as `x.data = y` does."""
    return _name(cls) == "set_"


def _name(cls: type[TorchOp]) -> str:
    """The name of a function, method or operator, without that of its overload."""
    target: Any = cls.target
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    return name.partition(".")[0]


def is_view(op: TorchOp) -> bool:
    """Whether all results of an op are certain to be views of its operands."""
    facts = result_aliases(op)
    return bool(facts) and all(fact is not None and fact[1] for fact in facts)


@cache
def _silent(cls: type[TorchOp]) -> bool:
    """Whether calls of a class do nothing besides computing results and running graphs.

    An operator's schema says so, and of functions and methods the tables of effects.
    """
    if issubclass(cls, SchemaOp):
        return overload_effects(cls.target).silent
    if not issubclass(cls, PythonOp) or cls.fx_op == "call_module":
        return False
    # Which overloads a packet has, and what they do, may change while the program runs.
    return not isinstance(cls.target, OpOverloadPacket) and target_effects(cls.target).pure


class Silence:
    """Which classes of ops do nothing besides computing results, told once a walk over a graph.

    Effects that are registered at run time come on top of those of the schema: what one walk was
    told is not kept for another.
    """

    def __init__(self) -> None:
        self._known: dict[type[TorchOp], bool] = {OutputOp: True, GetAttrOp: True}

    def of(self, cls: type[TorchOp]) -> bool:
        """Whether no call of a class has an effect of its own; False promises nothing."""
        silent = self._known.get(cls)
        if silent is None:
            silent = self._known[cls] = _silent(cls) and not is_registered(cls.target)
        return silent


def events(ops: Sequence[Any], bodies: Bodies) -> list[TorchOp]:
    """The calls whose relative order can be observed, in order."""
    silence = Silence()
    silent: dict[type[TorchOp], bool] = {}
    found: list[TorchOp] = []
    for op in ops:
        cls = type(op)
        known = silent.get(cls)
        if known is None:
            known = silent[cls] = silence.of(cls)
        if known and not op.properties["args"].subgraphs:
            continue
        if is_event(op, bodies):
            found.append(op)
    return found


def is_event(op: TorchOp, bodies: Bodies) -> bool:
    """Whether the place of a call in the order can be observed."""
    own = effects_of(op)
    return not own.silent or (bool(subgraphs_of(op)) and not bodies.effects(op).silent)


def predecessors(
    graph: GraphOp, ops: Sequence[Any], bodies: Bodies, footprints: Footprints | None = None
) -> dict[Any, list[Any]]:
    """For each op, the ops above it that have to run before it, apart from its operands.

    Linear in the number of ops: of a chain of conflicts only the links are given. Empty for a graph
    without effects.

    - `footprints`: those of the graph, if they are to be had.
    """
    if not events(ops, bodies):
        return {}
    footprints = footprints or Footprints(graph, bodies)
    found: dict[Any, list[Any]] = {}
    writer: dict[Any, Any] = {}
    readers: dict[Any, list[Any]] = {}
    barrier: Any = None
    since: list[Any] = []
    for op in ops:
        mark = footprints.of(op)
        before = [barrier] if barrier is not None else []
        if mark.everything or type(op) is OutputOp:
            before += since
            found[op] = list(dict.fromkeys(before))
            if mark.everything:
                barrier, since = op, []
                writer.clear()
                readers.clear()
            continue
        since.append(op)
        groups = _groups(mark.touches)
        touched = [*mark.touches]
        if _ANY_GROUP in groups:
            touched += [key for key in writer if type(key) is tuple and key[0] == "group"]
        elif groups:
            touched.append(("group", _ANY_GROUP))
        for key in mark.reads - mark.writes:
            if key in writer:
                before.append(writer[key])
            readers.setdefault(key, []).append(op)
        for key in (*mark.writes, *touched):
            if key in writer:
                before.append(writer[key])
            before += readers.pop(key, ())
        for key in (*mark.writes, *mark.touches):
            writer[key] = op
        if before:
            found[op] = [one for one in dict.fromkeys(before) if one is not op]
    return found


__all__ = [
    "Footprint",
    "Footprints",
    "Silence",
    "changes_geometry",
    "events",
    "is_event",
    "is_view",
    "predecessors",
    "resizes",
]
