"""Keeps Inductor's caches right.

Inductor's keys know nothing of our pipeline: a graph that stock compiled would be served to us,
and the other way round. While our pipeline is active, what identifies it is part of the key, and a
result that is not what its key promises is not stored.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from xductor.backend.config import compile_state, versions
from xductor.backend.config.environment import override_folder
from xductor.backend.config.rewrite_identity import rewrite_identity
from xductor.backend.config.settings import Settings
from xductor.transforms.passes import debug_counters

log = logging.getLogger(__name__)

_ROOMS = ("ir", "frontend", "transforms", "backend")
_lock = threading.Lock()
_wrapped: type | None = None
#: How many blocks of `out_of_caches` are running.
_kept_out = 0


class CacheListener(Protocol):
    """Is called with the keys and entries of compiles that run our pipeline."""

    def key_made(self, autograd: bool, /) -> None:
        """A key is being made, for AOTAutograd's cache or for that of graphs."""
        ...

    def before_graph_is_stored(self, key: str, graph: Any, /) -> None:
        """A compiled graph is about to become an entry of the FX graph cache."""
        ...

    def before_result_is_stored(self, key: str, entry: Any, /) -> None:
        """An entry of AOTAutograd's cache is about to be stored."""
        ...


_listeners: tuple[CacheListener, ...] = ()
_notes: tuple[Callable[[Any], tuple[Any, ...]], ...] = ()


def listen(listener: CacheListener) -> None:
    """Call `listener` with every key and entry from now on; listening again changes nothing."""
    global _listeners
    with _lock:
        _listeners = tuple(dict.fromkeys((*_listeners, listener)))


def add_notes(notes: Callable[[Any], tuple[Any, ...]]) -> None:
    """Add what `notes` finds in a graph to its key: facts that Inductor does not hash."""
    global _notes
    with _lock:
        _notes = tuple(dict.fromkeys((*_notes, notes)))


def install_key() -> bool:
    """Make our pipeline part of Inductor's cache keys. Done once; later calls do nothing.

    Returns False if the class that holds a key's fields has a shape we do not know; then `tagged`
    has to be in force around a compile.
    """
    global _wrapped
    with _lock:
        key_class = versions.cache_key_class()
        if key_class is None:
            return False
        if _wrapped is not key_class:
            _wrap_key(key_class)
            for owner, name in versions.cache_writers():
                _wrap_writer(owner, name)
            _wrapped = key_class
        return True


def key_part() -> tuple[str, ...] | None:
    """What our pipeline adds to the key of the current compile; None if stock's runs.

    Raises BypassFxGraphCache if an active rewrite has no stable identity, so that nothing compiled
    with it could be found again; and inside `out_of_caches`, while a debug counter is set, or
    if a report is asked for.
    """
    if _kept_out:
        raise versions.cache_bypass("xductor: the stages of every compile are wanted")
    settings = compile_state.current().settings
    if settings is None:
        return None
    if settings.report:
        raise versions.cache_bypass("xductor: a report shows every stage")
    if debug_counters.active():
        raise versions.cache_bypass("xductor: debug counters depend on what was compiled before")
    if override_folder() is not None:
        raise versions.cache_bypass("xductor: graphs are taken from XDUCTOR_OVERRIDE")
    part, unstable = _describe(settings)
    if unstable:
        raise versions.cache_bypass(f"xductor: no stable hash for {', '.join(unstable)}")
    return part


@contextmanager
def out_of_caches() -> Iterator[None]:
    """Keep every compile of the process, in any thread and for any backend, from reading or writing
    the caches while the block runs, so that the stages of each of them run.

    Inductor's own switches affect one thread only.
    """
    global _kept_out
    install_key()
    with _lock:
        _kept_out += 1
    try:
        yield
    finally:
        with _lock:
            _kept_out -= 1


@contextmanager
def tagged() -> Iterator[None]:
    """Carry our part of the key in `torch.compiler.config.cache_key_tag`, after the user's.

    Only needed if `install_key` returned False; does nothing otherwise.
    """
    settings = compile_state.current().settings
    if settings is None or versions.cache_key_class() is not None:
        yield
        return
    part, unstable = _describe(settings)
    unstable += debug_counters.active()
    if settings.report:
        unstable.append("report")
    unstable += [str(folder)] if (folder := override_folder()) is not None else []
    # A key that nobody has used or will use amounts to bypassing the caches.
    tag = uuid.uuid4().hex if unstable else " ".join(part)
    config = versions.compiler_config()
    if tag in config.cache_key_tag:
        yield
        return
    with config.patch(cache_key_tag=f"{config.cache_key_tag} {tag}"):
        yield


def do_not_store(reason: str) -> None:
    """Keep the result of the current compile out of every cache.

    For a stage that fell back or undid an application: the result is right, but not what another
    run would expect under the same key.
    """
    compile_state.current().unstorable.append(reason)


def is_kept_out() -> bool:
    """Whether `do_not_store` was called for the current compile."""
    return bool(compile_state.current().unstorable)


def _describe(settings: Settings) -> tuple[tuple[str, ...], list[str]]:
    """Our part of the key under `settings`, and the rewrites that have no stable identity."""
    identities = [(rewrite, rewrite_identity(rewrite)) for rewrite in settings.rewrites]
    unstable = [_shown(rewrite) for rewrite, identity in identities if identity is None]
    known = [identity for _, identity in identities if identity is not None]
    return ("xductor", package_version(), source_hash(), settings.fingerprint(), *known), unstable


def _wrap_key(key_class: Any) -> None:
    stock_init = key_class.__init__

    @functools.wraps(stock_init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        part = key_part()
        if part is not None:
            autograd = versions.is_key_of_autograd(self)
            for listener in _listeners:
                listener.key_made(autograd)
        stock_init(self, *args, **kwargs)
        if part is not None:
            gm = args[0] if args else kwargs.get("gm")
            noted = [str(note) for notes in _notes for note in notes(gm)]
            self.xductor = (*part, *noted)

    key_class.__init__ = __init__


def _wrap_writer(owner: Any, name: str) -> None:
    stock_write: Callable[..., Any] = getattr(owner, name)
    told = "before_result_is_stored" if name == "save" else "before_graph_is_stored"

    @functools.wraps(stock_write)
    def write(*args: Any, **kwargs: Any) -> Any:
        state = compile_state.current()
        reasons = state.unstorable
        if not reasons:
            if state.settings is not None and len(args) > 1:
                for listener in _listeners:
                    getattr(listener, told)(args[0], args[1])
            return stock_write(*args, **kwargs)
        from torch._dynamo.utils import counters

        counters["xductor"]["not_stored"] += 1
        log.info("not stored by %s.%s: %s", owner.__name__, name, "; ".join(reasons))
        return None

    setattr(owner, name, staticmethod(write))


@functools.cache
def package_version() -> str:
    """The installed version of xductor."""
    return version("xductor")


@functools.cache
def source_hash() -> str:
    """A hash of the names and contents of our own Python files."""
    digest = hashlib.blake2b(digest_size=16)
    for room in _ROOMS:
        spec = find_spec(f"xductor.{room}")
        for location in (spec.submodule_search_locations or ()) if spec else ():
            root = Path(location)
            for path in sorted(root.rglob("*.py")):
                digest.update(f"{room}/{path.relative_to(root).as_posix()}\0".encode())
                digest.update(hashlib.blake2b(path.read_bytes(), digest_size=16).digest())
    return digest.hexdigest()


def _shown(rewrite: Any) -> str:
    return rewrite.__qualname__ if isinstance(rewrite, type) else repr(rewrite)
