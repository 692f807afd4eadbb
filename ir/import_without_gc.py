"""Imports at first use, which load xDSL."""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType


def load(module: str) -> ModuleType:
    """Import the module with that full name while the garbage collector is paused.

    xDSL makes hundreds of classes. The collections that this triggers walk everything that torch
    has loaded, find nothing, and take a third of the time of the first use.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if collects:
            gc.enable()
