"""What the variables of a rewrite stand for in `where` and `replacement`.

A tensor variable is a `Tensor`: the facts of its type, without data. Sizes and strides are `Dim`s,
whose comparisons are facts. Everything else is the constant that the graph holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import SymBoolType, SymExpr, SymFloatType, SymIntType, TensorType, TorchOp
from xductor.ir.dialect.types import contiguous_strides
from xductor.ir.symbolic import expressions
from xductor.transforms.matching.pattern_operators import Operators
from xductor.transforms.rewriting.decisions import Fact, Undecided, all_of
from xductor.transforms.rewriting.torch_habits import (
    Answer,
    Sizes,
    Strides,
    asked,
    is_in_format,
    static,
)
from xductor.transforms.rewriting.usual_facts import Knowledge, UsualFacts

Expr = int | SymExpr


class Dim:
    """A number of the graph: a size, a stride, an int, float or bool argument that may be symbolic.

    Comparisons give facts; arithmetic gives dims. As an argument in `replacement` it becomes a
    constant or a value that has this expression. `value` is that value, if there is one already.
    """

    __slots__ = ("expr", "facts", "kind", "value")
    __hash__ = None  # type: ignore[assignment]  # equality is a fact

    def __init__(
        self, expr: Expr, facts: Knowledge, value: SSAValue | None = None, kind: str = "int"
    ) -> None:
        self.expr = expr
        self.facts = facts
        self.value = value
        self.kind = kind

    @property
    def is_static(self) -> bool:
        """Whether it is a plain int."""
        return isinstance(self.expr, int)

    def __index__(self) -> int:
        if type(self.facts) is not UsualFacts:
            return static(self.expr)
        usual = self.facts.number(self.expr)
        if usual is None:
            raise Undecided(Fact(None, ("a value of ", self.expr, " was seen")))
        return int(usual)

    __int__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def _compare(self, text: tuple[object, ...], question: str, left: Any, right: Any) -> Fact:
        a, b = _expr(left), _expr(right)
        ask = {
            "eq": self.facts.known_equal,
            "le": self.facts.known_le,
            "lt": self.facts.known_lt,
            "divides": self.facts.divides,
        }[question]
        if type(self.facts) is UsualFacts:
            text = (*text, self.facts.note(a, b))
        return Fact(ask(a, b), text, (question, a, b))

    def __eq__(self, other: object) -> Fact:  # type: ignore[override]
        return self._compare((self, " == ", other), "eq", self, other)

    def __ne__(self, other: object) -> Fact:  # type: ignore[override]
        return ~self._compare((self, " == ", other), "eq", self, other)

    def __le__(self, other: Dim | int) -> Fact:
        return self._compare((self, " <= ", other), "le", self, other)

    def __lt__(self, other: Dim | int) -> Fact:
        return self._compare((self, " < ", other), "lt", self, other)

    def __ge__(self, other: Dim | int) -> Fact:
        return self._compare((self, " >= ", other), "le", other, self)

    def __gt__(self, other: Dim | int) -> Fact:
        return self._compare((self, " > ", other), "lt", other, self)

    def divides(self, other: Dim | int) -> Fact:
        """Whether `other` is a multiple of this."""
        return self._compare((self, " divides ", other), "divides", self, other)

    def is_multiple_of(self, other: Dim | int) -> Fact:
        return self._compare((other, " divides ", self), "divides", other, self)

    def _of(self, expr: Expr) -> Dim:
        return Dim(expr, self.facts)

    def __add__(self, other: Dim | int) -> Dim:
        return self._of(expressions.add(self.expr, _expr(other)))

    def __sub__(self, other: Dim | int) -> Dim:
        return self._of(expressions.sub(self.expr, _expr(other)))

    def __rsub__(self, other: Dim | int) -> Dim:
        return self._of(expressions.sub(_expr(other), self.expr))

    def __mul__(self, other: Dim | int) -> Dim:
        return self._of(expressions.mul(self.expr, _expr(other)))

    def __floordiv__(self, other: Dim | int) -> Dim:
        return self._of(expressions.floordiv(self.expr, _expr(other)))

    def __rfloordiv__(self, other: Dim | int) -> Dim:
        return self._of(expressions.floordiv(_expr(other), self.expr))

    def __mod__(self, other: Dim | int) -> Dim:
        return self._of(self._remainder(self.expr, _expr(other)))

    def __rmod__(self, other: Dim | int) -> Dim:
        return self._of(self._remainder(_expr(other), self.expr))

    def _remainder(self, a: Expr, b: Expr) -> Expr:
        known = self.facts.known_le
        natural = known(0, a) is True and known(0, b) is True
        return expressions.remainder(a, b, "mod" if natural else "pymod")

    def __divmod__(self, other: Dim | int) -> tuple[Dim, Dim]:
        return self // other, self % other

    def __rdivmod__(self, other: Dim | int) -> tuple[Dim, Dim]:
        return other // self, other % self

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeError(f"{self.expr} / {other} is no dim; `//` rounds down")

    __rtruediv__ = __truediv__

    def __pow__(self, other: Any) -> Any:
        return int(self) ** (int(other) if isinstance(other, Dim) else other)

    def __rpow__(self, other: Any) -> Any:
        return other ** int(self)

    def __and__(self, other: Dim | int) -> int:
        return int(self) & int(other)

    __rand__ = __and__

    def __abs__(self) -> int:
        return abs(int(self))

    def __neg__(self) -> Dim:
        return self._of(expressions.mul(-1, self.expr))

    def __pos__(self) -> Dim:
        return self

    def __bool__(self) -> bool:
        """Whether it is not 0, as for an int. Raises Undecided if that is not known."""
        return bool(self != 0)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        return str(self.expr)


def _expr(item: object) -> Expr:
    if isinstance(item, Dim):
        return item.expr
    if isinstance(item, bool) or not isinstance(item, int | SymExpr):
        raise TypeError(f"a dim cannot be compared with {item!r}")
    return item


class User(NamedTuple):
    """An op that reads a value, with its name, such as `aten.mul.Tensor` or `fx.output`."""

    name: str
    op: TorchOp


class OnlyInPays(Exception):
    """A fact that decides only whether a rewrite pays was read where it has to be right."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"`{name}` was read outside of `pays`: who else reads a value, and where it comes "
            "from, changes nothing of what is right; say in `pays(...)` where it is worth it"
        )


