"""What an application must keep, checked on the replacement before anything is connected to it.

A `Violation` is a fault of the rewrite: wrong dtype, device, sizes, visible strides. A `Declined`
is a circumstance of the graph: here the rewrite, though right, would add an alias, cross a write
or a random draw, or use a value before its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir.effects import PURE, Effects
from xductor.ir.inference import storage_root
from xductor.ir.operations import TorchOp
from xductor.ir.types import TensorType
from xductor.transforms.functionalized_calls import reads_what_it_writes
from xductor.transforms.op_effects import effects_of
from xductor.transforms.replacement import is_outside, known_equal, tensor_of
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.layouts import check_users
from xductor.transforms.rewriting.matcher import Match
from xductor.transforms.written_back import made_in_written_input, outlives


class Violation(Exception):
    """A replacement that breaks the contract of every rewrite."""


class Declined(Exception):
    """A replacement that may not stand here."""


_FLAGS = ("conj", "neg", "requires_grad")


def check_output(old: SSAValue, new: Any, number: int, state: GraphState) -> None:
    """Type and layout of one output.

    Strides may change where no user can tell: the types of all users' results stay as they are.
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
    for what, expected, found in (
        ("dtype", a.dtype, b.dtype),
        ("device", a.device, b.device),
        ("layout", a.layout, b.layout),
        ("tensor subclass", a.subclass, b.subclass),
    ):
        if expected != found:
            raise Violation(f"{where}: expected {what} {expected}, found {found}")
    if not known_equal(a.shape, b.shape, state.facts):
        raise Violation(
            f"{where}: expected sizes {list(a.shape)}, found {list(b.shape)}"
            + ("" if len(a.shape) != len(b.shape) else ", not known to be equal")
        )
    for flag in _FLAGS:
        if (flag in a.flags) != (flag in b.flags):
            raise Violation(f"{where}: expected {before}, found {after} ({flag} differs)")
    if a.layout != "strided" or known_equal(_seen(a), _seen(b), state.facts):
        return
    fault = check_users(old, after, state)
    if fault is not None:
        changed = f"strides change from {list(a.stride)} to {list(b.stride)}"
        raise Declined(f"{where}: {changed}, {fault}")


def _seen(fields: Any) -> tuple[Any, ...]:
    """Strides that can be told apart: a dim of size one may have any."""
    if any(size == 0 for size in fields.shape):
        return ()
    return tuple([0 if size == 1 else step for size, step in zip(fields.shape, fields.stride)])  # noqa: B905


def check_aliases(pairs: list[tuple[SSAValue, SSAValue]], state: GraphState) -> None:
    """No output comes to share storage with an input or another output, and none ceases to."""
    came_from: dict[SSAValue, SSAValue] = {}
    for old, new in pairs:
        if type(old.type) is not TensorType or old is new:
            continue
        before, after = storage_root(old), storage_root(new)
        if before in state.returned_roots and came_from.setdefault(after, before) is not before:
            raise Declined("two outputs would come to share storage")
        if before is after:
            if not _same_offset(old, new, state):
                raise Declined("it would begin elsewhere in its storage")
            returned = state.returned_tensors
            if old in returned:
                tensor = tensor_of(new)
                if is_outside(tensor) or tensor in returned:
                    raise Declined(
                        "an output would become the very tensor that an input or another output is"
                    )
            continue
        returned = _root_returned(before, state)
        if returned and (is_outside(after) or _root_returned(after, state)):
            raise Declined("an output would come to share storage with an input or another output")
        if returned and is_outside(before):
            raise Declined("an output would no longer share storage with an input")
        if reads_what_it_writes(old, new, _has_root(after), state.facts):
            raise Declined("a call would read what it may come to write")
        if not state.writes:
            continue
        if before in state.written_roots or after in state.written_roots:
            raise Declined("its storage is written to")
        if _comes_into_input(old, new, state) and outlives(old, state.graph):
            raise Declined("an output may come to be made in an input that is written to")


def _has_root(root: SSAValue) -> Callable[[SSAValue], bool]:
    return lambda value: storage_root(value) is root


def _comes_into_input(old: SSAValue, new: SSAValue, state: GraphState) -> bool:
    """Whether only the new value may be made in place in an input that the graph writes to."""

    def is_written(root: SSAValue) -> bool:
        return is_outside(root) and root in state.written_roots

    return made_in_written_input(new, is_written) and not made_in_written_input(old, is_written)


def _root_returned(value: SSAValue, state: GraphState) -> bool:
    return value in state.returned_roots


def _same_offset(old: SSAValue, new: SSAValue, state: GraphState) -> bool:
    a: Any = old.type
    b: Any = new.type
    return state.facts.known_equal(a.data.offset, b.data.offset) is True


def check_effects(match: Match, made: list[TorchOp], state: GraphState) -> None:
    """Random draws and writes stay as many, and nothing moves across another."""
    before = _felt(match.removable())
    after = _felt(made)
    if not before and not after:
        return
    draws = [op for op, effects in before if effects.rng]
    new_draws = [op for op, effects in after if effects.rng]
    if new_draws and not draws:
        raise Violation(f"{new_draws[0].name} draws random numbers, the matched ops do not")
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
    if len(new_draws) != len(draws):
        raise Declined(f"{len(draws)} random draws would become {len(new_draws)}")
    names, new_names = sorted(op.name for op in draws), sorted(op.name for op in new_draws)
    if names != new_names:
        raise Violation(
            f"random numbers are drawn by {', '.join(new_names)}, and by {', '.join(names)} before"
        )
    crossed = state.draw_between(draws, match.anchor) if draws else None
    if crossed is not None:
        raise Declined(f"a random draw would move across {crossed.name}")


def _felt(ops: Iterable[TorchOp]) -> list[tuple[TorchOp, Effects]]:
    """The ops that do more than give a result, with what they do."""
    effects = [(op, effects_of(op)) for op in ops]
    return [(op, one) for op, one in effects if one is not PURE]


def _is_felt_outside(effects: Effects) -> bool:
    return effects.unknown or effects.host or effects.collective or effects.mode


def check_region(match: Match, made: list[TorchOp], state: GraphState) -> None:
    """All matched ops are in one mode region, of one pass of autograd, under one policy.

    What makes no op may cross those: it lets a value stand for one that depends on it.
    """
    ops = [op for _, op in match.matched_ops()]
    if made and len({state.region(op) for op in ops}) > 1:
        raise Declined("it would cross a change of autocast, grad mode or the like")
    for key in ("tag", "recompute") if made else ():
        found = {op.node.text_items().get(key) for op in ops} - {None}
        if len(found) > 1:
            raise Declined(f"its ops differ in '{key}': {', '.join(sorted(map(str, found)))}")
    written = state.write_between(match)
    if written is not None:
        raise Declined("an operand is written to between the matched ops and their replacement")


__all__ = [
    "Declined",
    "Violation",
    "check_aliases",
    "check_effects",
    "check_output",
    "check_region",
]
