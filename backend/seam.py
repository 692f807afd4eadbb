"""The seam: Inductor's three stage functions, replaced by ones that choose the pipeline."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from xductor.backend import cache_keys, compile_state, settings, versions
from xductor.backend.settings import Settings
from xductor.backend.versions import STAGE_FUNCTIONS, Stage, UnsupportedTorchError

log = logging.getLogger(__name__)

_lock = threading.RLock()
_stock: dict[Stage, Callable[..., Any]] = {}


def install(options: Mapping[str, Any] | None = None) -> None:
    """Run our three stages in every compile of this process that Inductor makes.

    ``torch.compile`` with its default backend, AOTInductor and standalone compiles included.
    ``options`` are ``xductor.*`` options. A compile that began before keeps what it began with.

    Raises:
        UnsupportedTorchError: this torch is not one of those we know.
        SettingsError: an option that cannot be understood.
    """
    chosen = Settings.from_options(options) if options else None
    _attach_with_key()
    settings.set_default(chosen)
    compile_state.set_installed(True)


def uninstall() -> None:
    """Undo :func:`install`: Inductor's own stages run again, except in ``backend="xductor"``."""
    compile_state.set_installed(False)
    settings.set_default(None)


@contextmanager
def installed(options: Mapping[str, Any] | None = None) -> Iterator[Settings]:
    """As :func:`install`, for the compiles that begin inside the block, in this thread or task.

    Raises:
        UnsupportedTorchError: this torch is not one of those we know.
        SettingsError: an option that cannot be understood.
    """
    chosen = Settings.from_options(options) if options else settings.current()
    _attach_with_key()
    with settings.use(chosen), compile_state.installed_here(True):
        yield chosen


def attach() -> None:
    """Replace the three names, once for the life of the process; until then nothing is touched.

    Raises:
        UnsupportedTorchError: this torch is not one of those we know.
    """
    versions.inductor_version()
    with _lock:
        if _stock:
            return
        module = versions.compile_fx_module()
        cache_keys.install_key()
        found: dict[Stage, Callable[..., Any]] = {
            stage: getattr(module, name) for stage, name in STAGE_FUNCTIONS.items()
        }
        for stage, name in STAGE_FUNCTIONS.items():
            setattr(module, name, _dispatcher(stage, found[stage]))
        _compile_in_process(module)
        _stock.update(found)


def stock_function(stage: Stage) -> Callable[..., Any]:
    """Inductor's own function for ``stage``, whatever stands in its place by now.

    Raises:
        UnsupportedTorchError: this torch is not one of those we know.
    """
    attach()
    return _stock[stage]


def stage_function(stage: Stage) -> Callable[..., Any]:
    """Our function for ``stage``; looked up at each call, imported at the first."""
    return getattr(import_module("xductor.backend.stages"), STAGE_FUNCTIONS[stage])


def _attach_with_key() -> None:
    attach()
    if not cache_keys.install_key():
        # A tag could be set around the compiles we start ourselves, not around everybody's.
        raise UnsupportedTorchError(
            "the cache keys of this torch have a shape that xductor does not know, so that it "
            'cannot be installed for all compiles; backend="xductor" works'
        )


def _dispatcher(stage: Stage, stock: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(stock)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        chosen = compile_state.current().settings
        if chosen is None:
            return stock(*args, **kwargs)
        with settings.use(chosen):
            return stage_function(stage)(*args, **kwargs)

    return dispatch


_forced_in_process = 0


def _compile_in_process(module: Any) -> None:
    """Keep a compile of ours in this process where Inductor would send it to another.

    The other process would run the stock stages.
    """
    stock = getattr(module, "fx_codegen_and_compile", None)
    if stock is None or not hasattr(module, "fx_compile_mode"):
        return

    @functools.wraps(stock)
    def fx_codegen_and_compile(*args: Any, **kwargs: Any) -> Any:
        mode = module.fx_compile_mode
        if compile_state.current().settings is None or mode == type(mode).NORMAL:
            return stock(*args, **kwargs)
        _warn_in_process(mode.name)
        with _normal_mode(module):
            return stock(*args, **kwargs)

    module.fx_codegen_and_compile = fx_codegen_and_compile


_FLAGS = ("fx_compile_mode", "fx_compile_async", "fx_compile_progressive")
_saved_flags: dict[str, Any] = {}


@contextmanager
def _normal_mode(module: Any) -> Iterator[None]:
    """Inductor's compile mode is a module global: the last compile to leave puts it back."""
    global _forced_in_process
    with _lock:
        if _forced_in_process == 0:
            _saved_flags.update({name: getattr(module, name) for name in _FLAGS})
            module.fx_compile_mode = type(module.fx_compile_mode).NORMAL
            module.fx_compile_async = module.fx_compile_progressive = False
        _forced_in_process += 1
    try:
        yield
    finally:
        with _lock:
            _forced_in_process -= 1
            if _forced_in_process == 0:
                for name, value in _saved_flags.items():
                    setattr(module, name, value)
                _saved_flags.clear()


@functools.cache
def _warn_in_process(mode: str) -> None:
    log.warning(
        "TORCHINDUCTOR_FX_COMPILE_MODE=%s compiles in another process, where Inductor's own "
        "passes would run; compiles with xductor stay in this process",
        mode,
    )
