"""What an application of a rewrite may change about values, and which policy admits what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

import torch

Numerics = Literal[
    "exact",
    "exact up to the sign of zero",
    "reassociates",
    "rounds less often",
    "drops a rounding",
    "approximate",
]
Policy = Literal["strict", "default", "fast"]

#: The same bits for every input, where all NaN count as one value.
EXACT: Numerics = "exact"
#: As `EXACT`, except that 0.0 may become -0.0 and the other way round (`x + 0.0` is `x`).
UP_TO_ZERO_SIGN: Numerics = "exact up to the sign of zero"
#: The same terms in another order, with or without zeros among them: equal over the reals, rounded
#: elsewhere. A sum that is zero may therefore have the other sign.
REASSOCIATES: Numerics = "reassociates"
#: Intermediate results are rounded less often, and no rounding is added: over all elements the
#: result is no further from that of float64 than it was.
ROUNDS_LESS_OFTEN: Numerics = "rounds less often"
#: A rounding to a narrower dtype that the graph asks for, a cast, does not take place.
DROPS_ROUNDING: Numerics = "drops a rounding"
#: NaN, infinities or accuracy may differ, as in stock Inductor (`x * 0` is `0`).
APPROXIMATE: Numerics = "approximate"

#: What each policy admits. `default` keeps what eager shows of NaN, infinities, the sign of zero,
#: dtypes and casts; like Inductor, it lets sums be reordered and rounded less often.
ADMITTED: Mapping[Policy, frozenset[Numerics]] = {
    "strict": frozenset((EXACT,)),
    "default": frozenset((EXACT, REASSOCIATES, ROUNDS_LESS_OFTEN)),
    "fast": frozenset(get_args(Numerics)),
}


class NumericsByDtype(Mapping[torch.dtype, Numerics]):
    """Numerics by the dtype of the first output; outputs of other dtypes are not matched.

    Hashable, and printed the same whatever order it was given in.
    """

    def __init__(self, given: Mapping[torch.dtype, Numerics]) -> None:
        self._given = dict(sorted(given.items(), key=lambda item: str(item[0])))

    def __getitem__(self, dtype: torch.dtype) -> Numerics:
        return self._given[dtype]

    def __iter__(self) -> Iterator[torch.dtype]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __hash__(self) -> int:
        return hash(tuple(self._given.items()))

    def __repr__(self) -> str:
        return numerics_text(self)


#: What a rewrite declares: one kind for all dtypes, or one for each.
Declared = Numerics | Mapping[torch.dtype, Numerics]


def numerics_at(declared: Declared, dtype: torch.dtype | None) -> Numerics | None:
    """What is declared for a first output of this dtype; None if such an output is not matched.

    - `dtype`: None for an output that is no tensor.
    """
    if isinstance(declared, str):
        return declared
    return None if dtype is None else declared.get(dtype)


def weakest(declared: Declared) -> Numerics:
    """What is declared; if it is declared by dtype, the kind that changes most."""
    if isinstance(declared, str):
        return declared
    return max(declared.values(), key=lambda kind: get_args(Numerics).index(kind))


def admits(policy: Policy, declared: Declared) -> bool:
    """Whether a policy admits what is declared, for at least one dtype."""
    admitted = ADMITTED[policy]
    kinds = {declared} if isinstance(declared, str) else declared.values()
    return not admitted.isdisjoint(kinds)


def numerics_text(declared: Declared) -> str:
    """What is declared, on one line: `"exact (int64), reassociates (float32, float64)"`."""
    if isinstance(declared, str):
        return declared
    dtypes: dict[Any, list[str]] = {}
    for dtype, kind in sorted(declared.items(), key=lambda item: str(item[0])):
        dtypes.setdefault(kind, []).append(str(dtype).removeprefix("torch."))
    order = [kind for kind in get_args(Numerics) if kind in dtypes]
    return ", ".join(f"{kind} ({', '.join(dtypes[kind])})" for kind in order)


__all__ = [
    "ADMITTED",
    "APPROXIMATE",
    "DROPS_ROUNDING",
    "EXACT",
    "REASSOCIATES",
    "ROUNDS_LESS_OFTEN",
    "UP_TO_ZERO_SIGN",
    "Declared",
    "Numerics",
    "NumericsByDtype",
    "Policy",
    "admits",
    "numerics_at",
    "numerics_text",
    "weakest",
]
