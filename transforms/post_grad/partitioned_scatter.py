"""`partitioned_scatter_optimization`: spreads a scatter with many collisions over several buffers.

Threads that add to the same element wait for each other. With several buffers they wait less; the
buffers are summed at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import torch

from xductor.ir import aten, prims
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Rewrite,
    Tensor,
    no,
)
from xductor.transforms.analysis.dtypes import INTEGERS, NARROW_FLOATS, REAL_NUMBERS
from xductor.transforms.passes.numerics import Declared

#: For at least this many elements, at most this many buffers.
_LARGE = ((100_000_000, 4), (10_000_000, 8), (1_000_000, 16))


class PartitionedScatterOptimization(Rewrite):
    """An accumulating `index_put` along one dim writes to several zeroed buffers and sums them.

    The number of buffers depends on the average number of collisions and on memory.

    - `min_index_size`: the least number of indices.
    - `min_partitions`, `max_partitions`: the limits of the number of buffers.
    - `memory_budget`: how many bytes the buffers may take; 0 for no limit.
    """

    stage = "post_grad"
    inductor = "reduced_atomic_contention.py:partitioned_scatter_optimization_pass"
    counter = "partitioned_scatter_applied"
    numerics: ClassVar[Declared] = {
        **dict.fromkeys(INTEGERS, EXACT),
        **dict.fromkeys((torch.float32, torch.float64), REASSOCIATES),
        **dict.fromkeys(NARROW_FLOATS, ROUNDS_LESS_OFTEN),
    }

    def __init__(
        self,
        min_index_size: int = 4096,
        min_partitions: int = 2,
        max_partitions: int = 128,
        memory_budget: int = 0,
    ) -> None:
        self._min_index_size = min_index_size
        self._min_partitions = min_partitions
        self._max_partitions = max_partitions
        self._memory_budget = memory_budget

    def pattern(self, x: Tensor, indices: Any, values: Tensor) -> Any:
        return aten.index_put(x, indices, values, True)

    def where(self, x: Tensor, indices: Any) -> Any:
        given = [one for one in indices if one is not None]
        if len(given) != 1:
            return no("it is not indexed at one dim")
        if given[0].dtype not in (torch.int64, torch.int32):
            return no("what it is indexed by is a mask")
        if any(not size.is_static for size in (*x.shape, *given[0].shape)):
            return no("a size is not static")
        if x.numel() == 0 or given[0].numel() == 0:
            return no("it is empty")
        return True

    def pays(self, x: Tensor, indices: Any) -> Any:
        _, index = _place(indices)
        if int(index.numel()) < self._min_index_size:
            return no(f"fewer places than {self._min_index_size} are written to")
        if self._partitions(x, index) < self._min_partitions:
            return no("there is no memory for so many buffers")
        return True

    def replacement(self, x: Tensor, indices: Any, values: Tensor) -> Any:
        dim, index = _place(indices)
        count = max(self._partitions(x, index), 2)
        sizes = [int(size) for size in x.shape]
        zeros = aten.full(
            [*sizes[:dim], count, *sizes[dim:]],
            0,
            dtype=x.dtype,
            layout=torch.strided,
            device=x.device,
            pin_memory=False,
        )
        # Indices take the buffers in turn. The buffer is a dim of its own, so that negative and
        # out-of-bounds indices keep their meaning.
        numbers = prims.iota(
            int(index.numel()),
            start=0,
            step=1,
            dtype=torch.int64,
            device=index.device,
            requires_grad=False,
        )
        turns = aten.view(aten.bitwise_and(numbers, count - 1), [int(size) for size in index.shape])
        put = aten.index_put(zeros, [*indices[:dim], turns, *indices[dim:]], values, True)
        dtype = None if x.dtype.is_floating_point else x.dtype
        return aten.add(x, aten.sum(put, [dim], dtype=dtype))

    def _partitions(self, x: Tensor, index: Tensor) -> int:
        """The number of buffers: a power of two, within the limits of sizes and memory.

        It is about 16 times the square root of the average number of indices per element.
        """
        elements, places = int(x.numel()), int(index.numel())
        wanted = max(self._min_partitions, int(math.sqrt(places / elements) * 16))
        most = next((few for size, few in _LARGE if elements >= size), self._max_partitions)
        count = int(min(2 ** math.ceil(math.log2(wanted)), most, self._max_partitions))
        while self._memory_budget and count >= self._min_partitions:
            if elements * x.dtype.itemsize * (count - 1) <= self._memory_budget:
                break
            count //= 2
        return count

    def instances(self) -> Iterator[dict[str, Any]]:
        """Indices with collisions, some of them negative."""
        for dtype in REAL_NUMBERS:
            for place, sizes in ((0, (5,)), (0, (4, 3)), (1, (3, 4)), (1, (2, 5, 3))):
                for shape in ((40,), (6, 7)):
                    yield _instance(dtype, place, sizes, shape)


def _place(indices: Sequence[Any]) -> tuple[int, Tensor]:
    return next((dim, one) for dim, one in enumerate(indices) if one is not None)


def _instance(
    dtype: torch.dtype, place: int, sizes: tuple[int, ...], shape: tuple[int, ...]
) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)
    index = torch.randint(-sizes[place], sizes[place], shape, generator=generator)
    x = torch.randn(sizes, generator=generator).to(dtype)
    values = torch.randn((*sizes[:place], *shape, *sizes[place + 1 :]), generator=generator)
    return {"x": x, "indices": [None] * place + [index], "values": (values * 3).to(dtype)}


__all__ = ["PartitionedScatterOptimization"]
