"""Groups of dtypes by what arithmetic does in them."""

from __future__ import annotations

import torch

#: Integers, in which sums and products wrap around.
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)

#: Floats that kernels widen for arithmetic, and round at its end.
NARROW_FLOATS = (torch.float16, torch.bfloat16)

#: The dtypes of real numbers that products and sums of tensors are made of.
REAL_NUMBERS = (*INTEGERS, torch.float32, torch.float64, *NARROW_FLOATS)

__all__ = ["INTEGERS", "NARROW_FLOATS", "REAL_NUMBERS"]
