"""Binds the arguments of a Python-level call to parameters; constants choose the overload."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from inspect import _ParameterKind as ParameterKind
from typing import Any

import torch

from xductor.ir.python.numpy_names import own_name
from xductor.ir.python.signatures import (
    MISSING,
    Kind,
    Parameter,
    Signature,
    method_signatures,
    signatures,
)

__all__ = ["IsValue", "bind", "bind_method", "placed"]

IsValue = Callable[[object], bool]


def bind(
    fn: Callable[..., Any],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    is_value: IsValue,
    is_tensor: IsValue | None = None,
) -> dict[str, object] | None:
    """The arguments of a call by parameter name, defaults filled in, in the signature's order.

    Args:
        fn: the callable. Its overload is chosen by the arguments: a value fits a tensor or a
            symbolic number, constants fit their kind.
        is_value: whether an object represents a value of the graph (an SSA value, an fx.Node).
        is_tensor: if given, whether such an object is a tensor, for an exact choice of overload.

    A parameter `int[2]` given one int gets two, and `x.view(2, 3)` gets `size=(2, 3)`; a single
    value where a list is expected is kept (it may be an int or the whole list). Arguments
    collected by `*names` are a tuple under that name, those by `**names` a dict.

    Returns None if no signature is known or none fits; the call must then be taken as written.
    """
    return _bind(signatures(fn), args, kwargs, is_value, is_tensor)


def bind_method(
    name: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    is_value: IsValue,
    is_tensor: IsValue | None = None,
) -> dict[str, object] | None:
    """The arguments of a call of the Tensor method `name` by parameter name, as `bind` gives them.

    `args[0]` is the receiver, bound as `self`.
    """
    return _bind(method_signatures(name), args, kwargs, is_value, is_tensor)


def placed(
    found: tuple[Signature, ...] | None, bound: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The positional and keyword arguments for arguments by name: the inverse of `bind`.

    Arguments are positional wherever the parameter allows it, as C functions require; trailing
    defaults are left out. Returns None if no signature has parameters with these names.
    """
    for signature in found or ():
        if not bound.keys() <= set(signature.names):
            continue
        if any(
            p.default is MISSING and p.name not in bound and p.how not in _COLLECTING
            for p in signature.parameters
        ):
            continue
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        last = 0
        for parameter in signature.parameters:
            item = bound.get(parameter.name, parameter.default)
            if parameter.how is ParameterKind.VAR_KEYWORD:
                kwargs |= bound.get(parameter.name, {})
            elif parameter.how is ParameterKind.VAR_POSITIONAL:
                args += bound.get(parameter.name, ())
                last = len(args)
            elif parameter.how in _BY_POSITION:
                args.append(item)
                last = last if item is parameter.default else len(args)
            elif item is not parameter.default:
                kwargs[parameter.name] = item
        return tuple(args[:last]), kwargs
    return None


def _bind(
    found: tuple[Signature, ...] | None,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    is_value: IsValue,
    is_tensor: IsValue | None,
) -> dict[str, object] | None:
    best: dict[str, object] | None = None
    best_score = -1
    match = _Matcher(is_value, is_tensor)
    for signature in found or ():
        given = _place(signature, args, kwargs)
        if given is None:
            continue
        score = match.score(signature.parameters, given)
        if score is not None and score > best_score:
            best, best_score = match.complete(signature.parameters, given), score
            if len(found or ()) == 1:
                break
    return best


def _place(
    signature: Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object] | None:
    """Assign arguments to parameters as Python does, with the extensions of torch's parser.

    A single list of ints may be spread over the positional arguments, and keywords may be numpy's.
    """
    parameters = signature.parameters
    if kwargs and signature.schema is not None:
        kwargs = _own_keywords(signature.names, kwargs)
    places = [p for p in parameters if p.how in _BY_POSITION]
    variadic = next((p for p in parameters if p.how is ParameterKind.VAR_POSITIONAL), None)
    spread = _spread(places)
    given: dict[str, object] = {}
    rest: Sequence[object] = args
    if variadic is None and spread is not None and len(args) > spread:
        first = args[spread]
        many = len(args) > spread + 1 and not isinstance(first, (list, tuple))
        if many or _is_int(first):
            given[places[spread].name] = tuple(args[spread:])
            rest = args[:spread]
    if len(rest) > len(places):
        if variadic is None:
            return None
        given[variadic.name] = tuple(rest[len(places) :])
    given.update((p.name, value) for p, value in zip(places, rest, strict=False))
    return given if _place_keywords(parameters, kwargs, given) else None


def _own_keywords(names: tuple[str, ...], kwargs: Mapping[str, object]) -> Mapping[str, object]:
    """Keywords with numpy's names as torch's; as they are where a parameter is given twice."""
    owned = {own_name(name, names): item for name, item in kwargs.items()}
    return owned if len(owned) == len(kwargs) else kwargs


_COLLECTING = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)
_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


def _spread(places: list[Parameter]) -> int | None:
    """The position of the int list that a call may spread: the only parameter but the receiver."""
    for i, parameter in enumerate(places[:2]):
        kind = parameter.kind
        if kind is not None and kind.base == "list" and kind.element is not None:
            only = len(places) == i + 1 and kind.element.base in ("int", "SymInt")
            return i if only else None
        if parameter.name != "self":
            return None
    return None


