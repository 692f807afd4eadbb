"""The dims along which the values of the region are cut, and the rows of a chunk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import SchemaOp, TorchOp
from xductor.transforms.auto_chunker.axes import Axes
from xductor.transforms.auto_chunker.correspondences import shape_of
from xductor.transforms.auto_chunker.refusal import CannotChunk


@dataclass(frozen=True)
class Cuts:
    """How each value of the region is cut.

    - `rows`: the size of the axis that is cut: the rows of the amplifier's result.
    - `dims`: the dim along which each value is cut; other values are whole.
    - `sums`: results of which every chunk gives a term; the result is their sum.
    """

    rows: int
    dims: dict[SSAValue, int]
    sums: frozenset[SSAValue]

    @classmethod
    def of(cls, region: Sequence[TorchOp], amplifier: SchemaOp) -> Cuts:
        """The cuts that follow from cutting the amplifier's rows.

        Raises CannotChunk if an op needs all rows at once, or would be cut along two dims.
        """
        axes = Axes(region)
        axis = (amplifier.results[0], 0)
        rows = shape_of(axis[0])[0]
        if rows < 2:
            raise CannotChunk.at(amplifier, f"there is nothing to cut in {rows} rows")
        dims: dict[SSAValue, int] = {}
        sums: set[SSAValue] = set()
        for op in region:
            for value in (*op._operands, *op.results):
                on_axis = axes.on(value, axis)
                if len(on_axis) > 1:
                    raise CannotChunk.at(op, f"{value.type} would be cut along dims {on_axis}")
                if on_axis:
                    dims[value] = on_axis[0]
            if _check(op, axes, dims, sums):
                sums.add(op.results[0])
        return cls(rows, dims, frozenset(sums))

    def step(self, num_chunks: int) -> int:
        """The number of rows of a chunk, at which all cut values can be cut.

        A dim of another size is cut at the same fractions; if it has one element for several rows,
        it is cut between elements. Raises CannotChunk if there would be only one chunk.
        """
        unit = 1
        for value, dim in self.dims.items():
            unit = math.lcm(unit, self.rows // math.gcd(self.rows, shape_of(value)[dim]))
        step = -(-self.rows // num_chunks)
        step = -(-step // unit) * unit
        if step >= self.rows:
            raise CannotChunk(f"{self.rows} rows in pieces of {unit} cannot be cut")
        return step

    def size(self, value: SSAValue, rows: int) -> int:
        """The size of the cut dim of a value in a chunk with some number of rows."""
        return shape_of(value)[self.dims[value]] * rows // self.rows

    def shape(self, value: SSAValue, rows: int) -> list[int]:
        """The shape of a value, or of its piece, in a chunk with some number of rows."""
        shape = list(shape_of(value))
        if value in self.dims:
            shape[self.dims[value]] = self.size(value, rows)
        return shape


def _check(op: TorchOp, axes: Axes, dims: dict[SSAValue, int], sums: set[SSAValue]) -> bool:
    """Whether a call on pieces gives terms of its result, and not pieces or the whole result."""
    rule = axes.rules.get(op)
    if rule is None:
        raise CannotChunk.at(op, "the rule for cutting this op does not hold for this call")
    linked = {(operand, dim) for operand, dim, _ in rule.links}
    terms = False
    for operand, value in enumerate(op._operands):
        if value in sums:
            raise CannotChunk.at(op, "it reads a sum over all rows")
        dim = dims.get(value)
        if dim is None or (operand, dim) in linked:
            continue
        if (operand, dim) not in rule.summed:
            raise CannotChunk.at(op, f"it needs all rows of {value.type} (dim {dim}) at once")
        terms = True
    result: Any = op.results[0]
    dim = dims.get(result)
    if dim is not None:
        places = {place for _, _, place in rule.links} | rule.made
        if dim not in places:
            raise CannotChunk.at(op, f"it gives all rows of {result.type} (dim {dim}) at once")
        if terms:
            raise CannotChunk.at(op, "it would give a term of each piece")
    return terms


__all__ = ["Cuts"]
