"""Types of Python values: maps a FakeTensor, a SymInt, a number or None to a type of the IR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.immutable_collections import immutable_dict, immutable_list

from xductor.ir.dialect.results import LEAF, Structure
from xductor.ir.dialect.types import (
    NONE,
    Dim,
    ObjectType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorFields,
    TensorType,
)
from xductor.ir.symbolic.expressions import SymExpr, from_sympy


def structure_of(value: Any) -> Structure:
    """The nesting of a tuple or list value; `"*"` for anything else."""
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Tensor):
        return tuple(structure_of(part) for part in value)
    return LEAF


def leaves_of(value: Any) -> Iterator[Any]:
    """The leaves of a value, in the order of its structure."""
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves_of(part)
    else:
        yield value


_FROZEN: dict[type, type] = {immutable_dict: dict, immutable_list: list}

#: The recorded value of a call that enters a mode (`_enter_autocast`).
MODE = object()


@dataclass(frozen=True)
class OpaqueInstance:
    """The value of a call of a class for which none was recorded: an instance of `kind`."""

    kind: type[Any]


class TypeReader:
    """Reads the types of the values of one graph; remembers the symbols in them.

    `requires_grad` is recorded only before autograd (`stage == "pre_grad"`): afterwards it is not a
    property of the graph.
    """

    def __init__(self, stage: str) -> None:
        self.with_grad = stage == "pre_grad"
        self.symbols: set[str] = set()
        self.shape_env: Any = None
        self.fake_mode: Any = None
        self.live_numbers: dict[SymExpr, Any] = {}
        """For each expression that was read, a number that has it."""
        self.leaves: dict[torch.device, torch.Tensor] = {}
        """For each device, if one was asked for, a fake tensor that requires grad."""
        self._expressions: dict[Any, Dim] = {}
        self._tensors: dict[tuple[Any, ...], TensorType] = {}

    def type_of(self, value: Any) -> Any:
        """The type of one value.

        Types of tensors keep dtype, sizes, strides, device, offset, layout and conj/neg bits; types
        of numbers keep the value or symbolic expression; other types keep the name of the class.
        """
        if type(value) is FakeTensor or isinstance(value, torch.Tensor):
            return self.tensor_type(value)
        if value is None:
            return NONE
        if value is MODE:
            return ObjectType("mode")
        if type(value) is OpaqueInstance:
            return ObjectType(f"{value.kind.__module__}.{value.kind.__qualname__}")
        kind = type(value)
        if kind is bool:
            return SymBoolType(from_sympy(value))
        if kind is int:
            return SymIntType(value)
        if kind is float:
            return SymFloatType(from_sympy(value))
        if isinstance(value, torch.SymInt):
            return SymIntType(self.dim(value))
        if isinstance(value, torch.SymFloat):
            return SymFloatType(self.dim(value))
        if isinstance(value, torch.SymBool):
            return SymBoolType(self.dim(value))
        # FX passes dicts and lists to calls as its own frozen classes; they count as the originals.
        named = _FROZEN.get(kind, kind)
        return ObjectType(f"{named.__module__}.{named.__qualname__}")

    def dim(self, value: Any) -> Dim:
        """A size, stride or offset: an int, or the expression after the ShapeEnv's replacements."""
        if type(value) is int:
            return value
        node = value.node
        expr = getattr(node, "expr", None)
        if expr is None:
            return nested_size(node)
        known = self._expressions.get(expr)
        if known is None:
            known = self._expressions[expr] = from_sympy(expr)
            if type(known) is SymExpr:
                self.symbols |= known.symbols
                self.live_numbers.setdefault(known, value)
            if self.shape_env is None:
                self.shape_env = node.shape_env
        return known

    def tensor_type(self, value: torch.Tensor) -> TensorType:
        """The type of a tensor."""
        fake = type(value) is FakeTensor
        if fake and self.fake_mode is None:
            self.fake_mode = value.fake_mode
            self.shape_env = self.shape_env or value.fake_mode.shape_env
        if value.layout is not torch.strided:
            return self._sparse(value)
        shape: tuple[Any, ...] = value.shape
        stride: tuple[Any, ...] = value.stride()
        offset: Any = value.storage_offset()
        if not fake or value._has_symbolic_sizes_strides:
            dim = self.dim
            shape = tuple([dim(size) for size in shape])
            stride = tuple([dim(step) for step in stride])
            offset = dim(offset)
        dtype = value.dtype
        if dtype.is_complex or value.is_neg():
            flags = self._flags(value)
        elif self.with_grad:
            flags = _OF_AUTOGRAD[value.requires_grad, _is_parameter(value)]
        else:
            flags = ()
        fields = (
            dtype,
            shape,
            stride,
            value.fake_device if fake else value.device,
            offset,
            flags,
            "strided",
            "" if fake else _subclass(value),
        )
        known = self._tensors.get(fields)
        if known is None:
            # A torch.Size is a tuple, but of another class.
            exact = TensorFields(dtype, tuple(shape), *fields[2:])
            known = self._tensors[fields] = TensorType(exact)
        return known

    def _sparse(self, value: torch.Tensor) -> TensorType:
        layout = str(value.layout).removeprefix("torch.")
        shape = tuple(self.dim(size) for size in value.shape)
        return TensorType.get(
            value.dtype,
            shape,
            (),
            value.device,
            flags=self._flags(value),
            layout=layout,
            subclass=_subclass(value),
        )

    def _flags(self, value: torch.Tensor) -> tuple[str, ...]:
        flags: tuple[str, ...] = ()
        if value.dtype.is_complex and value.is_conj():
            flags += ("conj",)
        if value.is_neg():
            flags += ("neg",)
        if self.with_grad:
            flags += _OF_AUTOGRAD[value.requires_grad, _is_parameter(value)]
        return flags


#: The flags of a tensor that requires a gradient or not, and is a parameter or not.
_OF_AUTOGRAD: dict[tuple[bool, bool], tuple[str, ...]] = {
    (False, False): (),
    (True, False): ("requires_grad",),
    (False, True): ("parameter",),
    (True, True): ("requires_grad", "parameter"),
}


def _is_parameter(value: torch.Tensor) -> bool:
    if type(value) is FakeTensor:  # what `isinstance` asks of a tensor, but it takes much longer
        return bool(getattr(value, "_is_param", False))
    return isinstance(value, torch.nn.Parameter)


def _subclass(value: torch.Tensor) -> str:
    kind = type(value)
    if kind in (torch.Tensor, torch.nn.Parameter, FakeTensor) or isinstance(value, FakeTensor):
        return ""
    return f"{kind.__module__}.{kind.__qualname__}"


def nested_size(node: Any) -> Dim:
    """A nested tensor's ragged size as its name (`j0`), since it has no sympy expression."""
    from xductor.ir.symbolic.expressions import parse_expr

    return parse_expr(str(node))
