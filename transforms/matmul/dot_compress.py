"""`use_triton_dot_compress`: avoids computing a product of a matrix with its own transpose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from xductor.ir import aten
from xductor.transforms import APPROXIMATE, Rewrite, Tensor, no, one_of, shared
from xductor.transforms.matching.spellings import PERMUTE_OR_TRANSPOSE


class UseTritonDotCompress(Rewrite):
    """`(x @ x.mT) @ w` becomes `x @ (x.mT @ w)`, if that takes fewer multiplications.

    For shapes `[B, N, D]` and `[N, M]`, the former takes `N * N * (D + M)` multiplications for each
    of the batch, the latter `2 * N * D * M`. Autotuning of matmul tries Triton kernels too.

    In the other order infinities meet other numbers, so NaN may appear or disappear: this runs
    under `fast` only.
    """

    name = "use_triton_dot_compress"
    stage = "pre_grad"
    inductor = "pre_grad.py:use_triton_dot_compress"
    numerics = APPROXIMATE
    through = (PERMUTE_OR_TRANSPOSE,)

    def pattern(self, x: Tensor, w: Tensor, first: int, second: int) -> Any:
        turned = shared(aten.transpose.int(x, first, second))
        square = one_of(aten.matmul(x, turned), aten.bmm(x, turned))
        return one_of(aten.matmul(square, w), aten.bmm(square, w))

    def where(self, x: Tensor, w: Tensor, first: int, second: int) -> Any:
        if x.ndim != 3 or w.ndim not in (2, 3):
            return no("the operands are not batches of matrices")
        return {first % 3, second % 3} == {1, 2} or no("dims other than the last two are exchanged")

    def pays(self, x: Tensor, w: Tensor) -> Any:
        rows, columns, outer = x.shape[1], x.shape[2], w.shape[-1]
        if rows * (columns + outer) > 2 * columns * outer:
            return True
        return no("the product with its transpose is less work")

    def replacement(self, x: Tensor, w: Tensor) -> Any:
        return aten.matmul(x, aten.matmul(aten.transpose.int(x, -1, -2), w))

    def instances(self) -> Iterator[dict[str, Any]]:
        """Operands for which it pays, which random ones rarely are."""
        for dtype in (torch.float32, torch.float64):
            for batch, rows, columns, outer in ((2, 8, 2, 3), (1, 4, 1, 1), (3, 5, 2, 2)):
                x = torch.rand(batch, rows, columns, dtype=dtype)
                for lead in ((), (batch,)):
                    weights = torch.rand(*lead, rows, outer, dtype=dtype)
                    yield {"x": x, "w": weights, "first": 1, "second": -1}


__all__ = ["UseTritonDotCompress"]
