"""`randperm_index`, `randperm_index_add`: indexing by (a slice of) a random permutation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, all_of, bind, one_of, shared


def _permutation(count: Any) -> Any:
    """The pattern of a random permutation, or of a slice of it, either with any other users."""
    whole = shared(aten.randperm.default(count, layout=..., device=..., pin_memory=...))
    return one_of(shared(aten.slice.Tensor(whole, 0, ..., ..., ...)), whole)


class RandpermIndex(Rewrite):
    """`x[randperm(n)]` becomes `_unsafe_index(x, randperm(n))`, if `x` has at least `n` rows.

    No index is out of bounds, so no bounds check is needed.
    """

    stage = "joint"
    inductor = "misc_patterns.py:randperm_index_pattern"
    numerics = EXACT

    def pattern(self, x: Tensor, count: int, index: Tensor) -> Any:
        return aten.index(x, [bind(index, _permutation(count))])

    def where(self, x: Tensor, count: int) -> Any:
        return x.ndim > 0 and count <= x.shape[0]

    def replacement(self, x: Tensor, index: Tensor) -> Any:
        return aten._unsafe_index(x, [index])

    def instances(self) -> Iterator[dict[str, Any]]:
        for one in _tables():
            yield from ({"x": one, "count": count} for count in _counts(one))


class RandpermIndexAdd(Rewrite):
    """`index_put(x, [randperm(n)], y, accumulate=True)` becomes a read, an add and a plain write.

    No row occurs twice, so no atomic adds are needed. `x` must have at least `n` rows.
    """

    stage = "joint"
    inductor = "misc_patterns.py:randperm_index_add_pattern"
    numerics = EXACT

    def pattern(self, x: Tensor, y: Tensor, count: int, index: Tensor) -> Any:
        return aten.index_put(x, [bind(index, _permutation(count))], y, True)

    def where(self, x: Tensor, y: Tensor, count: int, index: Tensor) -> Any:
        if x.ndim == 0 or y.ndim != x.ndim or y.dtype != x.dtype:
            return False
        rows = [size == other for size, other in zip(y.shape[1:], x.shape[1:], strict=True)]
        return all_of(count <= x.shape[0], y.shape[0] == index.shape[0], *rows)

    def replacement(self, x: Tensor, y: Tensor, index: Tensor) -> Any:
        total = aten.add.Tensor(aten._unsafe_index(x, [index]), y)
        return aten.index_put(x, [index], total)

    def instances(self) -> Iterator[dict[str, Any]]:
        for one in _tables():
            for count in _counts(one):
                yield {"x": one, "y": one.flip(0)[:count], "count": count}


def _tables() -> Iterator[torch.Tensor]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.complex64):
        for shape in ((4, 3), (3,), (1, 2), (0, 2), (2, 3, 2), (4, 3), (3,), (5, 1)):
            yield torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)


def _counts(table: torch.Tensor) -> set[int]:
    """Some numbers of rows to draw: all, half, one, none."""
    rows = table.shape[0]
    return {rows, rows // 2, min(rows, 1), 0}


__all__ = ["RandpermIndex", "RandpermIndexAdd"]
