"""Finds attention from its last product back: probabilities, softmax, scores, first product."""

from __future__ import annotations

import math
from typing import Any

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, TorchOp
from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.axes import View, identity
from xductor.transforms.attention.contraction import Contraction, contraction
from xductor.transforms.attention.known import as_choice
from xductor.transforms.attention.known_values import KnownValues
from xductor.transforms.attention.parts import (
    Added,
    Attention,
    Factor,
    Kept,
    Mask,
    NotAttention,
    Place,
)
from xductor.transforms.attention.reading import Reader, Term, rank_of, tensor_type
from xductor.transforms.attention.rounding import Path, Step, arrived, before, blurs, holds
from xductor.transforms.attention.softmax import Softmax, softmax
from xductor.transforms.editing.replacement import known_equal


class Matcher:
    """Finds attention in one graph."""

    def __init__(self, reader: Reader, known: KnownValues, facts: Facts) -> None:
        self.reader = reader
        self.known = known
        self.facts = facts
        self._scores: dict[SSAValue, bool] = {}

    def leads_to_product(self, value: Any, steps: int = 40) -> bool:
        """Whether a value comes from a product through calls that are allowed on scores."""
        if steps == 0 or rank_of(value) is None:
            return False
        if value not in self._scores:
            self._scores[value] = False
            self._scores[value] = self._leads(value, steps)
        return self._scores[value]

    def _leads(self, value: SSAValue, steps: int) -> bool:
        if contraction(value, self.reader) is not None:
            return True
        term = self.reader.term(value)
        if term is None or term.kind not in _ON_THE_WAY:
            return False
        sides = [term.x] if term.kind in _UNARY else [term.x, term.y]
        return any(self.leads_to_product(one, steps - 1) for one in sides)

    def in_the_way(self, value: Any) -> TorchOp | None:
        """The first op at or above a value that is not allowed on scores, or None.

        Only an op with a product above it counts.
        """
        pending, seen = [value], set[SSAValue]()
        while pending:
            one = pending.pop(0)
            if one in seen or not isinstance(one, OpResult) or rank_of(one) is None:
                continue
            seen.add(one)
            if contraction(one, self.reader) is not None:
                continue
            term = self.reader.term(one)
            if term is not None and term.kind in _ON_THE_WAY:
                pending += [term.x] if term.kind in _UNARY else [term.x, term.y]
            elif isinstance(one.op, TorchOp) and self._has_product_above(one):
                return one.op
        return None

    def _has_product_above(self, value: OpResult, steps: int = 40) -> bool:
        pending: list[SSAValue] = [*value.op.operands]
        for _ in range(steps):
            if not pending:
                break
            one = pending.pop(0)
            if contraction(one, self.reader) is not None:
                return True
            if isinstance(one, OpResult):
                pending += one.op.operands
        return False

    def at(self, root: TorchOp) -> Attention:
        """The attention that ends in `root`.

        Raises NotAttention if there is none, or if no fused call computes it.
        """
        last = contraction(root.results[0], self.reader)
        if last is None or last.added is not None or last.alpha != 1:
            raise NotAttention("no plain product")
        for side, turned in ((last.left, False), (last.right, True)):
            if not self._may_be_probabilities(side.value):
                continue
            descent = _Descent(self, root, last.swapped() if turned else last)
            found = descent.to_softmax()
            if found is not None:
                return descent.attention(found)
        raise NotAttention("no softmax")

    def _may_be_probabilities(self, value: SSAValue) -> bool:
        """False for an operand that has no softmax above it, as most products have two of.

        This asks for the kinds of the calls on the way alone.
        """
        term = self.reader.term(value)
        while term is not None and (term.kind in _UNARY or term.kind == "dropout"):
            term = self.reader.term(term.x)
        return term is not None and term.kind in _OF_PROBABILITIES


