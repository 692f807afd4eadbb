"""Reads the many spellings of the calls in attention as a few terms.

A `Term` defines a value: `torch.matmul(a, b)`, `a @ b`, `a.matmul(b)`, `torch.bmm(a, b)` and
`aten.mm` are all the term `matmul` of `x` and `y`. Casts, copies, permutations and reshapes are one
kind each, whatever their arguments: the types of operand and result tell the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Protocol, TypeGuard

import torch
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.ir import OutputOp, Ref, SymExpr, SymFloatType, TensorType, TorchOp
from xductor.ir.dialect.arguments import CONSTANT_TYPES, leaves
from xductor.ir.functions.torch_calls import AtenCall, aten_call
from xductor.ir.python.canonical_names import canonical_name
from xductor.transforms.analysis.op_effects import arguments_of

Args = Mapping[str, Any]


class Term:
    """The definition of a value.

    `kind` names the function, `op` is the call, and `args` has its arguments, which are attributes
    too: the tensors are `x`, `y`, `z`; the others have torch's names.
    """

    kind: str
    op: TorchOp
    args: Args

    def __init__(self, kind: str, op: TorchOp, args: Args) -> None:
        vars(self).update(args, kind=kind, op=op, args=args)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a term {self.kind!r} has no argument {name!r}")


Found = tuple[str, dict[str, Any]] | None
Read = Callable[[TorchOp, Args], Found]


def _first(args: Args) -> Any:
    return next(iter(args.values()), None)


def _pair(kind: str) -> Read:
    """A reader for a function of two operands, its first two arguments."""

    def read(op: TorchOp, args: Args) -> Found:
        values = list(args.values())
        if len(values) < 2 or args.get("out") is not None:
            return None
        rest = {name: item for name, item in list(args.items())[2:] if name != "out"}
        return kind, {"x": values[0], "y": values[1], **rest}

    return read


def _one(kind: str) -> Read:
    """A reader for a function of one tensor, its first argument."""

    def read(op: TorchOp, args: Args) -> Found:
        if args.get("out") is not None:
            return None
        rest = {name: item for name, item in list(args.items())[1:] if name != "out"}
        return kind, {"x": _first(args), **rest}

    return read


def _cast(op: TorchOp, args: Args) -> Found:
    """A change of dtype; a move to another device or layout is not a cast."""
    x = _first(args)
    before, after = tensor_type(x), tensor_type(op.results[0])
    if before is None or after is None:
        return None
    if before.device != after.device or before.data.layout != after.data.layout:
        return None
    return ("copy" if before.dtype is after.dtype else "cast"), {"x": x}


def _reshape(op: TorchOp, args: Args) -> Found:
    x = _first(args)
    before, after = tensor_type(x), tensor_type(op.results[0])
    if before is None or after is None or before.dtype is not after.dtype:
        return None  # Tensor.view(dtype)
    return "reshape", {"x": x}


def _transpose(op: TorchOp, args: Args) -> Found:
    values = list(args.values())
    rank = rank_of(values[0])
    if rank is None or len(values) != 3 or not all(type(one) is int for one in values[1:]):
        return None
    order = list(range(rank))
    if rank:
        one, other = values[1] % rank, values[2] % rank
        order[one], order[other] = order[other], order[one]
    return "permute", {"x": values[0], "dims": tuple(order)}


def _swap_last(op: TorchOp, args: Args) -> Found:
    x = _first(args)
    rank = rank_of(x)
    if rank is None or rank < 2:
        return None
    order = (*range(rank - 2), rank - 1, rank - 2)
    return "permute", {"x": x, "dims": order}


def _permute(op: TorchOp, args: Args) -> Found:
    values = list(args.values())
    rank = rank_of(values[0])
    dims = values[1] if len(values) > 1 else None
    if isinstance(dims, tuple | list) and len(dims) == 1 and isinstance(dims[0], tuple | list):
        dims = dims[0]
    if rank is None or not isinstance(dims, tuple | list) or len(dims) != rank:
        return None
    if not all(type(dim) is int for dim in dims):
        return None
    return "permute", {"x": values[0], "dims": tuple(dim % rank for dim in dims)}


def _attribute(op: TorchOp, args: Args) -> Found:
    """`x.mT`, `x.T`, as Dynamo records them."""
    values = list(args.values())
    if len(values) < 2 or values[1] not in ("mT", "T", "mH", "H"):
        return None
    type_ = tensor_type(values[0])
    if type_ is None or type_.dtype.is_complex or (values[1] in ("T", "H") and type_.rank != 2):
        return None
    return _swap_last(op, {"x": values[0]})


def _getitem(op: TorchOp, args: Args) -> Found:
    """Indexing that only adds dims of size one is a reshape; other indexing is kept as it is."""
    values = list(args.values())
    if len(values) != 2:
        return None
    x, index = values
    items = index if isinstance(index, tuple) and not is_slice(index) else (index,)
    before, after = tensor_type(x), tensor_type(op.results[0])
    if before is None or after is None:
        return None
    plain = all(item is None or item is Ellipsis or is_full_slice(item) for item in items)
    return ("reshape", {"x": x}) if plain else ("getitem", {"x": x, "index": items})


def is_slice(item: Any) -> bool:
    """Whether an index is a slice, in either of the forms used in graphs."""
    from xductor.ir.dialect.arguments import SliceArg

    return type(item) is slice or type(item) is SliceArg


def is_full_slice(item: Any) -> bool:
    """Whether an index is `:`."""
    if type(item) is slice:
        return item.start is None and item.stop is None and item.step is None
    return is_slice(item) and all(part is None for part in item)


def _where(op: TorchOp, args: Args) -> Found:
    values = list(args.values())
    if len(values) < 3 or "condition" not in args:
        return None
    condition = args["condition"]
    rest = [item for name, item in args.items() if name not in ("condition", "out")]
    return "where", {"condition": condition, "x": rest[0], "y": rest[1]}


def _masked_fill(op: TorchOp, args: Args) -> Found:
    """`x.masked_fill(mask, value)` is `where(mask, value, x)`."""
    values = list(args.values())
    if len(values) != 3:
        return None
    return "where", {"condition": values[1], "x": values[2], "y": values[0]}


def _softmax(op: TorchOp, args: Args) -> Found:
    x = _first(args)
    if args.get("out") is not None or rank_of(x) is None or type(args.get("dim")) is not int:
        return None
    return "softmax", {"x": x, "dim": args["dim"]}


def _safe_softmax(op: TorchOp, args: Args) -> Found:
    x = _first(args)
    return "safe_softmax", {"x": x, "dim": args.get("dim")}


def _dropout(op: TorchOp, args: Args) -> Found:
    train = args.get("training", args.get("train"))
    p = _literal(args.get("p"))
    if args.get("inplace") or type(train) is not bool or p is None:
        return None
    if not train or p == 0:
        return "copy", {"x": _first(args)}
    return "dropout", {"x": _first(args), "p": float(p)}


def _literal(item: Any) -> int | float | None:
    """A number, or that of a value whose type says it: a float of a module that Dynamo guards."""
    if isinstance(item, int | float):
        return item
    type_: Any = item.type if isinstance(item, SSAValue) else None
    found = (
        type_.expr.value if type(type_) is SymFloatType and type(type_.expr) is SymExpr else None
    )
    return found if type(found) is float else None


def _contraction(op: TorchOp, args: Args) -> Found:
    read = _pair("matmul")(op, args)
    return None if read is None else ("matmul", {"x": read[1]["x"], "y": read[1]["y"]})


def _baddbmm(op: TorchOp, args: Args) -> Found:
    values = list(args.values())
    if len(values) < 3 or args.get("out") is not None:
        return None
    beta, alpha = args.get("beta", 1), args.get("alpha", 1)
    return "baddbmm", {
        "z": values[0], "x": values[1], "y": values[2], "beta": beta, "alpha": alpha,
    }  # fmt: skip


def _einsum(op: TorchOp, args: Args) -> Found:
    parts: list[Any] = []
    for item in args.values():
        parts += list(item) if isinstance(item, tuple | list) else [item]
    parts = [part for part in parts if part is not None]
    if len(parts) != 3 or not isinstance(parts[0], str):
        return None
    return "einsum", {"equation": parts[0], "x": parts[1], "y": parts[2]}


def _copy(op: TorchOp, args: Args) -> Found:
    return "copy", {"x": _first(args)}


def _detach(op: TorchOp, args: Args) -> Found:
    """`detach` is a copy if no gradient would flow anyway."""
    type_ = tensor_type(_first(args))
    if type_ is None or "requires_grad" in type_.data.flags:
        return None
    return _copy(op, args)


_READERS: dict[str, Read] = {
    "matmul": _contraction,
    "bmm": _contraction,
    "mm": _contraction,
    "baddbmm": _baddbmm,
    "einsum": _einsum,
    "add": _pair("add"),
    "sub": _pair("sub"),
    "mul": _pair("mul"),
    "div": _pair("div"),
    "neg": _one("neg"),
    "pow": _pair("pow"),
    "sqrt": _one("sqrt"),
    "rsqrt": _one("rsqrt"),
    "where": _where,
    "masked_fill": _masked_fill,
    "softmax": _softmax,
    "_softmax": _softmax,
    "_safe_softmax": _safe_softmax,
    "exp": _one("exp"),
    "amax": _one("amax"),
    "max": _one("max"),
    "sum": _one("sum"),
    "nan_to_num": _one("nan_to_num"),
    "dropout": _dropout,
    "to": _cast,
    "type": _cast,
    "type_as": _cast,
    "float": _cast,
    "half": _cast,
    "bfloat16": _cast,
    "double": _cast,
    "bool": _cast,
    "int": _cast,
    "long": _cast,
    "_to_copy": _cast,
    "prims.convert_element_type": _cast,
    "clone": _copy,
    "contiguous": _copy,
    "detach": _detach,
    "alias": _copy,
    "positive": _copy,
    "transpose": _transpose,
    "t": _swap_last,
    "adjoint": _swap_last,
    "permute": _permute,
    "builtins.getattr": _attribute,
    "getattr": _attribute,
    "view": _reshape,
    "reshape": _reshape,
    "view_as": _reshape,
    "reshape_as": _reshape,
    "_unsafe_view": _reshape,
    "flatten": _reshape,
    "unflatten": _reshape,
    "unsqueeze": _reshape,
    "squeeze": _reshape,
    "getitem": _getitem,
    "expand": _one("expand"),
    "expand_as": _one("expand"),
    "broadcast_to": _one("expand"),
    "repeat_interleave": _one("repeat_interleave"),
}

_PRODUCTS = frozenset(("matmul", "bmm", "mm", "baddbmm", "einsum", "functional.einsum"))

#: Calls that write the result of the functional call to their first argument.
_IN_PLACE = {
    "add_": "add",
    "sub_": "sub",
    "mul_": "mul",
    "div_": "div",
    "masked_fill_": "masked_fill",
}


_OPERATORS = frozenset((*_READERS, *_IN_PLACE))


class Reader:
    """Reads the terms of one graph, each once.

    In-place calls are read as their functional counterparts: later readers read the result of the
    call. `versions` tells which result that is.
    """

    def __init__(self, versions: Versions | None = None) -> None:
        # By identity: to hash a value is a call of its own. Each entry keeps its value alive.
        self._terms: dict[int, tuple[SSAValue, Term | None]] = {}
        self._versions = versions

    def term(self, value: Any) -> Term | None:
        """The term of a value; None for inputs, constants and calls outside the vocabulary."""
        if type(value) is not OpResult:
            return None
        known = self._terms.get(id(value))
        if known is None:
            known = self._terms[id(value)] = (value, self._read(value))
        return known[1]

    def kind(self, value: Any) -> str:
        term = self.term(value)
        return "" if term is None else term.kind

    def arguments(self, op: TorchOp) -> dict[str, Any] | None:
        """The arguments of a call by name, with the versions of tensors that it reads."""
        args = arguments_of(op)
        return None if args is None else self._now(args, op)

    def _now(self, args: dict[str, Any], op: TorchOp) -> dict[str, Any] | None:
        if self._versions is None:
            return args
        try:
            return {name: self._current(item, op) for name, item in args.items()}
        except LookupError:
            return None

    def _current(self, item: Any, op: TorchOp) -> Any:
        """An argument with current versions. Raises LookupError if a version is unknown."""
        assert self._versions is not None
        if type(item) is OpResult or type(item) is BlockArgument:
            return self._versions.at(item, op)
        if type(item) in (tuple, list):
            return type(item)([self._current(part, op) for part in item])
        return item

    def _read(self, value: OpResult) -> Term | None:
        op = value.op
        if not isinstance(op, TorchOp) or op.fx_op == "call_module" or len(op.results) != 1:
            return None
        operands = tuple(op._operands)  # xDSL's own sequence is slow to index
        if self._versions is not None and not self._versions.are_held(operands, op):
            return self._read_now(op)
        # Calls with equal arguments and types are read alike, whatever their operands.
        fields = vars(op.args)
        known: dict[Any, Outline] | None = fields.get("terms")
        if known is None or len(known) > _LIMIT:
            known = fields["terms"] = {}
        key = (type(op), value._type, *[operand._type for operand in operands])
        outline = known.get(key, _UNREAD)
        if outline is _UNREAD:
            term = self._read_now(op)
            outline = _outline(term, operands)
            if outline is not _UNREAD:
                known[key] = outline
            return term
        return None if outline is None else _filled(outline, op, operands)

    def _read_now(self, op: TorchOp) -> Term | None:
        call = _meant(op)
        name = name_of(op) if call is None else _operator(call)
        read = _READERS.get(_IN_PLACE.get(name, name)) if name is not None else None
        if read is None:
            return None
        args = self.arguments(op) if call is None else self._now(call.arguments, op)
        if args is None:
            return None
        found = read(op, args)
        return None if found is None else Term(found[0], op, found[1])


#: A term without its call: its kind, and its arguments with references to the call's operands.
#: None for a call that has no term.
Outline = tuple[str, tuple[tuple[str, Any], ...]] | None

_UNREAD: Any = object()
#: The most outlines that are kept of calls with the same arguments; then all are read anew.
_LIMIT = 64
_PLAIN = frozenset(CONSTANT_TYPES)


def _outline(term: Term | None, operands: tuple[SSAValue, ...]) -> Outline:
    """The outline of what was read of a call; `_UNREAD` if a call that is alike may have another.

    That is so if an operand stands in two places, where another call may have two values, or if an
    argument is neither an operand nor made of plain constants.
    """
    if term is None:
        return None
    places = {id(operand): place for place, operand in enumerate(operands)}
    if len(places) != len(operands):
        return _UNREAD
    items: list[tuple[str, Any]] = []
    for name, item in term.args.items():
        place = places.get(id(item))
        if place is None and not all(type(leaf) in _PLAIN for leaf in leaves(item)):
            return _UNREAD
        items.append((name, item if place is None else Ref(place)))
    return term.kind, tuple(items)


def _filled(outline: Outline, op: TorchOp, operands: tuple[SSAValue, ...]) -> Term:
    """The term of a call that has an outline."""
    assert outline is not None
    kind, items = outline
    args = {name: operands[item.index] if type(item) is Ref else item for name, item in items}
    return Term(kind, op, args)


def _meant(op: TorchOp) -> AtenCall | None:
    """The ATen call that an op means, if its operator is in the vocabulary; else None.

    None also covers names that stand for several operators, such as indexing and attributes; there
    the types decide.
    """
    call = aten_call(op)
    if call is None or _operator(call) not in _OPERATORS:
        return None
    return call


def _operator(call: AtenCall) -> str:
    return call.name.removeprefix("aten.").rpartition(".")[0]


def is_product(op: Any) -> TypeGuard[TorchOp]:
    """Whether an op may be a product of matrices, judging by its name."""
    return _makes_products(type(op)) and len(op.results) == 1


@cache
def _makes_products(cls: type[Any]) -> bool:
    if not issubclass(cls, TorchOp) or cls.fx_op == "call_module":
        return False
    return _class_name(cls) in _PRODUCTS


def in_place(op: TorchOp) -> bool:
    """Whether a call writes the result of a call in the vocabulary to its first argument."""
    call = _meant(op)
    return call is not None and _operator(call) in _IN_PLACE


#: Calls that read only sizes, dtype and device of their first argument.
_OF_METADATA = frozenset(
    {"size", "dim", "numel", "sym_size", "empty_like", "full_like", "ones_like", "zeros_like",
     "new_empty", "new_full", "new_ones", "new_zeros", "rand_like", "randn_like"}
)  # fmt: skip
#: Calls that read only sizes, dtype and device of their second argument.
_LIKE_ANOTHER = frozenset(("expand_as", "view_as", "reshape_as", "type_as"))


def reads_metadata(op: TorchOp, value: SSAValue) -> bool:
    """Whether a call reads only the sizes, dtype and device of a value."""
    name = name_of(op) if type(op) is not OutputOp and op.fx_op != "call_module" else None
    args = arguments_of(op) if name in _OF_METADATA or name in _LIKE_ANOTHER else None
    if args is None:
        return False
    place = 0 if name in _OF_METADATA else 1
    return all(item is not value or i == place for i, item in enumerate(args.values()))


class Versions(Protocol):
    """The contents of tensors at an op: see `xductor.transforms.attention.versions`."""

    def at(self, value: SSAValue, op: TorchOp) -> SSAValue:
        """The value that has the content of `value` when `op` reads it.

        Raises LookupError if there is no such value.
        """
        ...

    def are_held(self, values: Iterable[SSAValue], op: TorchOp) -> bool:
        """Whether nothing was written to these values when `op` reads them."""
        ...


def name_of(op: TorchOp) -> str | None:
    """The canonical name of the function that an op calls."""
    return _class_name(type(op))


@cache
def _class_name(cls: type[TorchOp]) -> str | None:
    target: Any = cls.target
    if isinstance(target, torch._ops.OpOverload):
        library, name = target._schema.name.split("::")
        return name if library == "aten" else f"{library}.{name}"
    if not isinstance(target, str) and not callable(target):
        return None
    return canonical_name(target)


def tensor_type(value: Any) -> TensorType | None:
    """The type of a tensor value; None for anything else."""
    type_ = getattr(value, "_type", None)
    return type_ if type(type_) is TensorType else None


def rank_of(value: Any) -> int | None:
    type_ = tensor_type(value)
    return None if type_ is None else type_.rank


__all__ = [
    "Reader",
    "Term",
    "Versions",
    "in_place",
    "is_full_slice",
    "is_product",
    "is_slice",
    "name_of",
    "rank_of",
    "reads_metadata",
    "tensor_type",
]
