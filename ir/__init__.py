"""The typed IR: types, ops, text, verifier. Names are imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xductor.ir import aten, ops, prims
    from xductor.ir.dialect.graph import GetAttrOp, GraphOp, OpaqueCallOp, OutputOp
    from xductor.ir.dialect.operations import SchemaOp, TorchOp
    from xductor.ir.dialect.registry import op_class, op_class_by_name
    from xductor.ir.dialect.types import (
        NoneType,
        ObjectType,
        SymBoolType,
        SymFloatType,
        SymIntType,
        TensorType,
    )
    from xductor.ir.modules import parse_ir, print_ir, same
    from xductor.ir.symbolic.expressions import SymExpr
    from xductor.ir.symbolic.facts import Facts
    from xductor.ir.text.context import XductorContext
    from xductor.ir.verification.verifier import verify

_HOMES = {
    "XductorContext": "text.context",
    "SymExpr": "symbolic.expressions",
    "Facts": "symbolic.facts",
    "GetAttrOp": "dialect.graph",
    "GraphOp": "dialect.graph",
    "OpaqueCallOp": "dialect.graph",
    "OutputOp": "dialect.graph",
    "SchemaOp": "dialect.operations",
    "TorchOp": "dialect.operations",
    "op_class": "dialect.registry",
    "op_class_by_name": "dialect.registry",
    "parse_ir": "modules",
    "print_ir": "modules",
    "same": "modules",
    "NoneType": "dialect.types",
    "ObjectType": "dialect.types",
    "SymBoolType": "dialect.types",
    "SymFloatType": "dialect.types",
    "SymIntType": "dialect.types",
    "TensorType": "dialect.types",
    "verify": "verification.verifier",
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
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'xductor.ir' has no attribute {name!r}")
    return getattr(import_module(f"xductor.ir.{home}"), name)


def __dir__() -> list[str]:
    return list(__all__)
