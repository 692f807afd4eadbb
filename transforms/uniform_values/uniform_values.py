"""Finds the tensors of a graph whose elements are all equal, and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from heapq import heappop, heappush
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, Node
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.ir import Operation, OpResult, SSAValue

from xductor.ir import (
    GetAttrOp,
    SchemaOp,
    SymExpr,
    TensorType,
    TorchOp,
    aliases_through,
    result_aliases,
)
from xductor.ir.dialect.python_calls import CallArguments, NoPythonValue
from xductor.ir.effects.operator_effects import overload_effects
from xductor.ir.inference.infer import storage_root
from xductor.transforms import Analyses
from xductor.transforms.analysis.op_effects import effects_of, written_operands
from xductor.transforms.analysis.same_on_every_device import SAME_ON_EVERY_DEVICE
from xductor.transforms.editing.aliasing import is_outside

Number = int | float | complex

_NAMES = {False: "uniform values", True: "uniform values and products with zero"}
#: The names of the analyses.
UNIFORM_VALUES = frozenset(_NAMES.values())

FULL = "aten.full.default"
MUL = ("aten.mul.Tensor", "aten.mul.Scalar")
_FRESH_CONSTANT = "aten.lift_fresh_copy.default"

#: Calls that make a uniform tensor, and the number that they fill it with.
CONSTRUCTORS: Mapping[str, Callable[[SchemaOp], Any]] = {
    FULL: lambda op: op.argument("fill_value"),
    "aten.scalar_tensor.default": lambda op: op.argument("s"),
    "aten.full_like.default": lambda op: op.argument("fill_value"),
    "aten.new_full.default": lambda op: op.argument("fill_value"),
    **dict.fromkeys(
        ("aten.ones.default", "aten.ones_like.default", "aten.new_ones.default"), lambda _: 1
    ),
    **dict.fromkeys(
        ("aten.zeros.default", "aten.zeros_like.default", "aten.new_zeros.default"), lambda _: 0
    ),
}

_MADE = (*CONSTRUCTORS, _FRESH_CONSTANT)
_STARTS = frozenset((*_MADE, *MUL))

# These may copy or view; either way the result has the elements of the operand.
_KEEP_CONTENT = frozenset(
    ("aten.reshape.default", "aten.contiguous.default", "aten.flatten.using_ints",
     "prims.device_put.default")
)  # fmt: skip


class UniformValues:
    """The uniform tensors of one graph, each with its number.

    Numbers come from constructors, and from constants of one element that nothing else holds. They
    propagate through views, and through pointwise ops whose inputs are all uniform, by running
    PyTorch's own kernel on one element. Random numbers, uninitialized memory, and storage that an
    op writes to or that belongs to an input never count.

    - `zero_products`: whether a product with the integer zero counts although the other factor may
      be infinite or NaN.
    """

    def __init__(self, analyses: Analyses, *, zero_products: bool = False) -> None:
        self.graph = analyses.graph
        self._analyses = analyses
        self._zero_products = zero_products
        #: As 0-dim tensors on CPU, with the dtypes of the values.
        self._numbers: dict[SSAValue, torch.Tensor] = {}
        starts = [op for op in self._analyses.named(_STARTS) if self._may_start(op)]
        if starts:
            with _disable_current_modes(), torch.no_grad():
                self._follow(starts)

    @classmethod
    def of(cls, analyses: Analyses, *, zero_products: bool) -> UniformValues:
        """The uniform tensors of a graph, computed now or kept from an earlier pass."""
        return analyses.find(
            _NAMES[zero_products], lambda: cls(analyses, zero_products=zero_products)
        )

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._numbers

    def number(self, value: SSAValue, dtype: torch.dtype | None = None) -> Number | None:
        """The value as a Python number, after a cast if `dtype` is given; None if unknown."""
        found = self._numbers.get(value)
        if found is None:
            return None
        with _disable_current_modes(), torch.no_grad():
            return (found if dtype is None else found.to(dtype)).item()

    def calls(self) -> list[SchemaOp]:
        """The calls that return uniform tensors, in order."""
        return list(dict.fromkeys([value.owner for value in self._numbers]))  # type: ignore[misc]

    def stands_for(self, value: SSAValue, other: SSAValue) -> None:
        """Note that a new value has the elements of another."""
        self._numbers[value] = self._numbers[other]

    def erase_unread(self) -> None:
        """Erase pure calls whose results are all uniform and unused."""
        pending = self.calls()
        while pending:
            op = pending.pop()
            if (
                op.parent is not None
                and all(result.first_use is None for result in op.results)
                and all(result in self._numbers for result in op.results)
                and effects_of(op).pure
            ):
                pending += [value.op for value in op._operands if value in self._numbers]  # type: ignore[misc]
                self._analyses.erase(op)

    def _may_start(self, op: SchemaOp) -> bool:
        return op.name not in MUL or self._is_product_with_zero(op)

    def _follow(self, starts: list[SchemaOp]) -> None:
        """Visit, in order, the ops that may create uniform tensors and the readers of those."""
        position = self._analyses.order.key
        queued: set[Operation] = set(starts)
        queue: list[tuple[int, int, Operation]] = [
            (position(op), number, op) for number, op in enumerate(starts)
        ]
        while queue:
            _, _, op = heappop(queue)
            if not isinstance(op, SchemaOp):
                continue
            self._visit(op)
            for result in op.results:
                for use in result.uses if result in self._numbers else ():
                    user = use.operation
                    if user not in queued:
                        heappush(queue, (position(user), len(queued), user))
                        queued.add(user)

    def _visit(self, op: SchemaOp) -> None:
        for result, number in self._found(op):
            type_ = result._type
            if (
                type(type_) is TensorType
                and number.dtype is type_.dtype
                and _is_plain(type_)
                and self._is_constant(result)
            ):
                self._numbers[result] = number

    def _is_constant(self, value: SSAValue) -> bool:
        """Whether the storage comes from within the graph and is never written to."""
        root = storage_root(value)
        return not is_outside(root) and not self._is_written(root)

    def _is_written(self, root: SSAValue) -> bool:
        pending, seen = [root], {root}
        while pending:
            current = pending.pop()
            for use in current.uses:
                user: Any = use.operation
                if use.index in written_operands(user, self._analyses.bodies):
                    return True
                new = [result for result in aliases_through(use) if result not in seen]
                seen.update(new)
                pending += new
        return False

    def _found(self, op: SchemaOp) -> Iterator[tuple[OpResult, torch.Tensor]]:
        """The results that the call makes uniform, with their numbers."""
        number = self._constructed(op)
        if number is None and any(operand in self._numbers for operand in op._operands):
            if len(op.results) == 1 and _is_pointwise(op.target):
                number = self._computed(op)
            else:
                yield from self._kept(op)
                return
        if number is not None:
            yield op.results[0], number

    def _constructed(self, op: SchemaOp) -> torch.Tensor | None:
        fill = CONSTRUCTORS.get(op.name)
        if fill is not None:
            return _filled(op, fill(op))
        if op.name == _FRESH_CONSTANT:
            return self._fresh_constant(op)
        if op.name in MUL and self._is_product_with_zero(op):
            return _filled(op, 0)
        return None

    def _is_product_with_zero(self, op: SchemaOp) -> bool:
        """Whether this is a product with the integer 0 that counts as 0.

        Among integers it is 0; otherwise it may be NaN.
        """
        type_ = op.results[0]._type
        if type(type_) is not TensorType:
            return False
        exact = not (type_.dtype.is_floating_point or type_.dtype.is_complex)
        if not exact and not self._zero_products:
            return False
        return any(isinstance(arg, int) and arg == 0 for arg in op.args.data)

    def _fresh_constant(self, op: SchemaOp) -> torch.Tensor | None:
        """The value of a literal in the user's program; only copies of its tensor are visible."""
        source = op.argument("self")
        owner = source.owner if isinstance(source, SSAValue) else None
        live = self.graph.live
        if type(owner) is not GetAttrOp or live is None:
            return None
        found: Any = live.gm
        for part in owner.path.split("."):
            found = getattr(found, part, None)
        if type(found) is not torch.Tensor or isinstance(found, FakeTensor):
            return None
        if found.numel() != 1 or found.device.type != "cpu" or found.layout is not torch.strided:
            return None
        return found.detach().reshape(()).clone()

    def _kept(self, op: SchemaOp) -> Iterator[tuple[OpResult, torch.Tensor]]:
        """Results that hold the elements of an operand."""
        if op.name == "aten.view.dtype":
            number = self._numbers.get(op._operands[0])
            dtype = op.argument("dtype")
            if number is not None and number.dtype.itemsize == dtype.itemsize:
                yield op.results[0], number.view(dtype)
            return
        certain = op.name in _KEEP_CONTENT
        for result, fact in zip(op.results, result_aliases(op), strict=False):
            if fact is not None and (fact[1] or certain):
                number = self._numbers.get(op._operands[fact[0]])
            elif certain:
                number = self._numbers.get(op._operands[0])
            else:
                number = None
            if number is not None:
                yield result, number

    def _computed(self, op: SchemaOp) -> torch.Tensor | None:
        """The result of the op on one element; None if it cannot be run or raises."""
        type_ = op.results[0]._type
        if type(type_) is not TensorType or not _runs_alike(op, type_):
            return None
        inputs: list[torch.Tensor] = []
        for operand in op._operands:
            number = self._numbers.get(operand)
            if number is None:
                return None
            # Type promotion treats 0-dim tensors differently.
            inputs.append(number.reshape((1,) * (operand._type.rank > 0)))  # type: ignore[attr-defined]
        try:
            positional, keywords = _ARGUMENTS.of(type(op), op.args.data, inputs)
            keywords.pop("memory_format", None)
            found = op.target(*positional, **keywords)
        except _REFUSALS:
            return None
        if not isinstance(found, torch.Tensor) or found.numel() != 1:
            return None
        return found.reshape(()).clone()


