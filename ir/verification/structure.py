"""Verification level `structure`: schemas, definition order, references, symbols, names.

It is one pass over a graph. Arguments are checked against the schema once for each interned
argument list; after that only the types of an op's operands are checked.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from xductor.ir.dialect.arguments import ArgsAttr, Ref
from xductor.ir.dialect.operations import RawOp, SchemaOp, TorchOp
from xductor.ir.dialect.registry import LASTING, HigherOrderOp
from xductor.ir.dialect.schema import Param
from xductor.ir.dialect.types import (
    VALUE_TYPES,
    NoneType,
    ObjectType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
    symbols_of,
)
from xductor.ir.symbolic.expressions import SymExpr

if TYPE_CHECKING:
    from xductor.ir.dialect.graph import GraphOp

_NUMBERS = (int, float, bool, complex)
_SYMBOLIC = (SymIntType, SymFloatType, SymBoolType)

_CONSTANTS: dict[str, tuple[type, ...]] = {
    "tensor": (*_NUMBERS, SymExpr),
    "int": (int, SymExpr),
    "float": (float, int, SymExpr),
    "bool": (bool, int, SymExpr),
    "scalar": (*_NUMBERS, SymExpr),
    "str": (str,),
    "dtype": (torch.dtype, int),  # PyTorch also accepts the number of a dtype or layout
    "device": (torch.device,),
    "layout": (torch.layout, int),
    "memory_format": (torch.memory_format, int),
}
#: The value types that each schema kind accepts. PyTorch accepts numbers for tensors (wrapped
#: numbers), and zero-dimensional tensors for numbers.
_VALUES: dict[str, frozenset[type]] = {
    "tensor": frozenset((TensorType, *_SYMBOLIC)),
    "int": frozenset((SymIntType, SymBoolType, TensorType)),
    "float": frozenset((SymFloatType, SymIntType, TensorType)),
    "bool": frozenset((SymBoolType, SymIntType, TensorType)),
    "scalar": frozenset((*_SYMBOLIC, TensorType)),
}
_ANY: frozenset[type] = frozenset(VALUE_TYPES)

#: Where an argument list has, by class, the number of results of a call that was found right with
#: it: another such call is right too if all its operands are tensors.
_FITS = "fits"
_NOTHING: dict[str, Any] = {}

Allowed = tuple[frozenset[type], ...]


class _BadArgument(Exception):
    """Arguments do not fit a schema; `check_op` turns this into a VerifyException for the op."""

    def __init__(self, problem: str, expected: str, found: str) -> None:
        super().__init__(problem)
        self.details = {"expected": expected, "found": found}


def check_op(op: TorchOp) -> None:
    """Check one op by itself: its arguments, operands and results fit its schema.

    Raises VerifyException.
    """
    _check_call(op)
    for result in op.results:
        _check_kind(op, result._type)


def _check_kind(op: TorchOp, kind: Any) -> None:
    if type(kind) not in _ANY:
        _fail(op, "a result has a type of another dialect", found=str(kind))


def _check_call(op: TorchOp) -> None:
    args: Any = op.properties.get("args")
    if type(args) is not ArgsAttr:
        _fail(op, "the op has no arguments attribute")
    fields = args.__dict__
    operands, results = op._operands, op.results
    if fields["refs"] != len(operands):
        _fail(op, f"the arguments refer to {args.refs} operands, the op has {len(operands)}")
    if op.raw_arguments:
        if "are_raw" not in fields:
            _check_raw_arguments(op, args)
        if _has_a_form(type(op)):
            _check_form(op)
    else:
        known = fields.get("allowed")
        allowed = known.get(type(op)) if known is not None else None
        if allowed is None:
            allowed = _check_arguments(op, args)
        for operand, kinds in zip(operands, allowed):  # noqa: B905  as many as `args.refs`
            if type(operand._type) not in kinds:
                _fail_operand(op, operand, kinds)
        if len(results) != op.table.returns:  # type: ignore[attr-defined]
            _check_result_count(op)


@cache
def _has_a_form(cls: type[TorchOp]) -> bool:
    """Whether the arguments of a class's calls must be of some form."""
    return getattr(cls, "wrong_form", RawOp.wrong_form) is not RawOp.wrong_form


def _check_form(op: TorchOp) -> None:
    wrong = op.wrong_form()  # type: ignore[attr-defined]
    if wrong:
        _fail(op, wrong)


def _check_raw_arguments(op: TorchOp, args: ArgsAttr) -> None:
    if len(args.data) != 2 or type(args.data[0]) is not tuple or type(args.data[1]) is not tuple:
        _fail(op, "the arguments are not positional and keyword ones")
    vars(args)["are_raw"] = True


