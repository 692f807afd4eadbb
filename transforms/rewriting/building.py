"""Makes the ops of a replacement: detached from the graph, with inferred types.

A dim used as an argument becomes a constant, a value in scope that has its expression, the size of
a tensor that dominates the insertion point, or arithmetic over these.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.ir import (
    ArgsAttr,
    Facts,
    InferenceEnv,
    ListArg,
    NodeMeta,
    NotInferred,
    Ref,
    SchemaOp,
    SymExpr,
    SymIntType,
    TensorType,
    TorchOp,
    infer_call,
    op_class,
    op_class_by_name,
)
from xductor.ir.dialect.arguments import FunctionArg, SliceArg
from xductor.ir.dialect.registry import method_class
from xductor.ir.dialect.results import StructureAttr
from xductor.ir.functions.op_functions import BoundCall, OpFunction, OverloadFunction
from xductor.ir.functions.torch_spellings import torch_call
from xductor.ir.inference.infer import NotApplicable
from xductor.transforms.rewriting.handles import Dim, Opaque, Tensor, value_handle

Expr = int | SymExpr
InScope = Callable[[SSAValue], bool]


class Unbuildable(Exception):
    """A replacement that cannot be made for this match; the message says why."""


class NeedsGuard(Unbuildable):
    """A replacement that could be made only if an unknown fact about the symbols were known."""


class ReplacementBuilder:
    """Makes ops when op functions are called. `made` has them in order.

    - `sources`: tensors of the match, whose sizes may be used.
    - `in_scope`: whether a value is defined above the insertion point.
    - `torch_level`: whether calls of operators are written as torch's own, as they stand in graphs
      before autograd.
    """

    def __init__(
        self,
        env: InferenceEnv,
        facts: Facts,
        node: NodeMeta,
        sources: list[SSAValue],
        symints: Callable[[], list[SSAValue]],
        in_scope: InScope,
        torch_level: bool = False,
    ) -> None:
        self.env = env
        self.facts = facts
        self.node = node
        self.made: list[TorchOp] = []
        self._sources = sources
        self._symints = symints
        self._in_scope = in_scope
        self._torch_level = torch_level
        self._dims: dict[Expr, SSAValue] = {}
        self._heir: NodeMeta | None = None

    def call(self, name: str, calls: list[BoundCall]) -> Any:
        written = torch_call(calls[0]) if self._torch_level else None
        if written is not None:
            return self.raw_call(*written)
        cls, items, _ = calls[0]
        operands: list[SSAValue] = []
        data = tuple([self._argument(item, operands) for item in items])
        return self._make(cls, ArgsAttr(data), operands)

    def raw_call(self, cls: type[TorchOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        operands: list[SSAValue] = []
        positional = tuple([self._argument(item, operands) for item in args])
        named = tuple([(name, self._argument(item, operands)) for name, item in kwargs.items()])
        return self._make(cls, ArgsAttr((positional, named)), operands)

    def add_source(self, value: SSAValue) -> None:
        """Add another tensor whose sizes may be used."""
        self._sources.append(value)

    def discard(self) -> None:
        """Erase the ops that were made; nothing in the graph uses them."""
        for op in reversed(self.made):
            op.erase(safe_erase=False)
        self.made.clear()
        self._dims.clear()

    def erase(self, op: TorchOp) -> None:
        """Erase an op that was made and that nothing uses; sizes that it gave are made anew."""
        self.made.remove(op)
        self._dims = {expr: value for expr, value in self._dims.items() if value.owner is not op}
        op.erase()

    def _make(self, cls: type[TorchOp], args: ArgsAttr, operands: list[SSAValue]) -> Any:
        try:
            found, _ = infer_call(cls, args, [one.type for one in operands], self.env, operands)
        except NotApplicable as error:
            raise Unbuildable(f"{cls.name} cannot be applied: {error}") from error
        except NotInferred as error:
            raise Unbuildable(f"the result type of {cls.name} is not known: {error}") from error
        if found.assumed or found.equated:
            assumed = [*found.assumed, *[f"{name} == {e}" for name, e in found.equated]]
            raise NeedsGuard(f"{cls.name} needs a new guard: {', '.join(assumed)}")
        if found.fresh:
            raise Unbuildable(f"{cls.name} makes a new unbacked symbol")
        structure = None
        if found.structure != "*" and not issubclass(cls, SchemaOp):
            structure = StructureAttr(found.structure)
        meta = self._place(len(found.types))
        op = cls.make(args, operands, found.types, meta, structure=structure, aliases=found.aliases)
        self.made.append(op)
        values = [value_handle(result, self.facts) for result in op.results]
        return values[0] if found.structure == "*" else values

    def _place(self, results: int) -> NodeMeta:
        """Metadata for an op at the place of the match; what it inherits is read only once."""
        if self._heir is None:
            self._heir = self.node.inherited(())
        made = self._heir.renamed(("",) * results)
        vars(made)["textual"] = dict(self._heir.textual or {})
        return made

    def _argument(self, item: Any, operands: list[SSAValue]) -> Any:
        if type(item) is OpResult or type(item) is BlockArgument:
            return self._operand(item, operands)
        if isinstance(item, Tensor | Opaque):
            if item.value is None:
                raise Unbuildable("a tensor without a value cannot be an argument")
            return self._operand(item.value, operands)
        if isinstance(item, Dim):
            if item.is_static:
                return item.expr
            return self._operand(self._value_of(item), operands)
        if isinstance(item, OverloadFunction):
            return FunctionArg(f"torch.ops.{item.name}")
        if isinstance(item, OpFunction):
            raise Unbuildable(f"{item!r} as an argument: name its overload")
        if isinstance(item, list | ListArg):
            return ListArg([self._argument(part, operands) for part in item])
        if type(item) is SliceArg:
            return SliceArg([self._argument(part, operands) for part in item])
        if isinstance(item, tuple):
            return tuple([self._argument(part, operands) for part in item])
        if isinstance(item, SSAValue):
            return self._operand(item, operands)
        return item

    @staticmethod
    def _operand(value: SSAValue, operands: list[SSAValue]) -> Ref:
        operands.append(value)
        return Ref(len(operands) - 1)

    # Dims as arguments.

    def _value_of(self, dim: Dim) -> SSAValue:
        if dim.value is not None and self._in_scope(dim.value):
            return dim.value
        return self._materialised(dim.expr)

    def _materialised(self, expr: Expr) -> SSAValue:
        found = self._dims.get(expr) or self._symint_in_scope(expr) or self._size(expr)
        if found is None:
            found = self._computed(expr)
        self._dims[expr] = found
        return found

    def _symint_in_scope(self, expr: Expr) -> SSAValue | None:
        for value in self._symints():
            type_: Any = value.type
            if isinstance(type_, SymIntType) and type_.expr == expr and self._in_scope(value):
                return value
        return None

    def _size(self, expr: Expr) -> SSAValue | None:
        """A size of one of the match's tensors that equals `expr`, as a value."""
        for value in self._sources:
            type_: Any = value.type
            if not isinstance(type_, TensorType) or not self._in_scope(value):
                continue
            for place, size in enumerate(type_.shape):
                if size == expr and self._torch_level:
                    args = ArgsAttr(((Ref(0), place), ()))
                    return self._make(method_class("size"), args, [value]).value
                if size == expr:
                    cls = op_class_by_name("aten.sym_size.int")
                    return self._make(cls, ArgsAttr((Ref(0), place)), [value]).value
        return None

    def _computed(self, expr: Expr) -> SSAValue:
        """`expr` computed by arithmetic over values in scope."""
        if isinstance(expr, int) or expr.head not in _ARITHMETIC:
            raise Unbuildable(f"no value in scope has the size {expr}")
        function = _ARITHMETIC[expr.head]
        cls = op_class(function)
        assert cls is not None
        parts = [part if isinstance(part, int) else self._materialised(part) for part in expr.args]
        total = parts[0]
        for part in parts[1:]:
            operands: list[SSAValue] = []
            data = tuple([self._argument(one, operands) for one in (total, part)])
            total = self._make(cls, ArgsAttr((data, ())), operands).value
        assert isinstance(total, SSAValue)
        return total


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pymod": operator.mod,
}


__all__ = ["NeedsGuard", "ReplacementBuilder", "Unbuildable"]
