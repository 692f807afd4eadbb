"""What a user may say of a group fusion in `pre_grad_` and `post_grad_fusion_options`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Inductor's defaults of the numbers, and the least that makes sense of each.
_NUMBERS: Mapping[str, tuple[int, int]] = {
    "min_fuse_set_size": (5, 1),
    "max_fuse_set_size": (300, 1),
    "max_fuse_search_depth": (5, 0),
    "max_fuse_tensor_size_group_linear": (4096, 0),
}


def check(option: str, name: str, given: Mapping[str, Any]) -> None:
    """Whether the options of a fusion can be meant.

    - `option`: the option of Inductor's that has the fusion among its own.

    Raises TypeError for what is no whole number, ValueError for one that is too small, or a minimum
    above the maximum.
    """
    for key, (_, least) in _NUMBERS.items():
        number = given.get(key, least)
        where = f"{option}[{name!r}][{key!r}]"
        if not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(f"{where}: expected a whole number, found {number!r}")
        if number < least:
            raise ValueError(f"{where}: expected {least} or more, found {number}")
    fewest, most = (
        given.get(key, _NUMBERS[key][0]) for key in ("min_fuse_set_size", "max_fuse_set_size")
    )
    if fewest > most:
        raise ValueError(
            f"{option}[{name!r}]: 'min_fuse_set_size' is {fewest}, "
            f"above 'max_fuse_set_size', which is {most}"
        )


__all__ = ["check"]
