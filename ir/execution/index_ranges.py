"""The ranges that users of an integer value require: indices in range, divisors not zero.

Text and types say nothing about the elements of an index tensor, but an index out of range is an
error or undefined behavior. `domains(graph, symbols)` walks back from each op with a requirement
to the values that reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from xdsl.ir import SSAValue

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import RawOp, TorchOp
from xductor.ir.dialect.types import TensorType
from xductor.ir.symbolic.expressions import SymExpr
from xductor.ir.symbolic.symbol_values import number


class Domain(NamedTuple):
    """The integers from `low` to `high`, both included; None means unbounded."""

    low: int | None
    high: int | None

    def meet(self, other: Domain) -> Domain:
        """The integers in both domains."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return Domain(max(lows, default=None), min(highs, default=None))

    def shifted(self, by: int) -> Domain:
        return Domain(
            None if self.low is None else self.low + by,
            None if self.high is None else self.high + by,
        )


#: For a value that reaches an index through ops that are not followed exactly.
CAUTIOUS = Domain(0, 1)
_NATURAL = Domain(0, None)
_MASKS = (torch.bool, torch.uint8)

Need = Iterator[tuple[Any, Domain]]
Sizes = Callable[[Any, Any], int]


class _Call:
    """The arguments of an op, with the sizes of its tensors as numbers."""

    def __init__(self, op: TorchOp, symbols: Mapping[str, Any]) -> None:
        self.op = op
        self.symbols = symbols

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self.op.argument(name)
        except AttributeError:
            return default

    def size(self, value: Any, dim: Any) -> int | None:
        """The size of a tensor along a dim, if it is a tensor and has that dim."""
        type_ = getattr(value, "type", None)
        if not isinstance(type_, TensorType) or not isinstance(dim, int):
            return None
        if not type_.rank:
            return 1
        if not -type_.rank <= dim < type_.rank:
            return None
        return number(type_.shape[dim], self.symbols)

    def below(self, value: Any, size: int | None, *, from_end: bool = False) -> Need:
        """Require that `value` is an index into a dim of that size.

        - `from_end`: the op also takes indices below zero, which count from the end.
        """
        if value is not None and size is not None:
            yield value, Domain(-size if from_end else 0, max(size - 1, 0))


def _along_dim(call: _Call) -> Need:
    index = call.get("index", call.get("indices"))
    yield from call.below(index, call.size(call.get("self", call.get("input")), call.get("dim")))


def _embedding(call: _Call) -> Need:
    yield from call.below(call.get("indices", call.get("input")), call.size(call.get("weight"), 0))


def _embedding_bag(call: _Call) -> Need:
    """Offsets ascend and begin with 0; it suffices if all bags except the last are empty."""
    yield from _embedding(call)
    yield call.get("offsets"), Domain(0, 0)


def _embedding_bag_backward(call: _Call) -> Need:
    yield from _embedding_backward(call)
    yield call.get("offsets"), Domain(0, 0)
    yield from call.below(call.get("offset2bag"), call.size(call.get("grad"), 0))
    yield call.get("bag_size"), Domain(1, 8)


def _embedding_backward(call: _Call) -> Need:
    rows = call.get("num_weights")
    if isinstance(rows, int | SymExpr):
        yield from call.below(call.get("indices"), number(rows, call.symbols))


def _indices(call: _Call) -> Need:
    self_ = call.get("self")
    dim = 0
    for index in call.get("indices", ()):
        type_ = getattr(index, "type", None)
        if not isinstance(type_, TensorType):
            dim += 1
        elif type_.dtype in _MASKS:
            dim += type_.rank
        else:
            yield from call.below(index, call.size(self_, dim), from_end=_wraps(call.op))
            dim += 1


def _wraps(op: TorchOp) -> bool:
    """Whether eager checks indices, and takes those that count from the end."""
    return "unsafe" not in op.name


def _classes(call: _Call) -> Need:
    """Targets of a loss: class numbers along dim 1, or along the only dim."""
    scores = call.get("self", call.get("input"))
    type_ = getattr(scores, "type", None)
    if isinstance(type_, TensorType):
        yield from call.below(call.get("target"), call.size(scores, min(1, type_.rank - 1)))


def _flat(call: _Call) -> Need:
    self_ = call.get("self")
    type_ = getattr(self_, "type", None)
    if isinstance(type_, TensorType):
        count = 1
        for size in type_.shape:
            count *= number(size, call.symbols)
        yield from call.below(call.get("index"), count, from_end=True)


def _one_hot(call: _Call) -> Need:
    classes = call.get("num_classes", -1)
    if isinstance(classes, int):
        yield call.get("self"), Domain(0, classes - 1) if classes > 0 else Domain(0, 3)


def _pooled(call: _Call) -> Need:
    self_ = call.get("self")
    height, width = call.size(self_, -2), call.size(self_, -1)
    if height is not None and width is not None:
        yield from call.below(call.get("indices"), height * width)


def _natural(*names: str) -> Callable[[_Call], Need]:
    def need(call: _Call) -> Need:
        for name in names:
            value = call.get(name)
            if value is not None:
                yield value, _NATURAL

    return need


def _counted(call: _Call) -> Need:
    """The largest element is the size of the result."""
    yield call.get("self", call.get("input")), Domain(0, 31)


def _as_number(call: _Call) -> Need:
    """A number that is read from a tensor is usually a size."""
    yield call.get("self", call.get("input")), Domain(1, 4)


def _small(call: _Call) -> Need:
    yield call.get("repeats", call.get("self")), Domain(0, 3)


def _divisor(call: _Call) -> Need:
    yield call.get("other"), Domain(1, None)