# A kernel raises these for values or dtypes that it does not support; eager raises at run time.
_REFUSALS = (NoPythonValue, RuntimeError, ValueError, TypeError, ArithmeticError)


def _no_symbol(expression: SymExpr) -> Any:
    raise NoPythonValue(f"{expression} is known when the graph runs")


def _no_subgraph(name: str) -> Any:
    raise NoPythonValue(f"subgraph @{name}")


_ARGUMENTS = CallArguments(_no_symbol, _no_subgraph)


def _is_plain(type_: TensorType) -> bool:
    fields = type_.data
    return fields.layout == "strided" and not fields.subclass and not fields.flags


def _filled(op: SchemaOp, number: Any) -> torch.Tensor | None:
    type_ = op.results[0]._type
    if type(number) not in (int, float, bool, complex) or type(type_) is not TensorType:
        return None
    try:
        return torch.full((), number, dtype=type_.dtype)
    except _REFUSALS:  # does not fit
        return None


@cache
def _is_pointwise(target: OpOverload) -> bool:
    return torch.Tag.pointwise in target.tags and overload_effects(target).pure


def _runs_alike(op: TorchOp, type_: TensorType) -> bool:
    """Whether the CPU computes what the device of the result would."""
    if any(isinstance(leaf, torch.device) for leaf in op.args.data):
        return False
    if type_.device.type == "cpu":
        return True
    name = op.name.split(".")[1]
    return name in SAME_ON_EVERY_DEVICE and not type_.dtype.is_complex