class Tensor(Operators):
    """A tensor variable of a rewrite: the facts of its type. Also used as its annotation.

    Python's operators are calls of the replacement: `x * y` is `aten.mul(x, y)`.
    """

    __slots__ = ("_facts", "type", "value")
    kind = "tensor"

    def __init__(self, type_: TensorType, facts: Knowledge, value: SSAValue | None = None) -> None:
        self.type = type_
        self._facts = facts
        self.value = value

    @staticmethod
    def _is_as_recorded() -> bool:
        return False

    @property
    def dtype(self) -> torch.dtype:
        return self.type.dtype

    @property
    def device(self) -> torch.device:
        return self.type.device

    @property
    def layout(self) -> str:
        return self.type.data.layout

    @property
    def shape(self) -> Sizes:
        return Sizes([Dim(size, self._facts) for size in self.type.shape])

    @property
    def stride(self) -> Strides:
        """The strides, in elements; indexed or called."""
        return Strides([Dim(step, self._facts) for step in self.type.stride])

    @property
    def ndim(self) -> int:
        return self.type.rank

    rank = ndim

    @property
    def users(self) -> tuple[User, ...]:
        """The ops that read the value, those of the match included, in order; in `pays` only."""
        raise OnlyInPays("users")

    @property
    def is_constant(self) -> bool:
        """Whether the module holds it as a parameter, buffer or constant; in `pays` only."""
        raise OnlyInPays("is_constant")

    @property
    def is_unbacked(self) -> bool:
        """Whether a size or stride is known only when the program runs; in `pays` only."""
        raise OnlyInPays("is_unbacked")

    @property
    def at_any_size(self) -> Tensor:
        """The same tensor; in `pays`, one whose comparisons only what is known always decides."""
        return self

    @property
    def requires_grad(self) -> bool:
        """Whether it requires a gradient, before autograd; after it always False."""
        return "requires_grad" in self.type.data.flags

    @property
    def is_floating_point(self) -> Answer:
        """Whether the dtype is one of floats; read or called."""
        dtype = self.dtype
        return Answer(dtype.is_floating_point, f"{dtype} is a floating-point dtype")

    @property
    def is_complex(self) -> Answer:
        """Whether the dtype is a complex one; read or called."""
        dtype = self.dtype
        return Answer(dtype.is_complex, f"{dtype} is a complex dtype")

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or one of them, as in PyTorch."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self.ndim

    def element_size(self) -> int:
        return self.dtype.itemsize

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"a tensor variable has no `{name}`{_meant(name)}")

    def numel(self) -> Dim:
        count = Dim(1, self._facts)
        for size in self.shape:
            count = count * size
        return count

    @classmethod
    def __torch_function__(
        cls, function: Any, types: object, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """A function of torch that asks for no data, as in `torch.is_floating_point(x)`."""
        return asked(function, [*args, *(kwargs or {}).values()])

    def is_contiguous(self, memory_format: Any = torch.contiguous_format) -> Fact:
        """Whether the strides are those of a contiguous tensor of this shape, or of one in a
        channels-last format.
        """
        if memory_format is not torch.contiguous_format:
            return is_in_format(self.shape, self.stride, memory_format)
        wanted = contiguous_strides(self.type.shape)
        known = self._compared(self.type.stride, None, wanted)
        if known is not None:
            return known
        return all_of(*[step == size for step, size in zip(self.stride, wanted, strict=True)])

    def same_dtype(self, other: Tensor) -> bool:
        """Whether two tensors have the same dtype, whatever it is.

        Unlike reading `dtype`, this does not make a proof look at every dtype by itself.
        """
        return self.type.dtype == other.type.dtype

    def same_shape(self, other: Tensor) -> Fact:
        """Whether two tensors have equal sizes."""
        if self.ndim != other.ndim:
            return Fact(False, ("ranks ", self.ndim, " and ", other.ndim, " are equal"))
        known = self._compared(self.type.shape, other, other.type.shape)
        if known is not None:
            return known
        return all_of(*[a == b for a, b in zip(self.shape, other.shape, strict=True)])

    def same_layout(self, other: Tensor) -> Fact:
        """Whether two tensors have equal sizes and strides, including those of dims of size one."""
        sizes = self.same_shape(other)
        if sizes.value is False:
            return sizes
        known = self._compared(self.type.stride, other, other.type.stride)
        if known is not None:
            return sizes & known
        pairs = zip(self.stride, other.stride, strict=True)
        return all_of(sizes, *[a == b for a, b in pairs])

    def _compared(self, left: Sequence[Expr], other: object, right: Sequence[Expr]) -> Fact | None:
        """Whether two sequences of equal length are equal, if that is obvious; else None."""
        if type(self) is not Tensor or type(other) not in (Tensor, type(None)):
            return None  # sizes and strides of a subclass are not those of its type
        if left == right:
            return Fact(True, (list(left), " == ", list(right)))
        for a, b in zip(left, right, strict=True):
            if type(a) is int and type(b) is int and a != b:
                return Fact(False, (a, " == ", b), ("eq", a, b))
        return None

    def has_sizes(self, sizes: Sequence[Dim | int]) -> Fact:
        """Whether sizes as `view` takes them, at most one of them -1, are those of this tensor."""
        rank = len(self.type.shape)
        if rank != len(sizes):
            return Fact(False, ("ranks ", rank, " and ", len(sizes), " are equal"))
        wanted = [size.expr if isinstance(size, Dim) else size for size in sizes]
        if -1 not in wanted:
            known = self._compared(self.type.shape, None, tuple(wanted))
            if known is not None:
                return known
        pairs = list(zip(self.shape, sizes, strict=True))
        given = [size == other for size, other in pairs if not _is_inferred(other)]
        inferred = len(pairs) - len(given)
        return all_of(*given, Fact(inferred <= 1, f"one of {list(sizes)} at most is inferred"))

    def __repr__(self) -> str:
        return self.type.text

    def __bool__(self) -> bool:
        raise TypeError("a tensor variable has no data to test; ask for its dtype, shape, ...")


#: Names of PyTorch's tensors, and what a tensor variable has in their place.
_MEANT = {
    "sizes": "shape",
    "dims": "shape",
    "strides": "stride",
    "is_cuda": "device.type",
    "is_cpu": "device.type",
    "get_device": "device",
    "nelement": "numel()",
    "itemsize": "dtype.itemsize",
}


def _meant(name: str) -> str:
    there = [one for one in dir(Tensor) if not one.startswith("_")]
    close = get_close_matches(name, there, n=1, cutoff=0.6)
    meant = _MEANT.get(name) or (close[0] if close else "")
    return f"; did you mean `{meant}`?" if meant else f"; it has {', '.join(there)}"


def _is_inferred(size: Dim | int) -> bool:
    return (size.expr if isinstance(size, Dim) else size) == -1


class Scalar:
    """Annotation of a variable for a Python number: int, float, bool, complex or symbolic."""

    kind = "scalar"


def handle(item: Any, facts: Knowledge) -> Any:
    """What a rewrite's methods get for a matched value, a constant, or a list of them."""
    kind = type(item)
    if kind in _AS_THEY_ARE:
        return item
    if kind is OpResult and type(item._type) is TensorType:
        return Tensor(item._type, facts, item)
    if kind is list and _AS_THEY_ARE.issuperset(map(type, item)):
        return list(item)
    if isinstance(item, SSAValue):
        return value_handle(item, facts)
    if isinstance(item, SymExpr):
        return Dim(item, facts)
    if isinstance(item, list | tuple):
        return [element if type(element) is int else handle(element, facts) for element in item]
    return item


_AS_THEY_ARE = frozenset((int, float, bool, str, type(None), torch.dtype, torch.device))


_NUMBER_KINDS = {SymIntType: "int", SymFloatType: "float", SymBoolType: "bool"}


def value_handle(value: SSAValue, facts: Knowledge) -> Any:
    """What a rewrite's methods get for a value of the graph."""
    type_: Any = value.type
    if isinstance(type_, TensorType):
        return Tensor(type_, facts, value)
    kind = _NUMBER_KINDS.get(type(type_))
    if kind is not None:
        return Dim(type_.expr, facts, value, kind)
    return Opaque(value)


class Opaque:
    """A value that is neither a tensor nor a number: it can only be passed on."""

    __slots__ = ("value",)
    kind = "object"

    def __init__(self, value: SSAValue) -> None:
        self.value = value


__all__ = [
    "Dim",
    "Knowledge",
    "OnlyInPays",
    "Opaque",
    "Scalar",
    "Tensor",
    "User",
    "handle",
    "value_handle",
]
