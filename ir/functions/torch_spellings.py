"""How calls of ATen operators are written before autograd: all the ways, and one of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import torch

from xductor.ir.dialect.arguments import SliceArg, same_constant
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.registry import method_class, op_class
from xductor.ir.functions.call_forms import UNKNOWN, FormTable, form_of
from xductor.ir.functions.overload_resolution import BoundCall, kind_of
from xductor.ir.functions.torch_calls import (
    ACTIVATIONS,
    ATTRIBUTES,
    BINARY,
    CASTS,
    IN_PLACE,
    JOINED,
    UNARY,
    call_meant,
    may_mean,
)
from xductor.ir.python.canonical_names import synonyms_of

#: A call as a graph before autograd has it: what is called, positional and keyword arguments.
Written = tuple[type[TorchOp], tuple[Any, ...], dict[str, Any]]


def spelled(names: Iterable[str]) -> frozenset[str]:
    """Some overloads (`aten.cat.default`), and the torch-level calls that may mean one of them."""
    found: set[str] = set()
    for name in names:
        found.add(name)
        library, _, rest = name.partition(".")
        if library == "aten":
            found.update(_spellings(rest.partition(".")[0]))
    return frozenset(found)


@cache
def _spellings(op: str) -> frozenset[str]:
    """The names of the classes whose calls may mean an operator."""
    return frozenset(cls.name for cls in _classes(op) if may_mean(cls))


def _classes(op: str) -> Iterator[type[TorchOp]]:
    for name in (op, *synonyms_of(op)):
        for target in _functions(name):
            made = op_class(target)
            if made is not None:
                yield made
        if hasattr(torch.Tensor, name):
            yield method_class(name)
    for target in (*_python_functions(op), *_operators(op)):
        made = op_class(target)
        if made is not None:
            yield made
    for method in (*_METHODS.get(op, ()), *(f"__{word}__" for word in _DUNDERS.get(op, ()))):
        yield method_class(method)


def _functions(name: str) -> Iterator[Any]:
    """C functions of a name, and the operator itself as Python has it."""
    c: Any = torch._C
    homes = {"linalg_": c._linalg, "special_": c._special, "fft_": c._fft}
    places = [c._VariableFunctions, c._nn]
    places += [home for prefix, home in homes.items() if name.startswith(prefix)]
    for place in places:
        found = getattr(place, name, None)
        if callable(found):
            yield found
    packet = getattr(torch.ops.aten, name, None)
    if packet is not None:
        yield packet


def _python_functions(op: str) -> list[Any]:
    functional, plain = torch.nn.functional, torch.functional
    found = [getattr(functional, op)] if op in ACTIVATIONS or op in _IN_FUNCTIONAL else []
    if op in ("split", "split_with_sizes"):
        found.append(plain.split)
    if op in ("einsum", "broadcast_tensors"):
        found.append(getattr(plain, op))
    if op in ("cat", "stack"):
        found += [getattr(torch, name) for name in JOINED]
    return found


_IN_FUNCTIONAL = frozenset(
    ("batch_norm", "embedding", "dropout", "layer_norm", "pad", "glu", "softmax", "log_softmax")
)


def _operators(op: str) -> list[Any]:
    found = [getattr(operator, word) for word, names in BINARY.items() if op in names]
    for table in (IN_PLACE, UNARY):
        found += [getattr(operator, word) for word, name in table.items() if name == op]
    if op in _INDEXING:
        found.append(operator.getitem)
    if op in ATTRIBUTES.values():
        found.append(getattr)
    return [*found, *{"pow": (operator.pow,), "abs": (abs,)}.get(op, ())]


_INDEXING = frozenset(("select", "slice", "unsqueeze", "alias"))

_METHODS: Mapping[str, tuple[str, ...]] = {
    "split_with_sizes": ("split",),
    "to": (*CASTS, "cpu", "type"),
}

_DUNDERS: Mapping[str, tuple[str, ...]] = {
    "add": ("add", "radd"), "sub": ("sub",), "mul": ("mul", "rmul"), "div": ("truediv", "div"),
    "matmul": ("matmul",), "neg": ("neg",), "pow": ("pow",), "eq": ("eq",), "ne": ("ne",),
    "lt": ("lt",), "gt": ("gt",), "le": ("le",), "ge": ("ge",), "bitwise_and": ("and",),
    "bitwise_or": ("or",), "bitwise_xor": ("xor",), "bitwise_not": ("invert",),
}  # fmt: skip


# One spelling.


def torch_call(call: BoundCall) -> Written | None:
    """A call of an overload as torch's own; None for one that only the operator itself can make.

    Functions are preferred to methods. What is returned means that very call again.
    """
    form = form_of(call.args, ranks=True) if call.cls.name.startswith("aten.") else None
    if form is None:
        return _find(call)
    # `F.batch_norm` means a call with what this switch says.
    key = (call.cls, bool(torch.backends.cudnn.enabled), form.key)
    found = _WRITTEN.find(key, form.values)
    if found is UNKNOWN:
        written = _find(call)
        found = None if written is None else (*written[:2], tuple(written[2].items()))
        _WRITTEN.keep(key, form.values, found)
    return None if found is None else (found[0], found[1], dict(found[2]))


_WRITTEN = FormTable()


def _find(call: BoundCall) -> Written | None:
    for cls, args, kwargs in _candidates(call):
        again = call_meant(cls, args, kwargs)
        if again is not None and again.cls is call.cls and _same(again.args, call.args):
            return cls, args, kwargs
    return None


def _candidates(call: BoundCall) -> Iterator[Written]:
    op = call.cls.name.split(".")[1]
    if op == "slice":
        yield from _slices(call)
    args, kwargs = _given(call)
    for cls in _functions_of_torch(op):
        yield cls, args, {_AS_FUNCTION.get(key, key): item for key, item in kwargs.items()}
    if args and kind_of(args[0]) == "tensor" and hasattr(torch.Tensor, op):
        yield method_class(op), args, kwargs
    for method in _METHODS.get(op, ()) if op == "split_with_sizes" else ():
        yield method_class(method), args, kwargs


_AS_FUNCTION = {"self": "input"}


@cache
def _functions_of_torch(op: str) -> tuple[type[TorchOp], ...]:
    """The classes of calls of functions that may mean an operator, first the one that is best."""
    packets = getattr(torch.ops.aten, op, None)
    functions = [one for one in _functions(op) if one is not packets]
    functions += _python_functions(op)
    if op.startswith("split"):  # PyTorch's own passes know `torch.split`, not the two that it calls
        functions.reverse()
    return tuple(cls for cls in map(op_class, functions) if cls is not None)


def _slices(call: BoundCall) -> Iterator[Written]:
    x, dim, start, end, step = call.args
    if type(dim) is not int or dim < 0:
        return
    part = SliceArg((start, end, None if step == 1 else step))
    whole = SliceArg((None, None, None))
    cls = op_class(operator.getitem)
    assert cls is not None
    yield cls, (x, (*[whole] * dim, part) if dim else part), {}


def _given(call: BoundCall) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, without those that are the schema's defaults at the end."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    last = 0
    for param, item in zip(call.cls.table.params, call.args, strict=True):
        told = not (param.has_default and _is_default(item, param.default))
        if param.kwarg_only:
            if told:
                kwargs[param.name] = item
            continue
        args.append(item)
        last = len(args) if told else last
    return tuple(args[:last]), kwargs


def _is_default(item: Any, default: Any) -> bool:
    return not _is_value(item) and same_constant(item, default)


def _same(left: Any, right: Any) -> bool:
    """Whether two arguments are the same value, or equal constants."""
    if left is right:
        return True
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return not (_is_value(left) or _is_value(right)) and same_constant(left, right)


def _is_value(item: Any) -> bool:
    return isinstance(getattr(item, "kind", None), str)


__all__ = ["Written", "spelled", "torch_call"]
