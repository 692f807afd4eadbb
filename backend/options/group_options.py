"""The options of a group fusion in `pre_grad_` and `post_grad_fusion_options`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Integer options: Inductor's default, and the least value that makes sense.
NUMBERS: Mapping[str, tuple[int, int]] = {
    "min_fuse_set_size": (5, 1),
    "max_fuse_set_size": (300, 1),
    "max_fuse_search_depth": (5, 0),
    "max_fuse_tensor_size_group_linear": (4096, 0),
}


#: Options that are on or off.
SWITCHES = (
    "fuse_nodes_with_same_parent",
    "fuse_nodes_with_same_users",
    "shape_broadcast_batch_linear",
)


def check(option: str, name: str, given: Mapping[str, Any]) -> None:
    """Check the options of one fusion.

    - `option`: the name of Inductor's option that contains the fusion.

    Raises TypeError for a value that is not an integer, ValueError for one that is too small, or
    for a minimum above the maximum.
    """
    for key, (_, least) in NUMBERS.items():
        number = given.get(key, least)
        where = f"{option}[{name!r}][{key!r}]"
        if not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(f"{where}: expected a whole number, found {number!r}")
        if number < least:
            raise ValueError(f"{where}: expected {least} or more, found {number}")
    fewest, most = (
        given.get(key, NUMBERS[key][0]) for key in ("min_fuse_set_size", "max_fuse_set_size")
    )
    if fewest > most:
        raise ValueError(
            f"{option}[{name!r}]: 'min_fuse_set_size' is {fewest}, "
            f"above 'max_fuse_set_size', which is {most}"
        )


__all__ = ["NUMBERS", "SWITCHES", "check"]
