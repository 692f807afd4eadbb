"""The seam: replaces Inductor's three stage functions by ones that choose the pipeline."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import Any

from xductor.backend.config import cache_keys, compile_state, settings, strict_numerics, versions
from xductor.backend.config.settings import Settings
from xductor.backend.config.versions import STAGE_FUNCTIONS, Stage, UnsupportedTorchError
from xductor.backend.records import cached_records
from xductor.backend.seam import (
    compile_mode,
    decompositions,
    freezing,
    layout_decision,
    partition,
    recomputation,
    repro_scripts,
    sums_in_place,
)
from xductor.backend.seam.checked_options import checked_settings
from xductor.backend.stage_runs import nested_graphs, stage_watch
from xductor.backend.steps import cpu_libraries
from xductor.ir.import_without_gc import load
from xductor.transforms.before_autograd.enclosing_graphs import entering

_lock = threading.RLock()
_stock: dict[Stage, Callable[..., Any]] = {}


def install(options: Mapping[str, Any] | None = None) -> None:
    """Run our three stages in every compile of this process that Inductor makes.

    That includes `torch.compile` with its default backend, AOTInductor and standalone compiles.
    `options` are `xductor.*` options. A compile that has already begun keeps what it began with.

    Raises:
        UnsupportedTorchError: If this torch is not one that xductor knows.
        SettingsError: For an option with a wrong name or value.
    """
    chosen = checked_settings(options) if options else None
    _attach_with_key()
    settings.set_default(chosen)
    compile_state.set_installed(True)


def uninstall() -> None:
    """Undo `install`: Inductor's own stages run again, except in `backend="xductor"`."""
    compile_state.set_installed(False)
    settings.set_default(None)


@contextmanager
def installed(options: Mapping[str, Any] | None = None) -> Iterator[Settings]:
    """Install our stages, like `install`, for compiles that begin in the block, in this thread.

    Raises:
        UnsupportedTorchError: If this torch is not one that xductor knows.
        SettingsError: For an option with a wrong name or value.
    """
    chosen = checked_settings(options) if options else settings.current()
    _attach_with_key()
    with settings.use(chosen), compile_state.installed_here(True):
        yield chosen


def attach() -> None:
    """Replace the three names, once in the life of the process; until then nothing is touched.

    Raises UnsupportedTorchError if this torch is not one that xductor knows.
    """
    versions.inductor_version()
    with _lock:
        if _stock:
            return
        module = versions.compile_fx_module()
        cache_keys.listen(cached_records)
        cache_keys.add_notes(layout_decision.notes)
        cache_keys.add_notes(cpu_libraries.notes)
        cache_keys.install_key()
        cached_records.attach()
        found: dict[Stage, Callable[..., Any]] = {
            stage: getattr(module, name) for stage, name in STAGE_FUNCTIONS.items()
        }
        for stage, name in STAGE_FUNCTIONS.items():
            setattr(module, name, _dispatcher(stage, found[stage]))
        compile_mode.attach(module)
        decompositions.attach(module)
        freezing.attach()
        _follow_bodies(module)
        layout_decision.attach(module)
        partition.attach()
        recomputation.attach()
        strict_numerics.attach(module)
        repro_scripts.attach()
        sums_in_place.attach()
        _stock.update(found)


def _follow_bodies(compile_fx: ModuleType) -> None:
    """Let the stages of a body know that there are graphs around it; before autograd, which."""
    _follow(compile_fx, "_recursive_pre_grad_passes", entering)
    _follow(compile_fx, "_recursive_post_grad_passes", lambda _: nested_graphs.entering())


def _follow(
    compile_fx: ModuleType, name: str, around: Callable[[Any], AbstractContextManager[None]]
) -> None:
    stock = getattr(compile_fx, name, None)
    if stock is None:
        return

    @functools.wraps(stock)
    def recursive(gm: Any, *args: Any, **kwargs: Any) -> Any:
        with around(gm):
            return stock(gm, *args, **kwargs)

    setattr(compile_fx, name, recursive)


def stock_function(stage: Stage) -> Callable[..., Any]:
    """Inductor's own function for `stage`, whatever has replaced it by now.

    Raises UnsupportedTorchError if this torch is not one that xductor knows.
    """
    attach()
    return _stock[stage]


def stage_function(stage: Stage) -> Callable[..., Any]:
    """Our function for `stage`; looked up at each call, imported at the first."""
    return getattr(load("xductor.backend.stages"), STAGE_FUNCTIONS[stage])


def _attach_with_key() -> None:
    attach()
    if not cache_keys.install_key():
        # A tag can be set around the compiles that we start, but not around everybody's.
        raise UnsupportedTorchError(
            "the cache keys of this torch have a shape that xductor does not know, so that it "
            'cannot be installed for all compiles; backend="xductor" works'
        )


def _dispatcher(stage: Stage, stock: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(stock)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        chosen = compile_state.current().settings
        if chosen is None:
            return stage_watch.run_stock(stage, stock, *args, **kwargs)
        with settings.use(chosen):
            return stage_function(stage)(*args, **kwargs)

    return dispatch
