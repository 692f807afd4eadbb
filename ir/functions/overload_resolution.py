"""Chooses the overload of a call from the kinds of its arguments, as PyTorch's parsers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import torch

from xductor.ir.dialect.arguments import ListArg
from xductor.ir.dialect.operations import SchemaOp
from xductor.ir.dialect.schema import Param, SchemaTable, normalise


class BoundCall(NamedTuple):
    """A call of one overload: its arguments in schema order, and which of them were given.

    Arguments that were not given have the schema's defaults.
    """

    cls: type[SchemaOp]
    args: tuple[Any, ...]
    given: tuple[bool, ...]


#: Operators whose Tensor overload takes a Python number in traced graphs (`x + 1` is `add.Tensor`).
_WRAP_NUMBERS = frozenset(
    ("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_", "true_divide", "floor_divide")
)
_NUMBERS = frozenset(("int", "float", "bool", "scalar", "complex"))


def kind_of(item: Any) -> str:
    """The kind of an argument in a schema.

    `tensor`, `int`, `float`, `bool`, `complex`, `scalar`, `str`, `dtype`, `device`, `layout`,
    `memory_format`, `object`, `none`, `any`, or `list[...]` of one. Values of a builder have it
    as their attribute `kind`.
    """
    kind = getattr(item, "kind", None)
    if isinstance(kind, str):
        return kind
    if item is None:
        return "none"
    if item is ...:
        return "any"
    for types, name in _PYTHON_KINDS:
        if isinstance(item, types):
            return name
    return "object"


_PYTHON_KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    (complex, "complex"),
    (str, "str"),
    (torch.dtype, "dtype"),
    (torch.device, "device"),
    (torch.layout, "layout"),
    (torch.memory_format, "memory_format"),
)

_ACCEPTS: dict[str, frozenset[str]] = {
    "tensor": frozenset(("tensor",)),
    "int": frozenset(("int",)),
    "float": frozenset(("float", "int", "scalar")),
    "bool": frozenset(("bool",)),
    "scalar": _NUMBERS,
    "str": frozenset(("str",)),
    "dtype": frozenset(("dtype",)),
    "device": frozenset(("device", "str")),
    "layout": frozenset(("layout",)),
    "memory_format": frozenset(("memory_format",)),
    "object": frozenset(("object", "str")),
}


def fitting_calls(
    name: str,
    classes: Sequence[type[SchemaOp]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> list[BoundCall]:
    """The overloads that a call may mean, PyTorch's choice first.

    There is more than one only if a number is given for a tensor (`add.Tensor(x, 1)`,
    `add.Scalar(x, 1)`). Raises TypeError if none fits, or if several with different meanings do.
    """
    fitting: list[BoundCall] = []
    wrapped: list[BoundCall] = []
    for cls in classes:
        bound = _bind(cls, args, kwargs)
        if bound is None:
            continue
        misfits = [
            (param, item)
            for param, item, given in zip(cls.table.params, bound.args, bound.given, strict=True)
            if given and not _fits(param, item)
        ]
        if not misfits:
            fitting.append(bound)
        elif _wraps(cls.table, misfits):
            wrapped.append(bound)
    calls = wrapped + fitting
    if not calls:
        raise TypeError(_no_fit(name, classes, args, kwargs))
    if len(calls) > 1 and not wrapped:
        calls = _most_specific(name, calls)
    return calls


def _bind(cls: type[SchemaOp], args: Sequence[Any], kwargs: Mapping[str, Any]) -> BoundCall | None:
    table = cls.table
    if len(args) > table.positional or any(name not in table.index for name in kwargs):
        return None
    items: list[Any] = list(table.defaults)
    given = [False] * len(items)
    for position, item in enumerate(args):
        items[position], given[position] = item, True
    for name, item in kwargs.items():
        position = table.index[name]
        if given[position]:
            return None
        items[position], given[position] = item, True
    if any(
        not present and not param.has_default
        for present, param in zip(given, table.params, strict=True)
    ):
        return None
    items = [
        _constant(param, item) if present else item
        for param, item, present in zip(table.params, items, given, strict=True)
    ]
    return BoundCall(cls, tuple(items), tuple(given))


def _constant(param: Param, item: Any) -> Any:
    """An argument with its constants converted to the kinds in the schema."""
    if isinstance(item, list | tuple) and type(item) is not ListArg:
        item = ListArg(item)
    return normalise(param, item)


def _fits(param: Param, item: Any) -> bool:
    kind = kind_of(item)
    if kind == "any":
        return True
    if kind == "none":
        return param.optional
    if param.lists:
        return _fits_list(param, item, kind)
    return kind in _ACCEPTS[param.kind]


def _fits_list(param: Param, item: Any, kind: str) -> bool:
    accepted = _ACCEPTS[param.kind]
    if kind.startswith("list["):
        return kind[5:-1] in accepted
    if isinstance(item, tuple | list):
        return all(
            (element is None and param.optional_elements) or kind_of(element) in {*accepted, "any"}
            for element in item
        )
    return False


def _wraps(table: SchemaTable, misfits: Sequence[tuple[Param, Any]]) -> bool:
    """Whether all misfits are numbers that PyTorch wraps as tensors."""
    name = table.overload._schema.name.partition("::")[2]
    return name in _WRAP_NUMBERS and all(
        param.kind == "tensor" and not param.lists and kind_of(item) in _NUMBERS
        for param, item in misfits
    )


def _given_kinds(call: BoundCall) -> tuple[tuple[str, str, int], ...]:
    """Names and kinds of the parameters for which arguments are given."""
    pairs = zip(call.cls.table.params, call.given, strict=True)
    return tuple([(param.name, param.kind, param.lists) for param, given in pairs if given])


def _most_specific(name: str, calls: list[BoundCall]) -> list[BoundCall]:
    """The call whose given arguments need less conversion than those of all others."""

    def score(call: BoundCall) -> int:
        pairs = zip(call.cls.table.params, call.args, call.given, strict=True)
        return sum(
            (kind_of(item) == param.kind) + 2 * (not param.lists)
            for param, item, is_given in pairs
            if is_given and kind_of(item) != "any"  # an argument of kind `any` decides nothing
        ) - sum(1 for given in call.given if not given)

    scores = [score(call) for call in calls]
    best = [call for call, one in zip(calls, scores, strict=True) if one == max(scores)]
    if len(best) > 1:  # names of dims count only if names are given
        best = [call for call in best if "name" not in _overload_name(call).lower()] or best
    if len(best) > 1 and len({_given_kinds(call) for call in best}) == 1:
        best = best[:1]  # they differ in arguments that are not given: the first, as PyTorch does
    if len(best) > 1:
        listed = "\n  ".join(str(call.cls.target._schema) for call in best)
        raise TypeError(
            f"{name}: the arguments fit several overloads; name one, as in "
            f"{best[0].cls.name}(...):\n  {listed}"
        )
    return best


def _overload_name(call: BoundCall) -> str:
    return call.cls.name.rpartition(".")[2]


def _no_fit(
    name: str, classes: Sequence[type[SchemaOp]], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    kinds = [kind_of(item) for item in args]
    kinds += [f"{key}={kind_of(item)}" for key, item in kwargs.items()]
    schemas = [str(cls.target._schema) for cls in classes if not cls.name.endswith("out")]
    unknown = _unknown_keywords(classes, kwargs)
    return f"{name}({', '.join(kinds)}) fits no overload{unknown}; there are:\n  " + "\n  ".join(
        schemas
    )


def _unknown_keywords(classes: Sequence[type[SchemaOp]], kwargs: Mapping[str, Any]) -> str:
    known = dict.fromkeys(one for cls in classes for one in cls.table.index)
    text = ""
    for keyword in kwargs:
        if keyword not in known:
            close = get_close_matches(keyword, known, n=1)
            guess = f" (did you mean '{close[0]}'?)" if close else ""
            text += f", none takes '{keyword}'{guess}"
    return text


__all__ = ["BoundCall", "fitting_calls", "kind_of"]
