"""`mm_plus_mm`: computes the sum of two products in one kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from xductor.ir import aten, ops
from xductor.transforms import (
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Rewrite,
    Tensor,
    all_of,
    no,
)
from xductor.transforms.matmul import operators as operators  # registers the operator
from xductor.transforms.passes.numerics import Declared


class MmPlusMm(Rewrite):
    """`mm(a, b) + mm(c, d)` becomes one call, `xductor::mm_plus_mm(a, b, c, d)`.

    Inductor autotunes the call as a whole. Both products must have one dtype, device and shape.
    With 16-bit floats they are no longer rounded before they are added.
    """

    stage = "post_grad"
    inductor = "post_grad.py:mm_plus_mm"
    numerics: ClassVar[Declared] = {
        **dict.fromkeys((torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8), EXACT),
        **dict.fromkeys((torch.float32, torch.float64), REASSOCIATES),
        **dict.fromkeys((torch.float16, torch.bfloat16), ROUNDS_LESS_OFTEN),
    }

    def pattern(self, mat1: Tensor, mat2: Tensor, mat3: Tensor, mat4: Tensor) -> Any:
        return aten.add(aten.mm(mat1, mat2), aten.mm(mat3, mat4))

    def where(self, mat1: Tensor, mat2: Tensor, mat3: Tensor, mat4: Tensor) -> Any:
        return all_of(
            mat1.dtype == mat3.dtype,
            mat1.device == mat3.device,
            mat1.shape[0] == mat3.shape[0],
            mat2.shape[1] == mat4.shape[1],
        )

    def pays(self, mat1: Tensor, mat2: Tensor, mat3: Tensor, mat4: Tensor) -> Any:
        if mat1.value is mat3.value and mat2.value is mat4.value:
            return no("both products are one, which is computed once")
        return True

    def replacement(self, mat1: Tensor, mat2: Tensor, mat3: Tensor, mat4: Tensor) -> Any:
        return ops.xductor.mm_plus_mm(mat1, mat2, mat3, mat4)


__all__ = ["MmPlusMm"]
