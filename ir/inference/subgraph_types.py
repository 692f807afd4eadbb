"""Result types of higher-order ops that follow from the types that their bodies return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir.dialect.arguments import Ref, SymbolRef, leaves
from xductor.ir.dialect.graph import GraphOp, graph_named
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.types import (
    NONE,
    Dim,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
)
from xductor.ir.symbolic.expression_arithmetic import substitute
from xductor.ir.symbolic.expressions import SymExpr, from_sympy

_GEOMETRY = frozenset({"shape", "strides", "storage offset", "value"})
_OWN_STORAGE = frozenset({"storage offset", "requires_grad"})

# The index of the reference to the body whose results the op returns, and the facets that may
# differ: branches are merged (fresh symbols for sizes that differ), carried values are copied.
_BODIES: dict[str, tuple[int, frozenset[str]]] = {
    "cond": (0, _GEOMETRY | {"requires_grad"}),
    "invoke_subgraph": (0, _OWN_STORAGE),
    "while_loop": (1, _GEOMETRY | {"requires_grad"}),
    "wrap": (0, _OWN_STORAGE),
    "wrap_activation_checkpoint": (0, _OWN_STORAGE),
    "tag_activation_checkpoint": (0, _OWN_STORAGE),
    "wrap_with_autocast": (0, _OWN_STORAGE),
    "wrap_with_set_grad_enabled": (0, _OWN_STORAGE),
    "hints_wrapper": (0, _OWN_STORAGE),
    "strict_mode": (0, _OWN_STORAGE),
}


class BodyTypes(NamedTuple):
    """The types that a body returns, in the symbols of the call, and facets not to be compared."""

    body: str
    types: tuple[Any, ...]
    ignored: frozenset[str]


def body_types(op: TorchOp, module: ModuleOp) -> BodyTypes | None:
    """The types of a higher-order op's results according to its body.

    None for ops that do not just return the results of their body (`map` and `scan` stack them,
    attention kernels), and if the body is only declared.
    """
    row = _BODIES.get(op.name.removeprefix("higher_order."))
    refs = [leaf for leaf in leaves(op.args.data) if type(leaf) is SymbolRef]
    if row is None or len(refs) <= row[0]:
        return None
    position, ignored = row
    body = graph_named(module, refs[position].name)
    if body is None or body.is_declaration:
        return None
    bound = _bound_symbols(body, op)
    output = body.output
    types = tuple(
        [renamed(_returned(leaf, output.operands), bound) for leaf in _leaves(output.tree)]
    )
    return BodyTypes(refs[position].name, types, ignored)


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in _leaves(part)]
    return [tree]


def _returned(leaf: Any, operands: Any) -> Any:
    if type(leaf) is Ref:
        return operands[leaf.index].type
    if leaf is None:
        return NONE
    if type(leaf) is bool:
        return SymBoolType(from_sympy(leaf))
    if type(leaf) is float:
        return SymFloatType(from_sympy(leaf))
    return SymIntType(leaf)


def _bound_symbols(body: GraphOp, op: TorchOp) -> dict[str, Dim]:
    """The values of a body's symbols in this call, if the dims of its arguments tell."""
    passed: list[SSAValue] = list(op.operands)[-len(body.arguments) :] if body.arguments else []
    bound: dict[str, Dim] = {}
    if len(passed) != len(body.arguments):
        return bound
    for argument, value in zip(body.arguments, passed, strict=True):
        for ours, theirs in zip(_dims(argument.type), _dims(value.type), strict=False):
            if type(ours) is SymExpr and ours.text in body.symbols.data and ours is not theirs:
                bound.setdefault(ours.text, theirs)
    return bound


def _dims(type_: Any) -> tuple[Dim, ...]:
    if isinstance(type_, TensorType):
        return type_.shape
    if isinstance(type_, SymIntType):
        return (type_.expr,)
    return ()


def renamed(type_: Any, bound: Mapping[str, Dim]) -> Any:
    """A type with expressions in place of symbols, all at once."""
    if not bound:
        return type_
    if isinstance(type_, TensorType):
        fields = type_.data
        return TensorType(
            fields._replace(
                shape=tuple([substitute(dim, bound) for dim in fields.shape]),
                stride=tuple([substitute(dim, bound) for dim in fields.stride]),
                offset=substitute(fields.offset, bound),
            )
        )
    if isinstance(type_, (SymIntType, SymFloatType, SymBoolType)):
        return type(type_)(substitute(type_.expr, bound))
    return type_


__all__ = ["BodyTypes", "body_types", "renamed"]
