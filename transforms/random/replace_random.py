"""`replace_random`, `replace_randint`: draw random tensors with the compiler's own generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from xductor.ir import SchemaOp, TensorType, TorchOp, op_class_by_name
from xductor.transforms import EXACT
from xductor.transforms.editing.editor import Editor
from xductor.transforms.random.eager_offsets import eager_offset
from xductor.transforms.random.random_draws import (
    ATEN_DRAWS,
    OFFSET,
    RANDINT,
    RANDOM,
    SEED,
    RedrawingPass,
)
from xductor.transforms.rewriting.legality import Legality

_CONVERT = "prims.convert_element_type.default"
_FLOATS = frozenset(name for name, kind in ATEN_DRAWS.items() if kind != "randint")
_INTEGERS = frozenset(ATEN_DRAWS) - _FLOATS
# Dtypes that Inductor generates code for.
_DTYPES = frozenset(
    (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.uint8,
     torch.int8, torch.int16, torch.int32, torch.int64)
)  # fmt: skip


@dataclass(frozen=True)
class _SeededDraws(RedrawingPass):
    """A pass that replaces draws from PyTorch's generator by draws from a seed."""

    def replace(
        self,
        editor: Editor,
        op: SchemaOp,
        seed: TorchOp,
        name: str,
        arguments: Sequence[Any],
        dtype: torch.dtype,
    ) -> bool:
        """Replace a draw by a prim that draws in `dtype`, with a cast to the original dtype."""
        type_ = op.results[0]._type
        assert type(type_) is TensorType
        whole = type_.dtype is dtype
        types = [TensorType(type_.data._replace(dtype=dtype))]
        made = [seed, editor.call(name, arguments, above=op, types=types, named=whole)]
        if not whole:
            cast = (made[-1].results[0], type_.dtype)
            made.append(editor.call(_CONVERT, cast, above=op, named=True))
        if not Legality.of(editor).allows(op, made, made[-1].results, self.permits):
            for one in reversed(made):
                editor.erase(one)
            return False
        editor.replace(op, *made[-1].results)
        return True


@dataclass(frozen=True)
class ReplaceRandom(_SeededDraws):
    """`rand` and `randn` become a seed, and a prim that a fused kernel computes from it.

    The prim gives float32, which is converted if another dtype was drawn. Draws stay if they use a
    generator of the user's, pinned memory, or a dtype that Inductor leaves to eager (such as
    complex).

    - `align_random_eager`: `rand` on CUDA takes seed and offset from PyTorch's generator and
      advances it, so that it draws the numbers of eager mode.
    """

    name = "replace_random"
    stage = "joint"
    inductor = "replace_random.py:replace_random"
    numerics = EXACT
    roots = _FLOATS
    matched_nodes = 1

    align_random_eager: bool = False

    def redraw(self, editor: Editor) -> int:
        replaced = 0
        for op in editor.analyses.named(_FLOATS):
            type_ = _drawn_type(op)
            if type_ is None:
                continue
            kind = ATEN_DRAWS[op.name]
            aligned = self.align_random_eager and kind == "rand" and type_.device.type == "cuda"
            align = op.argument("dtype") if aligned else None
            seed = _offset(editor, op, type_) if aligned else _seed(editor, op, SEED)
            arguments = (op.argument("size"), seed.results[0], kind, align)[: _prim_arguments()]
            replaced += self.replace(editor, op, seed, RANDOM, arguments, torch.float32)
        return replaced


@dataclass(frozen=True)
class ReplaceRandint(_SeededDraws):
    """`randint` becomes a seed, and a prim that a fused kernel computes from it.

    The prim gives int64, which is converted if another dtype was drawn.
    """

    name = "replace_randint"
    stage = "joint"
    inductor = "replace_random.py:replace_randint"
    numerics = EXACT
    roots = _INTEGERS
    matched_nodes = 1

    def redraw(self, editor: Editor) -> int:
        replaced = 0
        for op in editor.analyses.named(_INTEGERS):
            if _drawn_type(op) is None:
                continue
            bounds_and_size = op.argument_tree(op.args.data[: op.table.index["size"] + 1])
            seed = _seed(editor, op, SEED)
            arguments = (*bounds_and_size, seed.results[0])
            replaced += self.replace(editor, op, seed, RANDINT, arguments, torch.int64)
        return replaced


@cache
def _prim_arguments() -> int:
    """How many arguments the prim takes; before torch 2.13 it cannot align with eager."""
    return len(op_class_by_name(RANDOM).table.index)


def _drawn_type(op: SchemaOp) -> TensorType | None:
    """The type of a draw; None if it stays with PyTorch's generator."""
    arguments = op.table.index
    if "generator" in arguments and op.argument("generator") is not None:
        return None
    if op.argument("pin_memory"):
        return None
    type_ = op.results[0]._type
    if type(type_) is not TensorType or type_.data.layout != "strided" or type_.data.subclass:
        return None
    return type_ if type_.dtype in _DTYPES and type_.device.type != "meta" else None


def _seed(editor: Editor, op: SchemaOp, name: str, *before: Any) -> TorchOp:
    """A fresh seed for a draw, inserted above it.

    The device is spelled as in the call, because Inductor distinguishes spellings.
    """
    type_ = op.results[0]._type
    assert type(type_) is TensorType
    device = op.argument("device") or type_.device
    types = [TensorType.get(torch.int64, (2,) if before else (), device=type_.device)]
    return editor.call(name, (*before, device), above=op, types=types)


def _offset(editor: Editor, op: SchemaOp, type_: TensorType) -> TorchOp:
    """Seed and offset of PyTorch's generator, which is advanced as in eager mode."""
    return _seed(editor, op, OFFSET, eager_offset(editor, op, type_))


__all__ = ["ReplaceRandint", "ReplaceRandom"]
