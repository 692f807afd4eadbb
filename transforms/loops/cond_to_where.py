"""`cond_to_where`: a choice between cheap pointwise results becomes a `where`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import torch
from torch._ops import OpOverload
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import (
    GetAttrOp,
    GraphOp,
    ListArg,
    OutputOp,
    RawOp,
    SymbolRef,
    TensorType,
    TorchOp,
    graph_named,
    result_aliases,
)
from xductor.ir.dialect.arguments import leaves
from xductor.transforms.analysis.dear_functions import DEAR_FUNCTIONS
from xductor.transforms.analysis.effect_order import is_view
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import known_equal, same_meta
from xductor.transforms.loops.calls_pass import CallsPass
from xductor.transforms.loops.graph_copies import GraphCopies, type_of
from xductor.transforms.loops.stays import Stays
from xductor.transforms.passes.debug_counters import should_apply

_LIBRARIES = frozenset(("aten", "prims"))
#: Makes of constants and copies, which are tagged as something else than pointwise.
_CHEAP = frozenset(
    ("clone", "convert_element_type", "full", "full_like", "ones_like", "scalar_tensor", "where",
     "zeros_like", "_to_copy", "lift_fresh_copy", "sym_size")
)  # fmt: skip
#: For whole numbers they may raise: division by zero, and negative powers.
_MAY_RAISE = frozenset(("div", "divide", "floor_divide", "fmod", "pow", "remainder"))
#: How many times longer a dear function takes than an addition.
_DEAR = 8


@dataclass(frozen=True)
class CondToWhere(CallsPass):
    """A `cond` between pointwise results is replaced by both, and `where` chooses.

    For a `cond` a GPU's stream is waited for, and neither kernels nor CUDA graphs go across it.
    Both branches are then computed, so that they must be cheap, have no effects, and never raise.
    A NaN of the branch that is not taken stays out of sight.

    - `ops`: how many ops both branches may have together.
    - `elements`: how many elements they may compute on a GPU, where that many are read and written
      in about the time that waiting takes.
    - `cpu_elements`: the same for a CPU, where nothing is waited for: what a call of a branch takes
      is as much as these take. A dear function counts eightfold there; a GPU waits for memory.
    """

    name = "cond_to_where"
    stage = "joint"
    roots: ClassVar[frozenset[str]] = frozenset(("higher_order.cond",))

    ops: int = 64
    elements: int = 1 << 22
    cpu_elements: int = 1 << 16

    def replaced(self, op: Any, module: ModuleOp, editor: Editor) -> bool:
        cond = _Cond.of(op, module)
        for branch in cond.branches:
            _check_ops(branch)
        copies = GraphCopies(editor, cond.op)
        try:
            predicate = cond.predicate
            if predicate.type.shape:
                predicate = copies.call("aten.view.default", predicate, ListArg(()))
            left, right = [copies.copy(branch, cond.operands) for branch in cond.branches]
            self._check_cost(copies, editor.graph)
            values = [
                _choice(predicate, result, a, b, copies)
                for result, a, b in zip(cond.op.results, left, right, strict=True)
            ]
        except Stays:
            copies.discard()
            raise
        if not should_apply(self.name):
            copies.discard()
            return False
        copies.insert(values)
        editor.replace(cond.op, *values)
        return True

    def _check_cost(self, copies: GraphCopies, graph: GraphOp) -> None:
        computed = [op for op in copies.made if not is_view(op)]
        if len(computed) > self.ops:
            raise Stays(f"its branches have {len(computed)} ops, which is more than {self.ops}")
        results = [one for op in computed for one in op.results if type(one.type) is TensorType]
        is_on_cpu = any(_device(one) == "cpu" for one in results)
        sizes = UsualSizes(graph)
        cost = sum(sizes.elements(one) * (_weight(one) if is_on_cpu else 1) for one in results)
        most = self.cpu_elements if is_on_cpu else self.elements
        if cost > most:
            raise Stays(f"both branches would compute {cost} elements, more than {most}")


@dataclass(frozen=True)
class _Cond:
    """A call of `cond`: its predicate, both graphs, and what they take."""

    op: RawOp
    predicate: Any
    branches: tuple[GraphOp, ...]
    operands: tuple[Any, ...]

    @classmethod
    def of(cls, op: RawOp, module: ModuleOp) -> _Cond:
        """Read a call. Raises Stays if it is none that a `where` could stand for."""
        predicate, *references, operands = op.positional
        branches = [graph_named(module, one.name) for one in references if type(one) is SymbolRef]
        if op.keywords or len(branches) != 2 or None in branches:
            raise Stays("the graphs that it runs are not known")
        if any(one.is_declaration for one in branches if one is not None):
            raise Stays("the graphs that it runs are not known")
        if any(fact is not None for fact in result_aliases(op)):
            raise Stays("a result shares storage with an operand")
        made = cls(op, predicate, tuple([one for one in branches if one is not None]), operands)
        made._check()
        return made

    def _check(self) -> None:
        type_ = type_of(self.predicate)
        if type(type_) is not TensorType:
            raise Stays("its predicate is a comparison of sizes, for which nothing waits")
        if type_.dtype is not torch.bool or any(size != 1 for size in type_.shape):
            raise Stays("its predicate is not one truth value")
        for result in self.op.results:
            if type(result.type) is not TensorType:
                raise Stays("it returns something that is no tensor")
            if result.type.device != type_.device:
                raise Stays("its predicate is on another device")


def _is_negative_zero(leaf: Any) -> bool:
    return type(leaf) is float and leaf == 0 and math.copysign(1, leaf) < 0


def _device(result: OpResult) -> str:
    assert type(result.type) is TensorType
    return result.type.device.type


def _weight(result: OpResult) -> int:
    return _DEAR if result.op.name in DEAR_FUNCTIONS else 1


def _check_ops(branch: GraphOp) -> None:
    """Raises Stays for an op that takes long, may raise, or does more than compute results."""
    for op in branch.block.ops:
        assert isinstance(op, TorchOp)
        if isinstance(op, OutputOp | GetAttrOp):
            continue
        if not _is_pointwise(type(op)) and not is_view(op):
            raise Stays(f"{op.name} in @{branch.sym_name.data} is not pointwise")
        if any(map(_is_negative_zero, leaves(op.args.data))):
            raise Stays("a branch holds -0.0, which PyTorch's partitioner takes for 0.0")
        if not effects_of(op).pure:
            raise Stays(f"{op.name} in @{branch.sym_name.data} does more than compute results")
        tensors = [one.type for one in (*op._operands, *op.results)]
        if len({one.device for one in tensors if type(one) is TensorType}) > 1:
            raise Stays(f"{op.name} in @{branch.sym_name.data} copies to another device")
        if op.name.split(".")[1] in _MAY_RAISE and not _is_floating(op):
            raise Stays(f"{op.name} in @{branch.sym_name.data} may raise for whole numbers")


@cache
def _is_pointwise(cls: Any) -> bool:
    if not isinstance(cls.target, OpOverload) or cls.target.namespace not in _LIBRARIES:
        return False
    tags = cls.target.tags
    name = cls.name.split(".")[1]
    return torch.Tag.pointwise in tags or name in _CHEAP


def _is_floating(op: Any) -> bool:
    return all(
        one.type.dtype.is_floating_point for one in op.results if type(one.type) is TensorType
    )


def _choice(predicate: Any, result: Any, a: Any, b: Any, copies: GraphCopies) -> SSAValue:
    """What stands for a result. Raises Stays if that has another type."""
    if not isinstance(a, SSAValue) or not isinstance(b, SSAValue):
        raise Stays("a branch returns something that is no tensor")
    if a.type.dtype is not b.type.dtype:
        raise Stays("its branches return other dtypes")
    facts = facts_of(copies.editor.graph)
    if not known_equal(a.type.shape, b.type.shape, facts):
        raise Stays("its branches return other sizes")
    value = copies.call("aten.where.self", predicate, a, b)
    if not same_meta(value.type, result.type, facts):
        raise Stays(f"it returns {result.type}, and a where {value.type}")
    return value


__all__ = ["CondToWhere"]
