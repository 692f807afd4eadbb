"""Python-level targets of FX graphs: their names, their parameters, their meaning.

`call_function` nodes of pre-grad graphs hold Python callables and `call_method` nodes hold method
names.  Text names a callable by a dotted path that can be resolved again; rewrites see arguments
by parameter name; functions, operators and methods of one meaning share one canonical name.

A method is given as its name (a str), a function as the callable itself.
"""

from __future__ import annotations

import importlib
import numbers
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import _ParameterKind as ParameterKind
from typing import Any

import torch

from xductor.ir.signatures import (
    MISSING,
    Kind,
    Parameter,
    Signature,
    method_signatures,
    signatures,
)

__all__ = [
    "Signature",
    "UnknownTarget",
    "bind",
    "bind_method",
    "canonical_name",
    "method_signatures",
    "qualified_name",
    "resolve",
    "signatures",
]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
# Text may import below these; anything else must have been imported by the program.
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
    """A name in text that stands for no callable of this process. The message says what to do."""


# ---------------------------------------------------------------------------------------- names

_names: dict[int, tuple[object, str, object, str]] = {}


def qualified_name(fn: object) -> str | None:
    """The dotted name by which `resolve` finds `fn` again, or None where there is none.

    Examples: "torch.cat", "torch.nn.functional.relu", "_operator.add", "torch.ops.aten.add".
    Closures, partials, lambdas and bound methods have no such name.
    """
    known = _names.get(id(fn))
    # The owner is asked again, so that a patched module is not misread.
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
    if isinstance(qualname, str) and qualname == f"Tensor.{name}":
        yield f"torch.{qualname}"
    if isinstance(module, str):
        if isinstance(qualname, str):
            yield f"{module}.{qualname}"
        yield f"{module}.{name}"
    for home in _HOMES:
        yield f"{home}.{name}"


