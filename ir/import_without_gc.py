"""Importing at the first use, which loads xDSL."""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType


def load(module: str) -> ModuleType:
    """The module of that full name, imported with the garbage collector paused.

    xDSL makes hundreds of classes. The collections that this sets off walk all of what torch
    has loaded, find nothing, and are a third of the time that the first use takes.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if collects:
            gc.enable()
