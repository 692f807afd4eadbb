"""What our compiles need around Inductor's code generation.

They stay in this process where Inductor would send them to another, which has its own Inductor,
whose stages are stock's. And kernels may be asked with the tables that inference graphs hold as
constants (`fold_tables`), as Inductor allows where a model is frozen.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from types import ModuleType
from typing import Any
from unittest.mock import patch

from torch._guards import detect_fake_mode

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
        is_inference = bool(kwargs.get("is_inference"))
        coverage_warnings.say_of_flags(is_inference)
        mode = compile_fx.fx_compile_mode
        with ExitStack() as around:
            if is_inference:
                around.enter_context(_takes_constants(args))
            if mode != type(mode).NORMAL:
                coverage_warnings.say_other_process(mode.name)
                around.enter_context(_normal_mode(compile_fx))
            return stock(*args, **kwargs)

    setattr(compile_fx, "fx_codegen_and_compile", fx_codegen_and_compile)  # noqa: B010


def _takes_constants(args: Sequence[Any]) -> AbstractContextManager[Any]:
    """Let the fake mode of a compile take tensors that are constants of the graph."""
    mode = detect_fake_mode(args[1] if len(args) > 1 else None)
    return nullcontext() if mode is None else patch.object(mode, "allow_non_fake_inputs", True)


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
