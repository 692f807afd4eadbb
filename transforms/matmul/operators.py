"""Operators of the library `xductor::`, each of which Inductor compiles to one kernel.

Each has a schema, a reference in ATen for where no kernel is generated, a fake kernel, and a
meaning in `transforms/semantics`; `backend.lowerings` lowers it for Inductor.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.library.custom_op("xductor::mm_plus_mm", mutates_args=())
def mm_plus_mm(mat1: Tensor, mat2: Tensor, mat3: Tensor, mat4: Tensor) -> Tensor:
    """The sum of two matrix products, `mat1 @ mat2 + mat3 @ mat4`.

    - `mat1`, `mat3`: `[m, k]` and `[m, l]`; `mat2`, `mat4`: `[k, n]` and `[l, n]`; all of one
      dtype.
    """
    return torch.addmm(mat1 @ mat2, mat3, mat4)


@mm_plus_mm.register_fake
def _(mat1: Tensor, mat2: Tensor, mat3: Tensor, mat4: Tensor) -> Tensor:
    return torch.mm(mat1, mat2)


__all__ = ["mm_plus_mm"]
