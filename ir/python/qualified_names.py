"""Dotted names of Python callables: text names a callable by a path that resolves to it."""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from xductor.ir.python.allowed_callables import refusal

__all__ = ["UnknownTarget", "qualified_name", "resolve"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
# Text may import modules below these; the program must have imported any others.
_IMPORTABLE = frozenset({"torch", "operator", "_operator", "math", "builtins"})
_HOMES = (
    "torch.nn.functional",
    "torch._C._nn",
    "torch._C",
    "torch._C._linalg",
    "torch._C._fft",
    "torch._C._special",
    "torch._C._functorch",
    "torch._C._autograd",
    "torch.functional",
    "torch.Tensor",
)


class UnknownTarget(LookupError):
    """A name in text is not the name of a callable; the message says what to do."""


_names: dict[int, tuple[object, str, object, str]] = {}


def qualified_name(fn: object) -> str | None:
    """The dotted name by which `resolve` finds `fn` again, or None if there is none.

    Examples: "torch.cat", "torch.nn.functional.relu", "_operator.add", "torch.ops.aten.add".
    Closures, partials, lambdas and bound methods have no such name; neither have callables that
    text may not call.
    """
    known = _names.get(id(fn))
    # The owner is looked up again, in case a module was patched.
    if known is not None and known[0] is fn and getattr(known[2], known[3], None) is fn:
        return known[1]
    for candidate in _candidates(fn):
        if _NAME.fullmatch(candidate) is None:
            continue
        try:
            owner, last = _owner(candidate)
        except UnknownTarget:
            continue
        if getattr(owner, last, None) is fn:
            if refusal(fn) is not None:
                return None
            if candidate.partition(".")[0] in _IMPORTABLE:
                _names[id(fn)] = (fn, candidate, owner, last)
            return candidate
    return None


def _candidates(fn: object) -> Iterator[str]:
    if isinstance(fn, torch._ops.OpOverload):
        yield f"torch.ops.{fn}"
        return
    if isinstance(fn, torch._ops.OpOverloadPacket):
        yield f"torch.ops.{fn}"
        return
    if isinstance(fn, torch._ops.HigherOrderOperator):
        yield f"torch.ops.{fn.namespace}.{fn.name()}"
        return
    name = getattr(fn, "__name__", None)
    module = getattr(fn, "__module__", None)
    qualname = getattr(fn, "__qualname__", None)
    if not isinstance(name, str):
        return
    if isinstance(fn, types.MethodDescriptorType | types.WrapperDescriptorType):
        yield f"torch.Tensor.{name}"
        owner = fn.__objclass__
        yield f"{owner.__module__}.{owner.__qualname__}.{name}"
        return
    yield f"torch.{name}"
    if qualname in (f"Tensor.{name}", f"TensorBase.{name}"):
        yield f"torch.Tensor.{name}"
        # Operators that torch makes by wrapping a C method keep the name of that method.
        yield f"torch.Tensor.__{name}__"
        yield f"torch.Tensor.__i{name.rstrip('_')}__"
    if isinstance(module, str):
        if isinstance(qualname, str):
            yield f"{module}.{qualname}"
        yield f"{module}.{name}"
    for home in _HOMES:
        yield f"{home}.{name}"


def resolve(name: str) -> Callable[..., Any]:
    """The callable with a qualified name.

    Raises UnknownTarget (a LookupError) if the name is malformed, if its module is not imported
    (only torch, operator, math and builtins are imported from text), if the module has no such
    callable, or if text may not call it (`allowed_callables.refusal`).
    """
    owner, last = _owner(name)
    try:
        found = getattr(owner, last)
    except (AttributeError, RuntimeError) as error:
        where = name.rpartition(".")[0]
        hint = ""
        if where.startswith("torch.ops."):
            hint = f"; import the library that registers the operator {last!r} first"
        raise UnknownTarget(f"{name}: {where} has no {last!r}{hint}") from error
    if not callable(found):
        raise UnknownTarget(f"{name} is a {type(found).__name__}, not a callable")
    why = refusal(found)
    if why is not None:
        raise UnknownTarget(f"{name} cannot be called from text: {why}")
    return found


def _owner(name: str) -> tuple[object, str]:
    """The object that has the last part of a dotted name as an attribute, and that part."""
    parts = name.split(".")
    if len(parts) < 2 or _NAME.fullmatch(name) is None:
        raise UnknownTarget(f"{name!r} is no qualified name, such as torch.nn.functional.relu")
    if parts[0] not in sys.modules:
        if parts[0] not in _IMPORTABLE:
            raise UnknownTarget(f"{name}: import {parts[0]} first (text imports no modules)")
        importlib.import_module(parts[0])
    owner: object = sys.modules[parts[0]]
    for i, part in enumerate(parts[1:-1], start=2):
        path = ".".join(parts[:i])
        owner = _step(owner, part, path, name)
    return owner, parts[-1]


def _step(owner: object, part: str, path: str, name: str) -> object:
    missing = object()
    found = getattr(owner, part, missing)
    if found is not missing:
        return found
    if isinstance(owner, types.ModuleType):
        if path in sys.modules:
            return sys.modules[path]
        if path.partition(".")[0] in _IMPORTABLE:
            try:
                return importlib.import_module(path)
            except ImportError as error:
                raise UnknownTarget(f"{name}: there is no {path} in this torch") from error
        raise UnknownTarget(f"{name}: import {path} first (text imports no modules)")
    raise UnknownTarget(f"{name}: {path.rpartition('.')[0]} has no {part!r}")
