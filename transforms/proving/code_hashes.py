"""Hashes of what a proof depends on: the methods that run, and all of this project they reach."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
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
    text = "\n".join([*constants, *[f"{name}\n{seen[name]}" for name in sorted(seen)]])
    return sha256(text.encode()).hexdigest()[:20]


@cache
def hash_of_meaning(op: str) -> str:
    """A hash of the meaning of an op and of all that it is made of."""
    return hash_of([meanings()[op]])


def _function(item: Any) -> FunctionType | None:
    found = inspect.unwrap(getattr(item, "__func__", item)) if callable(item) else None
    return found if isinstance(found, FunctionType) else None


def _visit(function: FunctionType, home: str, seen: dict[str, str]) -> None:
    """Add a function's source, and those of what it names in its own package."""
    name = f"{function.__module__}.{function.__qualname__}"
    if name in seen:
        return
    seen[name] = _text(function)
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
        for method in vars(item).values():
            function = _function(method)
            if function is not None and function.__module__ == item.__module__:
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


def _text(item: Any) -> str:
    """Source without comments, docstrings and layout; bytecode where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(item)))
    except (OSError, TypeError, SyntaxError):
        code = getattr(item, "__code__", None)
        return repr(item) if code is None else code.co_code.hex()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


__all__ = ["hash_of", "hash_of_meaning"]