def _shift(call: _Call) -> Need:
    type_ = getattr(call.get("self"), "type", None)
    if isinstance(type_, TensorType) and not type_.dtype.is_floating_point:
        bits = 8 * type_.dtype.itemsize
        yield call.get("other"), Domain(0, bits - 1)


def _getitem(call: _Call) -> Need:
    """`x[index]` in the pre-grad stage, read or written."""
    if not isinstance(call.op, RawOp) or len(call.op.positional) < 2:
        return
    self_, index = call.op.positional[:2]
    items = index if isinstance(index, tuple) else (index,)
    dim = 0
    for place, item in enumerate(items):
        if item is ...:  # later items count from the last dim
            dim = -sum(map(_dims_taken, items[place + 1 :]))
            continue
        type_ = getattr(item, "type", None)
        if isinstance(type_, TensorType) and type_.dtype not in _MASKS:
            yield from call.below(item, call.size(self_, dim), from_end=True)
        dim += _dims_taken(item)


def _dims_taken(item: Any) -> int:
    """The number of dims of a tensor that one item of an index consumes."""
    if item is None or isinstance(item, bool):
        return 0
    type_ = getattr(item, "type", None)
    return type_.rank if isinstance(type_, TensorType) and type_.dtype in _MASKS else 1


def _words(text: str) -> list[str]:
    return text.split()


_NEEDS: dict[str, Callable[[_Call], Need]] = {
    **dict.fromkeys(
        _words(
            "index_select gather scatter scatter_ scatter_add scatter_add_ scatter_reduce "
            "scatter_reduce_ index_add index_add_ index_copy index_copy_ index_fill index_fill_ "
            "index_reduce index_reduce_ take_along_dim take_along_axis"
        ),
        _along_dim,
    ),
    **dict.fromkeys(("embedding", "embedding_renorm_"), _embedding),
    **dict.fromkeys(
        ("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only"), _embedding_bag
    ),
    "_embedding_bag_backward": _embedding_bag_backward,
    "_embedding_bag_dense_backward": _embedding_bag_backward,
    "embedding_dense_backward": _embedding_backward,
    **dict.fromkeys(
        _words(
            "index index_put index_put_ _index_put_impl _index_put_impl_ _unsafe_index "
            "_unsafe_index_put _unsafe_masked_index"
        ),
        _indices,
    ),
    **dict.fromkeys(
        _words(
            "nll_loss nll_loss_nd nll_loss2d nll_loss_forward nll_loss2d_forward nll_loss_backward "
            "nll_loss2d_backward cross_entropy cross_entropy_loss multi_margin_loss"
        ),
        _classes,
    ),
    **dict.fromkeys(("take", "put", "put_"), _flat),
    "one_hot": _one_hot,
    "max_pool2d_with_indices_backward": _pooled,
    "bincount": _counted,
    "repeat_interleave": _small,
    **dict.fromkeys(("_local_scalar_dense", "item"), _as_number),
    **dict.fromkeys(
        _words("remainder remainder_ fmod fmod_ floor_divide floor_divide_ div floordiv mod"),
        _divisor,
    ),
    **dict.fromkeys(
        _words("bitwise_left_shift bitwise_right_shift __lshift__ __rshift__ lshift rshift"), _shift
    ),
    "pow": _natural("exponent"),
    **dict.fromkeys(("getitem", "setitem"), _getitem),
}

_SAME_ELEMENTS = frozenset(
    _words(
        "view reshape _unsafe_view expand permute transpose t unsqueeze squeeze slice select clone "
        "contiguous to _to_copy convert_element_type alias detach flatten unflatten cat stack "
        "repeat flip roll split chunk unbind narrow as_strided index_select gather long int movedim"
    )
)


def base_name(op: TorchOp) -> str:
    """`index_put` of `aten.index_put.default`, `cat` of `pyfn.torch.cat`."""
    parts = op.name.split(".")
    return parts[-1] if op.raw_arguments or len(parts) < 2 else parts[-2]


def domains(graph: GraphOp, symbols: Mapping[str, Any]) -> dict[SSAValue, Domain]:
    """The domains that the ops of a graph require of integer values, for values with requirements.

    - `symbols`: the value of each symbol of the graph, as `symbol_values` chooses them.

    A requirement on a result is passed to the integer operands of its op: unchanged through ops
    that only move elements, shifted through the addition of a constant, and as `CAUTIOUS` through
    anything else.
    """
    found: dict[SSAValue, Domain] = {}

    def need(value: Any, domain: Domain) -> None:
        type_ = getattr(value, "type", None)
        if not isinstance(value, SSAValue) or not isinstance(type_, TensorType):
            return
        if not type_.dtype.is_floating_point and type_.dtype != torch.bool:
            known = found.get(value)
            found[value] = domain if known is None else known.meet(domain)

    for op in reversed(list(graph.block.ops)):
        if not isinstance(op, TorchOp):
            continue
        for result in op.results:
            if result in found:
                _pass_on(op, found[result], need)
        needs = _NEEDS.get(base_name(op))
        if needs is not None:
            for value, domain in needs(_Call(op, symbols)):
                need(value, domain)
    return found


def _pass_on(op: TorchOp, domain: Domain, need: Callable[[Any, Domain], None]) -> None:
    name = base_name(op)
    if name in ("index_select", "gather"):
        need(op.operands[0], domain)
        return
    if name in ("add", "sub") and len(op.operands) == 1:
        constant = next((item for item in op.args.data[:2] if type(item) is int), None)
        if constant is not None:
            need(op.operands[0], domain.shifted(-constant if name == "add" else constant))
            return
    for operand in op.operands:
        need(operand, domain if name in _SAME_ELEMENTS else CAUTIOUS)


__all__ = ["CAUTIOUS", "Domain", "base_name", "domains"]
