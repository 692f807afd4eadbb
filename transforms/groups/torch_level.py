"""What the group fusions before autograd share: torch-level calls read as operators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.ir import SSAValue

from xductor.ir import ArgsAttr, Facts, TorchOp
from xductor.ir.dialect.arguments import leaves
from xductor.ir.functions.torch_calls import AtenCall, aten_call, aten_name
from xductor.transforms.groups.forms import Forms
from xductor.transforms.groups.group_fusion import Group, GroupFusion
from xductor.transforms.groups.stacking import TORCH, Stacking
from xductor.transforms.rewriting.handles import value_handle


class TorchGroup(Group):
    """A group of calls whose arguments are asked for by their position in the schema."""

    def __init__(self, ops: Sequence[TorchOp], stacking: Stacking, facts: Facts) -> None:
        super().__init__(ops, stacking, facts)
        self.calls = [call for op in ops if (call := aten_call(op)) is not None]

    def operands(self, place: int) -> list[Any]:
        return [self.handle(call.items[place]) for call in self.calls]

    def handle(self, item: Any) -> Any:
        """An argument as the op functions take it."""
        return value_handle(item, self._facts) if isinstance(item, SSAValue) else item


@dataclass(frozen=True)
class TorchLevelFusion(GroupFusion):
    """A fusion before autograd of the calls of some operators, however they are spelled.

    An in-place call is a different operator; a call with `out=` is left alone.
    """

    stage = "pre_grad"
    stacking = TORCH
    operators: ClassVar[frozenset[str]]

    def kind(self, op: Any) -> str:
        return aten_name(op)

    def form(self, op: Any, forms: Forms) -> Hashable | None:
        call = aten_call(op)
        if call is None or call.name not in self.operators:
            return None
        result = self.result_form(op.results[0], forms)
        found = None if result is None else self.form_of(call, forms)
        return None if found is None else (result, found, forms.gets_gradient(op.results[0]))

    def result_form(self, result: SSAValue, forms: Forms) -> Hashable | None:
        """What the results of a group have in common."""
        return forms.tensor(result)

    @abstractmethod
    def form_of(self, call: AtenCall, forms: Forms) -> Hashable | None:
        """What calls of a group share besides names and results; None for one that joins none."""

    def group_of(self, ops: Sequence[TorchOp], facts: Facts) -> TorchGroup:
        return TorchGroup(ops, self.stacking, facts)


def constants(items: Sequence[Any]) -> Hashable | None:
    """Arguments by which calls are compared, bit for bit; None if a value stands in a list."""
    if any(isinstance(leaf, SSAValue) for leaf in leaves(tuple(items))):
        return None
    return ArgsAttr(tuple(items))


__all__ = ["TorchGroup", "TorchLevelFusion", "constants"]