def resolve(name: str) -> Callable[..., Any]:
    """The callable that a qualified name stands for.

    Raises UnknownTarget (a LookupError) if the name is malformed, if its module is not imported
    (only torch, operator, math and builtins are imported from text), or if the module has no such
    callable.
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
    return found


def _owner(name: str) -> tuple[object, str]:
    """The object that holds the last part of a dotted name, and that part."""
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


# ------------------------------------------------------------------------------------- arguments

IsValue = Callable[[object], bool]


def bind(
    fn: Callable[..., Any],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    *,
    is_value: IsValue,
    is_tensor: IsValue | None = None,
) -> dict[str, object] | None:
    """The arguments of a call by parameter name, defaults filled in, in the signature's order.

    Args:
        fn: the callable. Its overload is chosen by what is known: a value fits a tensor or a
            symbolic number, constants fit their kind.
        is_value: says of an object that it marks a value (an SSA value, an fx.Node) of the graph.
        is_tensor: where given, says of a value marker whether it is a tensor, for exact overloads.
    A parameter `int[2]` given one int gets two, and `x.view(2, 3)` gets `size=(2, 3)`; a lone
    value in the place of a list stays as it is (it may be an int or the whole list). Arguments
    collected by `*names` are a tuple under that name, those by `**names` a dict.
    Returns None if no signature is known or none fits; then the call is to be taken as written.
    """
    return _bind(signatures(fn), args, kwargs, is_value, is_tensor)


def bind_method(
    name: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    *,
    is_value: IsValue,
    is_tensor: IsValue | None = None,
) -> dict[str, object] | None:
    """As `bind`, for the Tensor method `name`; `args[0]` is the receiver, bound as `self`."""
    return _bind(method_signatures(name), args, kwargs, is_value, is_tensor)


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
        given = _place(signature.parameters, args, kwargs)
        if given is None:
            continue
        score = match.score(signature.parameters, given)
        if score is not None and score > best_score:
            best, best_score = match.complete(signature.parameters, given), score
            if len(found or ()) == 1:
                break
    return best


def _place(
    parameters: tuple[Parameter, ...], args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object] | None:
    """Arguments to parameters as Python does it, with the one extension of torch's parser: a
    single list of ints may be spread over the positional arguments."""
    places = [p for p in parameters if p.how in _BY_POSITION]
    variadic = next((p for p in parameters if p.how is ParameterKind.VAR_POSITIONAL), None)
    spread = _spread(places)
    given: dict[str, object] = {}
    rest: Sequence[object] = args
    if variadic is None and spread is not None and len(args) > spread:
        first = args[spread]
        if len(args) > spread + 1 or isinstance(first, int) and not isinstance(first, bool):
            if not isinstance(first, (list, tuple)):
                given[places[spread].name] = tuple(args[spread:])
                rest = args[:spread]
    if len(rest) > len(places):
        if variadic is None:
            return None
        given[variadic.name] = tuple(rest[len(places) :])
    given.update((p.name, value) for p, value in zip(places, rest, strict=False))
    return given if _place_keywords(parameters, kwargs, given) else None


_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


def _spread(places: list[Parameter]) -> int | None:
    """The position of the int list that a call may spread: the only one beside the receiver."""
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
    """How well constants and value markers fit the kinds of a schema."""

    def __init__(self, is_value: IsValue, is_tensor: IsValue | None) -> None:
        self.is_value = is_value
        self.is_tensor = is_tensor

    def score(
        self, parameters: tuple[Parameter, ...], given: Mapping[str, object]
    ) -> int | None:
        total = 0
        for parameter in parameters:
            if parameter.kind is not None and parameter.name in given:
                one = self.fits(parameter.kind, given[parameter.name])
                if one is None:
                    return None
                total += one
        return total

    def fits(self, kind: Kind, value: object) -> int | None:
        """None if the value cannot be passed, else the more the better."""
        if value is None:
            return 1 if kind.optional or kind.base == "Any" else None
        if self.is_value(value):
            return self._fits_marker(kind, value)
        if kind.base == "list":
            return self._fits_list(kind, value)
        check = _CONSTANTS.get(kind.base)
        if check is None:  # Any, classes, futures: nothing to tell apart
            return 1
        return 2 if check(value) else None

    def _fits_marker(self, kind: Kind, value: object) -> int | None:
        tensor = None if self.is_tensor is None else self.is_tensor(value)
        if kind.base == "Tensor":
            return None if tensor is False else 2
        if kind.base == "list":
            return 1
        if kind.base in _VALUE_KINDS:
            # A 0-dim tensor may stand for a number, but a Tensor overload is preferred.
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


# --------------------------------------------------------------------------------- one meaning

# Other spellings of the same function.
_SYNONYMS = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "row_stack": "vstack",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
    "ndimension": "dim",
    "nelement": "numel",
}
# Operators whose word differs from torch's for the same function of tensors.
_OPERATORS = {
    "and_": "bitwise_and",
    "floordiv": "floor_divide",
    "inv": "bitwise_not",
    "invert": "bitwise_not",
    "lshift": "bitwise_left_shift",
    "mod": "remainder",
    "or_": "bitwise_or",
    "pos": "positive",
    "rshift": "bitwise_right_shift",
    "truediv": "div",
    "xor": "bitwise_xor",
}
_OPERATORS_AS_THEY_ARE = frozenset(
    ("abs", "add", "eq", "ge", "getitem", "gt", "le", "lt", "matmul", "mul", "ne", "neg", "pow")
    + ("setitem", "sub")
)
# Functions of torch.nn.functional that wrap a torch function of the same name and parameters.
_SAME_FUNCTIONAL = frozenset(
    ("celu", "gelu", "glu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu")
    + ("log_softmax", "mish", "normalize", "relu", "relu6", "selu", "sigmoid", "silu", "softmax")
    + ("tanh", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
)


def canonical_name(target: Callable[..., Any] | str) -> str | None:
    """One name for all spellings of a function: torch.add, Tensor.add (as the method name "add"),
    operator.add and "__add__" are "add"; in-place forms keep their underscore ("add_").

    What only shares its last word with a torch function keeps its module: "math.sqrt",
    "builtins.max", "nn.functional.embedding". Reflected methods ("__rsub__") keep theirs.
    Returns None for a callable without a qualified name.
    """
    if isinstance(target, str):
        return _method_name(target)
    name = qualified_name(target)
    if name is None:
        return None
    module, _, last = name.rpartition(".")
    if target is abs:
        return "abs"
    if module == "_operator":
        if last in _OPERATORS_AS_THEY_ARE:
            return last
        return _OPERATORS.get(last, f"operator.{last}")
    if module in ("torch", "torch._C._linalg", "torch._C._fft", "torch._C._special"):
        return _synonym(last)
    if module == "torch.Tensor":
        return _method_name(last)
    if module.startswith("torch.ops."):
        return _synonym(last) if module == "torch.ops.aten" else name.removeprefix("torch.ops.")
    if module in ("torch.nn.functional", "torch._C._nn"):
        return _functional_name(target, last)
    return name.removeprefix("torch.")


def _functional_name(fn: Callable[..., Any], name: str) -> str:
    rivals = (
        getattr(torch, name, None),
        getattr(torch.Tensor, name, None),
        getattr(torch._C._nn, name, None),
    )
    if name in _SAME_FUNCTIONAL or all(rival is None or rival is fn for rival in rivals):
        return _synonym(name)
    if fn is rivals[2]:
        return _synonym(name)
    return f"nn.functional.{name}"


def _method_name(name: str) -> str:
    if not (name.startswith("__") and name.endswith("__")):
        return _synonym(name)
    word = name[2:-2]
    if word in _OPERATORS_AS_THEY_ARE:
        return word
    if word in ("and", "or"):
        return f"bitwise_{word}"
    return _OPERATORS.get(word, name)


def _synonym(name: str) -> str:
    if name.endswith("_") and not name.endswith("__"):
        return f"{_SYNONYMS.get(name[:-1], name[:-1])}_"
    return _SYNONYMS.get(name, name)
