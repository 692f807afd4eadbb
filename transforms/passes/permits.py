"""What a pass may do though the contracts refuse it to others: the class says so, as `permits`."""

from __future__ import annotations

from typing import Literal, get_args

Permit = Literal["draws", "device", "directions"]

PERMITS: tuple[Permit, ...] = get_args(Permit)

#: For each, what the pass may do, as `explain` tells it.
MEANINGS: dict[Permit, str] = {
    "draws": "it may draw random numbers by other calls, or by fewer, than the graph does",
    "device": "it may make a value on another device, if all that is made of it stays as it is",
    "directions": "it may compute forward and backward together, whatever is to be recomputed",
}

__all__ = ["MEANINGS", "PERMITS", "Permit"]
