"""The keys within the options of one fusion, in `pre_grad_` and `post_grad_fusion_options`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from xductor.backend.config.warn_once import warn_once
from xductor.backend.options.group_options import NUMBERS, SWITCHES
from xductor.backend.steps import stock
from xductor.transforms import Stage
from xductor.transforms.rows import registry

#: Thresholds of tables, by key.
_THRESHOLDS = (
    "threshold_to_cat",
    "value",
    "k_threshold_to_pad",
    "min_first_dimension_decomposition",
    "max_other_dimension_decomposition",
    "cpu_max_first_dimension_decomposition",
    "cpu_max_other_dimension_decomposition",
)

_SWITCHES = (*SWITCHES, "require_fbgemm", "skip_dynamic_shape_dim_check")


class UnknownKeyWarning(UserWarning):
    """A key of a fusion's options that no pass reads."""


def check_table(option: str, given: object, known: Iterable[str]) -> None:
    """Check that an option is a dict; `known` are the names that it may have.

    Raises TypeError if it is none: nothing can be said of the fusions in it.
    """
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{option}: expected a dict that gives the name of each fusion its options, as in "
            f"{{'batch_relu': {{}}}}, found {given!r}; there are {', '.join(sorted(known))}"
        )


def check(option: str, name: str, given: Mapping[str, Any]) -> None:
    """Check the keys and values of one of Inductor's fusions; those of a user's own are his.

    A key that no pass of Inductor's or ours reads is ignored with a warning: Inductor ignores it.

    - `option`: the name of Inductor's option that contains the fusion.

    Raises TypeError for a value of another type, and ValueError for a negative counter.
    """
    where = f"{option}[{name!r}]"
    counter = given.get("counter", 1)
    if not _is_number(counter, int):
        raise TypeError(f"{where}['counter']: expected a number, found {counter!r}")
    if counter < 0:
        raise ValueError(f"{where}['counter']: expected 0 or more, found {counter}")
    if not _is_inductors(option, name):
        return
    for key in _THRESHOLDS:
        if key in given and not _is_number(given[key], int | float):
            raise TypeError(f"{where}[{key!r}]: expected a number, found {given[key]!r}")
    for key in _SWITCHES:
        if key in given and not isinstance(given[key], int):
            raise TypeError(f"{where}[{key!r}]: expected True or False, found {given[key]!r}")
    _check_names(where, given)


def _check_names(where: str, given: Mapping[str, Any]) -> None:
    defaults = stock.lookup("group_batch_fusion:graph_search_options")
    known = sorted({*NUMBERS, *_SWITCHES, *_THRESHOLDS, "counter", *defaults})
    for key in given:
        if key in known:
            continue
        close = get_close_matches(str(key), known, n=1)
        guess = f" (did you mean {close[0]!r}?)" if close else ""
        warn_once(
            UnknownKeyWarning,
            (where, key),
            f"{where}: no pass reads {key!r}{guess}, so it is ignored; there are "
            f"{', '.join(known)}",
            stacklevel=3,
        )


def _is_number(given: object, kind: Any) -> bool:
    """Whether a value is a number of some kind, and not NaN, which compares with nothing."""
    return isinstance(given, kind) and not isinstance(given, bool) and given == given


def _is_inductors(option: str, name: str) -> bool:
    """Whether a fusion is one of Inductor's: its name is, and so is the class behind the name."""
    stage: Stage = "pre_grad" if option.startswith("pre_grad") else "post_grad"
    tables = stock.lookup(f"{stage}:{stage.upper()}_FUSIONS")
    if name in tables:
        return stock.is_stock(tables[name])
    return name in _names_of(option, stage)


@cache
def _names_of(option: str, stage: Stage) -> frozenset[str]:
    return frozenset([row.name for row in registry.rows(stage) if row.flag == option])


__all__ = ["UnknownKeyWarning", "check", "check_table"]
