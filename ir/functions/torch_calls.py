"""What torch-level calls mean: each as a call of an ATen operator, by its schema.

A graph before autograd calls functions (`torch.cat`, `F.relu`), methods (`x.split`), operators of
Python (`a + b`, `x[1:]`), in the words of torch or numpy. C functions of torch and C methods are
the operator of their name; what Python functions do is said here. Dims stay as they are written. A
call in place is the operator in place, never the functional one, and one with `out=` is nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import BuiltinFunctionType, MethodDescriptorType
from typing import Any, NamedTuple

import torch
from torch._ops import OpOverload, OpOverloadPacket
from xdsl.ir import SSAValue

from xductor.ir.dialect.arguments import ListArg, Ref, SliceArg, map_tree
from xductor.ir.dialect.operations import RawOp, SchemaOp, TorchOp
from xductor.ir.dialect.registry import packet_named
from xductor.ir.dialect.types import SymBoolType, SymFloatType, SymIntType, TensorType
from xductor.ir.functions.op_functions import OpFunction
from xductor.ir.functions.overload_resolution import BoundCall, fitting_calls, kind_of
from xductor.ir.python.binding import bind, bind_method
from xductor.ir.python.canonical_names import canonical_name
from xductor.ir.python.numpy_names import own_name


class Meant(NamedTuple):
    """A call as one of an operator of ATen: `aten.cat`, with arguments as they are given."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}


class Operand:
    """A value of a graph among the arguments of a call; `rank` is -1 for what is no tensor."""

    __slots__ = ("index", "kind", "rank")

    def __init__(self, index: int, kind: str, rank: int) -> None:
        self.index = index
        self.kind = kind
        self.rank = rank


#: The meaning of a call from its arguments; None where it has none.
Read = Callable[[Sequence[Any], Mapping[str, Any]], Meant | None]


class AtenCall:
    """A call in a graph as the call of an overload that it means.

    It answers as the op of that overload would: `name`, `argument("dim")`, `operands`, `results`.
    """

    __slots__ = ("_bound", "_items", "cls", "op")

    def __init__(self, op: TorchOp, cls: type[SchemaOp], bound: tuple[Any, ...] | None) -> None:
        self.op = op
        self.cls = cls
        self._bound = bound
        self._items: tuple[Any, ...] | None = None

    @property
    def items(self) -> tuple[Any, ...]:
        """The arguments in the order of the schema, with the values that they had when they were
        first asked for.
        """
        if self._items is None:
            self._items = self._read()
        return self._items

    def _read(self) -> tuple[Any, ...]:
        op = self.op
        if self._bound is None:
            assert isinstance(op, SchemaOp)
            return op.argument_tree(op.args.data)
        operands = tuple(op._operands)  # xDSL's own sequence is slow to index
        return map_tree(
            self._bound, lambda leaf: operands[leaf.index] if type(leaf) is Operand else leaf
        )

    @property
    def name(self) -> str:
        return self.cls.name

    @property
    def operands(self) -> Any:
        return self.op.operands

    @property
    def results(self) -> Any:
        return self.op.results

    def argument(self, name: str) -> Any:
        """An argument by its name in the schema. Raises KeyError for one that it has not."""
        return self.items[self.cls.table.index[name]]

    @property
    def arguments(self) -> dict[str, Any]:
        """All arguments by name, defaults filled in."""
        return dict(zip(self.cls.table.index, self.items, strict=True))


def aten_call(op: Any) -> AtenCall | None:
    """The call of an overload that a call in a graph is, or means; None where nobody can say."""
    if isinstance(op, SchemaOp):
        return AtenCall(op, type(op), None)
    if not isinstance(op, RawOp) or not may_mean(type(op)):
        return None
    kinds = tuple([_kind_and_rank(value) for value in op._operands])
    known: dict[Any, BoundCall | None] = vars(op.args).setdefault("torch_calls", {})
    key = (type(op), kinds)
    if key not in known:
        known[key] = _find(type(op), op.args.data, kinds)
    found = known[key]
    return None if found is None else AtenCall(op, found.cls, found.args)


def aten_name(op: Any) -> str:
    """The name of the overload that a call is or means; its own name where there is none."""
    if isinstance(op, SchemaOp):
        return op.name
    found = aten_call(op)
    return op.name if found is None else found.name


def _kind_and_rank(value: SSAValue) -> tuple[str, int]:
    type_ = value._type
    if type(type_) is TensorType:
        return "tensor", type_.rank
    return _VALUE_KINDS.get(type(type_), "object"), -1


