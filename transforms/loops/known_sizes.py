"""Puts numbers and values in place of sizes that a graph did not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import OutputOp, SymExpr, SymIntType, TorchOp
from xductor.ir.dialect.types import Dim, symbols_of
from xductor.ir.inference.subgraph_types import renamed
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.op_effects import effects_of, subgraphs_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.loops.graph_copies import arguments_for, type_of
from xductor.transforms.loops.stays import Stays


class KnownSizes:
    """Sizes that a call gives, and what they are.

    What is computed from numbers becomes a number. Other ops that read such a size, or whose types
    mention it, are made anew. Making one raises Stays if that cannot be done.

    - `known`: numbers or values by results of `call`.
    """

    def __init__(self, editor: Editor, call: TorchOp, known: Mapping[SSAValue, Any]) -> None:
        self.editor = editor
        self._known = dict(known)
        self._bound: dict[str, Dim] = {}
        self._stale: list[TorchOp] = []
        for size, value in known.items():
            expression = size.type.data if type(size.type) is SymIntType else None
            if type(expression) is not SymExpr or expression.head != "symbol":
                raise Stays(f"it returns {size.type}, which is read")
            self._bound[expression.text] = type_of(value).data
        if known:
            ops = ops_of(editor.graph.block)
            for op in ops[ops.index(call) + 1 :]:
                self._look_at(op)

    def _look_at(self, op: Any) -> None:
        mentioned = symbols_of(op.args).union(*map(symbols_of, op.result_types))
        if mentioned.isdisjoint(self._bound) and not any(
            one in self._known for one in op._operands
        ):
            return
        types = self._types(op)
        if types and all(type(one) is SymIntType and type(one.data) is int for one in types):
            if not effects_of(op).pure:
                raise Stays(f"{op.name} gives a size, and does more than that")
            self._known.update(zip(op.results, (one.data for one in types), strict=True))
        read = frozenset().union(*[symbols_of(one.type) for one in op._operands])
        if not frozenset().union(*map(symbols_of, op.result_types)) <= read:
            raise Stays(f"{op.name}, which reads a size that it returns, makes another one")
        if subgraphs_of(op) or op.aliases is not None:
            raise Stays(f"{op.name} reads a size that it returns")
        self._stale.append(op)

    def _types(self, op: Any) -> list[Any]:
        return [renamed(one, self._bound) for one in op.result_types]

    def apply(self) -> None:
        """Change the graph, in which what stands for the sizes is by now."""
        known = self._known
        for op in self._stale:
            operands = [known.get(one, one) for one in op._operands]
            args, values = arguments_for(op, operands, self._bound)
            if isinstance(op, OutputOp):
                op.args, op.operands = args, values
                continue
            if any(one in known for one in op.results):
                continue
            types = self._types(op)
            stays = types == list(op.result_types)
            node = op.node if stays else op.node.inherited(op.node.names, op.node.node)
            made = type(op).make(args, values, types, node, structure=op.structure)
            self.editor.insert(made, op)
            self.editor.replace(op, *made.results, counted=False)
        for op in reversed(self._stale):
            if op.results and all(one in known for one in op.results):
                self.editor.erase(op)


__all__ = ["KnownSizes"]
