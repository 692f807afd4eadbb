"""Users' entries in Inductor's pattern tables, and the stock entries that typed passes replace.

The tables are read live, at the place where Inductor applies them. An entry is stock's own if the
function that defines it is in `torch._inductor`; when in doubt it is the user's, and runs. A table
that somebody put in the place of Inductor's runs whole, and no typed pass replaces it.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from xductor.backend.steps import stock

#: The home of an entry: module and name of the function that defines it.
Home = tuple[str, str]

#: What the patterns of replacement entries were traced from, by the entries' checks.
_traced: WeakKeyDictionary[FunctionType, Any] = WeakKeyDictionary()

#: Inductor's own table objects, by reference, as first seen.
_own_tables: dict[str, Any] = {}


def own_table(reference: str, table: Any) -> bool:
    """Whether `table` is the object that Inductor made, as far as can be told.

    Tables are recognised by identity with the one first seen under `reference`. A table of a user's
    subclass, one that replaced Inductor's later, and one with an `apply` of its own are not
    Inductor's.
    """
    matcher = stock.lookup("torch._inductor.pattern_matcher:PatternMatcherPass")
    if type(table) is not matcher or "apply" in vars(table):
        return False
    return _own_tables.setdefault(reference, table) is table


def entry_home(entry: Any) -> Home | None:
    """Where the function that defines a pattern entry is; None if that cannot be told.

    Graph and lowering entries hold their handler. A replacement entry's check closes over the
    function that was traced for its pattern.
    """
    return next(iter(entry_homes(entry)), None)


def entry_homes(entry: Any) -> tuple[Home, ...]:
    """The home of an entry, by the function's own name and by its name within other functions.

    Handlers that are defined inside functions may all have one name; those of `outer` are told
    apart as `outer.name`.
    """
    function = getattr(entry, "handler", None) or _traced_for_pattern(entry)
    while isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None)
    own, within = (getattr(function, one, None) for one in ("__name__", "__qualname__"))
    if not isinstance(module, str) or not isinstance(own, str):
        return ()
    within = within.replace(".<locals>", "") if isinstance(within, str) else own
    return ((module, own),) if own == within else ((module, own), (module, within))


def _traced_for_pattern(entry: Any) -> Any:
    check = getattr(entry, "extra_check", None)
    if not inspect.isfunction(check):
        return None
    if check not in _traced:
        _traced[check] = _closed_over(check, "search_fn")
    return _traced[check]


def _closed_over(check: FunctionType, name: str) -> Any:
    if check.__module__ != "torch._inductor.pattern_matcher":
        return None
    cells = zip(check.__code__.co_freevars, check.__closure__ or (), strict=True)
    return next((cell.cell_contents for variable, cell in cells if variable == name), None)


def homes_in(table: Any, homes: frozenset[Home]) -> frozenset[Home]:
    """Those of `homes` that have an entry in `table`."""
    return frozenset(
        home
        for entries in table.patterns.values()
        for entry in entries
        for home in entry_homes(entry)
        if home in homes
    )


def without(table: Any, homes: frozenset[Home]) -> Any:
    """A table like `table`, but without the entries whose homes are in `homes`.

    Lists that lose nothing are shared, and the seen patterns too, so this costs a walk over the
    entries and no copies of them.
    """
    rest = type(table)(pass_name=table.pass_name, subsystem=getattr(table, "subsystem", None))
    rest.patterns = defaultdict(list)
    rest.seen_patterns = table.seen_patterns
    for key, entries in table.patterns.items():
        kept = [entry for entry in entries if homes.isdisjoint(entry_homes(entry))]
        if kept:
            rest.patterns[key] = entries if len(kept) == len(entries) else kept
    return rest


@dataclass
class _Split:
    """What `split` found in a table, and the entries it had then."""

    keys: list[Any]
    entries: list[Any]
    homes: frozenset[Home]
    replaced: frozenset[Home]
    rest: Any


_splits: WeakKeyDictionary[Any, _Split] = WeakKeyDictionary()


def split(table: Any, homes: frozenset[Home]) -> tuple[frozenset[Home], Any]:
    """Those of `homes` that have an entry in `table`, and the table without these entries.

    Computed again only if the entries of the table have changed since the last call.
    """
    keys = list(table.patterns)
    entries = list(chain.from_iterable(table.patterns.values()))
    known = _splits.get(table)
    if known is None or known.homes != homes or not _are(keys, entries, known):
        replaced = homes_in(table, homes)
        rest = without(table, replaced) if replaced else None
        known = _splits[table] = _Split(keys, entries, homes, replaced, rest)
    return known.replaced, table if known.rest is None else known.rest


def _are(keys: list[Any], entries: list[Any], known: _Split) -> bool:
    return (
        len(entries) == len(known.entries)
        and keys == known.keys
        and all(map(operator.is_, entries, known.entries))
    )


def user_noops(registry: dict[Any, Any]) -> dict[Any, Any]:
    """The entries that users added to Inductor's no-op registry, or put in place of its own."""
    return {
        target: (condition, source)
        for target, (condition, source) in registry.items()
        if not stock.is_stock(condition)
    }