_VALUE_KINDS: dict[type, str] = {SymIntType: "int", SymFloatType: "float", SymBoolType: "bool"}


def _find(cls: type[RawOp], data: Any, kinds: Sequence[tuple[str, int]]) -> BoundCall | None:
    operands = [Operand(place, *kind) for place, kind in enumerate(kinds)]

    def value(leaf: Any) -> Any:
        return operands[leaf.index] if type(leaf) is Ref else leaf

    positional, keywords = map_tree(data, value)
    return call_meant(cls, positional, dict(keywords))


def call_meant(
    cls: type[TorchOp], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> BoundCall | None:
    """The call of an overload that a call of a function or method means.

    Values among the arguments say by `kind` what they are, as `kind_of` reads it, and tensors have
    their `rank` or `ndim`. None where there is no such overload, or more than one.
    """
    read = _reader(cls.target)
    meant = None if read is None else read(args, kwargs)
    return None if meant is None else _resolved(meant)


def may_mean(cls: type[TorchOp]) -> bool:
    """Whether calls of a class may mean a call of an operator."""
    return _reader(cls.target) is not None


def _resolved(meant: Meant) -> BoundCall | None:
    function = _function(meant.name)
    if function is None:
        return None
    kwargs = dict(meant.kwargs)
    if kwargs.pop("out", None) is not None:
        return None
    names = _names(function)
    kwargs = {own_name(name, names): item for name, item in kwargs.items()}
    for args in _ways_to_spread(meant.args):
        try:
            call = fitting_calls(function.name, function.overloads, args, kwargs)[0]
        except TypeError:
            continue
        return call if _gives_tensors(call.cls) else None
    return None


@cache
def _function(name: str) -> OpFunction | None:
    packet = packet_named("aten", name)
    return None if packet is None else OpFunction(f"aten.{name}", packet)


@cache
def _names_of(function_name: str) -> frozenset[str]:
    function = _function(function_name)
    assert function is not None
    return frozenset(name for cls in function.overloads for name in cls.table.index)


def _names(function: OpFunction) -> frozenset[str]:
    return _names_of(function.name.partition(".")[2])


def _ways_to_spread(args: Sequence[Any]) -> list[Sequence[Any]]:
    """Arguments as given, and with the numbers at the end as one list: `x.view(2, -1)`."""
    first = 1 if args and kind_of(args[0]) == "tensor" else 0
    rest = args[first:]
    if rest and all(kind_of(one) == "int" for one in rest):
        return [args, (*args[:first], ListArg(rest))]
    return [args]


@cache
def _gives_tensors(cls: type[SchemaOp]) -> bool:
    schema = cls.target._schema
    kinds = {str(one.type) for one in schema.returns}
    return bool(kinds) and kinds <= {"Tensor", "List[Tensor]"}


# Which function is which operator.


def _reader(target: Any) -> Read | None:
    if isinstance(target, OpOverload) or not (isinstance(target, str) or callable(target)):
        return None
    return _known_reader(target)


@cache
def _known_reader(target: Any) -> Read | None:
    if isinstance(target, str):
        return _method_reader(target)
    if isinstance(target, OpOverloadPacket):
        library, _, name = target._qualified_op_name.partition("::")
        return _calls(name) if library == "aten" else None
    found = _functions().get(target)
    if found is not None:
        return found
    if getattr(torch.Tensor, getattr(target, "__name__", ""), None) is target:
        return _method_reader(target.__name__)
    if _is_c_function(target):
        name = canonical_name(target)
        return None if name is None or _function(name) is None else _function_reader(name, target)
    return None


def _is_c_function(target: Any) -> bool:
    """Whether a function is one that torch makes from the schema of an operator."""
    if not isinstance(target, BuiltinFunctionType):
        return False
    c: Any = torch._C
    if target.__self__ is None:
        return getattr(c._VariableFunctions, target.__name__, None) is target
    return target.__self__ in (c._nn, c._linalg, c._special, c._fft)


def _calls(name: str) -> Read:
    """The operator of that name, with the arguments as they are."""

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant:
        return Meant(name, tuple(args), kwargs)

    return read


def _function_reader(name: str, target: Any) -> Read:
    """A C function: the operator, whose `self` it calls `input`."""
    positions = _OTHER_NAMES.get(target.__name__, {})

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant:
        named = {positions.get(key, key): item for key, item in kwargs.items()}
        names = _names_of(name)
        if "self" in names and "input" not in names:
            named = {_SELF.get(key, key): item for key, item in named.items()}
        return Meant(name, tuple(args), named)

    return read


_SELF = {"input": "self"}

#: Parameters that a function has under other names than the operator that it is.
_OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"},
}


