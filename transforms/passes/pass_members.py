"""Checks the class attributes of a typed pass: that they exist, and that their values are right."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from xductor.ir.python.qualified_names import resolve
from xductor.transforms.passes.declared_attributes import (
    PLACE,
    DeclarationError,
    check_kind,
    check_members,
    check_values,
    meant,
    names_used,
)

_ANALYSES = ("memory", "order")


def check_pass(cls: type, base: type) -> None:
    """Raise DeclarationError for an attribute of a pass class that has no use or a wrong value.

    A class may lack what a pass needs, since other classes may be derived from it.
    """
    own = vars(cls)
    check_values(cls, [name for name in _VALUES if hasattr(cls, name)])
    if "matched_nodes" in own:
        check_kind(cls, "matched_nodes", int, "a number of nodes")
    if "preserves" in own:
        expected = "a frozenset of names of analyses"
        check_members(cls, "preserves", _may_be_analysis, expected, _ANALYSES)
    if "roots" in own:
        expected = 'a frozenset of operators, such as frozenset(("aten.view.default",))'
        check_members(cls, "roots", _may_be_root, expected, _overloads())
    for name in ("rewrite", *_METHODS):
        if name in own and not (callable(own[name]) or hasattr(own[name], "__get__")):
            raise DeclarationError(f"{cls.__name__}: {name} is {own[name]!r}; expected a method")
    _check_uses(cls, base)


_VALUES = ("stage", "numerics", "inductor", "name", "counter", "permits", *PLACE)
_METHODS = ("may_apply", "may_fire", "has_work", "explained", "uuid", "apply")


def _may_be_analysis(name: Any) -> bool:
    """Whether `name` may name an analysis; passes may have analyses of their own."""
    return isinstance(name, str) and (name in _ANALYSES or not meant(name, _ANALYSES))


def _overloads() -> Iterator[str]:
    import torch

    for name in torch._C._dispatch_get_all_op_names():
        library, _, operator = name.partition("::")
        yield f"{library}.{operator}" if "." in operator else f"{library}.{operator}.default"


def _may_be_root(root: Any) -> bool:
    """Whether `root` may name an operator; a library that is not imported yet cannot be checked."""
    if not isinstance(root, str):
        return callable(root)
    if root.startswith("method."):
        return len(root) > len("method.")
    if root.startswith("pyfn."):
        return resolve(root.removeprefix("pyfn.")) is not None
    library, _, name = root.partition(".")
    operator, _, overload = name.partition(".")
    if not operator:
        return False
    import torch

    packet = getattr(getattr(torch.ops, library), operator, None)
    if packet is None:
        return library != "aten"
    return not overload or hasattr(packet, overload)


def _check_uses(cls: type, base: type) -> None:
    notes = inspect.get_annotations(cls)
    unknown = [
        name
        for name, value in vars(cls).items()
        if not (name.startswith("_") or name in PLACE or name == "stage")
        and not any(name in vars(one) for one in cls.__mro__[1:])
        and name not in notes
        and not (isinstance(value, type) or hasattr(value, "__get__"))
    ]
    if not unknown:
        return
    used = names_used(one for one in cls.__mro__ if one is not object)
    for name in unknown:
        if name not in used:
            raise DeclarationError(
                f"{cls.__name__} has no use for `{name}`: it is not an attribute of a pass, and no "
                f"method of its class names it.{meant(name, _public(base))} An option is a field, "
                "with an annotation; a name that begins with an underscore is left alone"
            )


def _public(base: type) -> list[str]:
    known = [*vars(base), *base.__annotations__, *PLACE, "name"]
    return [name for name in dict.fromkeys(known) if not name.startswith("_")]


__all__ = ["check_pass"]
