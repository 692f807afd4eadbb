"""Random sizes, strides, dtypes and constants for a generated instance of a pattern."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from xductor.ir import SymbolTable, SymExpr, TensorType
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.symbolic.expressions import symbol
from xductor.ir.symbolic.symbols import INT_OO, SymbolInfo
from xductor.transforms.matching.patterns import OneOf
from xductor.transforms.validation.operand_shapes import fitting_shape

Dim = int | SymExpr

SYMBOLS = SymbolTable(
    [
        SymbolInfo("s0", "int", ("positive",), hint=5, lower=2, upper=INT_OO),
        SymbolInfo("s1", "int", ("positive",), hint=3, lower=2, upper=INT_OO),
    ]
)
NO_SYMBOLS = SymbolTable()

_SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7)
_INTEGERS = (0, 1, 1, 2, 3, -1, -2)
_FLOATS = (0.0, 1.0, 0.5, 2.0, -1.5, 1e-5)
_STRINGS = ("none", "tanh", "floor", "trunc", "mean", "sum")
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32)

#: The ranks that some operators require of their tensors.
_RANKS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("mm", "t", "addmm", "_scaled_mm", "_int_mm", "mv", "addmv"), (2,)),
    **dict.fromkeys(("bmm", "baddbmm"), (3,)),
    **dict.fromkeys(("conv2d", "max_pool2d", "avg_pool2d"), (4,)),
    "conv1d": (3,),
    "conv3d": (5,),
    "convolution": (4, 4, 3),
    "dot": (1,),
    "linear": (2, 2, 3, 1),
    "matmul": (2, 2, 3, 1),
    **dict.fromkeys(("_scaled_dot_product_flash_attention", "scaled_dot_product_attention"), (4,)),
    "embedding": (1, 2),
}
#: Operators that act on dims of size one: half of the dims of their operands get it.
_OF_ONES = frozenset(("expand", "expand_as", "broadcast_to", "squeeze"))
#: Arguments that hold indices or conditions.
_INDICES = frozenset(("index", "indices", "target", "offsets"))
_MASKS = frozenset(("mask", "condition", "attn_mask"))


class Choices:
    """Random choices for one instance: a main dtype, and a few sizes that its tensors share.

    - `forced`: alternatives that have to be taken; `picked`: those that were.
    """

    def __init__(
        self,
        seed: int,
        dtype: torch.dtype,
        device: torch.device,
        *,
        symbolic: bool = False,
        with_grad: bool = False,
    ) -> None:
        self.random = random.Random(seed)
        self.forced: dict[OneOf, int] = {}
        self.picked: dict[OneOf, int] = {}
        self.dtype = dtype
        self.device = device
        self.with_grad = with_grad
        self.sizes: list[Dim] = [self.random.choice(_SIZES) for _ in range(3)]
        if symbolic:
            self.sizes[0] = symbol("s0")
            if self.chance(0.5):
                self.sizes[1] = symbol("s1")
        self.table = SYMBOLS if symbolic else NO_SYMBOLS
        self.mixed = self.chance(0.2)
        self.joined: int | None = None
        self.seams: list[Dim] = []

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, items: Sequence[Any]) -> Any:
        return self.random.choice(items)

    # Tensors.

    def tensor(
        self,
        op: str,
        param: str,
        others: Sequence[TensorType],
        operands: Mapping[str, TensorType] | None = None,
    ) -> TensorType:
        """A type for a tensor argument.

        - `others`: types of the values made so far; `operands`: those of the same call.
        """
        known = {name: one.shape for name, one in (operands or {}).items()}
        shape = fitting_shape(op, param, known, lambda: self.pick(self.sizes), self.pick)
        if shape is None:
            shape = self._shape(op, param, others)
        if op in _OF_ONES and param in ("self", "input"):
            shape = tuple([1 if self.chance(0.5) else size for size in shape])
        return self._typed(shape, self._dtype(param))

    def tensors(self, op: str, param: str, others: Sequence[TensorType]) -> list[TensorType]:
        """Types for a list of tensors: equal but in one dim, or all alike.

        In some lists one tensor has another dtype; in some, one is an empty vector.
        """
        first = self.tensor(op, param, others)
        count = self.random.randint(1, 4)
        self.joined = self.random.randrange(first.rank) if first.rank else None
        alike = op == "stack" or self.chance(0.3)
        shapes = [first.shape]
        for _ in range(count - 1):
            shape = list(first.shape)
            if self.joined is not None and not alike:
                shape[self.joined] = self.pick(self.sizes)
            shapes.append(tuple(shape))
        dtypes = [first.dtype] * count
        if self.chance(0.25):
            dtypes[self.random.randrange(count)] = self.pick(_DTYPES)
        if self.chance(0.15):
            shapes[self.random.randrange(count)] = (0,)
        if self.joined is not None and all(len(one) > self.joined for one in shapes):
            self.seams = [one[self.joined] for one in shapes]
        return [self._typed(one, dtype) for one, dtype in zip(shapes, dtypes, strict=True)]

    def _typed(self, shape: tuple[Dim, ...], dtype: torch.dtype) -> TensorType:
        stride, offset = self._layout(shape)
        flags = ()
        if self.with_grad and (dtype.is_floating_point or dtype.is_complex) and self.chance(0.7):
            flags = ("requires_grad",)
        return TensorType.get(dtype, shape, stride, self.device, offset=offset, flags=flags)

    def _dtype(self, param: str) -> torch.dtype:
        if param in _INDICES:
            return torch.int64
        if param in _MASKS:
            return torch.bool
        if self.mixed and self.chance(0.4):
            return self.pick(_DTYPES)
        return self.dtype

    def _shape(self, op: str, param: str, others: Sequence[TensorType]) -> tuple[Dim, ...]:
        ranks = _RANKS.get(op)
        if param == "bias" and self.chance(0.8):
            return (self.pick(self.sizes),)
        if ranks is None and others and self.chance(0.7):
            shape = list(self.pick(others).shape)
            kind = self.random.random()
            if kind < 0.2:  # broadcast: leading dims left out, or a dim of size one
                shape = shape[self.random.randint(0, len(shape)) :]
            elif kind < 0.4 and shape:
                shape[self.random.randrange(len(shape))] = 1
            elif kind < 0.5:
                self.random.shuffle(shape)
            return tuple(shape)
        rank = self.pick(ranks or (0, 1, 2, 2, 3, 3, 4))
        return tuple([self.pick(self.sizes) for _ in range(rank)])

    def _layout(self, shape: tuple[Dim, ...]) -> tuple[tuple[Dim, ...], int]:
        """Strides and offset: contiguous, permuted, expanded, or those of a slice."""
        contiguous = contiguous_strides(shape)
        kind = self.random.random()
        if not shape or kind < 0.55:
            return contiguous, 0
        if kind < 0.75:
            order = list(range(len(shape)))
            self.random.shuffle(order)
            inner = contiguous_strides(tuple([shape[place] for place in order]))
            strides = dict(zip(order, inner, strict=True))
            return tuple([strides[place] for place in range(len(shape))]), 0
        if kind < 0.88:
            expanded = list(contiguous)
            expanded[self.random.randrange(len(shape))] = 0
            return tuple(expanded), 0
        return tuple([step * 2 for step in contiguous]), self.random.randint(0, 3)  # type: ignore[operator]

    # Constants.

    def constant(self, kind: str, param: str, source: TensorType | None) -> Any:
        """A number, a dtype, ... for an argument; `source` is the op's first tensor, if any."""
        if kind == "int":
            return self._integer(param, source)
        if kind == "float":
            return self.pick(_FLOATS)
        if kind == "scalar":
            return self.pick((*_FLOATS, *_INTEGERS))
        if kind == "bool":
            return self.chance(0.5)
        if kind == "dtype":
            return self.pick(_DTYPES)
        if kind == "device":
            return self.device
        if kind == "str":
            return self.pick(_STRINGS)
        if kind == "memory_format":
            return self.pick((torch.contiguous_format, torch.preserve_format))
        if kind == "layout":
            return torch.strided
        return None

    def _integer(self, param: str, source: TensorType | None) -> int:
        rank = source.rank if source is not None else 2
        if param == "dim" and self.joined is not None and self.joined < rank and self.chance(0.7):
            return self.joined - rank if self.chance(0.3) else self.joined
        if param == "groups":
            return 1
        if param.startswith(("dim", "axis")) or param in ("start_dim", "end_dim"):
            return self.random.randint(-rank, max(rank - 1, 0)) if rank else 0
        if "size" in param or param in ("num", "sections", "chunks", "k", "length"):
            return self.pick((1, 2, 2, 3, 4))
        if param == "end":
            return self.pick((1, 2, 3, 4, 7, 9223372036854775807))
        if param == "step":
            return self.pick((1, 1, 2))
        return self.pick(_INTEGERS)

    def integers(self, op: str, param: str, source: TensorType | None) -> list[Any]:
        """A list of integers: dims, a permutation, sizes that fit."""
        if source is None:
            return [self.pick(self.sizes) for _ in range(self.random.randint(0, 3))]
        rank = source.rank
        if op in ("permute", "transpose"):
            order = list(range(rank))
            self.random.shuffle(order)
            return [place - rank if self.chance(0.2) else place for place in order]
        if param in ("size", "shape"):
            return self._expanded(source) if op in _OF_ONES else self._regrouped(source)
        if param in ("dim", "dims"):
            dims = self.random.sample(range(rank), self.random.randint(0, rank))
            return [place - rank if self.chance(0.2) else place for place in dims]
        if param == "output_padding":
            return [0] * max(rank - 2, 1)
        if param in ("pad", "padding"):
            count = rank - 2 if "conv" in op else 2
            return [self.pick((0, 1, 2)) for _ in range(count)]
        if param in ("stride", "dilation"):
            return [1] * max(rank - 2, 1)
        if param == "split_sizes":
            return self._split(source)
        return [self.pick((0, 1, 2)) for _ in range(rank)]

    def _split(self, source: TensorType) -> list[Any]:
        """Sizes of pieces: those of the list made before, or random cuts along one dim."""
        if self.seams and self.chance(0.6):
            return list(self.seams)
        if self.joined is None or self.joined >= source.rank:
            self.joined = self.random.randrange(source.rank) if source.rank else None
        size = source.shape[self.joined] if self.joined is not None else 0
        if type(size) is not int:
            return [size]
        cuts = sorted(self.random.randint(0, size) for _ in range(self.random.randint(0, 2)))
        return [end - begin for begin, end in zip((0, *cuts), (*cuts, size), strict=True)]

    def _expanded(self, source: TensorType) -> list[Any]:
        sizes = [self.pick(self.sizes) if size == 1 else size for size in source.shape]
        sizes = [-1 if self.chance(0.2) else size for size in sizes]
        return [self.pick(self.sizes), *sizes] if self.chance(0.3) else sizes

    def _regrouped(self, source: TensorType) -> list[Any]:
        """Sizes of a view: dims joined, split, or with ones inserted."""
        sizes: list[Any] = list(source.shape)
        for _ in range(self.random.randint(0, 2)):
            place = self.random.randrange(len(sizes)) if sizes else 0
            kind = self.random.random()
            if kind < 0.4 and len(sizes) > 1 and place + 1 < len(sizes):
                joined = sizes[place] * sizes[place + 1]
                sizes[place : place + 2] = [joined]
            elif kind < 0.7:
                sizes.insert(place, 1)
            elif sizes and type(sizes[place]) is int and sizes[place] % 2 == 0 and sizes[place]:
                sizes[place : place + 1] = [2, sizes[place] // 2]
        known = all(type(size) is int and size for size in sizes)
        if sizes and known and self.chance(0.2):
            sizes[self.random.randrange(len(sizes))] = -1
        return sizes


__all__ = ["NO_SYMBOLS", "SYMBOLS", "Choices"]
