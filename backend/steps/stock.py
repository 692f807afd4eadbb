"""What the installed Inductor has: functions looked up live by name, flags, and versions.

Nothing is imported from Inductor's pass modules when this package loads, and nothing is kept:
tests and users patch functions and tables in place, and the pipelines must see what is there now.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

from xductor.backend.config.versions import custom_passes

_PASSES = "torch._inductor.fx_passes."
_MISSING = object()


def lookup(reference: str) -> Any:
    """The live object behind `"module:attribute"`; None if this torch has none.

    A module name without dots is one of `torch._inductor.fx_passes`.
    """
    module_name, _, attribute = reference.partition(":")
    full_name = module_name if "." in module_name else _PASSES + module_name
    found: Any = sys.modules.get(full_name) or _import(full_name)
    for part in attribute.split("."):
        found = getattr(found, part, None)
    return found


@cache
def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and not name.startswith(error.name):
            raise
        return None


def is_stock(function: Any) -> bool:
    """Whether `function` was defined by PyTorch, and not put in its place by somebody."""
    module = getattr(function, "__module__", None) or ""
    return module == "torch" or module.startswith("torch.")


def flag(path: str, default: Any = False) -> Any:
    """Inductor's config value at a dotted path; `default` if this torch has no such option."""
    from torch._inductor import config

    value: Any = config
    for part in path.split("."):
        value = getattr(value, part, _MISSING)
        if value is _MISSING:
            return default
    return value


def hooks(option: str) -> tuple[Any, ...]:
    """The callables that a user put on a hook option: none, one, or (from 2.13 on) several."""
    return custom_passes(flag(option, None))


def keeps_graphs_alike() -> bool:
    """Whether a later step relies on every rank having the same graph, op for op."""
    return bool(
        flag("aten_distributed_optimizations.enable_overlap_scheduling")
        or flag("reorder_for_compute_comm_overlap")
    )
