"""Makes the body of a chunk: the region's ops on pieces of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from xdsl.ir import Block, SSAValue

from xductor.ir import (
    ArgsAttr,
    GraphOp,
    InferenceEnv,
    ListArg,
    NodeMeta,
    OutputOp,
    Ref,
    SchemaOp,
    TensorType,
    TorchOp,
    result_aliases,
)
from xductor.ir.dialect.graph import raw_args
from xductor.ir.inference.infer import storage_root
from xductor.transforms.auto_chunker.amplifier import numel
from xductor.transforms.auto_chunker.correspondences import SIZE_ARGUMENTS
from xductor.transforms.auto_chunker.cuts import Cuts
from xductor.transforms.auto_chunker.making import Maker
from xductor.transforms.auto_chunker.refusal import CannotChunk
from xductor.transforms.auto_chunker.region import is_constant
from xductor.transforms.auto_chunker.tangent_scale import Scales

_MEANS = frozenset(("aten.mean.default", "aten.mean.dim"))


@dataclass
class Region:
    """The ops that are computed in chunks, with their inputs and outputs.

    - `inputs`: values from outside; a chunk gets pieces of those that are cut.
    - `replaced`: the amplifier and the ops that depend on it. The other ops stay for their other
      users; chunks compute their results again.
    - `outputs`: results of `replaced` that are used outside; a chunk gives a piece or a term.
    """

    amplifier: SchemaOp
    ops: list[TorchOp]
    cuts: Cuts
    scales: Scales
    inputs: list[SSAValue] = field(default_factory=list[SSAValue])
    replaced: set[Any] = field(default_factory=set[Any])
    outputs: list[SSAValue] = field(default_factory=list[SSAValue])

    def __post_init__(self) -> None:
        members: set[Any] = set(self.ops)
        given = dict.fromkeys(value for op in self.ops for value in op._operands)
        self.inputs = [
            value
            for value in given
            if value.owner not in members and value not in self.scales and not is_constant(value)
        ]
        for op in self.ops:
            if op is self.amplifier or any(one.owner in self.replaced for one in op._operands):
                self.replaced.add(op)
        self.outputs = [
            result
            for op in self.ops
            for result in op.results
            if op in self.replaced and any(use.operation not in members for use in result.uses)
        ]
        roots = [storage_root(value) for value in self.outputs]
        for value, root in zip(self.outputs, roots, strict=True):
            if roots.count(root) > 1:
                raise CannotChunk.at(root.owner, f"two results share its memory, {value.type}")  # type: ignore[arg-type]

    @property
    def terms(self) -> list[SSAValue]:
        """The outputs that are sums over all chunks."""
        return [value for value in self.outputs if value in self.cuts.sums]


class BodyBuilder:
    """Makes the graph for a chunk with some number of rows."""

    def __init__(self, graph: GraphOp, region: Region, rows: int, env: InferenceEnv) -> None:
        self.graph = graph
        self.region = region
        self.rows = rows
        self.maker = Maker(env)
        self.values: dict[SSAValue, SSAValue] = {}
        self.names: set[str] = set()

    def build(self, name: str, inputs: Sequence[Any], accumulators: Sequence[Any]) -> GraphOp:
        """The body, which takes `inputs` and `accumulators` and returns the region's outputs.

        A term of a sum is added to its accumulator.
        """
        region = self.region
        block = Block(arg_types=[*map(_without_offset, inputs), *accumulators])
        arguments = [f"chunk_{index}" for index in range(len(inputs))]
        arguments += [f"sum_{index}" for index in range(len(accumulators))]
        self.names.update(arguments)
        self.values.update(zip(region.inputs, block.args, strict=False))
        for op in region.ops:
            assert isinstance(op, SchemaOp)
            self.copy(op)
        sums = dict(zip(region.terms, block.args[len(inputs) :], strict=True))
        outputs = [self.output(value, sums.get(value)) for value in region.outputs]
        for op in self.maker.made:
            block.add_op(op)
        tree = tuple([Ref(index) for index in range(len(outputs))])
        block.add_op(OutputOp.make(raw_args((tree,)), outputs, []))
        graph = self.graph
        return GraphOp(
            name,
            graph.stage.data,
            block,
            graph.symbols.data,
            graph.ambient.data,
            arguments=arguments,
        )

    def copy(self, op: SchemaOp) -> None:
        """Copy an op of the region to the body, applied to pieces."""
        operands = [self.value(value, op) for value in op._operands]
        result = op.results[0]
        if op.name in _MEANS and result in self.region.cuts.sums:
            made = self.part_of_mean(op, operands[0])
        else:
            made = self.maker.make(type(op), self.arguments(op), operands, self.node(op))
        found: Any = made.type
        expected = self.region.cuts.shape(result, self.rows)
        old: Any = result.type
        if list(found.shape) != expected or found.dtype is not old.dtype:
            raise CannotChunk.at(op, f"of a chunk it gives {found}, expected sizes {expected}")
        self.values[result] = made

    def part_of_mean(self, op: SchemaOp, piece: SSAValue) -> SSAValue:
        """The share of a piece in a mean over all rows."""
        before, after = numel(op._operands[0].type), numel(op.results[0].type)
        if not before or not after:
            raise CannotChunk.at(op, "it is a mean of nothing")
        dtype: Any = op.results[0].type.dtype  # type: ignore[attr-defined]
        wide = torch.float32 if dtype.itemsize < 4 else dtype
        dims, keepdim = None, False
        if "dim" in op.table.index:
            dims, keepdim = op.args.data[op.table.index["dim"]], op.argument("keepdim")
        node = op.node.inherited(("",))
        total = self.maker.call("aten.sum.dim_IntList", node, piece, dims, keepdim, dtype=wide)
        part = self.maker.call("aten.div.Scalar", node, total, before // after)
        if wide is dtype:
            return part
        return self.maker.call("prims.convert_element_type.default", node, part, dtype)

    def arguments(self, op: SchemaOp) -> ArgsAttr:
        """The arguments of a call with the sizes of a piece."""
        result = op.results[0]
        name = SIZE_ARGUMENTS.get(op.name)
        if name is None or result not in self.region.cuts.dims:
            return op.args
        data = list(op.args.data)
        data[op.table.index[name]] = ListArg(self.region.cuts.shape(result, self.rows))
        return ArgsAttr(tuple(data))

    def value(self, value: SSAValue, user: SchemaOp) -> SSAValue:
        """The body's value for a value of the region; constants and tangents are made there."""
        found = self.values.get(value)
        if found is not None:
            return found
        if is_constant(value):
            op: Any = value.owner
            made = self.maker.make(type(op), self.arguments(op), (), self.node(op))
        else:
            made = self.one(value, user)
        self.values[value] = made
        return made

    def one(self, tangent: SSAValue, user: SchemaOp) -> SSAValue:
        """The number one, which replaces a tangent."""
        type_: Any = tangent.type
        node = user.node.inherited(("",))
        options = {"dtype": type_.dtype, "device": type_.device, "pin_memory": False}
        return self.maker.call("aten.full.default", node, [], 1.0, **options)

    def output(self, value: SSAValue, accumulator: SSAValue | None) -> SSAValue:
        """The body's result for an output, which is never a view of another value."""
        owner: Any = value.owner
        node = owner.node.inherited(("",))
        found = self.values[value]
        if accumulator is not None:
            dtype: Any = accumulator.type.dtype  # type: ignore[attr-defined]
            if found.type.dtype is not dtype:  # type: ignore[attr-defined]
                found = self.maker.call("prims.convert_element_type.default", node, found, dtype)
            return self.maker.call("aten.add.Tensor", node, accumulator, found)
        if result_aliases(owner)[0] is not None:
            return self.maker.call("aten.clone.default", node, found)
        return found

    def node(self, op: SchemaOp) -> NodeMeta:
        """The names and place of an op of the region, for its copy."""
        name = op.node.node
        if not name or name in self.names:
            return op.node.inherited(("",))
        self.names.add(name)
        return op.node.inherited((name,), name)


def _without_offset(type_: TensorType) -> TensorType:
    return TensorType(type_.data._replace(offset=0, flags=()))


__all__ = ["BodyBuilder", "Region"]
