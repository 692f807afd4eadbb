"""Checks the class attributes of rewrites and passes when the class is made.

The names of the passes that one may run before or after come from `know_passes`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import CodeType, FunctionType
from typing import Any, get_args

import torch

from xductor.transforms.passes.numerics import Numerics
from xductor.transforms.passes.permits import PERMITS
from xductor.transforms.passes.stage import Stage

#: The attributes that say where in its stage a rewrite or pass runs.
PLACE = ("position", "before", "after")

_DEVICES = ("cpu", "cuda", "xpu", "mps", "mtia", "hpu", "meta", "privateuseone")

_passes: Callable[[Stage], Collection[str]] | None = None


class DeclarationError(TypeError):
    """A class attribute that does not exist or has a wrong value; raised when the class is made."""


def know_passes(names: Callable[[Stage], Collection[str]]) -> None:
    """Register `names`, which gives the names of the passes and steps of a stage."""
    global _passes
    _passes = names


def check_values(cls: type, given: Collection[str]) -> None:
    """Check the attributes that rewrites and passes have in common.

    - `given`: the names of the attributes that the class has.

    Raises DeclarationError naming class and attribute, what was expected and what was found, with
    a suggestion for what looks like a misspelling.
    """
    if "stage" in given:
        _check_stages(cls)
    if "numerics" in given:
        _check_numerics(cls)
    for name in ("name", "inductor"):
        if name in given:
            check_kind(cls, name, str, "text")
    if "name" in given and not getattr(cls, "name"):  # noqa: B009  a class of any kind
        _refuse(cls, "name", "a name, as it stands in pipelines and counters")
    if "counter" in given and getattr(cls, "counter", None) is not None:
        check_kind(cls, "counter", str, "the name of a counter, or None")
    if "permits" in given:
        expected = "a tuple of what the pass may do: " + ", ".join(map(repr, PERMITS))
        check_members(cls, "permits", lambda one: one in PERMITS, expected, PERMITS)
    _check_place(cls, given)


def check_kind(cls: type, name: str, kind: type, expected: str) -> None:
    """Raise DeclarationError if an attribute is not an instance of `kind`."""
    value = getattr(cls, name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        _refuse(cls, name, expected)


def check_members(
    cls: type, name: str, admitted: Callable[[Any], bool], expected: str, known: Iterable[str]
) -> None:
    """Raise DeclarationError if an attribute is no tuple, list or set, or has a wrong member.

    `known` are the names among which a suggestion is looked for.
    """
    value = getattr(cls, name)
    if not isinstance(value, tuple | list | set | frozenset):
        _refuse(cls, name, expected, meant=meant(value, known))
    for one in value:
        if not admitted(one):
            _refuse(cls, name, expected, found=one, meant=meant(one, known))


def check_devices(cls: type) -> None:
    """Raise DeclarationError if `devices` is not a tuple of device types."""
    expected = 'a tuple of kinds of device, such as ("cuda", "xpu")'
    check_members(cls, "devices", _is_device, expected, _DEVICES)


def meant(found: Any, known: Iterable[str]) -> str:
    """A suggestion to end a message, the nearest of the names in `known`; "" if none is near."""
    text = str(found).lower()
    by_text = {one.lower(): one for one in known}
    close = get_close_matches(text, list(by_text), n=1)
    close += [one for one in by_text if text and one.startswith(text)]
    return f" Did you mean {by_text[close[0]]!r}?" if close and close[0] != found else ""


def names_used(owners: Iterable[type]) -> set[str]:
    """The names that the methods of some classes use, those of the functions inside them too."""
    functions = [
        function
        for owner in owners
        for value in vars(owner).values()
        for function in (getattr(value, "__func__", getattr(value, "fget", value)),)
        if isinstance(function, FunctionType)
    ]
    return {name for one in functions for code in codes(one.__code__) for name in code.co_names}


def codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def _is_device(kind: Any) -> bool:
    if not isinstance(kind, str):
        return False
    try:
        return torch.device(kind).type == kind
    except RuntimeError:
        return False


def _check_stages(cls: Any) -> None:
    stages = cls.stage if isinstance(cls.stage, tuple | list) else (cls.stage,)
    for one in stages:
        if one not in get_args(Stage):
            guess = meant(one, get_args(Stage))
            raise DeclarationError(
                f"{cls.__name__}: no stage is called {one!r}.{guess} The stages are "
                + ", ".join(map(repr, get_args(Stage)))
            )
    if not stages:
        _refuse(cls, "stage", "a stage, or several")


def _check_chosen(cls: Any, name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise DeclarationError(
            f"{cls.__name__}: {name} is {value!r}; it is one of "
            f"{', '.join(map(repr, choices))}.{meant(value, choices)}"
        )


def _check_numerics(cls: Any) -> None:
    """Check that `numerics` is one kind, or a mapping from dtypes that is not empty."""
    declared = cls.numerics
    if isinstance(declared, Mapping):
        wrong = [key for key in declared if not isinstance(key, torch.dtype)]
        if wrong or not declared:
            raise DeclarationError(
                f"{cls.__name__}: numerics by dtype is a mapping from torch dtypes, found "
                + (", ".join(map(repr, wrong)) or "none")
            )
    for one in declared.values() if isinstance(declared, Mapping) else (declared,):
        _check_chosen(cls, "numerics", one, get_args(Numerics))


def _check_place(cls: Any, given: Collection[str]) -> None:
    said = [name for name in PLACE if name in given and getattr(cls, name) is not None]
    if len(said) > 1:
        raise DeclarationError(
            f"{cls.__name__}: expected one of position, before and after, found "
            + " and ".join(sorted(said))
        )
    if said == ["position"]:
        _check_chosen(cls, "position", cls.position, ("first", "last"))
    elif said and "stage" in given:
        _check_beside(cls, said[0])


def _check_beside(cls: Any, name: str) -> None:
    value = getattr(cls, name)
    if not isinstance(value, str):
        _refuse(cls, name, "the name of a pass")
    if _passes is None:
        return
    stages: tuple[Any, ...] = (cls.stage,) if isinstance(cls.stage, str) else tuple(cls.stage)
    for stage in stages:
        known = _passes(stage)
        if value in known:
            continue
        elsewhere = [one for one in get_args(Stage) if value in _passes(one)]
        hint = f" That one is of the {' and the '.join(elsewhere)} stage." if elsewhere else ""
        raise DeclarationError(
            f"{cls.__name__}: {name} is {value!r}; the {stage} stage has no such pass."
            f"{hint or meant(value, known)} `xductor passes` lists them"
        )


_NOTHING = object()


def _refuse(cls: Any, name: str, expected: str, *, found: Any = _NOTHING, meant: str = "") -> Any:
    value = getattr(cls, name)
    among = "" if found is _NOTHING or found is value else f", with {found!r} in it"
    raise DeclarationError(
        f"{cls.__name__}: {name} is {value!r}{among}; expected {expected}.{meant}"
    )


__all__ = [
    "PLACE",
    "DeclarationError",
    "check_devices",
    "check_kind",
    "check_members",
    "check_values",
    "codes",
    "know_passes",
    "meant",
    "names_used",
]
