"""What an application of a rewrite may change about values, and which policy admits what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Numerics = Literal[
    "exact", "exact up to the sign of zero", "reassociates", "drops a rounding", "approximate"
]
Policy = Literal["strict", "default", "fast"]

#: The same bits for every input; all NaN are one value.
EXACT: Numerics = "exact"
#: As exact, but 0.0 may become -0.0 and the other way round (`x + 0.0` is `x`).
UP_TO_ZERO_SIGN: Numerics = "exact up to the sign of zero"
#: The same terms in another order: equal over the reals, rounded elsewhere.
REASSOCIATES: Numerics = "reassociates"
#: A rounding to a narrower type, or one inside a chain of casts, does not take place.
DROPS_ROUNDING: Numerics = "drops a rounding"
#: NaN, infinities or accuracy may differ, as stock Inductor has it (`x * 0` is `0`).
APPROXIMATE: Numerics = "approximate"

#: What each policy admits. `default` keeps what eager shows of NaN, infinities, the sign of zero,
#: dtypes and casts, and lets sums be reordered, as Inductor does.
ADMITTED: Mapping[Policy, frozenset[Numerics]] = {
    "strict": frozenset((EXACT,)),
    "default": frozenset((EXACT, REASSOCIATES)),
    "fast": frozenset((EXACT, UP_TO_ZERO_SIGN, REASSOCIATES, DROPS_ROUNDING, APPROXIMATE)),
}

__all__ = [
    "ADMITTED",
    "APPROXIMATE",
    "DROPS_ROUNDING",
    "EXACT",
    "REASSOCIATES",
    "UP_TO_ZERO_SIGN",
    "Numerics",
    "Policy",
]
