"""What the passes of this package may change about values, by dtype.

16-bit floats are left out: a kernel adds up products that it does not round.
"""

from __future__ import annotations

import torch

from xductor.transforms import APPROXIMATE, REASSOCIATES
from xductor.transforms.passes.numerics import Declared

FLOATS = (torch.float32, torch.float64)

#: The same terms in another order.
SAME_TERMS: Declared = dict.fromkeys(FLOATS, REASSOCIATES)

#: Equal over the reals. Other values are made on the way, in which infinities meet other numbers.
OTHER_TERMS: Declared = dict.fromkeys(FLOATS, APPROXIMATE)

__all__ = ["FLOATS", "OTHER_TERMS", "SAME_TERMS"]
