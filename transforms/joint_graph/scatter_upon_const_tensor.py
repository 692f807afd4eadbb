"""`scatter_upon_const_tensor`: a scatter of one value into a constant becomes a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten, prims
from xductor.transforms import EXACT, Rewrite, Scalar, Tensor, all_of, no


class ScatterUponConstTensor(Rewrite):
    """`scatter(full(shape, b), dim, index, v)` becomes `where(index == iota, v, b)`.

    `index` must have size one along `dim`, and the sizes of the constant along the other dims. Both
    numbers are made in the dtype of the constant, because float32 cannot represent all of them.
    """

    stage = "joint"
    inductor = "joint_graph.py:scatter_upon_const_tensor"
    numerics = EXACT

    def __init__(self, optimize_scatter_upon_const_tensor: bool = True) -> None:
        self.optimize_scatter_upon_const_tensor = optimize_scatter_upon_const_tensor

    def pattern(
        self,
        shape: list[int],
        background: Scalar,
        dtype: torch.dtype,
        dim: int,
        index: Tensor,
        value: Scalar,
    ) -> Any:
        full = aten.full(shape, background, dtype=dtype, layout=..., device=..., pin_memory=...)
        return aten.scatter.value(full, dim, index, value)

    def where(self, shape: list[int], dtype: torch.dtype, dim: int, index: Tensor) -> Any:
        if not self.optimize_scatter_upon_const_tensor:
            return no("optimize_scatter_upon_const_tensor is off")
        rank = len(shape)
        if rank == 0 or index.ndim != rank:
            return no("the indices have another rank than the constant")
        wanted = [1 if place == dim % rank else size for place, size in enumerate(shape)]
        return all_of(*[size == other for size, other in zip(index.shape, wanted, strict=True)])

    def replacement(
        self,
        shape: list[int],
        background: Scalar,
        dtype: torch.dtype,
        dim: int,
        index: Tensor,
        value: Scalar,
    ) -> Any:
        rank, device = len(shape), index.device
        length: Any = shape[dim]
        positions: Any = prims.iota(
            length, start=0, step=1, dtype=torch.int64, device=device, requires_grad=False
        )
        along = [length if place == dim % rank else 1 for place in range(rank)]
        hit = aten.eq(aten.expand(index, shape), aten.view(positions, along))
        return aten.where(hit, _number(value, dtype, device), _number(background, dtype, device))

    def instances(self) -> Iterator[dict[str, Any]]:
        for number, dtype in enumerate((torch.float32, torch.int64, torch.bfloat16, torch.bool)):
            for rows, columns, dim in ((2, 3, 1), (3, 2, 0), (1, 4, -1), (0, 3, 1), (4, 1, -1)):
                sizes = [rows, columns]
                sizes[dim] = 1
                place = torch.arange(rows * columns // max(columns if dim else rows, 1))
                yield {
                    "shape": [rows, columns],
                    "background": (0.0, 16777217, -0.0, False)[number],
                    "dtype": dtype,
                    "dim": dim,
                    "index": (place % max((rows, columns)[dim], 1)).reshape(sizes),
                    "value": (-1.0, 1.0, 0.3, True)[number],
                }


def _number(value: Any, dtype: torch.dtype, device: torch.device) -> Any:
    return aten.scalar_tensor(value, dtype=dtype, layout=torch.strided, device=device)


__all__ = ["ScatterUponConstTensor"]
