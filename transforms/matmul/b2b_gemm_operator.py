"""`b2b_gemm`: two successive products, with pointwise ops between them, as one call.

It is a higher-order operator because the ops between the products form a graph. That graph takes
either one element of the inner product or the whole product. `backend.lowerings` lowers the call
for Inductor; where no kernel exists, it is computed by ATen ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._higher_order_ops.utils import autograd_not_implemented
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensorMode

Between = Callable[[Tensor], Any]


class B2bGemm(HigherOrderOperator):
    """`between(a @ b) @ c` if `left`, else `a @ between(b @ c)`.

    - `a`, `b`, `c`: `[m, n]`, `[n, o]`, `[o, p]`, all of one dtype, which `between` must keep.
    """

    def __init__(self) -> None:
        super().__init__("b2b_gemm")

    def __call__(self, between: Between, a: Tensor, b: Tensor, c: Tensor, left: bool) -> Tensor:
        return super().__call__(between, a, b, c, left)


b2b_gemm = B2bGemm()


def _computed(between: Between, a: Tensor, b: Tensor, c: Tensor, left: bool) -> Tensor:
    if left:
        return torch.mm(between(torch.mm(a, b)), c)
    return torch.mm(a, between(torch.mm(b, c)))


b2b_gemm.py_impl(DispatchKey.CompositeExplicitAutograd)(_computed)
b2b_gemm.py_autograd_impl(autograd_not_implemented(b2b_gemm, deferred_error=True))


# Not `register_fake`: torch 2.11 caches the result of a fake and requires it to be a tuple.
@b2b_gemm.py_impl(FakeTensorMode)
def _(
    mode: FakeTensorMode, between: Between, a: Tensor, b: Tensor, c: Tensor, left: bool
) -> Tensor:
    with mode:
        return a.new_empty(a.shape[0], c.shape[1])


__all__ = ["b2b_gemm"]
