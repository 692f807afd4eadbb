"""Hashes of what a proof depends on: the methods that run, and all of this project they reach.

What code names is found by its names: functions, and classes with all that their methods name. A
method that is reached through a value has no name that says whose it is. So the modules of the
same package that are imported on the way count as a whole, and of other packages the classes that
annotations say arguments are of: rather is a proof made anew that need not be.
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

from xductor.ir.meaning.registry import meanings


def hash_of(items: Iterable[Any]) -> str:
    """A hash of functions with all that they reach, and of constants by their text.

    Comments, docstrings and layout do not count, nor does the version of Python.
    """
    seen: dict[str, str] = {}
    constants: list[str] = []
    for item in items:
        function = _function(item)
        if function is None:
            constants.append(repr(item))
        else:
            home = function.__module__.partition(".")[0]
            _visit(function, home, seen)
            for name in modules_of(function.__module__):
                seen[name] = _module_text(name)
    text = "\n".join([*constants, *[f"{name}\n{seen[name]}" for name in sorted(seen)]])
    return sha256(text.encode()).hexdigest()[:20]


@cache
def hash_of_meaning(op: str) -> str:
    """A hash of the meaning of an op and of all that it is made of."""
    return hash_of([meanings()[op]])


@cache
def modules_of(name: str) -> tuple[str, ...]:
    """A module, and all of its package that it imports, directly or by another of them."""
    package = name.rpartition(".")[0]
    found: dict[str, None] = {}
    pending = [name]
    while pending:
        one = pending.pop()
        if one in found or _tree_of(one) is None:
            continue
        found[one] = None
        pending += [each for each in _imports(one) if each.rpartition(".")[0] == package]
    return tuple(sorted(found))


def _imports(name: str) -> Iterator[str]:
    """The names that a module imports, those that may be modules among them."""
    tree = _tree_of(name)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{one.name}" for one in node.names)


@cache
def _tree_of(name: str) -> ast.Module | None:
    """A module's source, None where there is none: of what is typed in, or is no module."""
    module = sys.modules.get(name)
    origin = getattr(module, "__file__", None)
    if module is None:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(name)
            origin = None if spec is None else spec.origin
    if origin is None or not origin.endswith(".py") or name == "__main__":
        return None
    return _plain(ast.parse(Path(origin).read_text()))


@cache
def _module_text(name: str) -> str:
    tree = _tree_of(name)
    return "" if tree is None else ast.unparse(tree)


def _function(item: Any) -> FunctionType | None:
    if isinstance(item, property):
        item = item.fget
    elif isinstance(item, cached_property):
        item = item.func
    found = inspect.unwrap(getattr(item, "__func__", item)) if callable(item) else None
    return found if isinstance(found, FunctionType) else None


def _visit(function: FunctionType, home: str, seen: dict[str, str]) -> None:
    """Add a function's source, and those of what it names in its own package."""
    name = f"{function.__module__}.{function.__qualname__}"
    if name in seen:
        return
    seen[name] = _text(function)
    _note_given(function, home, seen)
    for key, used in _names(function):
        _reach(used, home, seen)
        plain = key.rpartition(".")[2].strip("_")
        # What is no constant by its name is a register or a cache, and changes as it is used.
        constant = _constant(used, home, seen) if plain.isupper() or "." in key else ""
        if constant:
            seen[f"{function.__module__}.{key}"] = constant


def _constant(item: Any, home: str, seen: dict[str, str]) -> str:
    """A global that is no function as text, the functions in it being reached; empty for others."""
    if isinstance(item, bool | int | float | str | torch.dtype | None):
        return repr(item)
    if isinstance(item, tuple | list):
        return f"[{', '.join(_constant(one, home, seen) for one in item)}]"
    if isinstance(item, set | frozenset):
        return f"{{{', '.join(sorted(_constant(one, home, seen) for one in item))}}}"
    if isinstance(item, Mapping):
        pairs = [(_constant(k, home, seen), _constant(v, home, seen)) for k, v in item.items()]
        return repr(sorted(pairs))
    _reach(item, home, seen)
    name = getattr(item, "__qualname__", "")
    return name if isinstance(name, str) else ""


def _reach(item: Any, home: str, seen: dict[str, str]) -> None:
    module = getattr(item, "__module__", None) or ""
    if not isinstance(module, str) or module.partition(".")[0] != home:
        return
    if isinstance(item, type):
        name = f"{item.__module__}.{item.__qualname__}"
        if name in seen:
            return
        seen[name] = _text(item)
        for base in item.__bases__:
            _reach(base, home, seen)
        for method in vars(item).values():
            function = _function(method)
            if function is not None and function.__module__ == item.__module__:
                _note_given(function, home, seen)
                for _, used in _names(function):
                    _reach(used, home, seen)
        return
    function = _function(item)
    if function is not None:
        _visit(function, home, seen)


def _names(function: FunctionType) -> list[tuple[str, Any]]:
    """What a function's code names among its globals and in its closure."""
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


def _note_given(function: FunctionType, home: str, seen: dict[str, str]) -> None:
    """Add the classes of what a function is given, as its annotations say."""
    for said in function.__annotations__.values():
        given = said if isinstance(said, type) else None
        names = _names_in(said) if isinstance(said, str) else ()
        for cls in (given, *[function.__globals__.get(name) for name in names]):
            for one in cls.__mro__ if isinstance(cls, type) else ():
                if one.__module__.partition(".")[0] == home:
                    seen[f"given {one.__module__}.{one.__qualname__}"] = _text(one)


@cache
def _names_in(annotation: str) -> tuple[str, ...]:
    nodes = ast.walk(ast.parse(annotation, mode="eval"))
    return tuple([one.id for one in nodes if isinstance(one, ast.Name)])


@cache
def _text(item: Any) -> str:
    """Source without comments, docstrings and layout; bytecode where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(item)))
    except (OSError, TypeError, SyntaxError):
        code = getattr(item, "__code__", None)
        return repr(item) if code is None else code.co_code.hex()
    return ast.unparse(_plain(tree))


def _plain(tree: ast.Module) -> ast.Module:
    """Without docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


__all__ = ["hash_of", "hash_of_meaning", "modules_of"]
