"""Signatures of Python-level targets, and the parameter kinds that choose between overloads.

A pre-grad graph calls `torch.cat`, `F.relu`, `operator.add` or `x.view`: most are C functions
without a Python signature. Their parameters come, in this order, from `inspect.signature`, from
the dispatcher's schemas for the aten operator with that name, or from PyTorch's override tables.
Everything is computed on first use.
"""

from __future__ import annotations

import builtins
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from inspect import _ParameterKind as ParameterKind
from typing import Any

import torch

from xductor.ir.python.qualified_names import qualified_name

__all__ = [
    "MISSING",
    "Kind",
    "Parameter",
    "Signature",
    "aten_schemas",
    "is_out_schema",
    "method_signatures",
    "schema_signature",
    "signatures",
]

_POSITIONAL = ParameterKind.POSITIONAL_ONLY
_NORMAL = ParameterKind.POSITIONAL_OR_KEYWORD
_KEYWORD = ParameterKind.KEYWORD_ONLY
_VARARGS = ParameterKind.VAR_POSITIONAL
_VARKWARGS = ParameterKind.VAR_KEYWORD


class _Missing:
    """The default of a parameter without a default."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Kind:
    """What a schema's parameter accepts.

    `base` is the schema's word ("Tensor", "SymInt", "number", "ScalarType", ...) or "list", then
    with `element` and, for `int[2]`, `size`.
    """

    base: str
    optional: bool = False
    element: Kind | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `kind` is None if only a Python signature is known."""

    name: str
    how: ParameterKind
    default: object = MISSING
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of one overload, and the schema from which they were read, if any."""

    parameters: tuple[Parameter, ...]
    schema: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)


# Methods with hand-written argument parsers, or without schemas in aten; in schema notation.
_METHOD_SCHEMAS: dict[str, tuple[str, ...]] = {
    "to": (
        "to(Tensor self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, "
        "bool copy=False, *, MemoryFormat? memory_format=None) -> Tensor",
        "to(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
        "*, MemoryFormat? memory_format=None) -> Tensor",
        "to(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, "
        "*, MemoryFormat? memory_format=None) -> Tensor",
    ),
    "size": ("size(Tensor self) -> SymInt[]", "size(Tensor self, SymInt dim) -> SymInt"),
    "stride": ("stride(Tensor self) -> SymInt[]", "stride(Tensor self, SymInt dim) -> SymInt"),
    "dim": ("dim(Tensor self) -> int",),
    "ndimension": ("ndimension(Tensor self) -> int",),
    "numel": ("numel(Tensor self) -> SymInt",),
    "nelement": ("nelement(Tensor self) -> SymInt",),
    "element_size": ("element_size(Tensor self) -> int",),
    "storage_offset": ("storage_offset(Tensor self) -> SymInt",),
    "item": ("item(Tensor self) -> Scalar",),
    "get_device": ("get_device(Tensor self) -> int",),
    "is_contiguous": (
        "is_contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> bool",
    ),
    "requires_grad_": ("requires_grad_(Tensor self, bool requires_grad=True) -> Tensor",),
    "type": (
        "type(Tensor self, ScalarType? dtype=None, bool non_blocking=False) -> Tensor",
        "type(Tensor self, str dtype, bool non_blocking=False) -> Tensor",
    ),
    "cuda": (
        "cuda(Tensor self, Device? device=None, bool non_blocking=False, "
        "*, MemoryFormat? memory_format=None) -> Tensor",
    ),
    "cpu": ("cpu(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",),
    "new_tensor": (
        "new_tensor(Tensor self, Scalar data, *, ScalarType? dtype=None, Device? device=None, "
        "bool requires_grad=False) -> Tensor",
    ),
} | {
    name: (f"{name}(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",)
    for name in (
        *("bfloat16", "bool", "byte", "char", "cdouble", "cfloat", "chalf"),
        *("double", "float", "half", "int", "long", "short"),
    )
}


def _positional(*names: str, optional: tuple[str, ...] = ()) -> Signature:
    required = [Parameter(name, _POSITIONAL) for name in names]
    # An omitted argument of a C function has no value that could be filled in.
    return Signature((*required, *(Parameter(n, _POSITIONAL, None) for n in optional)))


def _variadic(name: str = "args") -> Signature:
    return Signature((Parameter(name, _VARARGS),))


# C functions that publish no signature.
_FUNCTION_SIGNATURES: dict[int, tuple[Signature, ...]] = {
    id(fn): signature
    for fn, signature in (
        (
            builtins.getattr,
            (_positional("object", "name"), _positional("object", "name", "default")),
        ),
        (builtins.max, (_variadic(),)),
        (builtins.min, (_variadic(),)),
        (
            builtins.slice,
            (
                _positional("stop"),
                _positional("start", "stop"),
                _positional("start", "stop", "step"),
            ),
        ),
        (
            builtins.range,
            (
                _positional("stop"),
                _positional("start", "stop"),
                _positional("start", "stop", "step"),
            ),
        ),
        (builtins.int, (_positional("x"),)),
        (builtins.float, (_positional("x"),)),
        (builtins.bool, (_positional("x"),)),
        (math.log, (_positional("x"), _positional("x", "base"))),
        (math.hypot, (_variadic("coordinates"),)),
        (torch._C._set_grad_enabled, (Signature((Parameter("enabled", _NORMAL),)),)),
        (
            torch.tensor,
            (
                Signature(
                    (
                        Parameter("data", _NORMAL),
                        Parameter("dtype", _KEYWORD, None),
                        Parameter("device", _KEYWORD, None),
                        Parameter("requires_grad", _KEYWORD, False),
                        Parameter("pin_memory", _KEYWORD, False),
                    )
                ),
            ),
        ),
        (
            torch.as_tensor,
            (
                Signature(
                    (
                        Parameter("data", _NORMAL),
                        Parameter("dtype", _NORMAL, None),
                        Parameter("device", _NORMAL, None),
                    )
                ),
            ),
        ),
    )
}


def signatures(fn: Callable[..., Any]) -> tuple[Signature, ...] | None:
    """The signatures of a function, one for each overload; None if they are unknown.

    `fn` may be any callable: a Python function, a C function of torch, an OpOverload or packet.
    """
    if isinstance(fn, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return _operator_signatures(fn)
    if (known := _FUNCTION_SIGNATURES.get(id(fn))) is not None:
        return known
    name = getattr(fn, "__name__", None)
    if isinstance(name, str) and getattr(torch.Tensor, name, None) is fn:
        return method_signatures(name)
    return _function_signatures(fn) if _is_anchored(fn) else _inspected(fn)


def _is_anchored(fn: Callable[..., Any]) -> bool:
    """Whether a cache may hold a function: a closure may hold a graph.

    Functions in modules of torch or the standard library live for ever.
    """
    found = qualified_name(fn)
    roots = ("torch", "_operator", "operator", "math", "builtins")
    return found is not None and found.partition(".")[0] in roots


@cache
def _operator_signatures(op: Any) -> tuple[Signature, ...]:
    if isinstance(op, torch._ops.OpOverload):
        return (schema_signature(op._schema),)
    found = (_schemas(op._qualified_op_name)) or [
        getattr(op, name)._schema for name in op.overloads()
    ]
    return tuple(schema_signature(schema) for schema in found)


@cache
def _function_signatures(fn: Callable[..., Any]) -> tuple[Signature, ...] | None:
    import torch._jit_internal
    import torch.jit._builtins

    # A boolean dispatch (F.max_pool2d) hides two functions with the same parameters behind *args.
    pair = torch._jit_internal.boolean_dispatched.get(fn)
    if pair is not None:
        return _function_signatures(pair["if_true"])
    if (found := _inspected(fn)) is not None and not _says_nothing(found[0]):
        return found
    name = torch.jit._builtins._find_builtin(fn)
    if name is None and getattr(torch, fn.__name__, None) is fn:
        name = f"aten::{fn.__name__}"
    schemas = _schemas(name) if name else []
    if schemas:
        return tuple(schema_signature(schema, function=True) for schema in schemas)
    return _inspected(fn) or _testing(fn)


@cache
def method_signatures(name: str) -> tuple[Signature, ...] | None:
    """The signatures of the Tensor method `name`, with `self` as first parameter.

    None if Tensor has no such method or its parameters are unknown.
    """
    if name in _METHOD_SCHEMAS:
        return tuple(schema_signature(torch._C.parse_schema(t)) for t in _METHOD_SCHEMAS[name])
    method = getattr(torch.Tensor, name, None)
    if not callable(method):
        return None
    found = _inspected(method)
    if found is not None and not _says_nothing(found[0]):
        return found
    plain = name[2:-2] if name.startswith("__") and name.endswith("__") else name
    for candidate in (name, plain):
        schemas = [s for s in _schemas(f"aten::{candidate}") if _has_self(s)]
        schemas = [s for s in schemas if not is_out_schema(s)]
        if schemas:
            return tuple(_self_first(schema_signature(schema)) for schema in schemas)
    return _with_self(found or _testing(method))


def _with_self(found: tuple[Signature, ...] | None) -> tuple[Signature, ...] | None:
    if not found or not found[0].parameters:
        return found
    first, *rest = found[0].parameters
    return (Signature((replace(first, name="self"), *rest)),)


def _says_nothing(signature: Signature) -> bool:
    """Whether it is (*args, **kwargs), possibly after self: a wrapper hides the parameters."""
    rest = [p.how for p in signature.parameters if p.name != "self"]
    return _VARKWARGS in rest and set(rest) <= {_VARARGS, _VARKWARGS}


def _has_self(schema: Any) -> bool:
    return any(a.name == "self" and str(a.type) == "Tensor" for a in schema.arguments)


def is_out_schema(schema: Any) -> bool:
    """Whether an overload writes to keyword-only arguments, which Python calls `out`."""
    return any(a.kwarg_only and a.alias_info and a.alias_info.is_write for a in schema.arguments)


def _self_first(signature: Signature) -> Signature:
    # x.where(condition, y) is aten.where(condition, x, y).
    order = sorted(signature.parameters, key=lambda p: p.name != "self")
    return Signature(tuple(order), signature.schema)


@cache
def _dispatched() -> frozenset[str]:
    return frozenset(torch._C._dispatch_get_all_op_names())


def aten_schemas(name: str) -> list[Any]:
    """The aten schemas with that name that the dispatcher has."""
    return _schemas(f"aten::{name}")


def _schemas(name: str) -> list[Any]:
    """The schemas of an operator ("aten::mean") in the dispatcher; TorchScript has more."""
    found: list[Any] = torch._C._jit_get_schemas_for_operator(name)
    known = _dispatched()

    def exists(schema: Any) -> bool:
        overload = schema.overload_name
        full = f"{schema.name}.{overload}" if overload else schema.name
        # The cached set does not contain libraries that were loaded later.
        return full in known or torch._C._dispatch_has_kernel(full)

    return [schema for schema in found if exists(schema)]


def schema_signature(schema: Any, *, function: bool = False) -> Signature:
    """The signature of a FunctionSchema.

    With `function`, `self` is called `input`, as in torch's Python functions.
    """
    parameters: list[Parameter] = []
    for argument in schema.arguments:
        name: str = argument.name
        how = _KEYWORD if argument.kwarg_only else _NORMAL
        kind = _kind(argument.real_type, argument.N)
        default = MISSING
        if argument.has_default_value():
            default = _default(kind, argument.default_value)
        name = "input" if function and name == "self" else name
        parameters.append(Parameter(name, how, default, kind))
    names = {parameter.name for parameter in parameters}
    if function and "device" in names and "layout" in names and "requires_grad" not in names:
        boolean = Kind("bool")
        parameters.append(Parameter("requires_grad", _KEYWORD, False, boolean))
    return Signature(tuple(parameters), schema)


def _default(kind: Kind, value: Any) -> object:
    """The default as a Python constant: schemas hold enumerations as numbers, and shared lists."""
    if isinstance(value, list):
        return tuple(value)
    if type(value) is int and kind.base in ("ScalarType", "Layout", "MemoryFormat"):
        return _ENUMERATIONS[kind.base].get(value, value)
    return value


# The numbers of c10's enumerations; schema defaults use a few of them.
_ENUMERATIONS: dict[str, dict[int, object]] = {
    "ScalarType": {
        3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32, 7: torch.float64,
        11: torch.bool, 15: torch.bfloat16,
    },
    "Layout": {0: torch.strided},
    "MemoryFormat": {
        0: torch.contiguous_format, 1: torch.preserve_format, 2: torch.channels_last,
        3: torch.channels_last_3d,
    },
}  # fmt: skip


def _kind(type_: Any, size: int | None) -> Kind:
    name = type_.kind()
    if name == "OptionalType":
        inner = _kind(type_.getElementType(), size)
        return Kind(inner.base, True, inner.element, inner.size)
    if name == "ListType":
        return Kind("list", False, _kind(type_.getElementType(), None), size)
    return Kind(_BASES.get(name, str(type_)))


_BASES = {
    "TensorType": "Tensor",
    "IntType": "int",
    "SymIntType": "SymInt",
    "FloatType": "float",
    "BoolType": "bool",
    "SymBoolType": "SymBool",
    "NumberType": "number",
    "ComplexType": "complex",
    "StringType": "str",
    "DeviceObjType": "Device",
    "ScalarTypeType": "ScalarType",
    "LayoutType": "Layout",
    "MemoryFormatType": "MemoryFormat",
    "GeneratorType": "Generator",
    "AnyType": "Any",
}


def _inspected(fn: Callable[..., Any]) -> tuple[Signature, ...] | None:
    try:
        found = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    return (_from_python(found),)


def _testing(fn: Callable[..., Any]) -> tuple[Signature, ...] | None:
    import torch.overrides

    lambda_ = torch.overrides.get_testing_overrides().get(fn)
    return None if lambda_ is None else _inspected(lambda_)


def _from_python(found: inspect.Signature) -> Signature:
    return Signature(
        tuple(
            Parameter(
                p.name, p.kind, MISSING if p.default is inspect.Parameter.empty else p.default
            )
            for p in found.parameters.values()
        )
    )
