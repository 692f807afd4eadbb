"""Finds the amplifier: the product whose result is far larger than its operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import GraphOp, SchemaOp, TensorType, TorchOp
from xductor.ir.dialect.arguments import references

PRODUCTS = frozenset(("aten.mm.default", "aten.addmm.default"))


def tangents_of(graph: GraphOp) -> tuple[SSAValue, ...]:
    """The inputs of a joint graph that are gradients of its outputs, by AOTAutograd's names."""
    named = zip(graph.arguments, graph.argument_names, strict=True)
    return tuple([value for value, name in named if "tangent" in name])


def numel(type_: Any) -> int | None:
    """The number of elements of a tensor; None if it is unknown, or for another type."""
    if type(type_) is not TensorType or not all(type(size) is int for size in type_.shape):
        return None
    return math.prod(type_.shape)  # type: ignore[arg-type]


def find_amplifier(
    ops: Sequence[TorchOp],
    tangents: Sequence[SSAValue],
    output_size_threshold: int,
    amplify_ratio_threshold: float,
) -> SchemaOp | None:
    """The product of the forward whose result is largest relative to its operands.

    The result has more than `output_size_threshold` bytes, and more than `amplify_ratio_threshold`
    times the bytes of all operands together. Products with unknown sizes do not count.
    """
    gradients = set(tangents)
    found: SchemaOp | None = None
    best = float(amplify_ratio_threshold)
    for op in ops:
        if not gradients.isdisjoint(op._operands):
            break
        if op.name not in PRODUCTS or not isinstance(op, SchemaOp):
            continue
        given = [_bytes(op._operands[ref.index].type) for ref in references(op.args.data)]
        made = _bytes(op.results[0].type)
        if made is None or any(one is None for one in given):
            continue
        total = sum(one for one in given if one is not None)
        if total and made > output_size_threshold and made / total > best:
            found, best = op, made / total
    return found


def _bytes(type_: Any) -> int | None:
    count = numel(type_)
    return None if count is None else count * type_.dtype.itemsize


__all__ = ["PRODUCTS", "find_amplifier", "numel", "tangents_of"]
