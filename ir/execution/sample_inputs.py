"""Values for the inputs of a graph, made only from its types.

A `Sampler` makes a value of any type, with the dtype, sizes, strides, offset and device that the
type records, and numbers for its symbols. `sample_inputs(graph)` makes all inputs of a graph;
index tensors among them are in range for the ops that use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.dialects.builtin import ModuleOp

from xductor.ir.dialect.graph import GetAttrOp, GraphOp
from xductor.ir.dialect.types import (
    NoneType,
    ObjectType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
)
from xductor.ir.execution.index_ranges import Domain, domains
from xductor.ir.symbolic.symbol_values import NoSample, Number, number, symbol_values
from xductor.ir.text.resources import constant

#: The range of integers without a domain.
_SMALL = (-8, 8)
_MOST_ELEMENTS = 1 << 31
_INTEGERS = frozenset(
    getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
)


class Sampler:
    """Makes values of types, one after another, from one seed.

    - `symbols`: a number for each symbol in the types (`symbol_values` chooses them).
    - `special`: the share of elements that are special: NaN, infinities, signed zeros, denormals,
      the largest and smallest numbers; for integers the extremes of the dtype.

    The same seed and the same sequence of types give the same values.
    """

    def __init__(
        self, symbols: Mapping[str, Number] | None = None, *, seed: int = 0, special: float = 0.0
    ) -> None:
        self.symbols = dict(symbols or {})
        self.special = special
        self.generator = torch.Generator().manual_seed(seed)

    def value(self, type_: Any, domain: Domain | None = None, what: str = "a value") -> Any:
        """A value of a type; its integers lie in `domain`. `what` names it in errors.

        Raises NoSample for objects, for tensors that are not strided, for subclasses, for missing
        devices, and for types that no value has, such as sizes below zero.
        """
        try:
            return self._value(type_, domain, what)
        except NoSample:
            raise
        except (ArithmeticError, MemoryError, RuntimeError, TypeError, ValueError) as error:
            told = " ".join(str(error).splitlines()[:1])
            raise NoSample(f"{what} cannot be {_article(type_)}: {told}") from error

    def _value(self, type_: Any, domain: Domain | None, what: str) -> Any:
        if isinstance(type_, TensorType):
            return self.tensor(type_, domain, what)
        if isinstance(type_, SymIntType | SymFloatType | SymBoolType):
            found = number(type_.expr, self.symbols)
            kind = {SymIntType: int, SymFloatType: float, SymBoolType: bool}[type(type_)]
            return kind(found)
        if isinstance(type_, NoneType):
            return None
        if isinstance(type_, ObjectType) and type_.data == "torch.Generator":
            return torch.Generator().manual_seed(0)
        raise NoSample(f"{what} is {_article(type_)}, which cannot be made up")

    def tensor(
        self, type_: TensorType, domain: Domain | None = None, what: str = "a value"
    ) -> torch.Tensor:
        """A tensor of a type, with its strides and offset in the smallest storage that fits."""
        self._refuse(type_, what)
        size = [number(dim, self.symbols) for dim in type_.shape]
        stride = [number(step, self.symbols) for step in type_.stride]
        offset = number(type_.offset, self.symbols)
        negative = [dim for dim in size if dim < 0]
        if negative:
            given = ", ".join(f"{name} = {value}" for name, value in self.symbols.items())
            where = f" for {given}" if given else ""
            raise NoSample(f"{what} would have a size of {negative[0]}{where}")
        room = offset + 1
        if 0 not in size:
            room += sum((dim - 1) * step for dim, step in zip(size, stride, strict=True))
        if room > _MOST_ELEMENTS:
            raise NoSample(f"{what} would have {room} elements, which are too many to make up")
        with _disable_current_modes(), torch.no_grad():
            elements = self.elements(room, type_.dtype, domain, probability=not size)
            tensor = elements.to(type_.device).as_strided(size, stride, offset)
            # The bit is part of the type; the elements are random with or without it.
            tensor = tensor.conj() if "conj" in type_.data.flags else tensor
            return torch.ops.aten._neg_view(tensor) if "neg" in type_.data.flags else tensor

    def elements(
        self,
        count: int,
        dtype: torch.dtype,
        domain: Domain | None = None,
        *,
        probability: bool = False,
    ) -> torch.Tensor:
        """`count` numbers of a dtype, on the CPU.

        Floats are normal, or between 0 and 1 for a `probability`; integers are small, or lie in
        `domain`. Raises NoSample for dtypes without numbers.
        """
        if dtype.is_floating_point or dtype.is_complex:
            return self._floats(count, dtype, probability)
        if dtype == torch.bool:
            return torch.randint(0, 2, (count,), generator=self.generator).to(dtype)
        return self._integers(count, dtype, domain)

    def _floats(self, count: int, dtype: torch.dtype, probability: bool) -> torch.Tensor:
        if dtype == getattr(torch, "float4_e2m1fn_x2", None):
            bits = torch.randint(0, 256, (count,), generator=self.generator).to(torch.uint8)
            return bits.view(dtype)
        draw = torch.rand if probability else torch.randn
        wide = torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32
        made = draw(2 * count if dtype.is_complex else count, generator=self.generator, dtype=wide)
        real = dtype.to_real() if dtype.is_complex else dtype
        if self.special and not probability:
            made = self._peppered(made, special_floats(real))
        if not dtype.is_complex:
            return made.to(dtype)
        return torch.view_as_complex(made.view(count, 2)).to(dtype)

    def _integers(self, count: int, dtype: torch.dtype, domain: Domain | None) -> torch.Tensor:
        if dtype not in _INTEGERS:
            raise NoSample(f"no numbers are made up for the dtype {dtype}")
        limits = torch.iinfo(dtype)
        low, high = domain or Domain(None, None)
        least = limits.min if low is None else max(low, limits.min)
        most = limits.max if high is None else min(high, limits.max)
        first = max(_SMALL[0] if low is None else low, least)
        last = min(max(_SMALL[1], first) if high is None else high, most, 2**63 - 2)
        if first > last:
            raise NoSample(f"no integer is in the domain [{low}, {high}] for {dtype}")
        made = torch.randint(first, last + 1, (count,), generator=self.generator)
        if self.special:
            extremes = [least, most] if most < 2**63 else [least, 2**63 - 1]
            made = self._peppered(made, torch.tensor([*extremes, first, last]))
        return made.to(dtype)

    def _peppered(self, values: torch.Tensor, special: torch.Tensor) -> torch.Tensor:
        """`values`, some of them replaced by special ones."""
        shape = values.shape
        chosen = torch.rand(shape, generator=self.generator) < self.special
        picks = torch.randint(0, len(special), shape, generator=self.generator)
        return torch.where(chosen, special.to(values.dtype)[picks], values)

    def _refuse(self, type_: TensorType, what: str) -> None:
        fields = type_.data
        if fields.layout != "strided":
            raise NoSample(f"{what} has the layout {fields.layout}; only strided ones are made up")
        if fields.subclass:
            raise NoSample(f"{what} is a {fields.subclass}; only plain tensors are made up")
        if fields.device.type == "meta":
            raise NoSample(f"{what} lies on meta, where tensors have no elements")
        if fields.device.type == "cuda" and not torch.cuda.is_available():
            raise NoSample(f"{what} lies on {fields.device}, and this machine has no CUDA device")


def special_floats(dtype: torch.dtype) -> torch.Tensor:
    """The special numbers of a floating dtype, as float64.

    NaN, infinities, signed zeros, the smallest denormal and normal numbers, the largest ones, one.
    """
    info = torch.finfo(dtype)
    denormal = getattr(info, "smallest_subnormal", info.tiny / 2)
    values = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, denormal, -denormal]
    return torch.tensor([*values, info.tiny, info.max, info.min, 1.0, -1.0], dtype=torch.float64)


def sample_inputs(
    graph: GraphOp,
    *,
    seed: int = 0,
    symbols: Mapping[str, Number] | None = None,
    special: float = 0.0,
) -> list[Any]:
    """A value for each argument of a graph.

    - `symbols`: values of some symbols; the others have their hints.
    - `special`: the share of special elements, as in `Sampler`.

    Raises NoSample if an input cannot be made.
    """
    values = symbol_values(graph.symbols.data, symbols)
    sampler = Sampler(values, seed=seed, special=special)
    needed = domains(graph, values)
    return [
        sampler.value(argument.type, needed.get(argument), f"input %{name}")
        for argument, name in zip(graph.arguments, graph.argument_names, strict=True)
    ]


def sample_attributes(
    module: ModuleOp, *, seed: int = 0, symbols: Mapping[str, Number] | None = None
) -> dict[str, Any]:
    """A value for each attribute that the graphs of a module read, by path.

    Attributes of a graph that was just lowered, and those whose elements the text holds, already
    exist and are left out.
    """
    values: dict[str, Any] = {}
    for graph in module.ops:
        if not isinstance(graph, GraphOp) or graph.is_declaration or graph.live is not None:
            continue
        chosen = symbol_values(graph.symbols.data, symbols)
        sampler, needed = Sampler(chosen, seed=seed + 1), domains(graph, chosen)
        for op in graph.block.ops:
            if isinstance(op, GetAttrOp) and op.results and op.path not in values:
                if constant(graph, op) is not None:
                    continue
                result = op.results[0]
                what = f"attribute '{op.path}'"
                values[op.path] = sampler.value(result.type, needed.get(result), what)
    return values


def input_types(graph: GraphOp) -> Sequence[Any]:
    """The types of a graph's arguments in order; graphs with equal types take the same inputs."""
    return [argument.type for argument in graph.arguments]


def _article(type_: Any) -> str:
    return f"an object of class {type_.data}" if isinstance(type_, ObjectType) else f"a {type_}"


__all__ = [
    "NoSample",
    "Sampler",
    "input_types",
    "sample_attributes",
    "sample_inputs",
    "special_floats",
]