class _Descent:
    """Walks from the last product back to the first, with the axes of the current value.

    `axes[i]` is the axis of the current value for part `i` of `[batch..., rows, columns]`. `path`
    has the steps from the current scores to the softmax, `narrower` the dtypes of lossy casts.
    """

    def __init__(self, matcher: Matcher, root: TorchOp, last: Contraction) -> None:
        self.matcher = matcher
        self.reader = matcher.reader
        self.known = matcher.known
        self.facts = matcher.facts
        self.root = root
        self.last = last
        self.ops: list[TorchOp] = [root]
        self.masks: list[Mask] = []
        self.factors: list[Factor] = []
        self.zeroed: list[Kept] = []
        self.scale = 1.0
        self.path: Path = ()
        self.narrower: list[torch.dtype] = []
        self.dropout = 0.0
        self.draw: TorchOp | None = None
        self.current: SSAValue = last.left.value
        self.axes: tuple[int, ...] = tuple(axis for axis in last.left.axes if axis is not None)
        self.outer = self.place

    def attention(self, found: Softmax) -> Attention:
        if None in self.last.left.axes:
            raise NotAttention("the probabilities are the same for several batches", near=True)
        self.ops += found.ops
        if found.dim % len(self.axes) != self.axes[-1]:
            dim = "a softmax over the dim that the product with the values sums over"
            raise NotAttention(
                "the softmax is over another dim", near=True, at=found.ops[0], remedy=dim
            )
        self._check_narrower(self.dtype_of(self.root.results[0]))
        self._to_input(found)
        first = self._to_product()
        inner = self.place
        scores = tensor_type(self.current)
        query, key = self._operands(first)
        if self.zeroed and not self._zeros_follow_masks():
            raise NotAttention("probabilities are set to zero where scores are not", near=True)
        assert scores is not None
        result = self.dtype_of(self.root.results[0])
        self._check_narrower(result, scores.dtype)
        return Attention(
            root=self.root,
            query=query,
            key=key,
            value=self.last.right,
            scale=self.scale,
            factors=self.factors,
            masks=self.masks,
            inner=inner,
            outer=self.outer,
            order=self.last.order,
            scores=scores.dtype,
            dropout=self.dropout,
            draw=self.draw,
            safe=found.safe or bool(self.zeroed),
            ops=list(dict.fromkeys(self.ops)),
        )

    @property
    def shape(self) -> tuple[Dim, ...]:
        type_ = tensor_type(self.current)
        assert type_ is not None
        return type_.shape

    @property
    def place(self) -> Place:
        shape = self.shape
        return Place(self.axes, tuple([shape[axis] for axis in self.axes]))

    def to_softmax(self) -> Softmax | None:
        """Go through copies, casts, reshapes of the batch and dropout to the softmax."""
        while True:
            found = softmax(self.current, self.reader)
            if found is not None:
                return found
            term = self.reader.term(self.current)
            if term is None:
                return None
            if term.kind == "dropout":
                if self.draw is not None:
                    return None
                self.dropout, self.draw = term.p, term.op
                self._down(term, term.x)
            elif not (self._through(term) or self._zeroes(term)):
                return None

    def _to_product(self) -> Contraction:
        """Go through scales and masks to the product that makes the scores."""
        while True:
            first = contraction(self.current, self.reader)
            if first is not None:
                self.ops.append(first.term.op)
                return first
            term = self.reader.term(self.current)
            if term is None or not (
                self._through(term) or self._scaled(term) or self._masked(term)
            ):
                raise self._what_is_in_the_way()

    def _what_is_in_the_way(self) -> NotAttention:
        owner: Any = self.current.owner
        op: Any = self.matcher.in_the_way(self.current)
        if op is None and self.matcher.leads_to_product(self.current):
            op = owner
        if op is None:
            name = getattr(owner, "name", "an input")
            at = owner if isinstance(owner, TorchOp) else None
            return NotAttention(f"the softmax is not of a product: {name}", True, at)
        remedy = "scores that are a product, scaled by numbers, with masks added"
        if op.name.rpartition(".")[2] == "tanh" or ".tanh." in op.name:
            remedy += "; torch.nn.attention.flex_attention has capped scores in one kernel"
        return NotAttention(f"the scores go through {op.name}", True, op, remedy)

    def _to_input(self, found: Softmax) -> None:
        """Go past the softmax, which may cast its input."""
        dtype = self.dtype_of(self.current)
        if not holds(dtype, self.dtype_of(found.x)):
            self.narrower.append(dtype)
        self.path = (Step(1.0, dtype),)
        self.current = found.x

    def _down(self, term: Term, value: SSAValue, factor: float = 1.0) -> None:
        self.path = before(Step(factor, self.dtype_of(self.current)), self.path)
        self.ops.append(term.op)
        self.current = value

    def _check_narrower(self, *wanted: torch.dtype) -> None:
        """Check that each lossy cast is to the dtype of an operand.

        A kernel would not lose what any other cast loses.
        """
        for dtype in self.narrower:
            if not any(holds(dtype, one) for one in wanted):
                raise NotAttention(f"a cast to {dtype} loses what a kernel keeps", near=True)
        self.narrower.clear()

    def _through(self, term: Term) -> bool:
        """Go past a call that keeps the numbers: a copy, a cast, a permutation, a reshape."""
        if term.kind == "cast":
            above, below = tensor_type(term.x), tensor_type(term.op.results[0])
            if above is None or below is None:
                return False
            if not (above.dtype.is_floating_point and below.dtype.is_floating_point):
                return False
            if not holds(below.dtype, above.dtype):
                self.narrower.append(below.dtype)
        elif term.kind == "permute":
            self.axes = tuple(term.dims[axis] for axis in self.axes)
        elif term.kind == "expand":
            if not self._has_same_shape(term.x):
                return False
        elif term.kind == "reshape":
            return self._regrouped(term)
        elif term.kind != "copy":
            return False
        self._down(term, term.x)
        return True

    def _regrouped(self, term: Term) -> bool:
        """Go past a reshape that only merges or splits batch dims."""
        below = tensor_type(term.x)
        if below is None or below.rank < 2:
            return False
        if self._has_same_shape(term.x):
            self._down(term, term.x)
            return True
        if self.axes != identity(len(self.axes)):
            return False
        if not known_equal(below.shape[-2:], self.shape[-2:], self.facts):
            return False
        self.axes = identity(below.rank)
        self._down(term, term.x)
        return True

    def _scaled(self, term: Term) -> bool:
        """Go past a multiplication or division of the scores."""
        if term.kind not in ("mul", "div") or term.args.get("rounding_mode") is not None:
            return False
        for scores, other in ((term.x, term.y), (term.y, term.x)):
            if not self._continues(scores) or (term.kind == "div" and scores is not term.x):
                continue
            number, factor = self._number(other), 1.0
            if number is None:
                self._factor(other, term.kind == "div")
            elif number == 0 or not math.isfinite(number):
                return False
            else:
                factor = 1 / number if term.kind == "div" else number
            self.scale *= factor
            self._down(term, scores, factor)
            return True
        return False

    def _factor(self, value: Any, divides: bool) -> None:
        """Note a factor that is not constant; it may differ between batches, but not within one."""
        type_ = tensor_type(value)
        if not isinstance(value, SSAValue):
            raise NotAttention("the scale is no number", near=True)
        if type_ is not None:
            missing = len(self.axes) - type_.rank
            for axis in self.axes[-2:]:
                if axis >= missing and type_.shape[axis - missing] != 1:
                    raise NotAttention(
                        "the scale depends on the position",
                        near=True,
                        at=value.owner if isinstance(value.owner, TorchOp) else None,
                        remedy="a scale that is one number for all positions of a head",
                    )
            if not type_.dtype.is_floating_point:
                raise NotAttention("the scale is no floating point tensor", near=True)
        self.factors.append(Factor(value, self.place, divides))

    def _masked(self, term: Term) -> bool:
        """Go past a mask, which is added or replaces some scores."""
        if term.kind in ("add", "sub"):
            alpha = term.args.get("alpha", 1)
            if type(alpha) not in (int, float):
                return False
            for scores, other in ((term.x, term.y), (term.y, term.x)):
                swapped = scores is term.y
                if not self._continues(scores) or (swapped and (term.kind == "sub" or alpha != 1)):
                    continue
                self._add(other, -alpha if term.kind == "sub" else alpha)
                self._down(term, scores)
                return True
        if term.kind == "where" and self._continues(term.x, term.y):
            kept = self._continues(term.x)
            scores, other = (term.x, term.y) if kept else (term.y, term.x)
            fill = self._number(other)
            if fill is None or tensor_type(term.condition) is None:
                return False
            self._below_factors()
            fill = arrived(fill, self._path_from_here())
            self.masks.append(Kept(term.condition, self.place, kept, fill))
            self._down(term, scores)
            return True
        return False

    def _add(self, value: Any, sign: float) -> None:
        self._below_factors()
        path = self._path_from_here(sign)
        if tensor_type(value) is None:
            number = self._number(value)
            if number is None or not math.isfinite(number):
                raise NotAttention("what is added to the scores is no tensor", near=True)
            if blurs(number, path):
                raise NotAttention(f"{number} is added to all scores", near=True)
            return  # a constant added to all scores does not change the softmax
        self.masks.append(Added(value, self.place, path))

    def _path_from_here(self, sign: float = 1.0) -> Path:
        """The steps from the current scores to the softmax for a number that is put into them."""
        return before(Step(sign, self.dtype_of(self.current)), self.path)

    def _below_factors(self) -> None:
        if self.factors:
            raise NotAttention("masked scores are multiplied by a tensor", near=True)

    def _zeroes(self, term: Term) -> bool:
        """Go past a `masked_fill(mask, 0)` of the probabilities.

        `_zeros_follow_masks` checks later that the scores have the same mask.
        """
        if term.kind != "where":
            return False
        for kept, other in ((term.x, term.y), (term.y, term.x)):
            if self._number(other) == 0 and self._has_same_shape(kept):
                when = kept is term.x
                self.zeroed.append(Kept(term.condition, self.place, when, 0.0))
                self._down(term, kept)
                return True
        return False

    def _zeros_follow_masks(self) -> bool:
        """Whether probabilities that are set to zero have scores that are masked."""
        masked = {
            (mask.value, mask.when)
            for mask in self.masks
            if isinstance(mask, Kept) and mask.fill == -math.inf
        }
        return all((zero.value, zero.when) in masked for zero in self.zeroed)

    def dtype_of(self, value: SSAValue) -> torch.dtype:
        type_ = tensor_type(value)
        assert type_ is not None
        return type_.dtype

    def _number(self, value: Any) -> float | None:
        """The number that all elements of a value equal, if it is known."""
        choice = as_choice(self.known.of(value))
        return choice.yes if choice is not None and choice.yes == choice.no else None

    def _has_same_shape(self, value: Any) -> bool:
        type_ = tensor_type(value)
        return type_ is not None and known_equal(type_.shape, self.shape, self.facts)

    def _continues(self, *values: Any) -> bool:
        """Whether one of the values may be the scores.

        Such a value has their sizes, and comes from a product through calls that are allowed on
        scores.
        """
        return any(
            self._has_same_shape(value) and self.matcher.leads_to_product(value) for value in values
        )

    def _operands(self, first: Contraction) -> tuple[View, View]:
        """Query and key: the operands of the first product that hold the rows and the columns."""
        if first.added is not None:
            if type(first.beta) not in (int, float):
                raise NotAttention("what is added is scaled by a value", near=True)
            self._add(first.added, first.beta)
        if type(first.alpha) not in (int, float) or first.alpha == 0:
            raise NotAttention("the product is scaled by a value", near=True)
        self.scale *= first.alpha
        parts = tuple(first.order[axis] for axis in self.axes)
        rows, columns = first.rank - 2, first.rank - 1
        if any(part >= rows for part in parts[:-2]):
            raise NotAttention("rows or columns of the scores are batch dims", near=True)
        left = first.left.reordered((*parts[:-2], rows, columns))
        right = first.right.reordered((*parts[:-2], columns, rows))
        if parts[-2:] == (rows, columns):
            return left, right
        if parts[-2:] == (columns, rows):
            return right, left
        raise NotAttention("the softmax is over another dim", near=True)


_UNARY = frozenset(("copy", "cast", "permute", "reshape", "expand"))
#: What a softmax may end in, and what sets probabilities to zero.
_OF_PROBABILITIES = frozenset(("softmax", "safe_softmax", "nan_to_num", "div", "where"))
_ON_THE_WAY = _UNARY | {"mul", "div", "add", "sub", "where"}

__all__ = ["Matcher"]
