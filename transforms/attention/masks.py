"""Makes the mask of a fused call from the masks of an attention."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.ir import SSAValue

from xductor.ir import Facts
from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.building import Torch, regrouped, side_by_side
from xductor.transforms.attention.known import as_choice, renumbered
from xductor.transforms.attention.known_values import KnownValues
from xductor.transforms.attention.parts import Added, Attention, Kept, Mask, NotAttention, Place
from xductor.transforms.attention.predicates import (
    ALWAYS,
    Condition,
    Unknown,
    all_of,
    is_causal,
    keeps_each_row,
    shortened,
)
from xductor.transforms.attention.reading import tensor_type
from xductor.transforms.attention.rounding import (
    Step,
    arrived,
    blurs,
    gap,
    may_overflow,
    overflow_of,
)

#: The greatest number that counts as masking: no other score leaves it any probability.
_FAR_BELOW = -9000.0
#: Distances of adjacent floating-point numbers: at `_LOST` or above, rounding swallows a score; at
#: `_KEPT` or below, it keeps nearly all of it.
_LOST, _KEPT = 32.0, 2.0**-6

#: A number that swallows any score in single precision, and that a kernel may scale safely.
_SWALLOWS = -(2.0**96)


@dataclass(frozen=True)
class Rule:
    """A mask, and the scores that it keeps.

    - `keeps`: the condition under which a score is kept; None if the mask is an unknown bias.
    - `fill`: what the other scores become.
    - `overflows`: an added number is finite, but becomes infinite in a later cast or scale.
    """

    mask: Mask
    keeps: Condition | None
    fill: float = 0.0
    overflows: bool = False


@dataclass
class Masking:
    """The masking of a fused call.

    - `causal`: the mask is exactly the causal one.
    - `mask`: the mask in the form `[batch, heads, rows, columns]`, boolean or of `dtype`.
    - `row_factor`: the factor of each row of the result: 1 if it keeps a score, else what the
      values of a row of -inf become; None if there is no such row.
    - `rows_with_scores`: which rows keep a score, if the NaN of the others may reach only the
      gradient of the value.
    - `active_rows`: which rows keep a score, if the query of the others must be zero.
    - `passes_gradient`: whether the query of the other rows still has a gradient.
    """

    causal: bool = False
    mask: SSAValue | None = None
    row_factor: SSAValue | None = None
    rows_with_scores: SSAValue | None = None
    active_rows: SSAValue | None = None
    passes_gradient: bool = False


class SharedMasks:
    """The maskings of the fused calls of a graph, for later calls with the same masks.

    A masking that was made for a call is not shared before that call is in the graph (`keep`).
    """

    def __init__(self) -> None:
        self._kept: dict[Any, Masking] = {}
        self._made: dict[Any, Masking] = {}

    def find(self, key: Any) -> Masking | None:
        return self._kept.get(key)

    def made(self, key: Any, masking: Masking) -> None:
        self._made[key] = masking

    def keep(self) -> None:
        self._kept.update(self._made)
        self._made.clear()

    def forget(self) -> None:
        """Forget the maskings since the last `keep`, whose ops were erased."""
        self._made.clear()


class MaskBuilder:
    """Makes the mask of a fused call for one attention."""

    def __init__(
        self, attention: Attention, known: KnownValues, make: Torch, shared: SharedMasks
    ) -> None:
        self.attention = attention
        self.known = known
        self.facts: Facts = known.facts
        self.make = make
        self.shared = shared

    def rules(self) -> list[Rule]:
        """The masks that have an effect, in reverse order of application."""
        found: list[Rule] = []
        for mask in self.attention.masks:
            rule = self._rule(mask)
            if rule.keeps is None or rule.keeps != ALWAYS:
                found.append(rule)
        return found

    def _rule(self, mask: Mask) -> Rule:
        if isinstance(mask, Kept):
            condition = self.known.condition(mask.value)
            keeps = condition if mask.when else condition.negated()
            if not mask.fill <= _FAR_BELOW:
                raise NotAttention(f"masked scores become {mask.fill}", near=True)
            return Rule(mask, self._at_place(keeps, mask.value, mask.place), mask.fill)
        choice = as_choice(self.known.of(mask.value))
        if choice is None:
            return Rule(mask, None, overflows=_may_overflow(mask))
        yes, no = arrived(choice.yes, mask.path), arrived(choice.no, mask.path)
        if choice.yes == choice.no and math.isfinite(choice.yes):
            if blurs(choice.yes, mask.path):
                raise NotAttention(f"{choice.yes} is added to all scores", near=True)
            return Rule(mask, ALWAYS)
        overflows = math.isfinite(choice.yes + choice.no) and not math.isfinite(yes + no)
        if {yes, no} & {0.0} and min(yes, no) <= _FAR_BELOW:
            keeps = choice.condition if yes == 0 else choice.condition.negated()
            keeps = self._at_place(keeps, mask.value, mask.place)
            return Rule(mask, keeps, min(yes, no), overflows)
        if max(yes, no) >= -_FAR_BELOW:
            raise NotAttention(f"{max(yes, no)} is added to some scores", near=True)
        return Rule(mask, None, overflows=overflows)

    def _at_place(self, condition: Condition, value: SSAValue, place: Place) -> Condition:
        """A condition on the dims of a mask as a condition on the parts of the scores."""
        type_ = tensor_type(value)
        assert type_ is not None
        missing = len(place.axes) - type_.rank
        parts = {axis - missing: part for part, axis in enumerate(place.axes) if axis >= missing}
        found = renumbered(condition, parts)
        assert isinstance(found, Condition)
        return shortened(found, place.shape, self.facts)

    def masking(
        self, batch: tuple[Dim, ...], dtype: torch.dtype, *, exact: bool, grad: bool
    ) -> Masking:
        """The mask of a call with the two batch dims `batch`.

        With `exact`, a row that may be fully masked gives what the spelled-out form gives, and with
        `grad` its gradient too. Raises NotAttention if that is not possible.
        """
        rules = self.rules()
        if not rules:
            return Masking()
        if self._are_causal(rules):
            return Masking(causal=True)
        modes = self.make.builder.env.modes
        key = (tuple(rules), batch, dtype, exact, grad, self.attention.safe, modes)
        found = self.shared.find(key)
        if found is None:
            found = self._masking(rules, batch, dtype, exact, grad)
            self.shared.made(key, found)
        return found

    def _masking(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype, exact: bool, grad: bool
    ) -> Masking:
        hard = [rule for rule in rules if rule.keeps is not None]
        whole = bool(hard) and not self._keeps_rows(hard)
        infinite = all(rule.fill == -math.inf for rule in hard)
        if exact and not whole and self._may_pad(rules):
            return self._with_numbers_from_outside(rules, batch, dtype, grad)
        if not exact:
            return Masking(mask=self._tensor(rules, batch, dtype, booleans=True))
        if not whole:
            return Masking(mask=self._exact(rules, batch, dtype))
        if infinite:
            return self._empty_rows(rules, batch, dtype, grad)
        if any(rule.fill == -math.inf for rule in hard):
            raise NotAttention("a row may be masked by infinite and finite numbers", near=True)
        if self.attention.safe:
            raise NotAttention("a row may be masked by a finite number, then be zero", near=True)
        return self._without_whole_rows(rules, batch, dtype, grad)

    def _empty_rows(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype, grad: bool
    ) -> Masking:
        """Masks by -inf: a row that keeps no score is NaN, or zeros if the attention is safe.

        Kernels differ in the results for such a row, and some give gradients of NaN. If it must be
        zeros, the kernel is told that the row keeps all scores. It is told the same if -inf
        replaced all scores of the row, since no gradient of NaN passes through these.
        """
        make, safe = self.make, self.attention.safe
        hard = [rule for rule in rules if rule.keeps is not None]
        replaced = grad and not safe and all(isinstance(rule.mask, Kept) for rule in hard)
        full = safe or replaced
        mask = self._exact(rules, batch, dtype)
        booleans = _is_boolean(mask)
        active = make.any(mask if booleans else make.above(mask, -math.inf))
        if full and booleans:
            mask = make.logical_or(mask, make.logical_not(active))
        elif full:
            mask = make.where(active, mask, make.full(0.0, dtype, mask))
        one = make.full(1.0, dtype, active)
        nothing = make.full(0.0 if safe else math.nan, dtype, active)
        factor = make.where(active, one, nothing)
        return Masking(mask=mask, row_factor=factor, rows_with_scores=active if replaced else None)

    def _without_whole_rows(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype, grad: bool
    ) -> Masking:
        """Masks by finite numbers, changed so that the kernel gets no fully masked row.

        Kernels treat such a row as empty, or lose the logarithm of its sum next to a number like
        -1e9, from which they recompute its weights: gradients are then too large, or NaN. A softmax
        ignores a constant added to a row, so the largest number of the row is subtracted. If that
        number swallowed the scores, the query of the row becomes zero: the numbers alone then
        determine the weights.
        """
        replaced = any(isinstance(rule.mask, Kept) for rule in rules)
        if replaced and grad and len(rules) > 1:
            return self._filled_over_biases(rules, batch, dtype)
        if _overflow_together(rules):
            raise NotAttention("masks together may be infinite in half precision", near=True)
        swallowed = self._scores_are_swallowed(rules, grad)
        if swallowed is None:
            return Masking(mask=self._tensor(rules, batch, dtype, booleans=False))
        fits = torch.finfo(dtype).min < _SWALLOWS
        if swallowed and fits and not grad and self._is_one_over_biases(rules):
            return self._with_one_low_number(rules, batch, dtype)
        if replaced and len(rules) == 1:
            kept = self._tensor(rules, batch, torch.bool, booleans=True)
            active = self.make.any(kept)
            mask = self.make.logical_or(kept, self.make.logical_not(active))
        else:
            wide = self._widest(rules, dtype)
            total = self._tensor(rules, batch, wide, booleans=False)
            top = self.make.amax(total)
            hard = [rule for rule in rules if rule.keeps is not None]
            kept = top  # a bias may be far below zero, and masks nothing
            if len(hard) < len(rules):
                kept = self.make.amax(self._tensor(hard, batch, wide, booleans=False))
            active = self.make.above(kept, _FAR_BELOW / 2)
            mask = self.make.sub(total, top)
            if self._are_exact(rules, dtype):
                mask = self.make.where(active, total, mask)
            if wide is not dtype:  # only the difference is exact in a narrower dtype
                mask = self.make.cast(self.make.clamp_below(mask, torch.finfo(dtype).min), dtype)
        if not swallowed:
            return Masking(mask=mask)
        return Masking(mask=mask, active_rows=active, passes_gradient=grad and not replaced)

    def _filled_over_biases(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype
    ) -> Masking:
        """One mask that replaces scores after any biases; whole rows get no gradient but the value.

        The kernel adds nothing to the scores of such a row, which are zeros.
        """
        last = rules[0].mask
        if not isinstance(last, Kept) or not self._is_one_over_biases(rules):
            raise NotAttention("a row that is masked as a whole has no gradient", near=True)
        make = self.make
        active = make.any(self._all_kept([last], batch))
        mask = self._exact(rules, batch, dtype)
        mask = make.where(active, mask, make.full(0.0, dtype, mask))
        return Masking(mask=mask, active_rows=active)

    def _is_one_over_biases(self, rules: list[Rule]) -> bool:
        """Whether one mask decides alone which scores count, after biases that mask no row."""
        last, *before = rules
        if any(rule.keeps is not None or self._is_padding(rule) for rule in before):
            return False
        return not before or isinstance(last.mask, Kept)

    def _with_one_low_number(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype
    ) -> Masking:
        """One mask by a number that swallows scores, without gradients, after any biases.

        The weights of a row full of this number are equal, in a kernel as in eager, if the number
        swallows scores in single precision and does not become infinite when a kernel scales it.
        """
        make, (last, *biases) = self.make, rules
        wide = dtype if self._are_exact(rules, dtype) else self._widest(rules, dtype)
        if isinstance(last.mask, Kept):
            kept = self._all_kept([last.mask], batch)
            if biases:
                total = self._tensor(biases, batch, wide, booleans=False)
            else:
                total = make.full(0.0, dtype, kept)
        else:
            total = self._tensor(rules, batch, wide, booleans=False)
            kept = make.above(total, _FAR_BELOW / 2)
        if wide is not dtype:
            outside = make.full(-math.inf, wide, total)
            total = self._narrowed(total, make.where(kept, total, outside), dtype)
        return Masking(mask=make.where(kept, total, make.full(_SWALLOWS, dtype, kept)))

    def _may_pad(self, rules: list[Rule]) -> bool:
        """Whether unknown numbers may fully mask rows.

        Padding of queries may do so, also with one number for a row or a batch entry; it is the
        same for all heads. A mask that differs between heads or has a gradient is assumed to be a
        bias.
        """
        if self.attention.safe or any(isinstance(rule.mask, Kept) for rule in rules):
            return False
        return any(map(self._is_padding, rules))

    def _is_padding(self, rule: Rule) -> bool:
        mask, type_ = rule.mask, tensor_type(rule.mask.value)
        assert type_ is not None
        if rule.keeps is not None or "requires_grad" in type_.data.flags:
            return False
        missing = len(mask.place.axes) - type_.rank
        sizes = [1 if axis < missing else type_.shape[axis - missing] for axis in mask.place.axes]
        if all(size == 1 for size in sizes):  # one number for all scores is a bias
            return False
        return len(sizes) < 3 or sizes[-3] == 1

    def _with_numbers_from_outside(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype, grad: bool
    ) -> Masking:
        """Masks by numbers known only at run time, changed so that no row is fully masked.

        See `_without_whole_rows` for the reasons.
        """
        make, wide = self.make, self._widest(rules, dtype)
        total = self._tensor(rules, batch, wide, booleans=False)
        top = make.amax(total)
        shifted = make.sub(total, top)
        if self._are_exact(rules, dtype):
            shifted = make.where(make.above(top, _FAR_BELOW / 2), total, shifted)
        active = make.above(top, -_LOST / self._coarsest(rules))
        mask = make.cast(shifted, dtype)
        return Masking(mask=mask, active_rows=active, passes_gradient=grad)

    def _widest(self, rules: list[Rule], dtype: torch.dtype) -> torch.dtype:
        """The dtype in which the numbers of several masks are summed and scaled."""
        if any(rule.keeps is None and _outgrows(rule.mask) for rule in rules):
            dtype = torch.promote_types(dtype, torch.float32)
        return self._summed_in(rules, dtype)

    def _summed_in(self, rules: list[Rule], dtype: torch.dtype) -> torch.dtype:
        """The widest dtype of the sums of masks and scores, and a given one."""
        for rule in rules:
            if isinstance(rule.mask, Added):
                dtype = torch.promote_types(dtype, rule.mask.dtype)
        return dtype

    def _coarsest(self, rules: list[Rule]) -> float:
        """The largest machine epsilon of the dtypes on the way to the softmax."""
        paths = [rule.mask.path for rule in rules if isinstance(rule.mask, Added)]
        return max(torch.finfo(step.dtype).eps for path in paths for step in path)

    def _scores_are_swallowed(self, rules: list[Rule], grad: bool) -> bool | None:
        """Whether the masking numbers swallow the scores; False if they keep nearly all of them.

        None if they do something in between, which a kernel computes as well as eager, except for
        gradients. Raises NotAttention in that case if there are gradients, or if a dtype on the way
        is narrower than 32 bits.
        """
        gaps = [self._gap(rule) for rule in rules if rule.keeps is not None]
        if min(gaps, default=_LOST) >= _LOST:
            return True
        if max(gaps) <= _KEPT:
            return False
        wide = all(
            isinstance(rule.mask, Added)
            and all(step.dtype.itemsize >= 4 for step in rule.mask.path)
            for rule in rules
            if rule.keeps is not None
        )
        if grad or not wide:
            raise NotAttention("a row may be masked by numbers that blur the scores", near=True)
        return None

    def _gap(self, rule: Rule) -> float:
        """The distance of adjacent numbers near the sum of a score and its masking number.

        It is infinite if the number replaces the score.
        """
        if isinstance(rule.mask, Kept):
            return math.inf
        choice = as_choice(self.known.of(rule.mask.value))
        assert choice is not None
        return max(gap(one, rule.mask.path) for one in (choice.yes, choice.no))

    def _are_causal(self, rules: list[Rule]) -> bool:
        rows, columns = self.attention.outer.shape[-2:]
        if self.facts.known_equal(rows, columns) is not True:
            return False
        return all(
            rule.keeps is not None
            and is_causal(rule.keeps, len(rule.mask.place.axes) - 2, len(rule.mask.place.axes) - 1)
            for rule in rules
        )

    def _keeps_rows(self, hard: list[Rule]) -> bool:
        """Whether each row is known to keep a score."""
        place = hard[0].mask.place
        ranks = {len(rule.mask.place.axes) for rule in hard}
        if len(ranks) > 1:
            return False
        together = all_of([rule.keeps or Unknown() for rule in hard])
        rank = len(place.axes)
        return keeps_each_row(together, rank - 2, rank - 1, place.shape, self.facts)

    def _tensor(
        self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype, *, booleans: bool
    ) -> SSAValue:
        """One tensor for all masks: boolean if allowed and all masks are, else numbers to add."""
        kept = [rule.mask for rule in rules if isinstance(rule.mask, Kept)]
        if booleans and len(kept) == len(rules):
            return self._all_kept(kept, batch)
        total: SSAValue | None = None
        for rule in reversed(rules):  # in order of application
            total = self._masked(total, rule, batch, dtype)
        assert total is not None
        return total

    def _exact(self, rules: list[Rule], batch: tuple[Dim, ...], dtype: torch.dtype) -> SSAValue:
        """One tensor for all masks, boolean if all are, which loses nothing that a softmax sees."""
        if self._are_exact(rules, dtype):
            return self._tensor(rules, batch, dtype, booleans=True)
        total = self._tensor(rules, batch, self._widest(rules, dtype), booleans=False)
        return self._narrowed(total, total, dtype)

    def _are_exact(self, rules: list[Rule], dtype: torch.dtype) -> bool:
        """Whether numbers to add lose nothing in a dtype that eager's sum with the scores keeps.

        Numbers that a mask makes lose nothing. A bias may be divided by a power of two: a product
        with another number has more digits, or overflows, and the sum of two biases too.
        """
        biases = [rule.mask for rule in rules if rule.keeps is None]
        if any(_outgrows(mask) for mask in biases):
            return dtype.itemsize > 4
        if not biases or self._summed_in(rules, dtype) is dtype:
            return True
        return len(biases) == 1 and _fits(biases[0], dtype)

    def _narrowed(self, total: SSAValue, counting: SSAValue, dtype: torch.dtype) -> SSAValue:
        """Numbers in a narrower dtype, from which the largest of each row that counts is taken.

        A softmax ignores that. The numbers of weights that are not nearly zero are then small, and
        hardly rounded: positions times a slope would else be, by whole numbers in bfloat16.
        """
        make = self.make
        type_ = tensor_type(total)
        assert type_ is not None
        top = make.detach(make.amax(counting))
        top = make.where(make.above(top, -math.inf), top, make.full(0.0, type_.dtype, top))
        return make.cast(make.sub(total, top), dtype)

    def _all_kept(self, masks: list[Kept], batch: tuple[Dim, ...]) -> SSAValue:
        together: SSAValue | None = None
        for mask in masks:
            kept = self._placed(mask, batch)
            kept = kept if mask.when else self.make.logical_not(kept)
            together = kept if together is None else self.make.logical_and(together, kept)
        assert together is not None
        return together

    def _masked(
        self, total: SSAValue | None, rule: Rule, batch: tuple[Dim, ...], dtype: torch.dtype
    ) -> SSAValue:
        """Numbers of `dtype` to add to the scores, including those of one more mask."""
        mask, make = rule.mask, self.make
        placed = self._placed(mask, batch)
        if isinstance(mask, Added):
            if rule.overflows:
                placed = self._along_its_path(placed, mask)
            elif mask.factor != 1:
                placed = placed if rule.keeps is not None else self._widened(placed, dtype)
                placed = make.mul(placed, mask.factor)
            placed = self._cast(placed, rule, dtype)
            return placed if total is None else make.add(total, placed)
        fill = rule.fill if rule.fill == -math.inf else max(rule.fill, torch.finfo(dtype).min)
        low = make.full(fill, dtype, placed)
        total = make.full(0.0, dtype, placed) if total is None else total
        return make.where(placed, *((total, low) if mask.when else (low, total)))

    def _along_its_path(self, placed: SSAValue, mask: Added) -> SSAValue:
        """The numbers of a mask after the steps of its path, including infinities."""
        for step in mask.path:
            placed = self._after(placed, step)
        return placed

    def _after(self, placed: SSAValue, step: Step) -> SSAValue:
        """Numbers after a step.

        Generated code leaves out casts to a narrower dtype and back, so numbers that become
        infinite are found before the cast.
        """
        type_, make = tensor_type(placed), self.make
        assert type_ is not None
        if step.factor == 1 and type_.dtype is step.dtype:
            return placed
        narrow = step.dtype.itemsize < 4
        wide = torch.promote_types(type_.dtype, torch.float32 if narrow else step.dtype)
        placed = make.cast(placed, wide)
        if step.factor != 1:
            placed = make.mul(placed, step.factor)
        after = make.cast(placed, step.dtype)
        if not narrow:
            return after
        kept = make.above(placed, -overflow_of(step.dtype))
        return make.where(kept, after, make.full(-math.inf, step.dtype, placed))

    def _cast(self, placed: SSAValue, rule: Rule, dtype: torch.dtype) -> SSAValue:
        type_ = tensor_type(placed)
        assert type_ is not None
        if not type_.dtype.is_floating_point:
            return self.make.cast(placed, dtype)
        lowest = torch.finfo(dtype).min
        if rule.keeps is not None and lowest > rule.fill > -math.inf:
            placed = self.make.clamp_below(
                placed, lowest
            )  # otherwise the cast would make it infinite
        return self.make.cast(placed, dtype)

    def _widened(self, placed: SSAValue, dtype: torch.dtype) -> SSAValue:
        """Numbers in a dtype, if theirs is narrower, so that a product keeps its digits."""
        type_ = tensor_type(placed)
        assert type_ is not None
        wide = torch.promote_types(type_.dtype, dtype)
        return self.make.cast(placed, wide)

    def _placed(self, mask: Mask, batch: tuple[Dim, ...]) -> SSAValue:
        """The tensor of a mask in four dims, in the order of the parts."""
        placed = regrouped(mask.value, mask.place, batch, self.make)
        type_ = tensor_type(placed)
        assert type_ is not None
        return placed if type_.device.type == "cpu" else side_by_side(placed, self.make)


def _outgrows(mask: Mask) -> bool:
    """Whether a bias is multiplied by a number other than 1, 1/2, 1/4 and so on."""
    if not isinstance(mask, Added):
        return False
    factor = abs(mask.factor)
    return factor > 1 or math.frexp(factor)[0] != 0.5


def _fits(mask: Mask, dtype: torch.dtype) -> bool:
    """Whether a dtype holds the numbers of a bias."""
    type_ = tensor_type(mask.value)
    assert type_ is not None
    if type_.dtype.is_floating_point:
        return torch.promote_types(type_.dtype, dtype) is dtype
    return type_.dtype.itemsize == 1


def _is_boolean(value: SSAValue) -> bool:
    type_ = tensor_type(value)
    return type_ is not None and type_.dtype is torch.bool


def _overflow_together(rules: list[Rule]) -> bool:
    """Whether the sum of the finite numbers of several masks may overflow float16.

    Generated code, which sums in float32, would not show the overflow.
    """
    steps = [step for rule in rules if isinstance(rule.mask, Added) for step in rule.mask.path]
    total = sum(rule.fill for rule in rules if rule.keeps is not None)
    half = any(step.dtype is torch.float16 for step in steps)
    return half and total <= -overflow_of(torch.float16)


def _may_overflow(mask: Added) -> bool:
    type_ = tensor_type(mask.value)
    assert type_ is not None
    return may_overflow(type_.dtype, mask.path)


__all__ = ["MaskBuilder", "Masking", "Rule", "SharedMasks"]