def _place_keywords(
    parameters: tuple[Parameter, ...], kwargs: Mapping[str, object], given: dict[str, object]
) -> bool:
    by_name = {
        p.name
        for p in parameters
        if p.how in (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
    }
    extra = {}
    for name, value in kwargs.items():
        if name in by_name:
            if name in given:
                return False
            given[name] = value
        else:
            extra[name] = value
    catch_all = next((p for p in parameters if p.how is ParameterKind.VAR_KEYWORD), None)
    if extra and catch_all is None:
        return False
    if extra and catch_all is not None:
        given[catch_all.name] = extra
    return all(
        p.name in given or p.default is not MISSING
        for p in parameters
        if p.how not in (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)
    )


class _Matcher:
    """Tells how well constants and values fit the kinds of a schema."""

    def __init__(self, is_value: IsValue, is_tensor: IsValue | None) -> None:
        self.is_value = is_value
        self.is_tensor = is_tensor

    def score(self, parameters: tuple[Parameter, ...], given: Mapping[str, object]) -> int | None:
        total = 0
        for parameter in parameters:
            if parameter.kind is not None and parameter.name in given:
                one = self.fits(parameter.kind, given[parameter.name])
                if one is None:
                    return None
                total += one
        return total

    def fits(self, kind: Kind, value: object) -> int | None:
        """None if the value cannot be passed, else a score; higher is better."""
        if value is None:
            return 1 if kind.optional or kind.base == "Any" else None
        if self.is_value(value):
            return self._fits_marker(kind, value)
        if kind.base == "list":
            return self._fits_list(kind, value)
        check = _CONSTANTS.get(kind.base)
        if check is None:  # Any, classes, futures: there is nothing to distinguish
            return 1
        return 2 if check(value) else None

    def _fits_marker(self, kind: Kind, value: object) -> int | None:
        tensor = None if self.is_tensor is None else self.is_tensor(value)
        if kind.base == "Tensor":
            return None if tensor is False else 2
        if kind.base == "list":
            return 1
        if kind.base in _VALUE_KINDS:
            # A 0-dim tensor may be passed for a number, but a Tensor overload is preferred.
            return 2 if tensor is False else 1
        return None if kind.base in _CONSTANT_ONLY else 1

    def _fits_list(self, kind: Kind, value: object) -> int | None:
        element = kind.element
        assert element is not None
        if isinstance(value, (list, tuple)):
            scores = [self.fits(element, item) for item in value]
            return None if None in scores else 2
        broadcast = kind.size is not None and element.base in _NUMBERS
        return 2 if broadcast and self.fits(element, value) is not None else None

    def complete(
        self, parameters: tuple[Parameter, ...], given: Mapping[str, object]
    ) -> dict[str, object]:
        bound: dict[str, object] = {}
        for parameter in parameters:
            if parameter.name in given:
                bound[parameter.name] = self._broadcast(parameter.kind, given[parameter.name])
            elif parameter.how is ParameterKind.VAR_POSITIONAL:
                bound[parameter.name] = ()
            elif parameter.how is ParameterKind.VAR_KEYWORD:
                bound[parameter.name] = {}
            else:
                bound[parameter.name] = parameter.default
        return bound

    def _broadcast(self, kind: Kind | None, value: object) -> object:
        if kind is None or kind.base != "list" or value is None or self.is_value(value):
            return value
        if isinstance(value, (list, tuple)):
            return value
        return (value,) * (kind.size or 1)


_NUMBERS = ("int", "SymInt", "float", "number", "bool")
_VALUE_KINDS = ("int", "SymInt", "float", "number", "bool", "SymBool", "complex")
_CONSTANT_ONLY = ("str", "ScalarType", "Layout", "MemoryFormat", "Device")


def _is_int(value: object) -> bool:
    return isinstance(value, (numbers.Integral, torch.SymInt)) and not isinstance(value, bool)


def _is_bool(value: object) -> bool:
    return isinstance(value, (bool, torch.SymBool))


def _is_real(value: object) -> bool:
    return _is_int(value) or isinstance(value, (float, torch.SymFloat))


def _is_device(value: object) -> bool:
    return isinstance(value, (torch.device, str)) or _is_int(value)


_PYTHON_DTYPES = (bool, int, float, complex)

_CONSTANTS: dict[str, Callable[[object], bool]] = {
    "Tensor": lambda v: isinstance(v, torch.Tensor),
    "int": _is_int,
    "SymInt": _is_int,
    "float": _is_real,
    "bool": _is_bool,
    "SymBool": _is_bool,
    "number": lambda v: _is_real(v) or _is_bool(v) or isinstance(v, complex),
    "complex": lambda v: _is_real(v) or isinstance(v, complex),
    "str": lambda v: isinstance(v, str),
    "ScalarType": lambda v: isinstance(v, torch.dtype) or any(v is t for t in _PYTHON_DTYPES),
    "Device": _is_device,
    "Layout": lambda v: isinstance(v, torch.layout),
    "MemoryFormat": lambda v: isinstance(v, torch.memory_format),
    "Generator": lambda v: isinstance(v, torch.Generator),
}