# ------------------------------------------------------------------------------- FX graphs


@cache
def _targets(names: tuple[str, ...]) -> tuple[OpOverload, ...]:
    found: list[OpOverload] = []
    for name in names:
        namespace, packet, overload = name.split(".")
        found.append(getattr(getattr(getattr(torch.ops, namespace), packet), overload))
    return tuple(found)


def constructor_nodes(graph: Graph) -> list[Node]:
    """The nodes of an FX graph that may create uniform tensors."""
    find = graph.find_nodes
    found: list[Node] = []
    for target in _targets(_MADE):
        found += find(op="call_function", target=target, sort=False)
    for target in _targets(MUL):
        for node in find(op="call_function", target=target, sort=False):
            for arg in node.args:
                if type(arg) is not Node and isinstance(arg, int) and arg == 0:
                    found.append(node)
    return found


def uniform_uses(graph: Graph) -> Iterator[tuple[Node, bool]]:
    """The calls of an FX graph that read a possibly uniform tensor, and whether all inputs are."""
    pending = constructor_nodes(graph)
    known = set(pending)
    while pending:
        node = pending.pop()
        for user in node.users:
            if user in known or user.op != "call_function":
                continue
            whole = isinstance(user.target, OpOverload) and all(
                used in known or not isinstance(used.meta.get("val"), torch.Tensor)
                for used in user.all_input_nodes
            )
            yield user, whole
            if whole:
                known.add(user)
                pending.append(user)