def _check_result_count(op: Any) -> None:
    returns, found = op.table.returns, len(op.results)
    if found != returns and returns is not None and not (returns == 0 and found == 1):
        _fail(
            op,
            "the number of results is not the schema's",
            expected=str(returns),
            found=str(found),
        )


def _fail_operand(op: TorchOp, operand: Any, kinds: frozenset[type]) -> None:
    _fail(
        op,
        f"operand {list(op._operands).index(operand)} has a type its argument does not take",
        expected=" or ".join(sorted(f"!{kind.name}" for kind in kinds)),
        found=str(operand._type),
    )


def _check_arguments(op: SchemaOp | TorchOp, args: ArgsAttr) -> Allowed:
    """Check the constants once for this argument list; returns the kinds allowed for operands."""
    table = op.table  # type: ignore[attr-defined]
    if len(args.data) != len(table.params):
        _fail(
            op,
            "the number of arguments is not the schema's",
            expected=str(len(table.params)),
            found=str(len(args.data)),
        )
    kinds: dict[int, frozenset[type]] = {}
    try:
        for param, item in zip(table.params, args.data, strict=True):
            _check_item(param, item, param.lists, kinds)
    except _BadArgument as error:
        _fail(op, str(error), **error.details)
    if sorted(kinds) != list(range(args.refs)):
        _fail(op, "the operands are not numbered in order of appearance")
    allowed = tuple(kinds[index] for index in range(args.refs))
    vars(args).setdefault("allowed", {})[type(op)] = allowed
    return allowed


def _check_item(param: Param, item: Any, lists: int, kinds: dict[int, frozenset[type]]) -> None:
    kind = type(item)
    if item is None:
        if (
            param.optional
            or (lists < param.lists and param.optional_elements)
            or param.kind == "object"
            or (param.kind == "tensor" and not param.lists)  # PyTorch's undefined tensor
        ):
            return
        raise _BadArgument(f"argument '{param.name}' is none", param.kind, "none")
    if kind is Ref:
        values = _VALUES.get(param.kind, _ANY) if not lists else _ANY
        if param.optional or param.optional_elements:
            values |= {NoneType}
        kinds[item.index] = values | {ObjectType} if param.kind == "object" else values
        return
    if isinstance(item, tuple):
        if not lists and param.kind != "object":
            raise _BadArgument(f"argument '{param.name}' is a list", param.kind, repr(item))
        for element in item:
            _check_item(param, element, lists - 1, kinds)
        return
    takes = _CONSTANTS.get(param.kind)
    if takes is not None and kind not in takes:
        raise _BadArgument(
            f"argument '{param.name}' is of another kind", param.kind, f"{item!r} ({kind.__name__})"
        )
    if lists and param.kind != "object":
        raise _BadArgument(
            f"argument '{param.name}' is no list", f"a list of {param.kind}", repr(item)
        )


def check_graph(graph: GraphOp) -> None:
    """Check a graph: ops, definition order, one output at the end, references, symbols, names.

    Raises VerifyException naming the first op that is wrong.
    """
    if graph.is_declaration:
        return
    from xductor.ir.dialect.graph import OutputOp

    block = graph.block
    # By identity: all values live as long as the graph, and hashing them costs a call each.
    defined = {id(argument) for argument in block.args}
    known_types: set[int] = set()
    #: By class: whether the arguments of its calls may be of any form.
    free: dict[type, bool] = {}
    bound = set(graph.symbols.data)
    unbacked = _Unbacked(graph)
    names = set(graph.argument_names)
    if len(names) != len(block.args):
        _fail_graph(graph, "has argument names that are not unique or not complete")
    for argument in block.args:
        _check_symbols(graph, argument._type, bound)
    last = block.last_op
    if not isinstance(last, OutputOp):
        _fail_graph(graph, "does not end in fx.output")
    op: Any = block.first_op
    while op is not None:
        cls = type(op)
        is_free = free.get(cls)
        if is_free is None:
            if not isinstance(op, TorchOp):
                _fail_graph(graph, f"holds {op.name}, which is no op of a graph")
            is_free = free[cls] = not _has_a_form(cls)
        operands, results = op._operands, op.results
        args: Any = op.properties.get("args")
        known: Any = args.__dict__ if is_free and type(args) is ArgsAttr else _NOTHING
        fits = known.get(_FITS, _NOTHING).get(cls) == len(results)
        fits = fits and known["refs"] == len(operands)
        for operand in operands:
            if id(operand) not in defined:
                _fail_undefined(op, defined, graph)
            if type(operand._type) is not TensorType:  # which any argument takes
                fits = False
        if not fits:
            _check_call(op)
            known = args.__dict__
            if (cls is OutputOp) != (op is last):  # an fx.output has a form, and is never free
                _fail(op, "fx.output must be the last op, and the only one")
            known.setdefault(_FITS, {})[cls] = len(results)
        for result in results:
            defined.add(id(result))
            kind = result._type
            if id(kind) not in known_types:
                _check_kind(op, kind)
                _check_result_symbols(op, kind, bound)
                known_types.add(id(kind))
        symbols = known["symbols"]
        if symbols and not symbols <= bound:
            _fail(
                op,
                f"an argument mentions symbols the graph does not have: {sorted(symbols - bound)}",
            )
        node: Any = op.attributes.get("node") or op.node
        own = node.data
        if len(own) != len(results):
            _fail_names(op, own)
        for name in own:
            if name:
                if name in names:
                    _fail(op, f"the name %{name} is taken")
                names.add(name)
        if unbacked.names:
            unbacked.check(op)
        if known["subgraphs"] and op.raw_arguments:
            _check_references(op, graph)
        op = op._next_op


