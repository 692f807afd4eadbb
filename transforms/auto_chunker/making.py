"""Makes ops with inferred types, in the graph or in the body of a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from xductor.ir import (
    ArgsAttr,
    InferenceEnv,
    ListArg,
    NodeMeta,
    NotInferred,
    Ref,
    SchemaOp,
    TensorType,
    infer_call,
    op_class_by_name,
)
from xductor.ir.inference.infer import NotApplicable
from xductor.transforms.auto_chunker.refusal import CannotChunk


def place_of(node: NodeMeta, results: int = 1) -> NodeMeta:
    """The provenance of an op, for the ops that replace it.

    Chunks compute the gradients, so nothing is left to recompute in the backward.
    """
    made = node.inherited(("",) * results)
    if made.textual is not None and made.textual.pop("recompute", None) is not None:
        vars(made).pop("heir_of")
    return made


class Maker:
    """Makes calls of overloads that return one tensor; `made` has the ops in order, unattached."""

    def __init__(self, env: InferenceEnv) -> None:
        self.env = env
        self.made: list[Operation] = []

    def call(self, name: str, node: NodeMeta, *arguments: Any, **named: Any) -> SSAValue:
        """The result of a call; values among the arguments become operands.

        Raises CannotChunk if the call is not possible.
        """
        cls: type[SchemaOp] = op_class_by_name(name)
        operands: list[SSAValue] = []

        def refer(item: Any) -> Any:
            if isinstance(item, SSAValue):
                operands.append(item)
                return Ref(len(operands) - 1)
            return ListArg([refer(one) for one in item]) if isinstance(item, list) else item

        given = dict(zip(cls.table.index, arguments, strict=False)) | named
        data = [
            refer(given[param.name]) if param.name in given else default
            for param, default in zip(cls.table.params, cls.table.defaults, strict=True)
        ]
        return self.make(cls, ArgsAttr(tuple(data)), operands, node)

    def make(
        self, cls: type[SchemaOp], args: ArgsAttr, operands: Sequence[SSAValue], node: NodeMeta
    ) -> SSAValue:
        """The result of a call with the arguments and operands of an op.

        Raises CannotChunk if the call is not possible.
        """
        types = [value.type for value in operands]
        try:
            found, _ = infer_call(cls, args, types, self.env, operands)
        except (NotApplicable, NotInferred) as error:
            raise CannotChunk(f"{cls.name} of {types} is not possible: {error}") from error
        if len(found.types) != 1 or type(found.types[0]) is not TensorType:
            raise CannotChunk(f"{cls.name} of {types} gives no tensor")
        op = cls.make(args, operands, found.types, node, aliases=found.aliases)
        self.made.append(op)
        return op.results[0]

    def discard(self) -> None:
        """Erase the ops that were made, which nothing else uses."""
        for op in reversed(self.made):
            op.erase(safe_erase=False)
        self.made.clear()


__all__ = ["Maker", "place_of"]
