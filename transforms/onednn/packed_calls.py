"""Packed calls: those of oneDNN's operators that compute something of their result, too."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xductor.ir import Facts, SchemaOp, ops
from xductor.transforms.rewriting.handles import handle

CONVOLUTION = "mkldnn._convolution_pointwise.default"
LINEAR = "mkldnn._linear_pointwise.default"
TRANSPOSED_CONVOLUTION = "mkldnn._convolution_transpose_pointwise.default"

PACKED_CALLS = frozenset((CONVOLUTION, LINEAR, TRANSPOSED_CONVOLUTION))

#: The last arguments of each: name, numbers and algorithm of what is done to the result.
NOTHING = "none"


def is_plain(op: SchemaOp) -> bool:
    """Whether nothing is done to the result of a packed call yet."""
    return op.argument("attr") == NOTHING


def arguments(op: SchemaOp, facts: Facts) -> list[Any]:
    """The arguments of a call, as op functions take them."""

    def taken(item: Any) -> Any:
        if isinstance(item, SSAValue):
            return handle(item, facts)
        if isinstance(item, tuple | list):
            return [taken(one) for one in item]
        return item

    return [taken(one) for one in op.argument_tree(op.args.data)]


def with_attribute(op: SchemaOp, facts: Facts, name: str, numbers: Any, algorithm: str) -> Any:
    """The packed call again, with a function of its result."""
    function = {
        CONVOLUTION: ops.mkldnn._convolution_pointwise.default,
        LINEAR: ops.mkldnn._linear_pointwise.default,
        TRANSPOSED_CONVOLUTION: ops.mkldnn._convolution_transpose_pointwise.default,
    }[op.name]
    return function(*arguments(op, facts)[:-3], name, list(numbers), algorithm)


__all__ = [
    "CONVOLUTION",
    "LINEAR",
    "PACKED_CALLS",
    "TRANSPOSED_CONVOLUTION",
    "arguments",
    "is_plain",
    "with_attribute",
]
