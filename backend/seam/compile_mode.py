"""Keeps our compiles in this process where Inductor would send them to another.

The other process has its own Inductor, whose stages are stock's.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from xductor.backend.config import compile_state, coverage_warnings

_FLAGS = ("fx_compile_mode", "fx_compile_async", "fx_compile_progressive")
_lock = threading.Lock()
_users = 0
_saved: dict[str, Any] = {}


def attach(compile_fx: ModuleType) -> None:
    """Replace `fx_codegen_and_compile` of Inductor's module by one that knows our compiles."""
    if not all(hasattr(compile_fx, name) for name in ("fx_codegen_and_compile", *_FLAGS)):
        return
    stock = compile_fx.fx_codegen_and_compile

    @functools.wraps(stock)
    def fx_codegen_and_compile(*args: Any, **kwargs: Any) -> Any:
        if compile_state.current().settings is None:
            return stock(*args, **kwargs)
        coverage_warnings.say_of_flags(bool(kwargs.get("is_inference")))
        mode = compile_fx.fx_compile_mode
        if mode == type(mode).NORMAL:
            return stock(*args, **kwargs)
        coverage_warnings.say_other_process(mode.name)
        with _normal_mode(compile_fx):
            return stock(*args, **kwargs)

    setattr(compile_fx, "fx_codegen_and_compile", fx_codegen_and_compile)  # noqa: B010


@contextmanager
def _normal_mode(compile_fx: Any) -> Iterator[None]:
    """Set the mode, a global of Inductor's; the last of several compiles to leave restores it."""
    global _users
    with _lock:
        if _users == 0:
            _saved.update({name: getattr(compile_fx, name) for name in _FLAGS})
            compile_fx.fx_compile_mode = type(compile_fx.fx_compile_mode).NORMAL
            compile_fx.fx_compile_async = compile_fx.fx_compile_progressive = False
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for name, value in _saved.items():
                    setattr(compile_fx, name, value)
