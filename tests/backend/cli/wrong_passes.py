"""Passes that are wrong on purpose, for the reducer to find out where."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import TensorType, TorchOp
from xductor.transforms import Stage, TypedPass, graphs_of
from xductor.transforms.passes.debug_counters import should_apply


def made_by(value: SSAValue, name: str) -> TorchOp | None:
    op = value.op if isinstance(value, OpResult) else None
    return op if isinstance(op, TorchOp) and op.name == name else None


class WrongPass(TypedPass):
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = "none"

    def rewrite(self, module: ModuleOp) -> int:
        return sum(
            self.apply_to(op)
            for graph in graphs_of(module)
            for op in graph.block.ops
            if isinstance(op, TorchOp) and self.gate(op) and should_apply(self.name)
        )

    def gate(self, op: TorchOp) -> bool:
        """Whether an op is the gelu that is scaled by the sigmoid of a mean."""
        if op.name != "aten.mul.Tensor" or len(op.operands) != 2:
            return False
        scaled, gate = op.operands
        sigmoid = made_by(gate, "aten.sigmoid.default")
        return (
            sigmoid is not None
            and made_by(sigmoid.operands[0], "aten.mean.dim") is not None
            and made_by(scaled, "aten.gelu.default") is not None
        )

    @abstractmethod
    def apply_to(self, op: TorchOp) -> int:
        """Change the graph at the gelu that is scaled; returns the number of applications."""


@dataclass(frozen=True)
class ForgetsGate(WrongPass):
    """Leaves the gate out: another value, the same type."""

    name: ClassVar[str] = "forgets_gate"

    def apply_to(self, op: TorchOp) -> int:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.detach()
        return 1


@dataclass(frozen=True)
class WidensGate(WrongPass):
    """Records another dtype than the op gives."""

    name: ClassVar[str] = "widens_gate"

    def apply_to(self, op: TorchOp) -> int:
        type_ = op.results[0].type
        assert isinstance(type_, TensorType)
        op.results[0]._type = TensorType.get(torch.float64, type_.shape, device=type_.device)
        return 1


@dataclass(frozen=True)
class StumblesOverGate(WrongPass):
    """Raises."""

    name: ClassVar[str] = "stumbles_over_gate"

    def apply_to(self, op: TorchOp) -> int:
        raise KeyError(op.name)
