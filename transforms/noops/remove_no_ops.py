"""`remove_no_ops`: removes additions of zeros and multiplications by ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    InferenceEnv,
    NotInferred,
    Ref,
    SchemaOp,
    TensorType,
    infer_call,
    op_class_by_name,
)
from xductor.ir.inference.infer import NotApplicable
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.editing.replacement import Replacement, same_meta
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.uniform_values.uniform_values import (
    UNIFORM_VALUES,
    UniformValues,
    uniform_uses,
)

_CONVERT = "prims.convert_element_type.default"


class _Neutral(NamedTuple):
    """An operator's neutral element.

    - `number`: the element; for `x + 0.0` the sign of the zero matters, see `negative_zero`.
    - `either`: whether the element may be the left operand too.
    - `negative_zero`: for a zero, whether only the negative zero is neutral (True) or only the
      positive one (False); None if the element is not zero.
    """

    number: int
    either: bool
    negative_zero: bool | None = None


_NEUTRAL: Mapping[str, _Neutral] = {
    "aten.add.Tensor": _Neutral(0, either=True, negative_zero=True),
    "aten.sub.Tensor": _Neutral(0, either=False, negative_zero=False),
    "aten.mul.Tensor": _Neutral(1, either=True),
    "aten.div.Tensor": _Neutral(1, either=False),
}
_TARGETS = frozenset(
    (torch.ops.aten.add.Tensor, torch.ops.aten.sub.Tensor,
     torch.ops.aten.mul.Tensor, torch.ops.aten.div.Tensor)
)  # fmt: skip


@dataclass(frozen=True)
class RemoveNoOps(TypedPass):
    """`x + 0`, `x - 0`, `x * 1` and `x / 1`, with a uniform tensor of zeros or ones, become `x`.

    If the dtypes promote, they become a cast of `x`. The result must have the sizes, strides and
    device of `x`. An output does not become an input or another output, and a later write to `x`
    must not become visible.

    Under `strict` and `default` numerics no bit may change. `-0.0 + 0.0` is `0.0`, so for floats
    only `-0.0` is neutral in a sum, and only `0.0` in a difference. Complex numbers stay, because
    complex arithmetic mixes infinities and NaN into both parts. Under `fast`, as in Inductor, any
    zero or one is removed.
    """

    name = "remove_no_ops"
    stage = "joint"
    inductor = "joint_graph.py:remove_no_ops"
    numerics = EXACT
    preserves = frozenset((MEMORY, ORDER, *UNIFORM_VALUES))

    policy: Literal["strict", "default", "fast"] = "default"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether a sum, difference, product or quotient reads a value that may be uniform."""
        return any(user.target in _TARGETS for user, _ in uniform_uses(graph))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(self._rewrite(graph) for graph in graphs_of(module))

    def _rewrite(self, graph: GraphOp) -> int:
        replacement = Replacement(graph)
        candidates = replacement.analyses.named(_NEUTRAL)
        if not candidates:
            return 0
        uniform = UniformValues.of(replacement.analyses, zero_products=self.policy == "fast")
        if not uniform:
            return 0
        removed = 0
        with InferenceEnv.of(graph) as env:
            for op in candidates:
                for kept in self._candidates(op, uniform):
                    if _remove(op, kept, replacement, env):
                        removed += 1
                        break
        if removed:
            uniform.erase_unread()
        return removed

    def _candidates(self, op: SchemaOp, uniform: UniformValues) -> Iterator[SSAValue]:
        """The operands that the result may equal."""
        left, right = op.argument("self"), op.argument("other")
        if not isinstance(left, SSAValue) or not isinstance(right, SSAValue):
            return
        if "alpha" in op.table.index and not _is_one(op.argument("alpha")):
            return
        neutral = _NEUTRAL[op.name]
        sides = [(right, left), (left, right)] if neutral.either else [(left, right)]
        for kept, constant in sides:
            if constant in uniform and self._is_neutral(op, neutral, uniform, constant, kept):
                yield kept

    def _is_neutral(
        self,
        op: SchemaOp,
        neutral: _Neutral,
        uniform: UniformValues,
        constant: SSAValue,
        kept: SSAValue,
    ) -> bool:
        result, type_ = op.results[0]._type, kept._type
        if type(result) is not TensorType or type(type_) is not TensorType:
            return False
        if self.policy == "fast":
            return uniform.number(constant) == neutral.number
        if result.dtype.is_complex:
            return False
        # Arithmetic is done in the dtype of the result.
        number = uniform.number(constant, result.dtype)
        if not isinstance(number, int | float) or number != neutral.number:
            return False
        if neutral.negative_zero is None or not type_.dtype.is_floating_point:
            return True  # an integer has no negative zero
        return (math.copysign(1.0, number) < 0) is neutral.negative_zero


def _is_one(alpha: Any) -> bool:
    return isinstance(alpha, int | float) and alpha == 1


def _remove(op: SchemaOp, kept: SSAValue, replacement: Replacement, env: InferenceEnv) -> bool:
    """Replace the result of a no-op by an operand, or by a cast of the operand."""
    result, type_ = op.results[0]._type, kept._type
    assert type(result) is TensorType
    assert type(type_) is TensorType
    if result.dtype is type_.dtype:
        if not replacement.may_replace(op, kept) or not should_apply(RemoveNoOps.name):
            return False
        replacement.replace(op, kept)
        return True
    made = _cast(op, kept, result, env)
    if made is None:
        return False
    fits = same_meta(made.results[0]._type, result, replacement.facts)
    if not fits or not should_apply(RemoveNoOps.name):
        made.erase()
        return False
    replacement.editor.insert(made, op)
    replacement.replace(op, made.results[0])
    return True


def _cast(op: SchemaOp, kept: SSAValue, result: TensorType, env: InferenceEnv) -> SchemaOp | None:
    """A cast of `kept` to the dtype of the result, with the name of the op."""
    cls: Any = op_class_by_name(_CONVERT)
    args = ArgsAttr((Ref(0), result.dtype))
    try:
        found, _ = infer_call(cls, args, [kept.type], env)
    except (NotInferred, NotApplicable):
        return None
    return cls.make(args, [kept], found.types, op.node.inherited(op.node.names, op.node.node))
