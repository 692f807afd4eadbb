"""`unnecessary_dtype_convert`: casts to the dtype that a value has already, in frozen graphs."""

from __future__ import annotations

from typing import Any

import torch

from xductor.ir import prims
from xductor.transforms import Rewrite, Tensor


class UnnecessaryDtypeConvert(Rewrite):
    """A cast that changes no dtype goes away: folded weights leave some, and packing sees none."""

    stage = "post_grad"
    inductor = "freezing_patterns.py:unnecessary_dtype_convert"

    def pattern(self, x: Tensor, dtype: torch.dtype) -> Any:
        return prims.convert_element_type(x, dtype)

    def where(self, x: Tensor, dtype: torch.dtype) -> Any:
        return x.dtype == dtype

    def replacement(self, x: Tensor) -> Any:
        return x


__all__ = ["UnnecessaryDtypeConvert"]
