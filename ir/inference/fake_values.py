"""Fake values rebuilt from types, on which meta kernels are run.

They live in a separate environment (a ShapeEnv made from the symbol table, and a fake mode over
it), so that nothing a kernel learns about symbols reaches the user's ShapeEnv.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from xductor.ir.dialect.types import (
    Dim,
    NoneType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
)
from xductor.ir.symbolic.expressions import SymExpr, to_sympy
from xductor.ir.symbolic.shape_environments import fresh_shape_env
from xductor.ir.symbolic.symbols import SymbolTable

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

_SCALARS = (SymIntType, SymFloatType, SymBoolType)


class NoFakeValue(ValueError):
    """No fake value can be made of a type; the message says why."""


class FakeEnvironment:
    """A fresh ShapeEnv with the symbols of a table, a fake mode over it, and symbolic numbers."""

    def __init__(
        self,
        shape_env: ShapeEnv,
        symbols: Mapping[str, torch.SymInt | torch.SymFloat],
    ) -> None:
        self.shape_env = shape_env
        self.mode = FakeTensorMode(shape_env=shape_env)
        # Each call is made only once, so filling the mode's own cache would not pay.
        self.mode.cache_enabled = False
        self.symbols = symbols
        self._sympy = {name: value.node.expr for name, value in symbols.items()}
        self._numbers: dict[SymExpr, Any] = {}

    @classmethod
    def from_table(cls, table: SymbolTable, known: ShapeEnv | None = None) -> Self:
        """An environment for a graph's symbols.

        `known` is the live ShapeEnv from which the table was read, if it still exists: its guards
        and asserts over these symbols become facts of the new environment. It is only read.
        """
        shape_env, symbols = fresh_shape_env(table)
        if known is not None:
            _copy_axioms(known, shape_env, {value.node.expr for value in symbols.values()})
        return cls(shape_env, symbols)

    def number(self, value: Dim) -> Any:
        """A size or another number: an int, float or bool if known, else a symbolic one.

        Raises ExpressionError for a symbol that is not in the table.
        """
        if type(value) is not SymExpr:
            return value
        made = self._numbers.get(value)
        if made is None:
            made = self._numbers[value] = self._number(value)
        return made

    def _number(self, value: SymExpr) -> Any:
        if value.value is not None:
            return value.value
        found = self.symbols.get(value.text)
        if found is not None:
            return found
        expr: Any = to_sympy(value, self._sympy)
        env = self.shape_env
        if expr.is_Boolean or expr.is_Relational:
            return env.create_symboolnode(expr)
        if expr.is_number:
            return int(expr) if expr.is_Integer else float(expr)
        if expr.is_integer:
            return env.create_symintnode(expr, hint=_hint(expr, env, int))
        return env.create_symfloatnode(expr, hint=_hint(expr, env, float))


def _hint(expr: Any, env: ShapeEnv, kind: type[int | float]) -> Any:
    from xductor.ir.symbolic.shape_environments import backed_values

    known = expr.xreplace(backed_values(env))
    return None if known.free_symbols else kind(known)


def _copy_axioms(source: ShapeEnv, target: ShapeEnv, symbols: set[Any]) -> None:
    target.guards.extend(g for g in source.guards if g.expr.free_symbols <= symbols)
    for symbol, asserts in source.deferred_runtime_asserts.items():
        kept = [a for a in asserts if a.expr.free_symbols <= symbols]
        if symbol in symbols and kept:
            target.deferred_runtime_asserts[symbol] = kept
            target.num_deferred_runtime_asserts += len(kept)
    target.divisible.update({e: None for e in source.divisible if e.free_symbols <= symbols})


def fake_value(
    type_: Any, env: FakeEnvironment, storage: dict[torch.dtype, torch.Tensor] | None = None
) -> Any:
    """A value of a type: a FakeTensor, a (symbolic) number or None.

    - `env`: the environment of the value.
    - `storage`: given for tensors that share one storage, the same dict for each of them.

    A tensor has exactly the type's dtype, sizes, strides, offset (in elements), device, conj and
    neg bits and requires_grad; its device need not exist here. A tensor that requires grad and is
    not a parameter is not a leaf, so it may be written to; on a device that does not exist here it
    is a leaf, and autograd must not see it (`device_exists`).

    Raises NoFakeValue for objects, layouts that are not strided, and tensor subclasses.
    """
    if isinstance(type_, TensorType):
        return _fake_tensor(type_, env, storage)
    if isinstance(type_, _SCALARS):
        return env.number(type_.expr)
    if isinstance(type_, NoneType):
        return None
    raise NoFakeValue(f"a value of type {type_}")


def device_exists(device: torch.device) -> bool:
    """Whether this process has the device.

    Building an autograd graph over (even fake) tensors asks their device for its stream; if there
    is no such device, the process aborts.
    """
    if device.type in ("cpu", "meta"):
        return True
    backend = getattr(torch, device.type, None)
    if backend is None or not backend.is_available():
        return False
    count = getattr(backend, "device_count", None)
    return device.index is None or count is None or device.index < count()


#: The layout of weights that oneDNN has packed: fake kernels ask for their sizes alone.
PACKED = "_mkldnn"


def _stand_in(type_: TensorType, env: FakeEnvironment) -> torch.Tensor:
    """A fake tensor for a packed one; it has the strides that PyTorch gives its own stand-ins."""
    shape = [env.number(size) for size in type_.shape]
    stride = [int(not place) for place in range(len(shape))]
    elem = torch.empty_strided(shape, stride, dtype=type_.dtype, device="meta")
    return FakeTensor(env.mode, elem, type_.device)


def _fake_tensor(
    type_: TensorType, env: FakeEnvironment, storage: dict[torch.dtype, torch.Tensor] | None
) -> torch.Tensor:
    fields = type_.data
    if fields.layout == PACKED:
        return _stand_in(type_, env)
    if fields.layout != "strided":
        raise NoFakeValue(f"layout {fields.layout}")
    if fields.subclass:
        raise NoFakeValue(f"tensor subclass {fields.subclass}")
    shape = [env.number(size) for size in fields.shape]
    stride = [env.number(step) for step in fields.stride]
    offset = env.number(fields.offset)
    with torch._C._DisableTorchDispatch(), torch._C._DisableAutocast(), torch.no_grad():
        base = None if storage is None else storage.get(fields.dtype)
        if base is None:
            elem = torch.empty_strided(shape, stride, dtype=fields.dtype, device="meta")
            if storage is not None:
                storage[fields.dtype] = elem
            if type(offset) is not int or offset:
                elem = elem.as_strided(shape, stride, offset)
        else:
            elem = base.as_strided(shape, stride, offset)
    made: torch.Tensor = FakeTensor(env.mode, elem, fields.device)
    flags = fields.flags
    if flags:
        if "conj" in flags:
            torch._C._set_conj(made, True)
        if "neg" in flags:
            torch._C._set_neg(made, True)
        if "requires_grad" in flags:
            is_leaf = "parameter" in flags or not device_exists(fields.device)
            made = made.requires_grad_() if is_leaf else computed(made, env.mode)
        if "parameter" in flags:
            made._is_param = True
    return made


class _Computed(torch.autograd.Function):
    """Makes a tensor look computed from one that requires grad, without touching its geometry."""

    @staticmethod
    def forward(ctx: Any, source: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(value)
        return value

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, gradients[0]


def leaf_with_grad(device: torch.device, mode: FakeTensorMode) -> torch.Tensor:
    """A fake tensor that requires grad, for others to be computed from."""
    with torch._C._DisableTorchDispatch():
        elem = torch.empty((), device="meta")
    return FakeTensor(mode, elem, device).requires_grad_()


def computed(
    value: torch.Tensor, mode: FakeTensorMode, source: torch.Tensor | None = None
) -> torch.Tensor:
    """A fake tensor as one that was computed from another that requires grad: no leaf.

    - `source`: the other one, on the same device (`leaf_with_grad`); without it one is made.
    """
    if source is None:
        source = leaf_with_grad(value.device, mode)
    with torch.enable_grad():
        return _Computed.apply(source, value)


__all__ = [
    "FakeEnvironment",
    "NoFakeValue",
    "computed",
    "device_exists",
    "fake_value",
    "leaf_with_grad",
]
