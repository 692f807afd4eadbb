"""The closed table of named functions in symbolic expressions, with the sympy class of each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

_TORCH = "torch.utils._sympy.functions"

_TORCH_CLASSES: Mapping[str, str] = {
    "floordiv": "FloorDiv",
    "clean_div": "CleanDiv",
    "cdiv": "CeilDiv",
    "mod": "Mod",
    "pymod": "PythonMod",
    "modular_indexing": "ModularIndexing",
    "max": "Max",
    "min": "Min",
    "pow_nat": "PowByNatural",
    "float_pow": "FloatPow",
    "int_true_div": "IntTrueDiv",
    "float_true_div": "FloatTrueDiv",
    "to_float": "ToFloat",
    "trunc_to_int": "TruncToInt",
    "trunc_to_float": "TruncToFloat",
    "floor_to_int": "FloorToInt",
    "ceil_to_int": "CeilToInt",
    "round_to_int": "RoundToInt",
    "round_decimal": "RoundDecimal",
    "where": "Where",
    "identity": "Identity",
    "lshift": "LShift",
    "rshift": "RShift",
    "bitwise_and": "BitwiseFn_bitwise_and",
    "bitwise_or": "BitwiseFn_bitwise_or",
    "bitwise_xor": "BitwiseFn_bitwise_xor",
    "non_overlapping_and_dense": "IsNonOverlappingAndDenseIndicator",
    **{
        name: f"OpaqueUnaryFn_{name}"
        for name in (
            "sqrt",
            "cos",
            "cosh",
            "sin",
            "sinh",
            "tan",
            "tanh",
            "asin",
            "acos",
            "atan",
            "exp",
            "log",
            "log2",
            "asinh",
        )
    },
}

_SYMPY_CLASSES: Mapping[str, str] = {
    "eq": "Equality",
    "ne": "Unequality",
    "lt": "StrictLessThan",
    "le": "LessThan",
    "gt": "StrictGreaterThan",
    "ge": "GreaterThan",
    "and": "And",
    "or": "Or",
    "not": "Not",
    "xor": "Xor",
    "ite": "ITE",
    "abs": "Abs",
}

#: Classes in torch._inductor.utils; resolved only when text uses one.
_INDUCTOR_CLASSES: Mapping[str, str] = {"align": "align"}

#: sympy's own classes with the same meaning as one of torch's (its Mod has the divisor's sign).
_SAME_MEANING: Mapping[str, str] = {
    "Max": "max",
    "Min": "min",
    "Mod": "pymod",
    "floor": "floor_to_int",
    "ceiling": "ceil_to_int",
}

#: Functions whose arguments are printed sorted, and each once if repetition changes nothing.
UNORDERED = frozenset({"max", "min", "and", "or", "xor", "bitwise_and", "bitwise_or"})

_ARITY: Mapping[str, int | None] = {
    **dict.fromkeys(("max", "min", "and", "or", "xor", "non_overlapping_and_dense"), None),
    **dict.fromkeys(("where", "modular_indexing", "ite"), 3),
    **dict.fromkeys(
        (
            *("floordiv", "clean_div", "cdiv", "mod", "pymod", "pow_nat", "float_pow"),
            *("int_true_div", "float_true_div", "round_decimal", "lshift", "rshift"),
            *("bitwise_and", "bitwise_or", "bitwise_xor", "eq", "ne", "lt", "le", "gt", "ge"),
        ),
        2,
    ),
    # Numbers without a literal: p/q, mantissa * 2**exponent at a precision, a jagged length.
    "rational": 2,
    "bigfloat": 3,
    "nested_int": 2,
    "piecewise": None,
}

#: Every name that may precede a parenthesis.
FUNCTION_NAMES: frozenset[str] = frozenset(
    {*_TORCH_CLASSES, *_SYMPY_CLASSES, *_INDUCTOR_CLASSES, *_ARITY}
)


def arity(name: str) -> int | None:
    """The number of arguments of a function in the table; None if any number is allowed."""
    return _ARITY.get(name, 1)


@cache
def _names_by_class() -> dict[tuple[str, str], str]:
    names = {(_TORCH, cls): name for name, cls in _TORCH_CLASSES.items()}
    names.update({("torch._inductor.utils", cls): name for name, cls in _INDUCTOR_CLASSES.items()})
    names.update({("sympy", cls): name for name, cls in _SYMPY_CLASSES.items()})
    names.update({("sympy", cls): name for cls, name in _SAME_MEANING.items()})
    return names


@cache
def function_name(cls: type) -> str | None:
    """The table's name for a sympy class, or None if the class has no entry."""
    module = cls.__module__
    if module.startswith("sympy."):
        module = "sympy"
    return _names_by_class().get((module, cls.__name__))


@cache
def function_class(name: str) -> Callable[..., Any]:
    """The sympy class for a call in text.

    Raises:
        LookupError: this torch has no such class, or the call is not a function application.
    """
    if name in _TORCH_CLASSES:
        module, attribute = _TORCH, _TORCH_CLASSES[name]
    elif name in _SYMPY_CLASSES:
        module, attribute = "sympy", _SYMPY_CLASSES[name]
    elif name in _INDUCTOR_CLASSES:
        module, attribute = "torch._inductor.utils", _INDUCTOR_CLASSES[name]
    else:
        raise LookupError(f"'{name}' is no function of the expression table")
    found = getattr(importlib.import_module(module), attribute, None)
    if found is None:
        raise LookupError(f"this torch has no {module}.{attribute}, which '{name}' stands for")
    return found
