"""The typed IR: types, ops, text, verifier. Names are imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xductor.ir import aten, ops, prims
    from xductor.ir.context import XductorContext
    from xductor.ir.expressions import SymExpr
    from xductor.ir.facts import Facts
    from xductor.ir.graph import GetAttrOp, GraphOp, OpaqueCallOp, OutputOp
    from xductor.ir.operations import SchemaOp, TorchOp
    from xductor.ir.registry import op_class, op_class_by_name
    from xductor.ir.text import parse_ir, print_ir, same
    from xductor.ir.types import (
        NoneType,
        ObjectType,
        SymBoolType,
        SymFloatType,
        SymIntType,
        TensorType,
    )
    from xductor.ir.verifier import verify

_ROOMS = {
    "XductorContext": "context",
    "SymExpr": "expressions",
    "Facts": "facts",
    "GetAttrOp": "graph",
    "GraphOp": "graph",
    "OpaqueCallOp": "graph",
    "OutputOp": "graph",
    "SchemaOp": "operations",
    "TorchOp": "operations",
    "op_class": "registry",
    "op_class_by_name": "registry",
    "parse_ir": "text",
    "print_ir": "text",
    "same": "text",
    "NoneType": "types",
    "ObjectType": "types",
    "SymBoolType": "types",
    "SymFloatType": "types",
    "SymIntType": "types",
    "TensorType": "types",
    "verify": "verifier",
}

__all__ = [
    "Facts",
    "GetAttrOp",
    "GraphOp",
    "NoneType",
    "ObjectType",
    "OpaqueCallOp",
    "OutputOp",
    "SchemaOp",
    "SymBoolType",
    "SymExpr",
    "SymFloatType",
    "SymIntType",
    "TensorType",
    "TorchOp",
    "XductorContext",
    "aten",
    "op_class",
    "op_class_by_name",
    "ops",
    "parse_ir",
    "prims",
    "print_ir",
    "same",
    "verify",
]


_OP_FUNCTIONS = ("aten", "ops", "prims")


def __getattr__(name: str) -> Any:
    if name in _OP_FUNCTIONS:
        return import_module(f"xductor.ir.{name}")
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'xductor.ir' has no attribute {name!r}")
    return getattr(import_module(f"xductor.ir.{room}"), name)


def __dir__() -> list[str]:
    return list(__all__)