def _method_reader(name: str) -> Read | None:
    known = _METHODS.get(name)
    if known is not None:
        return known
    if not isinstance(getattr(torch.Tensor, name, None), MethodDescriptorType):
        return _python_method(name)
    if name in _NOT_THEIR_OPERATOR:
        return None
    found = canonical_name(name)
    if found is None or _function(found) is None:
        return None
    renames = _OTHER_NAMES.get(name, {})

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        named = {renames.get(key, key): item for key, item in kwargs.items()}
        return Meant(found, tuple(args), named)

    return read


def _python_method(name: str) -> Read | None:
    """Methods that Python wraps around a C one: `__add__`, `__rsub__`, `__pow__`."""
    word = _WRAPPED_METHODS.get(name)
    if word is not None:
        return _binary(word)
    return None


_WRAPPED_METHODS = {"__pow__": "pow", "__floordiv__": "floor_divide"}

#: Methods in C that do something else than the operator of their name.
_NOT_THEIR_OPERATOR = frozenset(("type", "numpy", "new", "apply_", "map_", "map2_", "__getitem__"))


def _renamed(
    target: Any, name: str, order: Sequence[str], only: Mapping[str, Any] | None = None
) -> Read:
    """A Python function that calls an operator with some of its parameters, in some order.

    `only`: the parameters that the operator does not have, and the value for which it is that.
    """
    left_out = only or {}

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        bound = _bound(target, args, kwargs)
        if bound is None or any(
            bound.get(key, value) is not value for key, value in left_out.items()
        ):
            return None
        return Meant(name, tuple([bound[key] for key in order]))

    return read


