"""Canonical names: functions, operators and methods that do the same share one name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xductor.ir.python.qualified_names import qualified_name

__all__ = ["canonical_name", "synonyms_of"]

_nn: Any = getattr(torch._C, "_nn")  # noqa: B009  (a module that type checkers do not know)

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
    "special_expit": "sigmoid",
    "special_log_softmax": "log_softmax",
    "special_softmax": "softmax",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
    "ndimension": "dim",
    "nelement": "numel",
}
# Operators whose name differs from torch's for the same function of tensors.
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
    {"abs", "add", "eq", "ge", "getitem", "gt", "le", "lt", "matmul", "mul", "ne", "neg", "pow",
     "setitem", "sub"}
)  # fmt: skip
# Functions of torch.nn.functional that wrap a torch function with the same name and parameters.
_SAME_FUNCTIONAL = frozenset(
    {"adaptive_avg_pool2d", "adaptive_avg_pool3d", "celu", "gelu", "glu", "hardsigmoid",
     "hardswish", "hardtanh", "leaky_relu", "log_softmax", "mish", "relu", "relu6", "selu",
     "sigmoid", "silu", "softmax", "tanh"}
)  # fmt: skip


def canonical_name(target: Callable[..., Any] | str) -> str | None:
    """The one name for all spellings of a function; None if it has no qualified name.

    torch.add, Tensor.add (as the method name "add"), operator.add and "__add__" are "add"; in-place
    forms keep their underscore ("add_"). A function that only shares its last word with a torch
    function keeps its module: "math.sqrt", "builtins.max", "nn.functional.embedding". Reflected
    methods ("__rsub__") keep their names.
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
        getattr(_nn, name, None),
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


def synonyms_of(name: str) -> tuple[str, ...]:
    """The other names of the function that a canonical name stands for."""
    if name.endswith("_") and not name.endswith("__"):
        return tuple([f"{other}_" for other in synonyms_of(name[:-1])])
    return _SPELLINGS.get(name, ())


_SPELLINGS: dict[str, tuple[str, ...]] = {
    own: tuple([other for other, one in _SYNONYMS.items() if one == own])
    for own in _SYNONYMS.values()
}
