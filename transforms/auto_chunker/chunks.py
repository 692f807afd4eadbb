"""Makes the calls of the bodies, one per chunk, and combines the results of all chunks."""

from __future__ import annotations

from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import GraphOp, InferenceEnv, NodeMeta, Ref, SymbolRef, op_class_by_name
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.results import flat_structure
from xductor.transforms.analysis.dtypes import NARROW_FLOATS
from xductor.transforms.analysis.graphs import free_subgraph_name
from xductor.transforms.auto_chunker.body import BodyBuilder, Region
from xductor.transforms.auto_chunker.making import Maker, place_of
from xductor.transforms.auto_chunker.refusal import CannotChunk

_CALL = "higher_order.invoke_subgraph"


class ChunkCalls:
    """Makes the replacement of a region: pieces of inputs, calls, and combined results.

    Nothing is connected; `results` has the replacement of each output, `bodies` the new graphs.
    With `wide_sums`, 16-bit terms are added up in float32; otherwise the error of a sum grows with
    the number of chunks.
    """

    def __init__(
        self,
        module: ModuleOp,
        graph: GraphOp,
        region: Region,
        *,
        wide_sums: bool,
    ) -> None:
        self.module = module
        self.graph = graph
        self.region = region
        self.node = region.amplifier.node
        self.wide_sums = wide_sums
        self.bodies: dict[int, GraphOp] = {}
        self.results: dict[SSAValue, SSAValue] = {}

    def make(self, step: int, env: InferenceEnv) -> Maker:
        """Make chunks of `step` rows; the last one may have fewer.

        Raises CannotChunk if a call is not possible.
        """
        self.env = env
        self.maker = maker = Maker(env)
        try:
            self._make(step)
        except CannotChunk:
            maker.discard()
            raise
        return maker

    def _make(self, step: int) -> None:
        region, rows = self.region, self.region.cuts.rows
        sums = [self._zero(value) for value in region.terms]
        pieces: dict[SSAValue, list[SSAValue]] = {value: [] for value in region.outputs}
        for start in range(0, rows, step):
            found = self._call(start, min(start + step, rows), sums)
            for value, piece in zip(region.outputs, found, strict=True):
                pieces[value].append(piece)
            sums = [pieces[value][-1] for value in region.terms]
        for value in region.outputs:
            self.results[value] = self._whole(value, pieces[value])

    def _place(self) -> NodeMeta:
        return place_of(self.node)

    def _zero(self, value: SSAValue) -> SSAValue:
        """The zero to which terms are added."""
        type_: Any = value.type
        wide = type_.dtype in NARROW_FLOATS and (self.wide_sums or not type_.shape)
        options = {
            "dtype": torch.float32 if wide else type_.dtype,
            "device": type_.device,
            "pin_memory": False,
        }
        number = 0.0 if type_.dtype.is_floating_point else 0
        return self.maker.call(
            "aten.full.default", self._place(), list(type_.shape), number, **options
        )

    def _call(self, start: int, end: int, sums: list[SSAValue]) -> list[SSAValue]:
        """Make the call for the rows of one chunk, and return its results."""
        inputs = [self._piece(value, start, end) for value in self.region.inputs]
        body = self._body(end - start, inputs, sums)
        name = body.sym_name.data
        operands = [*inputs, *sums]
        references = [Ref(index) for index in range(len(operands))]
        cls: Any = op_class_by_name(_CALL)
        types = [value.type for value in body.output._operands]
        made = cls.make(
            raw_args((SymbolRef(name), name, *references)),
            operands,
            types,
            place_of(self.node, len(types)),
            structure=flat_structure(len(types)),
        )
        self.maker.made.append(made)
        return list(made.results)

    def _piece(self, value: SSAValue, start: int, end: int) -> SSAValue:
        dim = self.region.cuts.dims.get(value)
        if dim is None:
            return value
        first, last = (self.region.cuts.size(value, rows) for rows in (start, end))
        return self.maker.call("aten.slice.Tensor", self._place(), value, dim, first, last)

    def _body(self, rows: int, inputs: list[SSAValue], sums: list[SSAValue]) -> GraphOp:
        """The body for a number of rows; there are at most two."""
        found = self.bodies.get(rows)
        if found is None:
            name = f"chunk_of_{rows}_rows"
            name = free_subgraph_name(self.module, self.graph, name)
            builder = BodyBuilder(self.graph, self.region, rows, self.env)
            types = [[value.type for value in values] for values in (inputs, sums)]
            found = self.bodies[rows] = builder.build(name, *types)
        return found

    def _whole(self, value: SSAValue, pieces: list[SSAValue]) -> SSAValue:
        """The replacement of an output: its pieces concatenated or summed, times the tangent."""
        owner: Any = value.owner
        node = place_of(owner.node)
        dim = self.region.cuts.dims.get(value)
        if dim is not None:
            found = self.maker.call("aten.cat.default", node, pieces, dim)
        else:
            found = pieces[-1]
        tangent = self.region.scales.get(value)
        if tangent is not None:
            found = self.maker.call("aten.mul.Tensor", node, found, tangent)
        old: Any = value.type
        type_: Any = found.type
        if type_.dtype is not old.dtype:
            convert = "prims.convert_element_type.default"
            found = self.maker.call(convert, node, found, old.dtype)
        return found


__all__ = ["ChunkCalls"]
