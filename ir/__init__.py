"""The typed IR: types, ops, text, verifier. Names are imported at first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xductor.ir import aten, ops, prims
    from xductor.ir.dialect.arguments import ArgsAttr, ListArg, Ref, SymbolRef
    from xductor.ir.dialect.graph import (
        GetAttrOp,
        GraphOp,
        OpaqueCallOp,
        OutputOp,
        entry_graph,
        graph_named,
    )
    from xductor.ir.dialect.metadata import NodeMeta
    from xductor.ir.dialect.operations import RawOp, SchemaOp, TorchOp
    from xductor.ir.dialect.registry import op_class, op_class_by_name
    from xductor.ir.dialect.types import (
        NoneType,
        ObjectType,
        SymBoolType,
        SymFloatType,
        SymIntType,
        TensorType,
    )
    from xductor.ir.execution.interpreter import run
    from xductor.ir.inference.infer import InferenceEnv, NotInferred, infer_call
    from xductor.ir.modules import parse_ir, print_ir, same
    from xductor.ir.storage.sharing import aliases_through, result_aliases
    from xductor.ir.symbolic.expressions import SymExpr
    from xductor.ir.symbolic.facts import Facts
    from xductor.ir.symbolic.symbols import SymbolTable
    from xductor.ir.text.context import XductorContext
    from xductor.ir.verification.verifier import verify

_HOME = {
    "ArgsAttr": "dialect.arguments",
    "Facts": "symbolic.facts",
    "GetAttrOp": "dialect.graph",
    "GraphOp": "dialect.graph",
    "InferenceEnv": "inference.infer",
    "ListArg": "dialect.arguments",
    "NodeMeta": "dialect.metadata",
    "NoneType": "dialect.types",
    "NotInferred": "inference.infer",
    "ObjectType": "dialect.types",
    "OpaqueCallOp": "dialect.graph",
    "OutputOp": "dialect.graph",
    "RawOp": "dialect.operations",
    "Ref": "dialect.arguments",
    "SchemaOp": "dialect.operations",
    "SymBoolType": "dialect.types",
    "SymExpr": "symbolic.expressions",
    "SymFloatType": "dialect.types",
    "SymIntType": "dialect.types",
    "SymbolRef": "dialect.arguments",
    "SymbolTable": "symbolic.symbols",
    "TensorType": "dialect.types",
    "TorchOp": "dialect.operations",
    "XductorContext": "text.context",
    "aliases_through": "storage.sharing",
    "entry_graph": "dialect.graph",
    "graph_named": "dialect.graph",
    "infer_call": "inference.infer",
    "op_class": "dialect.registry",
    "op_class_by_name": "dialect.registry",
    "parse_ir": "modules",
    "print_ir": "modules",
    "result_aliases": "storage.sharing",
    "run": "execution.interpreter",
    "same": "modules",
    "verify": "verification.verifier",
}

__all__ = [
    "ArgsAttr",
    "Facts",
    "GetAttrOp",
    "GraphOp",
    "InferenceEnv",
    "ListArg",
    "NodeMeta",
    "NoneType",
    "NotInferred",
    "ObjectType",
    "OpaqueCallOp",
    "OutputOp",
    "RawOp",
    "Ref",
    "SchemaOp",
    "SymBoolType",
    "SymExpr",
    "SymFloatType",
    "SymIntType",
    "SymbolRef",
    "SymbolTable",
    "TensorType",
    "TorchOp",
    "XductorContext",
    "aliases_through",
    "aten",
    "entry_graph",
    "graph_named",
    "infer_call",
    "op_class",
    "op_class_by_name",
    "ops",
    "parse_ir",
    "prims",
    "print_ir",
    "result_aliases",
    "run",
    "same",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in ("aten", "ops", "prims"):
        return import_module(f"xductor.ir.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'xductor.ir' has no attribute {name!r}")
    value = getattr(import_module(f"xductor.ir.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
