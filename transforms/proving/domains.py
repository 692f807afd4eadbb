"""The values of an argument: those that a proof tries, or one that stands for all of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch

from xductor.transforms.proving.pattern_runs import Slot
from xductor.transforms.semantics.scalars import KNOWN
from xductor.transforms.semantics.values import Illegal, NoMeaning

#: The ranks that ops require: with others they are illegal, so that nothing is left out.
RANKS = {
    "mm": {"self": 2, "mat2": 2},
    "addmm": {"mat1": 2, "mat2": 2},
    "bmm": {"self": 3, "mat2": 3},
    "baddbmm": {"batch1": 3, "batch2": 3},
}

#: Ops whose tensors must share a dtype.
ONE_DTYPE = frozenset(RANKS)

#: Names of parameters that are dims.
DIMS = frozenset(("dim", "dim0", "dim1", "dim2", "start_dim", "end_dim", "source", "destination"))

_JOINING = frozenset(("cat", "concat", "concatenate", "stack"))
_ONE_MORE = frozenset(("unsqueeze", "stack"))
#: Ops whose sizes regroup their input; other ops with sizes make tensors of those sizes.
_VIEWS = frozenset(("view", "reshape", "_unsafe_view", "view_copy"))

_PERMUTING = frozenset(("permute", "permute_copy", "transpose"))
#: Up to this rank, lists of dims are tried in every order, each dim counted from both ends.
SIGNED_RANK = 3

#: The dtypes that are tried beside a tensor of any dtype.
OTHER_DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool)

#: The greatest length that is tried for lists whose length no rank determines.
LONGEST_LIST = 3

#: The greatest number of pieces of given sizes that a tensor is split into.
MOST_PIECES = 5

#: Beside a list of tensors: up to this rank each dim counts from both ends, whatever others do.
MIXED_RANK = 2

#: Up to this rank one tensor of a list may be unlike the others.
ODD_RANK = 3

#: The values tried for a Python number if a rewrite asks for its digits.
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1.1, float("inf"), float("nan"), 0, 1, 2, -1)

INTEGERS = (0, 1, 2, 3, -1, -2)
#: Parameters that do not affect what is computed.
_NO_MATTER = frozenset(("pin_memory", "requires_grad"))

STRINGS = {
    "rounding_mode": (None, "floor", "trunc"),
    "approximate": ("none", "tanh"),
}


def rank_of(slot: Slot) -> int:
    """The rank that the dims of a call refer to."""
    if not slot.tensors and slot.op in _JOINING:
        raise Illegal(f"{slot.op} of no tensors")
    if not slot.tensors:
        raise NoMeaning(f"the dims of {slot.op}, which has no tensor")
    rank = slot.tensors[0].rank
    return rank + 1 if slot.op in _ONE_MORE else rank


_BY_INDEX = frozenset(("scatter", "scatter_add", "gather"))


def dtypes(slot: Slot, allowed: Sequence[torch.dtype]) -> Sequence[torch.dtype]:
    """The dtypes of a tensor in a slot."""
    if slot.op in _BY_INDEX and slot.param == "index" and len(allowed) > 1:
        return (torch.int64, torch.int32)
    if slot.op in ONE_DTYPE and slot.tensors:
        return (slot.tensors[0].meaning._dtype,)
    return allowed


def ranks(slot: Slot, largest: int) -> Sequence[int]:
    """The ranks of a tensor in a slot."""
    if slot.op in _BY_INDEX and slot.param == "index" and slot.tensors:
        rank = slot.tensors[0].rank
        return [one for one in ((0, 1) if rank < 2 else (rank,)) if one <= largest]
    only = RANKS.get(slot.op, {}).get(slot.param)
    if only is None:
        return range(largest + 1)
    return (only,) if only <= largest else ()


def dims(slot: Slot) -> list[int]:
    """Every dim, from the front and from the end."""
    rank = max(rank_of(slot), 1)
    return list(range(-rank, rank))


def from_one_end(dims: list[int], other: int) -> list[int]:
    """Those of some dims that count from the same end as `other`."""
    return [dim for dim in dims if (dim < 0) == (other < 0)]


def dim_lists(slot: Slot) -> list[list[int]]:
    """Permutations, or lists of distinct dims; above `SIGNED_RANK` from the front, in order."""
    permuting = slot.op in _PERMUTING
    rank = rank_of(slot)
    if rank > SIGNED_RANK:
        ways = itertools.permutations if permuting else itertools.combinations
        counts = (rank,) if permuting else range(rank + 1)
        return [list(one) for count in counts for one in ways(range(rank), count)]
    count = rank if permuting else max(rank, 1)  # at rank 0, 0 and -1 are dims too
    return [
        [dim - count if from_end else dim for dim, from_end in zip(one, ends, strict=True)]
        for length in ((count,) if permuting else range(count + 1))
        for one in itertools.permutations(range(count), length)
        for ends in itertools.product((False, True), repeat=length)
    ]


def left_out_of_dim_lists(slot: Slot) -> str:
    """What `dim_lists` leaves out; "" if nothing."""
    if rank_of(slot) <= SIGNED_RANK:
        return ""
    order = "" if slot.op in _PERMUTING else " and in order"
    return f"lists of dims of rank above {SIGNED_RANK}: from the front{order}"


def odd_ones(count: int, rank: int) -> list[tuple[int, str]]:
    """Which tensor of a list differs from the others, and in what: its place, "dtype" or "rank".

    For lists of two or three tensors. One may be of rank 1, which can be empty, if the others are
    of another rank.
    """
    if not 1 < count < 4 or rank > ODD_RANK:
        return []
    dtypes = [(place, "dtype") for place in range(1 if count == 2 else 0, count)]
    return dtypes if rank == 1 else [*dtypes, *[(place, "rank") for place in range(count)]]


def is_made(slot: Slot) -> bool:
    """Whether a list of integers is the shape of a tensor that an op makes from nothing."""
    return slot.param in ("size", "shape") and slot.op not in (*_VIEWS, "expand", "expand_copy")


def lengths(slot: Slot, largest: int, longest_shape: int) -> Sequence[int]:
    """The possible lengths of a list of sizes."""
    if slot.op in ("expand", "expand_copy", "repeat"):
        rank = slot.tensors[0].rank
        return range(rank, min(rank + 2, largest + 1) + 1)
    if slot.param == "pad":
        return range(0, 2 * slot.tensors[0].rank + 1, 2)
    if is_made(slot):
        return range(longest_shape + 1)
    if slot.param == "size" or slot.param == "shape":
        return range(largest + 1)
    return range(longest_list(slot) + 1)


def longest_list(slot: Slot) -> int:
    """The greatest length tried for a list of integers whose length no rank determines."""
    return MOST_PIECES if slot.param in ("split_sizes", "split_size") else LONGEST_LIST


def has_minus_one(slot: Slot) -> bool:
    """Whether one entry of a list of sizes may be -1, which is then inferred."""
    return slot.param in ("size", "shape") and slot.op in _VIEWS


def is_complete_length(slot: Slot) -> bool:
    """Whether `lengths` gives all lengths, given that ranks are bounded."""
    return slot.param in ("size", "shape", "pad", "repeats")


#: Plain numbers that conditions ask for by name, besides an integer that may have any value.
_LITERALS: dict[str, tuple[int, ...]] = {
    "step": (1,),
    "start": (0,),
    "end": (2**63 - 1,),
    "decimals": (0,),
}


def literals(slot: Slot) -> tuple[Any, ...]:
    """Values of an argument besides those of its kind: None, and some numbers."""
    found: tuple[Any, ...] = _LITERALS.get(slot.param, ()) if slot.kind == "int" else ()
    # For other kinds `constants` gives None; dim lists and tensors are never None here.
    return (None, *found) if slot.optional and slot.kind in ("int", "scalar", "float") else found


def constants(kind: str, slot: Slot) -> Sequence[Any]:
    """The values of an argument that is neither a number nor a dim."""
    if slot.param in _NO_MATTER:
        return (None,) if slot.optional else (False,)
    if kind == "bool":
        return (False, True)
    if kind == "dtype":
        return (*([None] if slot.optional else []), *KNOWN)
    if kind == "str":
        if slot.param not in STRINGS:
            raise NoMeaning(f"the strings that {slot.op} takes for '{slot.param}'")
        return STRINGS[slot.param]
    if kind == "memory_format":
        return (None,) if slot.optional else (torch.contiguous_format,)
    if kind == "layout":
        return (None,) if slot.optional else (torch.strided,)
    if kind == "device":
        return (None,) if slot.optional else (torch.device("cpu"),)
    raise NoMeaning(f"an argument of kind {kind} ('{slot.param}' of {slot.op})")


__all__ = [
    "DIMS",
    "INTEGERS",
    "NUMBERS",
    "constants",
    "dim_lists",
    "dims",
    "dtypes",
    "from_one_end",
    "has_minus_one",
    "is_complete_length",
    "is_made",
    "left_out_of_dim_lists",
    "lengths",
    "longest_list",
    "odd_ones",
    "rank_of",
    "ranks",
]
