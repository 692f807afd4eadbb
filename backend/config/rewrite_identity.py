"""What identifies a rewrite in the keys of Inductor's caches, in this process and in others."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any


def rewrite_identity(rewrite: Any) -> str | None:
    """Text that is the same in another process exactly when `rewrite` does the same.

    A rewrite may say it itself, by `uuid()` as Inductor's custom passes do. Otherwise it is the
    class's name, the content of the files that define it, and the values of its options; None
    where there is no such file, where a method closes over variables, or where an option is a
    live object. What the file imports is not followed: a rewrite that changes with it needs
    `uuid()`.
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
    """A hash of the files that hold `cls`, its bases and their methods."""
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
    """`value` as text, if its text says everything about it."""
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


__all__ = ["rewrite_identity"]
