"""Keeping Inductor's caches right.

Inductor's keys know nothing of our pipeline: a graph that stock compiled would be served to us,
and the other way round. What identifies our pipeline becomes part of the key while it is active,
and a result that is not what the key promises is not stored.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from xductor.backend.config import compile_state, versions
from xductor.backend.config.settings import Settings
from xductor.backend.records import cached_records
from xductor.backend.seam import layout_decision
from xductor.transforms.passes import debug_counters

log = logging.getLogger(__name__)

_ROOMS = ("ir", "frontend", "transforms", "backend")
_lock = threading.Lock()
_wrapped: type | None = None
_kept_out = 0
"""How many blocks of :func:`out_of_caches` are running."""


def install_key() -> bool:
    """Make our pipeline part of Inductor's cache keys. Done once; later calls do nothing.

    Returns False where the class that holds a key's fields has a shape we do not know; then
    :func:`tagged` has to be in force around a compile.
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
            cached_records.install()
            _wrapped = key_class
        return True


def key_part() -> tuple[str, ...] | None:
    """What our pipeline adds to the key of the compile that is going on; None for stock's.

    Raises:
        BypassFxGraphCache: an active rewrite has no stable identity, so that nothing compiled
            with it can be found again.
    """
    if _kept_out:
        raise versions.cache_bypass("xductor: the stages of every compile are wanted")
    settings = compile_state.current().settings
    if settings is None:
        return None
    if debug_counters.active():
        raise versions.cache_bypass("xductor: debug counters depend on what was compiled before")
    part, unstable = _describe(settings)
    if unstable:
        raise versions.cache_bypass(f"xductor: no stable hash for {', '.join(unstable)}")
    return part


@contextmanager
def out_of_caches() -> Iterator[None]:
    """Let no compile of the process, in whatever thread and for whatever backend, read from or
    write to the caches while the block runs, so that the stages of each of them run.

    Inductor's own switches are settings of one thread.
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

    Only needed where :func:`install_key` returned False; does nothing elsewhere.
    """
    settings = compile_state.current().settings
    if settings is None or versions.cache_key_class() is not None:
        yield
        return
    part, unstable = _describe(settings)
    unstable += debug_counters.active()
    # A key that nobody has used or will use: the caches are as good as bypassed.
    tag = uuid.uuid4().hex if unstable else " ".join(part)
    config = versions.compiler_config()
    if tag in config.cache_key_tag:
        yield
        return
    with config.patch(cache_key_tag=f"{config.cache_key_tag} {tag}"):
        yield


def do_not_store(reason: str) -> None:
    """Keep the result of the compile that is going on out of every cache.

    For a stage that fell back or undid an application: what comes out is right, but not what
    another run under the same key would be entitled to get.
    """
    compile_state.current().unstorable.append(reason)


def is_kept_out() -> bool:
    """Whether something said so of the compile that is going on."""
    return bool(compile_state.current().unstorable)


def _describe(settings: Settings) -> tuple[tuple[str, ...], list[str]]:
    """The key's part for ``settings``, and the rewrites that have no stable identity."""
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
            cached_records.key_made(versions.is_key_of_autograd(self))
        stock_init(self, *args, **kwargs)
        if part is not None:
            noted = layout_decision.notes(args[0] if args else kwargs.get("gm"))
            self.xductor = (*part, *map(str, noted))

    key_class.__init__ = __init__


def _wrap_writer(owner: Any, name: str) -> None:
    stock_write: Callable[..., Any] = getattr(owner, name)
    note = (
        cached_records.before_result_is_stored
        if name == "save"
        else cached_records.before_graph_is_stored
    )

    @functools.wraps(stock_write)
    def write(*args: Any, **kwargs: Any) -> Any:
        state = compile_state.current()
        reasons = state.unstorable
        if not reasons:
            if state.settings is not None and len(args) > 1:
                note(args[0], args[1])
            return stock_write(*args, **kwargs)
        from torch._dynamo.utils import counters

        counters["xductor"]["not_stored"] += 1
        log.info("not stored by %s.%s: %s", owner.__name__, name, "; ".join(reasons))
        return None

    setattr(owner, name, staticmethod(write))


@functools.cache
def package_version() -> str:
    """The version of xductor that is installed."""
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


def rewrite_identity(rewrite: Any) -> str | None:
    """Text that is the same in another process exactly when ``rewrite`` does the same.

    A rewrite may say it itself, by ``uuid()`` as Inductor's custom passes do. Otherwise it is the
    class's name, the content of the files that define it, and the values of its options; None
    where there is no such file, where a method closes over variables, or where an option is a
    live object. What the file imports is not followed: a rewrite that changes with it needs
    ``uuid()``.
    """
    uuid_method = getattr(rewrite, "uuid", None)
    cls = rewrite if isinstance(rewrite, type) else type(rewrite)
    if callable(uuid_method) and (rewrite is not cls or inspect.ismethod(uuid_method)):
        own = uuid_method()
        return None if own is None else f"{cls.__qualname__}:{_plain(own)}"
    options = _options_text(rewrite)
    content = _content_hash(cls)
    if options is None or content is None:
        return None
    return f"{cls.__module__}.{cls.__qualname__}({options}):{content}"


def _content_hash(cls: type) -> str | None:
    """A hash of the files that hold ``cls``, its bases and their methods."""
    files: set[str] = set()
    for base in cls.__mro__:
        # Built in, or part of what package_version and source_hash cover.
        if base.__module__.partition(".")[0] in ("builtins", "abc", "typing", "xductor", "xdsl"):
            continue
        try:
            files.add(inspect.getfile(base))
        except (TypeError, OSError):
            return None
        for function in _functions(base):
            code = function.__code__
            if code.co_filename == "<string>":  # what dataclasses write; the fields say it all
                continue
            if set(code.co_freevars) - {"__class__"}:
                return None
            files.add(code.co_filename)
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(files):
        try:
            digest.update(hashlib.blake2b(Path(file).read_bytes(), digest_size=16).digest())
        except OSError:
            return None
    return digest.hexdigest()


def _functions(cls: type) -> Iterator[FunctionType]:
    for value in vars(cls).values():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(function, FunctionType):
            yield inspect.unwrap(function)


def _options_text(rewrite: Any) -> str | None:
    """The options an instance carries; None if one of them has no stable text."""
    if isinstance(rewrite, type):
        return ""
    if dataclasses.is_dataclass(rewrite):
        values = {f.name: getattr(rewrite, f.name) for f in dataclasses.fields(rewrite)}
    else:
        values = {
            name: value
            for name, value in getattr(rewrite, "__dict__", {}).items()
            # What the class derives from its options and keeps.
            if not isinstance(getattr(type(rewrite), name, None), functools.cached_property)
        }
    texts = {name: _plain(value) for name, value in values.items()}
    if None in texts.values():
        return None
    return ", ".join(f"{name}={text}" for name, text in sorted(texts.items()))


def _plain(value: Any) -> str | None:
    """``value`` as text, if its text says everything about it."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, (tuple, list)):
        items = [_plain(item) for item in value]
        return None if None in items else f"({', '.join(map(str, items))})"
    if isinstance(value, (set, frozenset)):
        items = [_plain(item) for item in value]
        return None if None in items else f"{{{', '.join(sorted(map(str, items)))}}}"
    import torch

    return repr(value) if isinstance(value, (torch.dtype, torch.device)) else None


def _shown(rewrite: Any) -> str:
    return rewrite.__qualname__ if isinstance(rewrite, type) else repr(rewrite)
