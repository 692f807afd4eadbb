"""`unnecessary_dtype_convert`: casts to the dtype that a value already has, in frozen graphs."""

from __future__ import annotations

from typing import Any

import torch

from xductor.ir import prims
from xductor.transforms import Rewrite, Tensor


class UnnecessaryDtypeConvert(Rewrite):
    """A cast to the same dtype goes away. Folding leaves some, and packing does not look through
    them."""

    stage = "post_grad"
    inductor = "freezing_patterns.py:unnecessary_dtype_convert"

    def pattern(self, x: Tensor, dtype: torch.dtype) -> Any:
        return prims.convert_element_type(x, dtype)

    def where(self, x: Tensor, dtype: torch.dtype) -> Any:
        return x.dtype == dtype

    def replacement(self, x: Tensor) -> Any:
        return x


__all__ = ["UnnecessaryDtypeConvert"]
