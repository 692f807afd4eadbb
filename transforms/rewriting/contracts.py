"""The contracts of an application, checked on the replacement before anything is connected to it.

A `Violation` is a fault of the rewrite: a wrong dtype, device, size or visible stride. A `Declined`
is a circumstance of the graph: the rewrite is right, but here it would add an alias, cross a write
or a random draw, or use a value before its definition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import SchemaOp, TensorType, TorchOp, aliases_through
from xductor.ir.effects.effects import PURE, Effects
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.inference.infer import has_backward, storage_root
from xductor.transforms.analysis.effect_order import is_view
from xductor.transforms.analysis.memory import sees_sizes_alone
from xductor.transforms.analysis.op_effects import effects_of, written_operands
from xductor.transforms.editing.aliasing import storage_problem
from xductor.transforms.editing.replacement import difference, known_equal
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.permits import Permit
from xductor.transforms.rewriting.gained_gradients import gains_gradient
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import check_offset, check_users


class Violation(Exception):
    """A replacement that breaks the contract of every rewrite."""


class Declined(Exception):
    """A replacement that is not allowed at this place in the graph."""


def check_output(
    old: SSAValue,
    new: Any,
    number: int,
    state: GraphState,
    permits: Collection[Permit] = (),
    *,
    strides: bool = True,
) -> None:
    """Check type and layout of one output.

    Strides may change if no user can tell: the types of all users' results stay as they are.
    The storage offset may change if only views of the output can tell, since views are made again.

    - `permits`: with `"device"` the device may change if the types of all users' results stay.
    - `strides`: whether strides and offset are checked.
    """
    where = f"output {number}" if number else "the result"
    if not isinstance(new, SSAValue):
        raise Violation(f"{where} is replaced by {new!r}, which is no value of the graph")
    before: Any = old.type
    after: Any = new.type
    if type(before) is not TensorType or type(after) is not TensorType:
        if before != after:
            raise Violation(f"{where}: expected {before}, found {after}")
        return
    a, b = before.data, after.data
    if state.env.with_grad and is_differentiable(a.dtype):
        _check_gradient_flow(old, new, where, state)
    if unlike := difference(before, after, state.facts, permits):
        fault = Violation
        if unlike.what == "requires_grad" and not _is_told_by_rewrite(new, state):
            fault = Declined
        raise fault(f"{where}: {unlike}")
    if a.device != b.device and (seen := check_users(old, after, state)):
        raise Declined(f"{where}: it would be on {b.device} and not on {a.device}, {seen}")
    if a.layout != "strided" or not strides:
        return
    if state.facts.known_equal(a.offset, b.offset) is not True:
        fault = check_offset(old, state)
        if fault is not None:
            moves = f"it would begin at {b.offset} of its storage and not at {a.offset}"
            raise Declined(f"{where}: {moves}, {fault}")
    if known_equal(_seen(a), _seen(b), state.facts):
        return
    fault = check_users(old, after, state)
    if fault is not None:
        changed = f"strides change from {list(a.stride)} to {list(b.stride)}"
        raise Declined(f"{where}: {changed}, {fault}")


def _check_gradient_flow(old: SSAValue, new: SSAValue, where: str, state: GraphState) -> None:
    """Raise Declined if gradients may flow otherwise through the new value, whatever types say."""
    if state.is_of_other_modes(old, new):  # no gradient flows through what `no_grad` is around
        raise Declined(f"{where}: gradients may flow otherwise, it was made under other modes")
    if gains_gradient(old, state) or gains_gradient(new, state):
        raise Declined(f"{where}: a later write gives it the gradient that its type shows")


def is_differentiable(dtype: torch.dtype) -> bool:
    """Whether tensors of a dtype may have gradients."""
    return dtype.is_floating_point or dtype.is_complex


def _is_told_by_rewrite(new: SSAValue, state: GraphState) -> bool:
    """Whether the rewrite itself, rather than the place in the graph, decides that gradients flow.

    It does not if the value already stood in the graph, since other ops gave it its gradient;
    under `no_grad`, where none flows; and in a graph that writes, since the types of a tensor and
    its views may describe them after the write.
    """
    made_here = isinstance(new, OpResult) and new.op.parent is None
    return made_here and torch.is_grad_enabled() and not (state.writes or state.written_around)


def _seen(fields: Any) -> tuple[Any, ...]:
    """The strides that can be observed: those of dims of size one cannot."""
    if any(size == 0 for size in fields.shape):
        return ()
    return tuple([0 if size == 1 else step for size, step in zip(fields.shape, fields.stride)])  # noqa: B905


def check_gradients(made: list[TorchOp], state: GraphState) -> None:
    """Check that before autograd each result that requires a gradient has a formula for it."""
    if not state.env.with_grad:
        return
    for op in made:
        if isinstance(op, SchemaOp) and _gives_gradient(op) and not has_backward(op, state.env):
            raise Violation(
                f"{op.name} has no autograd formula, and its result requires a gradient here; "
                "register one (torch.library.register_autograd), or let `where` ask for operands "
                "that are not `requires_grad`"
            )


def _gives_gradient(op: TorchOp) -> bool:
    types: list[Any] = [result.type for result in op.results]
    return any("requires_grad" in type_.data.flags for type_ in types if type(type_) is TensorType)


def check_aliases(pairs: list[tuple[SSAValue, SSAValue]], match: Match, state: GraphState) -> None:
    """Check that no output starts or stops sharing storage with an input or another output."""
    came_from: dict[SSAValue, SSAValue] = {}
    gone = match.removable()
    for old, new in pairs:
        if type(old.type) is not TensorType or old is new:
            continue
        before, after = storage_root(old), storage_root(new)
        if before in state.returned_roots and came_from.setdefault(after, before) is not before:
            raise Declined("two outputs would come to share storage")
        if problem := storage_problem(old, new, before, after, gone, state):
            raise Declined(problem)


def check_effects(
    match: Match,
    made: list[TorchOp],
    outputs: Sequence[Any],
    state: GraphState,
    permits: Collection[Permit] = (),
) -> None:
    """Check that random draws, writes and other effects stay as many, on the same storages.

    Writes to what the matched ops made themselves, and no one else reads, count for nothing.

    - `outputs`: the values that stand for the match's outputs.
    - `permits`: with `"draws"` numbers may be drawn by other calls, more or fewer.
    """
    gone = match.removable() - kept_ops(match, made, outputs)
    before = _felt(gone)
    after = _felt(made)
    if not before and not after:
        return
    _check_draws(before, after, permits)
    before = [one for one in before if not _writes_inside(one, match, gone, state)]
    matched_writes = any(effects.writes for _, effects in before)
    new_writes = any(effects.writes for _, effects in after)
    for op, effects in after:
        if _is_felt_outside(effects) and not any(type(one) is type(op) for one, _ in before):
            raise Violation(f"{op.name} has an effect that the matched ops do not have")
        if effects.writes and not matched_writes:
            raise Violation(f"{op.name} writes to memory, the matched ops do not")
    for op, effects in before:
        if _is_felt_outside(effects) and not any(type(one) is type(op) for one, _ in after):
            raise Declined(f"{op.name} has an effect that the replacement does not have")
        if effects.writes and not new_writes:
            raise Declined(f"{op.name} writes to memory, the replacement does not")
    if len([op for op, e in before if _is_felt_outside(e)]) != len(
        [op for op, e in after if _is_felt_outside(e)]
    ):
        raise Declined("its effects would become more or fewer")
    if matched_writes:
        _check_same_storages([op for op, _ in before], [op for op, _ in after], state)


def kept_ops(match: Match, made: list[TorchOp], outputs: Sequence[Any]) -> set[TorchOp]:
    """The matched ops that stay because the replacement uses their results."""
    inside = {op for _, op in match.matched_ops()}
    kept: set[TorchOp] = set()
    pending: list[Any] = [operand for op in made for operand in op.operands]
    pending += [one for one in outputs if isinstance(one, SSAValue)]
    while pending:
        owner: Any = pending.pop().owner
        if owner in inside and owner not in kept:
            kept.add(owner)
            pending += owner.operands
    return kept


def _writes_inside(felt: _Felt, match: Match, gone: set[TorchOp], state: GraphState) -> bool:
    """Whether a matched op does nothing but write to what is replaced along with it."""
    op, effects = felt
    if not effects.writes or effects.rng or _is_felt_outside(effects):
        return False
    return all(
        _stays_inside(storage_root(op.operands[index]), match, gone)
        for index in written_operands(op, state.bodies)
    )


def _stays_inside(root: SSAValue, match: Match, gone: set[TorchOp]) -> bool:
    """Whether a storage is made by an op that goes, and what others read of it are outputs."""
    if root.owner not in gone:
        return False
    pending, seen = [root], {root}
    while pending:
        value = pending.pop()
        for use in value.uses if value not in match.outputs else ():
            user: Any = use.operation
            if user not in gone:
                if sees_sizes_alone(user):
                    continue
                return False
            new = [result for result in aliases_through(use) if result not in seen]
            seen.update(new)
            pending += new
    return True


def _check_draws(before: list[_Felt], after: list[_Felt], permits: Collection[Permit]) -> None:
    draws = [op for op, effects in before if effects.rng]
    new_draws = [op for op, effects in after if effects.rng]
    if new_draws and not draws:
        raise Violation(f"{new_draws[0].name} draws random numbers, the matched ops do not")
    if draws and "draws" in permits:
        if not new_draws:
            raise Declined("random numbers would no longer be drawn")
        return
    if len(new_draws) != len(draws):
        raise Declined(f"{len(draws)} random draws would become {len(new_draws)}")
    names, new_names = sorted(map(aten_name, draws)), sorted(map(aten_name, new_draws))
    if names != new_names:
        raise Violation(
            f"random numbers are drawn by {', '.join(new_names)}, and by {', '.join(names)} before"
        )


def _check_same_storages(
    before: Iterable[TorchOp], after: Iterable[TorchOp], state: GraphState
) -> None:
    """Check that the replacement writes to the same storages as the matched ops."""

    def written(ops: Iterable[TorchOp]) -> set[SSAValue]:
        return {
            storage_root(op.operands[index])
            for op in ops
            for index in written_operands(op, state.bodies)
        }

    new = set(after := list(after))
    own = {root for root in written(after) if root.owner in new}
    if written(before) != written(after) - own:
        raise Violation("the replacement writes to other tensors than the matched ops")


def check_order(match: Match, insertion: TorchOp, state: GraphState) -> None:
    """Check that no matched op crosses an op it must not on its way to the replacement's place.

    Two writes to one storage, a read and a write of it, two draws, two effects on the host, and two
    collectives of one group keep their order. Nor is a matched value written to before its use.

    - `insertion`: the op above which the replacement goes.
    """
    ops = [op for _, op in match.matched_ops()]
    if len(ops) == 1 and ops[0] is insertion:
        return
    inside = set(ops)
    key = state.order.key
    first = min(*map(key, ops), key(insertion))
    last = max(*map(key, ops), key(insertion))
    felt = state.events_within(first, last)
    if inside.issuperset(felt) and not any(state.footprints.of(op).writes for op in felt):
        return  # what is crossed has no effect, nor what is written to
    for op in ops:
        crossed = _crossed(op, insertion, inside, state)
        if crossed:
            raise Declined(f"{op.name} would move across {crossed}")
        _check_unwritten(op, inside, state)


def _crossed(op: TorchOp, insertion: TorchOp, inside: set[TorchOp], state: GraphState) -> str:
    """What a matched op would wrongly cross on its way to just above `insertion`; "" if nothing."""
    if op is insertion:
        return ""
    if state.order.before(op, insertion):
        return state.crossed(op, op, insertion, inside)
    crossed = state.crossed(op, insertion, op, inside)
    return crossed if crossed or insertion in inside else state.conflict(op, insertion)


def _check_unwritten(op: TorchOp, inside: set[TorchOp], state: GraphState) -> None:
    """Check that nothing outside the match writes to what `op` reads of other matched ops."""
    if is_view(op):
        return
    for operand in op.operands:
        root = storage_root(operand)
        if root.owner not in inside:
            continue
        maker: Any = root.owner
        for other in state.events_between(maker, op):
            if other not in inside and root in state.footprints.of(other).writes:
                raise Declined(f"{other.name} writes to what {maker.name} made before it is used")


def check_inner_order(match: Match, made: Sequence[TorchOp], state: GraphState) -> None:
    """Check that matched ops whose order matters have the same order in the pattern and in `made`.

    If outputs are matched in another order than they are written in, or two variables share one
    storage, what is right for the pattern's calls may be wrong for these ops.
    """
    matched = {op for _, op in match.matched_ops()}
    if len(matched) == 1:
        return
    if not any(op in matched and state.footprints.of(op).has_effect for op in state.events):
        return
    ops = sorted(matched, key=state.order.key)
    pairs = [(a, b) for number, b in enumerate(ops) for a in ops[:number] if state.conflict(a, b)]
    if not pairs:
        return
    written = {op: call.number for call, op in match.matched_ops() if call is not None}
    made_again = _places_of_same(ops, made, state)
    for a, b in pairs:
        for places, where in ((written, "pattern"), (made_again, "replacement")):
            if a in places and b in places and places[a] > places[b]:
                raise Declined(
                    f"{a.name} stands above {b.name}, and below it in the {where}: "
                    f"{state.conflict(a, b)}"
                )


def _places_of_same(
    ops: Iterable[TorchOp], made: Sequence[TorchOp], state: GraphState
) -> dict[TorchOp, int]:
    """For each matched op that has exactly one counterpart in `made`: the place of that one."""

    def what(op: TorchOp) -> tuple[Any, ...]:
        written = frozenset(written_operands(op, state.bodies))
        roots = [storage_root(operand) for operand in op.operands]
        return op.name, frozenset(roots), frozenset(roots[index] for index in written)

    found: dict[Any, list[int]] = {}
    for place, op in enumerate(made):
        found.setdefault(what(op), []).append(place)
    same = {op: found.get(what(op), []) for op in ops}
    return {op: places[0] for op, places in same.items() if len(places) == 1}


_Felt = tuple[TorchOp, Effects]


def _felt(ops: Iterable[TorchOp]) -> list[_Felt]:
    """The ops that do more than give a result, each with its effects."""
    effects = [(op, effects_of(op)) for op in ops]
    return [(op, one) for op, one in effects if one is not PURE]


def _is_felt_outside(effects: Effects) -> bool:
    return effects.unknown or effects.host or effects.collective or effects.mode


def check_region(
    match: Match, made: list[TorchOp], state: GraphState, permits: Collection[Permit] = ()
) -> None:
    """Check that all matched ops are in one mode region, autograd pass and recompute policy.

    A replacement that makes no op may mix passes and policies, since it lets a value stand for one
    that depends on it. It may not mix mode regions: the modes under which each op runs decide
    whether a gradient flows and what is rounded. `permits` with `"directions"` may mix passes.
    """
    ops = [op for _, op in match.matched_ops()]
    if len(ops) == 1:
        return
    if len({state.region(op) for op in ops}) > 1:
        raise Declined("it would cross a change of autocast, grad mode or the like")
    for key in ("tag", "recompute") if made and "directions" not in permits else ():
        found = {op.node.text_items().get(key) for op in ops} - {None}
        if len(found) > 1:
            raise Declined(f"its ops differ in '{key}': {', '.join(sorted(map(str, found)))}")


__all__ = [
    "Declined",
    "Violation",
    "check_aliases",
    "check_effects",
    "check_gradients",
    "check_inner_order",
    "check_order",
    "check_output",
    "check_region",
    "kept_ops",
]
