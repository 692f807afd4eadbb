"""Runs ops that may be computed at compile time and whose results are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.ir import OpResult, SSAValue

from xductor.ir import SchemaOp, SymExpr, TensorType, TorchOp
from xductor.ir.dialect.python_calls import CallArguments, NoPythonValue
from xductor.ir.inference.ambient_modes import after_autograd
from xductor.ir.inference.value_types import TypeReader
from xductor.transforms.freezing.foldable import PRODUCTS, Foldable

#: What a kernel raises for operands that it cannot take; eager raises it when the graph runs.
_REFUSALS = (NoPythonValue, RuntimeError, ValueError, TypeError, ArithmeticError, LookupError)


def _no_symbol(expression: SymExpr) -> Any:
    raise NoPythonValue(f"{expression} is known when the graph runs")


def _no_subgraph(name: str) -> Any:
    raise NoPythonValue(f"subgraph @{name}")


_ARGUMENTS = CallArguments(_no_symbol, _no_subgraph)


class Computed:
    """The values of the ops of one graph that were computed.

    - `ops`: in order. Ops that a kernel refused, and ops that depend on them, are not among them.
    """

    def __init__(self, foldable: Foldable) -> None:
        self.foldable = foldable
        self.ops: list[SchemaOp] = []
        self._tensors = dict(foldable.tensors)
        self._types = TypeReader("post_grad")
        self._is_done: set[TorchOp] = set()
        wanted = self._wanted()
        if wanted:
            ambient = foldable.graph.ambient.data
            with _disable_current_modes(), after_autograd(ambient), torch.no_grad():
                for op in wanted:
                    self._run(op)

    def read_elsewhere(self) -> Iterator[tuple[OpResult, torch.Tensor]]:
        """The results that ops outside of them read, with their values, in order."""
        for op in self.ops:
            for result in op.results:
                if result in self._tensors and self._is_held(result, self._is_done):
                    yield result, self._tensors[result]

    def _wanted(self) -> list[SchemaOp]:
        """The ops that have to run for the results that other ops read."""
        foldable = set(self.foldable.ops)
        wanted: set[Any] = set()
        for op in reversed(self.foldable.ops):
            if any(
                self._is_held(result, foldable)
                or any(use.operation in wanted for use in result.uses)
                for result in op.results
            ):
                wanted.add(op)
        return [op for op in self.foldable.ops if op in wanted]

    def _is_held(self, result: OpResult, computed: set[Any]) -> bool:
        """Whether the graph has to hold a result once `computed` is gone."""
        readers = [use.operation for use in result.uses if use.operation not in computed]
        if self.foldable.sources[result]:
            return bool(readers)
        op: Any = result.op
        if self.foldable.is_constructor(op):
            return False
        return any(reader.name in PRODUCTS for reader in readers)

    def _run(self, op: SchemaOp) -> None:
        operands: list[Any] = []
        for operand in op._operands:
            if operand not in self._tensors:
                return
            operands.append(self._tensors[operand])
        try:
            positional, keywords = _ARGUMENTS.of(type(op), op.args.data, operands)
            found = op.target(*positional, **keywords)
            values = list(found) if isinstance(found, tuple | list) else [found]
            made = self._as_typed(op, values)
        except _REFUSALS:
            return
        if made is None:
            return
        self._tensors.update(made)
        self.ops.append(op)
        self._is_done.add(op)
        for operand in op._operands:
            self._forget_if_read(operand)

    def _as_typed(self, op: SchemaOp, values: list[Any]) -> dict[SSAValue, torch.Tensor] | None:
        """The results that are read, in the layouts of their types; None if one cannot be laid out
        so."""
        if len(values) != len(op.results):
            return None
        made: dict[SSAValue, torch.Tensor] = {}
        for result, value in zip(op.results, values, strict=True):
            if result.first_use is None:
                continue
            tensor = self._laid_out(value, result.type)
            if tensor is None:
                return None
            made[result] = tensor
        return made

    def _laid_out(self, value: Any, type_: Any) -> torch.Tensor | None:
        """A tensor in the layout of its type; kernels may choose others than their shape rules."""
        if not isinstance(value, torch.Tensor):
            return None
        found = self._types.type_of(value)
        if found == type_:
            return value
        if type(found) is not TensorType or _but_layout(found) != _but_layout(type_):
            return None
        if type_.offset != 0:
            return None
        made = torch.empty_strided(
            type_.shape, type_.stride, dtype=type_.dtype, device=value.device
        )
        return made.copy_(value)

    def _forget_if_read(self, value: SSAValue) -> None:
        """Free a value once all ops that read it were computed."""
        if all(use.operation in self._is_done for use in value.uses):
            self._tensors.pop(value, None)


def _but_layout(type_: TensorType) -> tuple[Any, ...]:
    fields = type_.data
    return fields.dtype, fields.shape, fields.device, fields.layout, fields.subclass, fields.flags


__all__ = ["Computed"]
