"""All entries, in the order of the rows of the passes."""

from __future__ import annotations

from tests.before_autograd.fragments import calls, groups, pieces, products
from tests.before_autograd.fragments.fragment import Entry
from xductor.transforms.rows import registry

_ALL = (*calls.ENTRIES, *pieces.ENTRIES, *groups.ENTRIES, *products.ENTRIES)
_ORDER = {row.name: place for place, row in enumerate(registry.rows("pre_grad"))}

ENTRIES: tuple[Entry, ...] = tuple(sorted(_ALL, key=lambda one: _ORDER[one.shown]))

__all__ = ["ENTRIES"]
