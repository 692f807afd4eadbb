"""Copies scalar CPU inputs to another device, in one copy per dtype.

CUDA graphs hold no CPU tensors. Graph partition cuts the graph at the copy. Because the copy
precedes all readers of the scalars, the rest stays one graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.ir import SSAValue, Use

from xductor.ir import ListArg, OutputOp, TensorType, TorchOp
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import Replacement

_COPY_INTO = "aten.copy_.default"
_PUT = "prims.device_put.default"


def move(replacement: Replacement, scalars: list[SSAValue], device: torch.device) -> None:
    """Let all ops but the epilogue read copies of `scalars` on a device."""
    by_dtype: dict[torch.dtype, list[SSAValue]] = {}
    for scalar in scalars:
        by_dtype.setdefault(_fields(scalar).dtype, []).append(scalar)
    first: Any = replacement.graph.block.first_op
    for same in by_dtype.values():
        uses = [_moved_uses(scalar) for scalar in same]
        copies = _copied(replacement.editor, same, device, first)
        for reads, moved in zip(uses, copies, strict=True):
            for use in reads:
                use.operation.operands[use.index] = moved
            _drop_copies(replacement, moved, device)


def is_written_before_read(replacement: Replacement, scalar: SSAValue) -> bool:
    """Whether an op reads a scalar after a write, so that a copy at the start would be outdated."""
    memory = replacement.analyses.memory
    writes = memory.storage(scalar).writes
    return bool(writes) and any(memory.position(one) > writes[0] for one in readers(scalar))


def readers(scalar: SSAValue) -> list[TorchOp]:
    """The ops that read a scalar, except for the epilogue."""
    return [use.operation for use in _moved_uses(scalar)]  # type: ignore[misc]


def _moved_uses(scalar: SSAValue) -> list[Use]:
    return [
        use
        for use in scalar.uses
        if type(use.operation) is not OutputOp
        and not (use.operation.name == _COPY_INTO and use.index == 0)
    ]


def _fields(value: SSAValue) -> Any:
    assert type(value._type) is TensorType
    return value._type.data


def _copied(
    editor: Editor, scalars: list[SSAValue], device: torch.device, above: TorchOp
) -> Sequence[SSAValue]:
    """Copies of scalars of one dtype on another device, inserted above an op."""
    here = _fields(scalars[0])
    rows: list[SSAValue] = []
    for one in scalars:
        made = editor.call("aten.unsqueeze.default", [one, 0], above=above, placed=False)
        rows.append(made.results[0])
    joined = editor.call("aten.cat.default", [ListArg(rows), 0], above=above, placed=False)
    there = _fields(joined.results[0])._replace(device=device)
    put = editor.call(
        _PUT,
        [joined.results[0], device, True],
        above=above,
        types=[TensorType(there)],
        placed=False,
    )
    parts: list[SSAValue] = []
    for place in range(len(scalars)):
        made = editor.call(
            "aten.select.int",
            [put.results[0], 0, place],
            above=above,
            types=[TensorType(here._replace(device=device, offset=place))],
            placed=False,
        )
        parts.append(made.results[0])
    return parts


def _drop_copies(replacement: Replacement, moved: SSAValue, device: torch.device) -> None:
    """Erase copies of a moved scalar to its new device, if that cannot be observed."""
    for op in [use.operation for use in moved.uses if use.operation.name == _PUT]:
        assert isinstance(op, TorchOp)
        if op.argument("device") == device and replacement.may_replace(op, moved):
            replacement.editor.replace(op, moved, counted=False)


__all__ = ["is_written_before_read", "move", "readers"]
