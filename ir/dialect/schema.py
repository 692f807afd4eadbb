"""The schema of an operator, compiled into a table for lowering, verifying and raising."""

from __future__ import annotations

import functools
import keyword
from dataclasses import dataclass
from typing import Any

import torch

from xductor.ir.dialect.arguments import ListArg

#: Names that an op class already uses; an argument with such a name is accessed as `name_`.
_TAKEN = frozenset(
    [
        "name",
        "operands",
        "results",
        "attributes",
        "properties",
        "regions",
        "location",
        "parent",
        "args",
        "target",
        "table",
        "node",
        "successors",
        "traits",
        "verify",
        "print",
        "parse",
        "create",
        "build",
        "clone",
        "detach",
        "erase",
        "walk",
        "next_op",
        "prev_op",
        "emit_error",
        "get_trait",
        "has_trait",
        "result_types",
        "operand_types",
        "argument",
        "arguments",
        "effects",
    ]
)

KINDS = {
    "Tensor": "tensor",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "number": "scalar",
    "Scalar": "scalar",
    "str": "str",
    "ScalarType": "dtype",
    "Device": "device",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Generator": "object",
    "Storage": "object",
    "Stream": "object",
}


def accessor_name(argument: str) -> str:
    """The Python attribute for an argument; a name that is taken gets an underscore (`self_`)."""
    return (
        f"{argument}_"
        if keyword.iskeyword(argument) or argument in _TAKEN or argument == "self"
        else argument
    )


@dataclass(frozen=True, slots=True)
class Param:
    """One argument of a schema.

    `kind` is one of the values of `KINDS`; `lists` is the number of list levels around it; `size`
    is N in `int[N]`; `writes` is true if the call mutates the argument.
    """

    name: str
    kind: str
    lists: int
    size: int | None
    optional: bool
    optional_elements: bool
    kwarg_only: bool
    has_default: bool
    default: Any
    writes: bool


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """The schema of one overload.

    `returns` is the number of values, or None if a list is returned (`split`), whose length is
    known only for a particular call.
    """

    overload: Any
    params: tuple[Param, ...]
    positional: int
    index: dict[str, int]
    returns: int | None
    is_tuple: bool
    defaults: tuple[Any, ...]


def _peel(kind: Any) -> tuple[str, int, int | None, bool, bool]:
    """A schema type as (kind, list levels, list size, optional, optional elements)."""
    optional = optional_elements = False
    lists, size = 0, None
    while True:
        name = kind.kind()
        if name == "OptionalType":
            if lists:
                optional_elements = True
            else:
                optional = True
            kind = kind.getElementType()
        elif name == "ListType":
            lists += 1
            kind = kind.getElementType()
        else:
            break
    text = str(kind)
    return KINDS.get(text, "object"), lists, size, optional, optional_elements


def _enum_kind(argument: Any, kind: str) -> str:
    """The kind from the real type: dtype, layout and memory format are ints in a schema's type."""
    real = str(argument.real_type)
    for name, ours in (
        ("ScalarType", "dtype"),
        ("Layout", "layout"),
        ("MemoryFormat", "memory_format"),
    ):
        if name in real:
            return ours
    return kind


def _param(argument: Any) -> Param:
    kind, lists, _, optional, optional_elements = _peel(argument.type)
    if kind in ("int", "object"):
        kind = _enum_kind(argument, kind)
    default = argument.default_value if argument.has_default_value() else None
    return Param(
        name=argument.name,
        kind=kind,
        lists=lists,
        size=argument.N,
        optional=optional,
        optional_elements=optional_elements,
        kwarg_only=argument.kwarg_only,
        has_default=argument.has_default_value(),
        default=_freeze(default),
        writes=argument.alias_info is not None and argument.alias_info.is_write,
    )


def _freeze(value: Any) -> Any:
    return ListArg(_freeze(element) for element in value) if isinstance(value, list) else value


@functools.cache
def schema_table(overload: torch._ops.OpOverload) -> SchemaTable:
    """The compiled schema of an overload."""
    schema = overload._schema
    params = tuple(_param(argument) for argument in schema.arguments)
    kinds = [_peel(returned.type) for returned in schema.returns]
    lists = [lists for _, lists, *_ in kinds]
    returns: int | None = len(kinds)
    if any(lists):
        returns = None
    is_tuple = len(kinds) > 1 or bool(lists and lists[0])
    defaults = tuple(
        normalise(param, param.default) if param.has_default else None for param in params
    )
    return SchemaTable(
        overload=overload,
        params=params,
        positional=sum(1 for param in params if not param.kwarg_only),
        index={param.name: position for position, param in enumerate(params)},
        returns=returns,
        is_tuple=is_tuple,
        defaults=defaults,
    )


#: Memory formats by the numbers that schemas use for them as defaults.
_MEMORY_FORMATS = {
    0: torch.contiguous_format,
    1: torch.preserve_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
}


def _as_float(value: Any) -> Any:
    try:
        return float(value) if type(value) in (int, bool) else value
    except OverflowError:
        return value


def _as_device(value: str) -> torch.device | str:
    try:
        return torch.device(value)
    except RuntimeError:
        return value


def normalise(param: Param, value: Any) -> Any:
    """Convert a constant to the kind in its schema, as PyTorch does: `1` for a float is `1.0`.

    A value that does not fit is returned unchanged; the verifier reports it with the op's name.
    """
    kind = type(value)
    if param.lists:
        if kind is ListArg:
            if param.kind == "float":
                return ListArg(map(_as_float, value))
            return value
        if param.size is not None and kind in (int, float, bool) and param.lists == 1:
            return ListArg([value] * param.size)
        return value
    if param.kind == "float":
        return _as_float(value)
    if param.kind == "bool" and kind is int:
        return bool(value)
    if param.kind == "int" and kind is bool:
        return int(value)
    if param.kind == "device" and kind is str:
        return _as_device(value)
    if param.kind == "memory_format" and kind is int:
        return _MEMORY_FORMATS.get(value, value)
    return value
