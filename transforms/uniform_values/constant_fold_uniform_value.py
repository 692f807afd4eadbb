"""`constant_fold_uniform_value`: replaces tensors whose elements are all equal by `full`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    InferenceEnv,
    NotInferred,
    SchemaOp,
    TensorType,
    infer_call,
    op_class_by_name,
)
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.inference.infer import NotApplicable
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.editing.replacement import Replacement, known_equal
from xductor.transforms.editing.symint_scope import SymintScope
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.uniform_values import uniform_values
from xductor.transforms.uniform_values.uniform_values import FULL, UNIFORM_VALUES, UniformValues

# Dtypes that `full`, or Inductor's code for it, does not support.
_NOT_FILLED = frozenset(
    (torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.complex32)
)  # fmt: skip


@dataclass(frozen=True)
class ConstantFoldUniformValue(TypedPass):
    """A tensor whose elements all have one known value becomes a `full` with all its options.

    `uniform_values` finds these tensors. The tensor must be contiguous, and its sizes must be
    constants or available at that point of the graph. A tensor that is written to, or that shares
    storage with an output, stays. Constants that end up unused are erased.

    Under `fast`, `x * 0` is folded too, as in Inductor, although `x` may be infinite or NaN. For
    integers that is exact, and happens under every policy.
    """

    name = "constant_fold_uniform_value"
    stage = "joint"
    inductor = "joint_graph.py:constant_fold_uniform_value"
    numerics = EXACT
    preserves = frozenset((MEMORY, ORDER, *UNIFORM_VALUES))

    policy: Literal["strict", "default", "fast"] = "default"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there is a constructor other than a spelled-out `full`, or an op on constants."""
        return any(
            not _is_spelled_out(node) for node in uniform_values.constructor_nodes(graph)
        ) or any(whole for _, whole in uniform_values.uniform_uses(graph))

    def rewrite(self, module: ModuleOp) -> int:
        products = self.policy == "fast"
        return sum(_Folding(graph, products).run() for graph in graphs_of(module))


def _is_spelled_out(node: Any) -> bool:
    """Whether an FX node is a `full` in the form that this pass creates."""
    return node.target is torch.ops.aten.full.default and all(
        node.kwargs.get(name) is not None for name in ("dtype", "layout", "device", "pin_memory")
    )


class _Folding:
    """The pass on one graph."""

    def __init__(self, graph: GraphOp, zero_products: bool) -> None:
        self.graph = graph
        self.replacement = Replacement(graph)
        self.uniform = UniformValues.of(self.replacement.analyses, zero_products=zero_products)

    @cached_property
    def scope(self) -> SymintScope:
        return SymintScope(self.graph, self.replacement.analyses.order.key)

    def run(self) -> int:
        if not self.uniform:
            return 0
        folded = 0
        with InferenceEnv.of(self.graph) as env:
            for op in self.uniform.calls():
                if self.wants_folding(op):
                    folded += self.fold(op, env)
        if folded:
            self.uniform.erase_unread()
        return folded

    def wants_folding(self, op: SchemaOp) -> bool:
        if len(op.results) != 1 or op.results[0] not in self.uniform:
            return False
        if op.results[0].first_use is None:
            return False
        return op.name != FULL or any(
            op.argument(name) is None for name in ("dtype", "layout", "device", "pin_memory")
        )

    def fold(self, op: SchemaOp, env: InferenceEnv) -> bool:
        """Replace an op by a `full`, if it has the same result."""
        result = op.results[0]
        type_ = result._type
        assert type(type_) is TensorType
        made = self.full(op, type_, env) if self.can_be_filled(type_) else None
        if made is None:
            return False
        may_part = self.replacement.may_replace(op, made.results[0])
        if not may_part or not should_apply(ConstantFoldUniformValue.name):
            made.erase()
            return False
        self.replacement.editor.insert(made, op)
        self.uniform.stands_for(made.results[0], result)
        self.replacement.replace(op, made.results[0])
        return True

    def can_be_filled(self, type_: TensorType) -> bool:
        return (
            type_.dtype not in _NOT_FILLED
            and type_.device.type != "meta"
            and known_equal(type_.stride, contiguous_strides(type_.shape), self.replacement.facts)
        )

    def full(self, op: SchemaOp, type_: TensorType, env: InferenceEnv) -> SchemaOp | None:
        """The call of `full` that replaces an op; None if a size is not available."""
        operands: list[Any] = []
        sizes = self.scope.sizes(type_.shape, op, operands)
        if sizes is None:
            return None
        pinned = "pin_memory" in op.table.index and op.argument("pin_memory") is True
        fill = op.argument("fill_value") if op.name == FULL else self.uniform.number(op.results[0])
        args = ArgsAttr((sizes, fill, type_.dtype, torch.strided, type_.device, pinned))
        cls: Any = op_class_by_name(FULL)
        made_type = TensorType.get(type_.dtype, type_.shape, device=type_.device)
        if operands:
            try:
                found, _ = infer_call(cls, args, [value.type for value in operands], env)
            except (NotInferred, NotApplicable):
                return None
            (made_type,) = found.types
        node = op.node.inherited(op.node.names, op.node.node)
        return cls.make(args, operands, [made_type], node)
