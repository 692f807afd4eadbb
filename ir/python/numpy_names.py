"""numpy's names of arguments, which the C functions of torch take for their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping

__all__ = ["NUMPY_NAMES", "own_name"]

_OWN: Mapping[str, tuple[str, ...]] = {
    "axis": ("dim",),
    "keepdims": ("keepdim",),
    "x": ("input", "self"),
    "a": ("input", "self"),
    "x1": ("input", "self"),
    "x2": ("other",),
}


NUMPY_NAMES = frozenset(_OWN)


def own_name(name: str, names: Collection[str]) -> str:
    """A keyword as the parameter, one of `names`, that it stands for; itself where it is none."""
    if name in names:
        return name
    return next((own for own in _OWN.get(name, ()) if own in names), name)