def _batch_norm(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`F.batch_norm` in evaluation; in training it writes to its statistics, and checks sizes."""
    bound = _bound(torch.nn.functional.batch_norm, args, kwargs)
    if bound is None or bound["training"] is not False:
        return None
    names = (
        "input",
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "training",
        "momentum",
        "eps",
    )
    return Meant("batch_norm", (*map(bound.get, names), bool(torch.backends.cudnn.enabled)))


def _bound(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if isinstance(target, str):
        return bind_method(target, args, kwargs, _is_value)
    return bind(target, args, kwargs, _is_value)


def _is_value(item: object) -> bool:
    return isinstance(getattr(item, "kind", None), str)


def _binary(name: str, reflected: str | None = None) -> Read:
    """An operator of Python between a tensor and a tensor or number.

    `reflected`: the operator that takes the operands in the other order; None where there is none.
    """

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        if kwargs or len(args) != 2:
            return None
        left, right = args
        if kind_of(left) == "tensor":
            return Meant(name, (left, right))
        if kind_of(right) == "tensor" and reflected is not None:
            return Meant(reflected, (right, left))
        return None

    return read


def _plain_pow(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`pow` has an overload for a number on either side."""
    if kwargs or len(args) != 2 or "tensor" not in map(kind_of, args):
        return None
    return Meant("pow", tuple(args))


def _unary(name: str) -> Read:
    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        if kwargs or len(args) != 1 or kind_of(args[0]) != "tensor":
            return None
        return Meant(name, tuple(args))

    return read


def _split(target: Any) -> Read:
    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        bound = _bound(target, args, kwargs)
        if bound is None:
            return None
        x, size, dim = bound.values()
        if kind_of(size) == "int":
            return Meant("split", (x, size, dim))
        return Meant("split_with_sizes", (x, size, dim))

    return read


def _einsum(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    if kwargs or len(args) < 2 or not isinstance(args[0], str):
        return None
    operands = args[1:]
    if len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = operands[0]
    return Meant("einsum", (args[0], ListArg(operands)))


def _broadcast_tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    return None if kwargs else Meant("broadcast_tensors", (ListArg(args),))


def _softmax(target: Any, name: str) -> Read:
    """Without a dim, it is chosen by the rank, in a way that warns."""

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        bound = _bound(target, args, kwargs)
        if bound is None or bound["dim"] is None:
            return None
        return Meant(name, (bound["input"], bound["dim"], bound["dtype"]))

    return read


def _cast(dtype: torch.dtype) -> Read:
    """`x.float()`."""

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        if len(args) != 1 or set(kwargs) - {"memory_format"}:
            return None
        return Meant("to", (args[0], dtype), kwargs)

    return read


def _moved(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`x.to("cpu")` without a dtype is another overload than one with it."""
    rest = args[1:]
    if len(rest) == 1 and kind_of(rest[0]) in ("str", "device") and "dtype" not in kwargs:
        return Meant("to", tuple(args[:1]), {"device": rest[0], **kwargs})
    return Meant("to", tuple(args), kwargs)


def _to_cpu(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`x.cpu()`."""
    if len(args) != 1 or set(kwargs) - {"memory_format"}:
        return None
    return Meant("to", tuple(args), {"device": "cpu", **kwargs})


def _to_type(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`x.type(torch.float32)`; with the name of a class it is nothing."""
    if kwargs or len(args) != 2 or kind_of(args[1]) != "dtype":
        return None
    return Meant("to", tuple(args))


def _joined(name: str, dim: int) -> Read:
    """`torch.hstack` and its like: a cat, if no tensor gets a dim; vectors side by side are too.

    A stack, if each gets the one dim along which they are put together.
    """

    def read(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
        given = (*args, *kwargs.values())
        if len(given) == 1 and isinstance(given[0], tuple | list):
            ranks = [_rank(one) for one in given[0]]
            if all(rank is not None and rank > max(dim, 1) for rank in ranks):
                return Meant("cat", (given[0], dim))
            if name == "hstack" and all(rank == 1 for rank in ranks):
                return Meant("cat", (given[0], 0))
            if all(rank == _STACKED.get(name) for rank in ranks):
                return Meant("stack", (given[0], dim))
        return Meant(name, tuple(args), kwargs)

    return read


JOINED: Mapping[str, int] = {
    "hstack": 1,
    "vstack": 0,
    "row_stack": 0,
    "column_stack": 1,
    "dstack": 2,
}
"""Functions that put tensors together, and along which dim where all of them have it."""

_STACKED: Mapping[str, int] = {"vstack": 1, "column_stack": 1, "dstack": 2}
"""Of which ranks tensors get that dim, and no other."""


def _rank(item: Any) -> int | None:
    """The rank of a tensor among arguments, where it is known."""
    return getattr(item, "rank", None) if isinstance(item, Operand) else getattr(item, "ndim", None)


def _attribute(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`x.T`, and the other attributes that are tensors."""
    if kwargs or len(args) != 2 or kind_of(args[0]) != "tensor" or not isinstance(args[1], str):
        return None
    name = ATTRIBUTES.get(args[1])
    return None if name is None else Meant(name, (args[0],))


ATTRIBUTES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}


def _getitem(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """Indexing that is one operator: one number, slice or new dim, with whole dims around it."""
    if kwargs or len(args) != 2 or kind_of(args[0]) != "tensor":
        return None
    x, index = args
    items = list(index) if type(index) in (tuple, list, ListArg) else [index]
    if Ellipsis in items:
        place = items.index(Ellipsis)
        used = sum(one is not None and one is not Ellipsis for one in items)
        rank = _rank(x)
        if rank is None or items.count(Ellipsis) > 1:
            return None
        items[place : place + 1] = [slice(None)] * (rank - used)
    told = [(dim, one) for dim, one in enumerate(items) if not is_whole(one)]
    if not told:
        return Meant("alias", (x,))
    if len(told) > 1:
        return None
    ((dim, one),) = told
    if one is None:
        return Meant("unsqueeze", (x, dim))
    if is_slice(one):
        start, end, step = _bounds(one)
        return Meant("slice", (x, dim, start, end, 1 if step is None else step))
    return Meant("select", (x, dim, one)) if kind_of(one) == "int" else None


def is_slice(item: Any) -> bool:
    """Whether an index is a slice, in either of the forms in which graphs hold them."""
    return type(item) is slice or type(item) is SliceArg


def is_whole(item: Any) -> bool:
    """Whether an index is `:`."""
    return is_slice(item) and all(part is None for part in _bounds(item))


def _bounds(item: Any) -> tuple[Any, Any, Any]:
    return (item.start, item.stop, item.step) if type(item) is slice else tuple(item)


def _where(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """`x.where(condition, y)`."""
    named = {**dict(zip(("self", "condition", "other"), args, strict=False)), **kwargs}
    return Meant("where", (), named) if len(named) == 3 else None


def _embedding(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Meant | None:
    """Without a largest norm, for which the weight is written to."""
    bound = _bound(torch.nn.functional.embedding, args, kwargs)
    if bound is None or bound["max_norm"] is not None or bound["padding_idx"] is not None:
        return None
    rest = (bound["scale_grad_by_freq"], bound["sparse"])
    return Meant("embedding", (bound["weight"], bound["input"], -1, *rest))


@cache
def _functions() -> Mapping[Any, Read]:
    """What Python functions, and operators of Python, mean."""
    functional = torch.nn.functional
    in_place = {"inplace": False}
    found: dict[Any, Read] = {
        operator.getitem: _getitem,
        operator.pow: _plain_pow,
        getattr: _attribute,
        abs: _unary("abs"),
        torch.functional.split: _split(torch.functional.split),
        torch.functional.einsum: _einsum,
        torch.functional.broadcast_tensors: _broadcast_tensors,
        functional.embedding: _embedding,
        functional.dropout: _renamed(
            functional.dropout, "dropout", ("input", "p", "training"), in_place
        ),
        functional.batch_norm: _batch_norm,
        functional.layer_norm: _renamed(
            functional.layer_norm,
            "layer_norm",
            ("input", "normalized_shape", "weight", "bias", "eps"),
        ),
        functional.pad: _renamed(functional.pad, "pad", ("input", "pad", "mode", "value")),
        functional.glu: _renamed(functional.glu, "glu", ("input", "dim")),
        functional.softmax: _softmax(functional.softmax, "softmax"),
        functional.log_softmax: _softmax(functional.log_softmax, "log_softmax"),
    }
    for name, order in ACTIVATIONS.items():
        target = getattr(functional, name)
        only = {} if name in ("sigmoid", "tanh") else in_place
        found[target] = _renamed(target, name, ("input", *order), only)
    for name, dim in JOINED.items():
        found[getattr(torch, name)] = _joined("vstack" if name == "row_stack" else name, dim)
    for word, (name, reflected) in BINARY.items():
        found[getattr(operator, word)] = _binary(name, reflected)
    for word, name in IN_PLACE.items():
        found[getattr(operator, word)] = _binary(name)
    for word, name in UNARY.items():
        found[getattr(operator, word)] = _unary(name)
    return found


#: Functions of torch.nn.functional that are the operator of their name, with these parameters.
ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "relu": (), "relu6": (), "silu": (), "mish": (), "selu": (), "hardswish": (),
    "hardsigmoid": (), "sigmoid": (), "tanh": (), "elu": ("alpha",), "celu": ("alpha",),
    "leaky_relu": ("negative_slope",), "hardtanh": ("min_val", "max_val"),
}  # fmt: skip

#: Operators of Python: the operator, and the one for a number on the left.
BINARY: Mapping[str, tuple[str, str | None]] = {
    "add": ("add", "add"), "sub": ("sub", "rsub"), "mul": ("mul", "mul"), "truediv": ("div", None),
    "floordiv": ("floor_divide", None), "mod": ("remainder", None), "matmul": ("matmul", None),
    "and_": ("bitwise_and", "bitwise_and"), "or_": ("bitwise_or", "bitwise_or"),
    "xor": ("bitwise_xor", "bitwise_xor"), "lshift": ("__lshift__", None),
    "rshift": ("__rshift__", None),
    "eq": ("eq", "eq"), "ne": ("ne", "ne"), "lt": ("lt", "gt"), "gt": ("gt", "lt"),
    "le": ("le", "ge"), "ge": ("ge", "le"),
}  # fmt: skip

IN_PLACE = {
    "iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "iand": "bitwise_and_",
    "ior": "bitwise_or_", "ixor": "bitwise_xor_",
}  # fmt: skip

UNARY = {"neg": "neg", "pos": "positive", "invert": "bitwise_not", "inv": "bitwise_not"}

CASTS: Mapping[str, torch.dtype] = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "bool": torch.bool,
}

_METHODS: Mapping[str, Read] = {
    "split": _split("split"),
    "unflatten": _calls("unflatten"),
    "where": _where,
    "to": _moved,
    "cpu": _to_cpu,
    "type": _to_type,
    **{name: _cast(dtype) for name, dtype in CASTS.items()},
}

__all__ = [
    "ACTIVATIONS",
    "ATTRIBUTES",
    "BINARY",
    "CASTS",
    "IN_PLACE",
    "JOINED",
    "UNARY",
    "AtenCall",
    "Meant",
    "aten_call",
    "aten_name",
    "call_meant",
    "is_slice",
    "is_whole",
    "may_mean",
]
