"""Finds attention that ends in a product: probabilities, softmax, scores, product, backwards."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xductor.ir.facts import Facts
from xductor.ir.operations import TorchOp
from xductor.ir.types import Dim
from xductor.transforms.attention.axes import View, identity, seen_through
from xductor.transforms.attention.contraction import Contraction, contraction
from xductor.transforms.attention.parts import Attention, Mask, NotAttention
from xductor.transforms.attention.reading import Reader, Term, tensor_type
from xductor.transforms.attention.scales import constant
from xductor.transforms.attention.softmax import Softmax, softmax
from xductor.transforms.replacement import known_equal

_FLOATS = frozenset(("torch.float16", "torch.bfloat16", "torch.float32", "torch.float64"))


class Matcher:
    """Looks for attention in one graph."""

    def __init__(self, reader: Reader, facts: Facts) -> None:
        self.reader = reader
        self.facts = facts

    def at(self, root: TorchOp) -> Attention:
        """The attention that ends in `root`.

        Raises NotAttention: there is none, or it is of a kind that no fused call computes.
        """
        last = contraction(root.results[0], self.reader) if len(root.results) == 1 else None
        if last is None or last.added is not None or last.alpha != 1:
            raise NotAttention("no plain product")
        return _Descent(self, root, last).attention()


class _Descent:
    """Goes down from the last product to the first, with the axes of the value it is at.

    `axes[i]` is the axis of the current value that plays part `i` of `[batch..., rows, columns]`.
    """

    def __init__(self, matcher: Matcher, root: TorchOp, last: Contraction) -> None:
        self.reader = matcher.reader
        self.facts = matcher.facts
        self.root = root
        self.last = last
        self.ops: list[TorchOp] = [root]
        self.masks: list[Mask] = []
        self.scale = 1.0
        self.dropout = 0.0
        self.draw: TorchOp | None = None
        if None in last.left.axes:
            raise NotAttention("the probabilities are broadcast")
        self.current: SSAValue = last.left.value
        self.axes: tuple[int, ...] = tuple(axis for axis in last.left.axes if axis is not None)

    def attention(self) -> Attention:
        outer = self.batch
        found = self._to_softmax()
        self.ops += found.ops
        if found.dim % self._rank() != self.axes[-1]:
            raise NotAttention("the softmax is over another dim", near=True)
        self.current = found.x
        first = self._to_product()
        query, key = self._operands(first)
        rank = len(outer) + 2
        return Attention(
            root=self.root,
            query=query,
            key=key,
            value=self.last.right,
            scale=self.scale,
            masks=self.masks,
            inner_batch=self.batch,
            outer_batch=outer,
            order=self.last.order if rank == self.last.rank else identity(rank),
            dropout=self.dropout,
            draw=self.draw,
            safe=found.safe,
            ops=self.ops,
        )

    # Where it stands.

    def _rank(self) -> int:
        return len(self.axes)

    @property
    def shape(self) -> tuple[Dim, ...]:
        type_ = tensor_type(self.current)
        assert type_ is not None
        return type_.shape

    @property
    def batch(self) -> tuple[Dim, ...]:
        """The sizes of the batch dims of the current value."""
        return tuple(self.shape[axis] for axis in self.axes[:-2])

    # The steps.

    def _to_softmax(self) -> Softmax:
        """Through copies, casts, reshapes of the batch and dropout, to the softmax."""
        while True:
            found = softmax(self.current, self.reader)
            if found is not None:
                return found
            term = self.reader.term(self.current)
            if term is None:
                raise NotAttention("no softmax")
            if term.kind == "dropout":
                if self.draw is not None:
                    raise NotAttention("two dropouts", near=True)
                self.dropout, self.draw = term.p, term.op
                self._down(term, term.x)
            elif not self._through(term):
                raise NotAttention("no softmax")

    def _to_product(self) -> Contraction:
        """Through scales and masks, to the product that makes the scores."""
        while True:
            first = contraction(self.current, self.reader)
            if first is not None:
                self.ops.append(first.term.op)
                return first
            term = self.reader.term(self.current)
            if term is None:
                raise NotAttention("the softmax is not of a product", near=True)
            if not (self._through(term) or self._scaled(term) or self._masked(term)):
                raise NotAttention(f"the scores go through {term.op.name}", near=True)

    def _down(self, term: Term, value: SSAValue) -> None:
        self.ops.append(term.op)
        self.current = value

    def _through(self, term: Term) -> bool:
        """Past a call that keeps the numbers: a copy, a cast, a permutation, a reshape."""
        if term.kind == "copy":
            self._down(term, term.x)
        elif term.kind == "cast":
            before, after = tensor_type(term.x), tensor_type(term.op.results[0])
            if before is None or after is None:
                return False
            if not (before.dtype.is_floating_point and after.dtype.is_floating_point):
                return False
            self._down(term, term.x)
        elif term.kind == "permute":
            self.axes = tuple(term.dims[axis] for axis in self.axes)
            self._down(term, term.x)
        elif term.kind == "reshape":
            return self._regrouped(term)
        else:
            return False
        return True

    def _regrouped(self, term: Term) -> bool:
        """Past a reshape that joins or cuts batch dims only."""
        below = tensor_type(term.x)
        if below is None or below.rank < 2 or self.axes != identity(self._rank()):
            return False
        if not known_equal(below.shape[-2:], self.shape[-2:], self.facts):
            return False
        self.axes = identity(below.rank)
        self._down(term, term.x)
        return True

    def _scaled(self, term: Term) -> bool:
        """Past a multiplication or division of the scores by a number."""
        if term.kind not in ("mul", "div") or term.args.get("rounding_mode") is not None:
            return False
        for scores, other in ((term.x, term.y), (term.y, term.x)):
            if not self._is_score_like(scores):
                continue
            number = constant(other, self.reader)
            if number is None:
                continue
            if term.kind == "div":
                if scores is term.y or number == 0:
                    return False
                number = 1 / number
            self.scale *= number
            self.masks = [mask for mask in self.masks]
            self._down(term, scores)
            return True
        return False

    def _masked(self, term: Term) -> bool:
        """Past a mask that is added to the scores."""
        if term.kind != "add" or term.args.get("alpha", 1) != 1:
            return False
        for scores, other in ((term.x, term.y), (term.y, term.x)):
            if not self._leads_to_product(scores):
                continue
            if tensor_type(other) is None or not self._is_score_like(scores):
                return False
            self.masks.append(Mask("added", other, self.axes, self.batch, factor=self.scale))
            self._down(term, scores)
            return True
        return False

    def _is_score_like(self, value: Any) -> bool:
        """Whether a value has the sizes of the current one."""
        type_ = tensor_type(value)
        return type_ is not None and known_equal(type_.shape, self.shape, self.facts)

    def _leads_to_product(self, value: Any) -> bool:
        """Whether a value comes from a product, by calls that scores may go through."""
        for _ in range(16):
            if contraction(value, self.reader) is not None:
                return True
            term = self.reader.term(value)
            if term is None or term.kind not in _SCORE_CALLS:
                return False
            if term.kind in ("mul", "div", "add"):
                inner = [
                    one for one in (term.x, term.y)
                    if tensor_type(one) is not None and self._leads_to_product(one)
                ]  # fmt: skip
                return bool(inner)
            value = term.y if term.kind == "where" else term.x
        return False

    # The end.

    def _operands(self, first: Contraction) -> tuple[View, View]:
        """Query and key: the sides of the first product that make the rows and the columns."""
        if first.alpha != 1:
            if type(first.alpha) not in (int, float):
                raise NotAttention("the product is scaled by a value", near=True)
            self.scale *= first.alpha
        if first.added is not None:
            raise NotAttention("something is added inside of the product", near=True)
        parts = tuple(first.order[axis] for axis in self.axes)
        rank = first.rank
        rows, columns = rank - 2, rank - 1
        if any(part >= rows for part in parts[:-2]):
            raise NotAttention("rows or columns of the scores are batch dims", near=True)
        left = first.left.reordered((*parts[:-2], rows, columns))
        right = first.right.reordered((*parts[:-2], columns, rows))
        if parts[-2:] == (rows, columns):
            return left, right
        if parts[-2:] == (columns, rows):
            return right, left
        raise NotAttention("the softmax is over another dim", near=True)


_SCORE_CALLS = frozenset(
    ("copy", "cast", "permute", "reshape", "mul", "div", "add", "where", "softmax")
)

__all__ = ["Matcher", "seen_through"]
