"""`accumulate_in_float32`: sums of scattered 16-bit floats are made in float32.

A GPU adds to float32 in memory at once. To add to 16 bits, Triton's kernels wait for each other,
up to thirty times as long where many indices are equal (as in the backward of a `gather` with
clamped indices), and round after each term. Where rows are added, 16 bits are as fast as float32,
and up to a third faster: `python -m tests.benchmarks.indexed_sums`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import ROUNDS_LESS_OFTEN, Rewrite, Tensor, no
from xductor.transforms.analysis.dtypes import NARROW_FLOATS
from xductor.transforms.editing.widening import narrowed, widened

#: How many elements may be converted for each term of a sum; fewer terms are added as they are.
_ELEMENTS_A_TERM = 2

#: From how many places behind an index on float32 is no faster, as `indexed_sums` measured.
_SIDE_BY_SIDE = 4


class _InFloat32:
    """What the rewrites of sums at indices share."""

    stage = "post_grad"
    devices = ("cuda", "xpu")
    numerics = ROUNDS_LESS_OFTEN

    def is_narrow(self, x: Tensor, terms: Tensor) -> Any:
        if x.dtype not in NARROW_FLOATS:
            return no("it is not of 16-bit floats")
        return x.same_dtype(terms) or no("the terms have another dtype")

    def has_terms_enough(self, x: Tensor, terms: Tensor) -> Any:
        return terms.numel() * _ELEMENTS_A_TERM >= x.numel()


class ScatterAddInFloat32(_InFloat32, Rewrite):
    """`scatter_add`."""

    name = "accumulate_in_float32"

    def pattern(self, x: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
        return aten.scatter_add(x, dim, index, src)

    def where(self, x: Tensor, src: Tensor) -> Any:
        return self.is_narrow(x, src)

    def pays(self, x: Tensor, index: Tensor) -> Any:
        return self.has_terms_enough(x, index)

    def replacement(self, x: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
        return narrowed(aten.scatter_add(widened(x), dim, index, widened(src)), x.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Indices that are equal, and none."""
        return _instances()


class ScatterReduceInFloat32(_InFloat32, Rewrite):
    """`scatter_reduce` of sums, with what is there before or without."""

    name = "accumulate_in_float32"

    def pattern(self, x: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> Any:
        return aten.scatter_reduce.two(x, dim, index, src, "sum", include_self=include_self)

    def where(self, x: Tensor, src: Tensor) -> Any:
        return self.is_narrow(x, src)

    def pays(self, x: Tensor, index: Tensor) -> Any:
        return self.has_terms_enough(x, index)

    def replacement(
        self, x: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool
    ) -> Any:
        made = aten.scatter_reduce.two(
            widened(x), dim, index, widened(src), "sum", include_self=include_self
        )
        return narrowed(made, x.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Sums with what was there before, and without."""
        for one, include_self in product(_instances(), (True, False)):
            yield {**one, "include_self": include_self}


class IndexPutInFloat32(_InFloat32, Rewrite):
    """`index_put` that accumulates."""

    name = "accumulate_in_float32"

    def pattern(self, x: Tensor, indices: Any, values: Tensor) -> Any:
        return aten.index_put(x, indices, values, True)

    def where(self, x: Tensor, indices: Any, values: Tensor) -> Any:
        given = [one for one in indices if one is not None]
        if any(one.dtype in (torch.bool, torch.uint8) for one in given):
            return no("how many elements a mask takes is not known")
        return self.is_narrow(x, values)

    def pays(self, x: Tensor, indices: Any, values: Tensor) -> Any:
        taken = max(dim for dim, index in enumerate(indices) if index is not None)
        if math.prod(x.shape[taken + 1 :]) >= _SIDE_BY_SIDE:
            return no("an index adds to places side by side, which is as fast in 16 bits")
        return self.has_terms_enough(x, values)

    def replacement(self, x: Tensor, indices: Any, values: Tensor) -> Any:
        return narrowed(aten.index_put(widened(x), indices, widened(values), True), x.dtype)

    def instances(self) -> Iterator[dict[str, Any]]:
        """Indices of one dim and of two, before and behind dims that are taken whole."""
        generator = torch.Generator().manual_seed(0)
        places = (torch.int64, torch.int32)
        for dtype, sizes, place in product(NARROW_FLOATS, ((5,), (4, 3), (2, 5, 3)), places):
            x = torch.randn(sizes, generator=generator).to(dtype)
            for dim in range(len(sizes)):
                index = torch.randint(-sizes[dim], sizes[dim], (20,), generator=generator).to(place)
                shape = (*sizes[:dim], 20, *sizes[dim + 1 :])
                values = torch.randn(shape, generator=generator).to(dtype)
                yield {"x": x, "indices": [None] * dim + [index], "values": values}
            both = [torch.randint(size, (20,), generator=generator) for size in sizes[:2]]
            values = torch.randn((20, *sizes[2:]), generator=generator).to(dtype)
            yield {"x": x, "indices": both[: len(sizes)], "values": values.to(dtype)}
            yield {"x": x, "indices": [both[0]], "values": values[:1].to(dtype)}


def _instances() -> Iterator[dict[str, Any]]:
    generator = torch.Generator().manual_seed(0)
    sizes: Sequence[tuple[tuple[int, ...], tuple[int, ...]]] = (
        ((5,), (40,)), ((4, 3), (4, 30)), ((4, 3), (20, 3)), ((2, 4, 3), (2, 30, 3)), ((3,), (0,)),
    )  # fmt: skip
    for dtype, (shape, taken) in product(NARROW_FLOATS, sizes):
        dim = next(dim for dim, size in enumerate(taken) if size != shape[dim])
        x, src = (torch.randn(one, generator=generator).to(dtype) for one in (shape, taken))
        index = torch.randint(shape[dim], taken, generator=generator)
        yield {"x": x, "dim": dim, "index": index, "src": src}


ACCUMULATE_IN_FLOAT32 = (ScatterAddInFloat32, ScatterReduceInFloat32, IndexPutInFloat32)

__all__ = [
    "ACCUMULATE_IN_FLOAT32",
    "IndexPutInFloat32",
    "ScatterAddInFloat32",
    "ScatterReduceInFloat32",
]
