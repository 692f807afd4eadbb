"""Hashes of code: of what a pass claims, and of all the sources that a proof of it ran through.

A pass claims what its methods say, and what they name among passes and meanings of ops. No module's
name is part of it, nor is the engine that runs it: a record stays valid when a file is moved or the
matcher is changed, and becomes stale when a pattern, a condition, a replacement or a meaning
changes.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from xductor.transforms.semantics.registry import meanings

_OURS = "xductor"

#: The packages of `transforms` that hold no passes.
_ENGINES = (
    "analysis",
    "before_autograd",
    "editing",
    "explaining",
    "matching",
    "passes",
    "proving",
    "rewriting",
    "rows",
    "validation",
)

#: The modules that meanings are written in: the prover's engine, not the meaning of an op.
_TERMS = ("evaluation", "registry", "terms", "values")


def hash_of(items: Iterable[Any]) -> str:
    """A hash of what functions and classes say, with everything they name, and of constants.

    Of this project, names count if they are part of a pass or of a meaning. Of any other package,
    all names in it count. Comments, docstrings and layout do not count, nor does the version of
    Python.
    """
    claim = _Claim()
    constants: list[str] = []
    for item in items:
        if isinstance(item, type) or _function(item) is not None:
            claim.add(item)
        else:
            constants.append(repr(item))
    return _digest([*constants, *sorted(claim.texts)])


@cache
def hash_of_meaning(op: str) -> str:
    """A hash of the meaning of an op and of everything it is made of."""
    return hash_of([meanings()[op]])


@cache
def hash_of_sources(modules: tuple[str, ...]) -> str:
    """A hash of modules, and of everything they import from their own top-level packages."""
    found: dict[str, None] = {}
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name in found or _source_of(name) is None:
            continue
        found[name] = None
        home = name.partition(".")[0]
        pending += [each for each in _imports(name) if each.partition(".")[0] == home]
    return _digest([f"{name}\n{_source_of(name)}" for name in sorted(found)])


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()[:20]


class _Claim:
    """The texts of functions and classes, and of everything they name that counts."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self._seen: set[Any] = set()

    def add(self, item: Any) -> None:
        """Add what an item says, if it is a function or class, and not one of the engine."""
        if isinstance(item, type):
            self._add_class(item)
            return
        function = _function(item)
        if function is None or function in self._seen or not _counts(function.__module__):
            return
        self._seen.add(function)
        self.texts.add(_text(function))
        self._add_names(function)

    def _add_class(self, cls: type) -> None:
        if cls in self._seen or not _counts(cls.__module__):
            return
        self._seen.add(cls)
        self.texts.add(_text(cls))
        for base in cls.__bases__:
            self._add_class(base)
        for method in vars(cls).values():
            function = _function(method)
            if function is not None and function.__module__ == cls.__module__:
                self._add_names(function)

    def _add_names(self, function: FunctionType) -> None:
        home = function.__module__.partition(".")[0]
        for key, used in _names(function):
            module = getattr(used, "__module__", None)
            if isinstance(module, str) and module.partition(".")[0] == home:
                self.add(used)
            # A name that is not that of a constant may be a registry or a cache, which changes.
            plain = key.rpartition(".")[2].strip("_")
            constant = self._constant(used) if plain.isupper() or "." in key else ""
            if constant:
                self.texts.add(f"{key} = {constant}")

    def _constant(self, item: Any) -> str:
        """A value that is no function as text, adding the functions in it; "" for other values."""
        if isinstance(item, bool | int | float | str | torch.dtype | None):
            return repr(item)
        if isinstance(item, tuple | list):
            return f"[{', '.join(self._constant(one) for one in item)}]"
        if isinstance(item, set | frozenset):
            return f"{{{', '.join(sorted(self._constant(one) for one in item))}}}"
        if isinstance(item, Mapping):
            return repr(sorted((self._constant(k), self._constant(v)) for k, v in item.items()))
        self.add(item)
        name = getattr(item, "__qualname__", "")
        return name if isinstance(name, str) else ""


def _counts(module: str) -> bool:
    """Whether the definitions in a module are part of a claim."""
    home, _, inside = module.partition(".")
    if home != _OURS:
        return True
    package, *names = inside.split(".")
    if package != "transforms" or not names or names[0] in _ENGINES:
        return False
    return names[0] != "semantics" or names[-1] not in _TERMS


def _imports(name: str) -> Iterator[str]:
    """The names that a module imports, including those that may be modules."""
    for node in ast.walk(ast.parse(_source_of(name) or "")):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{one.name}" for one in node.names)


@cache
def _source_of(name: str) -> str | None:
    """A module's source; None if there is none, as for interactive code, or if it is no module."""
    module = sys.modules.get(name)
    origin = getattr(module, "__file__", None)
    if module is None:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(name)
            origin = None if spec is None else spec.origin
    if origin is None or not origin.endswith(".py") or name == "__main__":
        return None
    return Path(origin).read_text()


def _function(item: Any) -> FunctionType | None:
    if isinstance(item, property):
        item = item.fget
    elif isinstance(item, cached_property):
        item = item.func
    found = inspect.unwrap(getattr(item, "__func__", item)) if callable(item) else None
    return found if isinstance(found, FunctionType) else None


def _names(function: FunctionType) -> list[tuple[str, Any]]:
    """The globals that a function's code names, and the variables of its closure."""
    found: dict[str, Any] = {}
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        pending += [one for one in code.co_consts if inspect.iscode(one)]
        for name in code.co_names:
            if name in function.__globals__:
                found[name] = function.__globals__[name]
    closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    for name, cell in closure:
        with suppress(ValueError):  # a cell that is still empty
            found[f"{function.__qualname__}.{name}"] = cell.cell_contents
    return list(found.items())


@cache
def _text(item: Any) -> str:
    """Source without comments, docstrings and layout; bytecode if there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(item)))
    except (OSError, TypeError, SyntaxError):
        code = getattr(item, "__code__", None)
        return repr(item) if code is None else code.co_code.hex()
    return ast.unparse(_plain(tree))


def _plain(tree: ast.Module) -> ast.Module:
    """Remove docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


__all__ = ["hash_of", "hash_of_meaning", "hash_of_sources"]