def _check_result_symbols(op: TorchOp, kind: Any, bound: set[str]) -> None:
    symbols = symbols_of(kind)
    if symbols and not symbols <= bound:
        missing = sorted(symbols - bound)
        _fail(op, f"a type mentions symbols the graph does not have: {missing}")


def _fail_names(op: TorchOp, own: tuple[str, ...]) -> None:
    _fail(
        op,
        "the number of names is not that of the results",
        expected=str(len(op.results)),
        found=str(len(own)),
    )


def _check_symbols(graph: GraphOp, type_: Any, bound: set[str]) -> None:
    missing = symbols_of(type_) - bound
    if missing:
        _fail_graph(
            graph,
            f"has an argument of type {type_} that mentions symbols the graph does not have: "
            f"{sorted(missing)}",
        )


def _check_references(op: TorchOp, graph: GraphOp) -> None:
    """Check that symbol references refer to graphs of the module."""
    names = op.args.subgraphs
    module = graph.parent_op()
    graphs: Any = () if module is None else module.regions[0].block.ops
    known = {other.sym_name.data for other in graphs if other.name == "fx.graph"}
    for name in names:
        if module is not None and name not in known:
            _fail(op, f"@{name} is no graph of the module", expected=", ".join(sorted(known)))


class _Unbacked:
    """Checks that each unbacked symbol has one binder, before its first use."""

    def __init__(self, graph: GraphOp) -> None:
        self.names = {info.name for info in graph.symbols.data.values() if not info.backed}
        self.bound: dict[str, TorchOp | None] = {}
        for argument in graph.block.args:
            for name in symbols_of(argument._type) & self.names:
                self.bound[name] = None

    def check(self, op: TorchOp) -> None:
        for name in self._binds(op):
            if self.bound.get(name) is not None:
                _fail(op, f"unbacked symbol {name} has two binders")
            self.bound[name] = op
        for result in op.results:
            missing = (symbols_of(result._type) & self.names) - self.bound.keys()
            if missing and _may_bind_unrecorded(op):
                self.bound |= dict.fromkeys(missing, op)
            elif missing:
                _fail(op, f"unbacked symbols {sorted(missing)} are used before an op binds them")

    def _binds(self, op: TorchOp) -> set[str]:
        text = op.node.text_items().get("unbacked_bindings")
        if not text:
            return set()
        return {part.partition(" = ")[0].strip() for part in text.split(", ")} & self.names


def _may_bind_unrecorded(op: TorchOp) -> bool:
    """Whether PyTorch may not record what a call binds.

    It does not for `auto_functionalized`, nor does Inductor for the call of a user's operator that
    takes its place.
    """
    if isinstance(op, SchemaOp):
        return op.target.namespace not in LASTING
    return isinstance(op, HigherOrderOp)


def _fail(op: Any, problem: str, **details: Any) -> Any:
    from xductor.ir.text.diagnostics import fail

    fail(op, problem, **details)


def _fail_graph(graph: GraphOp, problem: str) -> None:
    from xductor.ir.text.diagnostics import fail_graph

    fail_graph(graph, problem)


def _fail_undefined(op: TorchOp, defined: set[int], graph: GraphOp) -> None:
    index, owner = next(
        (index, operand.owner)
        for index, operand in enumerate(op._operands)
        if id(operand) not in defined
    )
    inside = isinstance(owner, TorchOp) and owner.parent_op() is graph
    where = "after this op" if inside else "in another graph, or nowhere"
    _fail(op, f"operand {index} is defined {where}", expected="a value defined above the op")


__all__ = ["check_graph", "check_op"]
