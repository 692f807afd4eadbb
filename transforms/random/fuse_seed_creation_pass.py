"""`fuse_seed_creation_pass`, `fuse_offset_creation_pass`: draw all seeds of a device at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import (
    ListArg,
    SchemaOp,
    SymIntType,
    TensorType,
    TorchOp,
)
from xductor.transforms import EXACT
from xductor.transforms.analysis.dependence import above
from xductor.transforms.editing.editor import Editor
from xductor.transforms.passes.applications import applied
from xductor.transforms.random.random_draws import (
    LOOKUP_SEED,
    OFFSET,
    OFFSETS,
    SEED,
    SEEDS,
    SELECT,
    RedrawingPass,
)


@dataclass(frozen=True)
class FuseSeedCreationPass(RedrawingPass):
    """All seeds of a device become one tensor of seeds, drawn where the first one was.

    Counts the devices.
    """

    name = "fuse_seed_creation_pass"
    stage = "joint"
    inductor = "replace_random.py:fuse_seed_creation_pass"
    numerics = EXACT
    roots = frozenset((SEED,))

    def redraw(self, editor: Editor) -> int:
        groups = _by_device(editor.analyses.named((SEED,)))
        for device, seeds in groups.items():
            combined = _combined(editor, seeds[0], SEEDS, (len(seeds), device), (len(seeds),))
            for number, seed in enumerate(seeds):
                _read(editor, seed, LOOKUP_SEED, (combined, number))
        return len(groups)


@dataclass(frozen=True)
class FuseOffsetCreationPass(RedrawingPass):
    """All offsets that a graph reserves from a device's generator become one list of reservations.

    Sizes that are computed after the first reservation are moved above it. If that is impossible
    because they are read from a tensor, a new list begins. Counts the lists.
    """

    name = "fuse_offset_creation_pass"
    stage = "joint"
    inductor = "replace_random.py:fuse_offset_creation_pass"
    numerics = EXACT
    roots = frozenset((OFFSET,))

    def redraw(self, editor: Editor) -> int:
        lists = 0
        for device, offsets in _by_device(editor.analyses.named((OFFSET,))).items():
            for together in _hoisted(editor, offsets):
                listed = ListArg([op.argument("offset") for op in together])
                shape = (len(together), 2)
                combined = _combined(editor, together[0], OFFSETS, (listed, device), shape)
                for number, op in enumerate(together):
                    _read(editor, op, SELECT, (combined, 0, number))
                lists += 1
        return lists


def _by_device(ops: Iterable[SchemaOp]) -> dict[Any, list[SchemaOp]]:
    groups: dict[Any, list[SchemaOp]] = {}
    for op in ops:
        groups.setdefault(op.argument("device"), []).append(op)
    return groups


def _combined(
    editor: Editor,
    first: SchemaOp,
    name: str,
    arguments: Sequence[Any],
    shape: tuple[int, ...],
) -> SSAValue:
    """The tensor of all seeds.

    It inherits no source location, so that recomputation does not draw it again.
    """
    drawn: Any = first.results[0].type
    types = [TensorType.get(torch.int64, shape, device=drawn.device)]
    made = editor.call(name, arguments, above=first, types=types, placed=False)
    applied(first, made.results[0])
    return made.results[0]


def _read(editor: Editor, seed: SchemaOp, name: str, arguments: Sequence[Any]) -> None:
    """Replace a seed by an element of the tensor of all seeds."""
    type_: Any = seed.results[0].type
    if name == SELECT:
        type_ = TensorType(type_.data._replace(offset=2 * arguments[-1]))
    made = editor.call(name, arguments, above=seed, types=[type_], named=True)
    editor.replace(seed, *made.results, counted=False)


def _hoisted(editor: Editor, offsets: Sequence[SchemaOp]) -> list[list[SchemaOp]]:
    """The offsets in lists, each of which can be reserved where its first offset is."""
    lists: list[list[SchemaOp]] = []
    for op in offsets:
        if lists and _hoist(editor, op, lists[-1][0]):
            lists[-1].append(op)
        else:
            lists.append([op])
    return lists


def _hoist(editor: Editor, op: SchemaOp, first: SchemaOp) -> bool:
    """Move the arithmetic that an offset needs above `first`; False if not all of it can move."""
    order = editor.analyses.order
    needed = above([op], first, order)
    if not all(map(_is_arithmetic, needed)):
        return False
    for owner in sorted(needed, key=order.key):
        editor.move(owner, first)
    return True


def _is_arithmetic(op: TorchOp) -> bool:
    """Whether an op only computes integers from integers, or reads a size."""
    integers = all(type(result._type) is SymIntType for result in op.results)
    return integers and op.effects.pure and "unbacked_bindings" not in op.node.text_items()


__all__ = ["FuseOffsetCreationPass", "FuseSeedCreationPass"]
