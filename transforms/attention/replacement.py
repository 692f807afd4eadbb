"""Makes the fused call that replaces an attention."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import torch
from xdsl.ir import OpResult, SSAValue

from xductor.ir.dialect.types import Dim
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.usual_sizes import UsualSizes
from xductor.transforms.attention.axes import View, seen_through
from xductor.transforms.attention.building import (
    Torch,
    regrouped,
    shape_of,
    two_dims,
    with_batch,
)
from xductor.transforms.attention.costs import refusal_by_cost
from xductor.transforms.attention.grouped_queries import unrepeated
from xductor.transforms.attention.kernels import Request, refusal
from xductor.transforms.attention.known_values import KnownValues
from xductor.transforms.attention.masks import MaskBuilder, Masking, SharedMasks
from xductor.transforms.attention.parts import Added, Attention, Mask, NotAttention, Place
from xductor.transforms.attention.reading import Reader, is_product, tensor_type
from xductor.transforms.passes.permits import Permit


@dataclass(frozen=True)
class Options:
    """What the compile allows.

    - `policy`: under `fast` a fully masked row may give zeros instead of NaN.
    - `permits`: with `"draws"` dropout may draw its numbers in another way.
    - `even_unprofitable`: fuse where the fused call is slower, too.
    """

    policy: Literal["strict", "default", "fast"] = "default"
    permits: Collection[Permit] = ("draws",)
    even_unprofitable: bool = False


class Replacement:
    """Makes the ops that replace an attention."""

    def __init__(
        self,
        attention: Attention,
        reader: Reader,
        known: KnownValues,
        make: Torch,
        options: Options,
        masks: SharedMasks,
        sizes: UsualSizes,
    ) -> None:
        self.attention = attention
        self.reader = reader
        self.known = known
        self.make = make
        self.options = options
        self.masks = masks
        self.sizes = sizes
        result = tensor_type(attention.result)
        assert result is not None
        self.result = result
        self.dtype = result.dtype
        self.device = result.device
        self.views = [
            seen_through(view, reader, self.dtype)
            for view in (attention.query, attention.key, attention.value)
        ]

    def value(self, *, as_product: bool = False) -> tuple[SSAValue, SSAValue]:
        """The new result, and the value of the fused call.

        With `as_product` the result is copied into the layout of a product. Raises NotAttention if
        the fused call would compute something else, or if no kernel computes it.
        """
        attention, make = self.attention, self.make
        self._check()
        batch = self._batch()
        masking = MaskBuilder(attention, self.known, make, self.masks).masking(
            batch,
            self.dtype,
            exact=self.options.policy != "fast",
            grad="requires_grad" in self.result.data.flags,
        )
        query = self._scaled(self._operand(self.views[0], attention.inner, batch), batch)
        if masking.active_rows is not None:
            query = self._without_idle_rows(query, masking.active_rows, masking.passes_gradient)
        operands = self._operands(query, batch, masking)
        made = call = make.attention(
            *operands,
            mask=masking.mask,
            dropout=attention.dropout,
            causal=masking.causal,
            scale=abs(attention.scale),
            grouped=shape_of(operands[1])[1] != shape_of(query)[1],
        )
        if masking.row_factor is not None:
            made = self._with_rows(made, masking.row_factor, masking.rows_with_scores, batch)
        if as_product:
            made = make.contiguous(made)
        made = make.reshape(made, (*attention.outer.batch, *shape_of(made)[-2:]))
        return make.permute(made, attention.order), call

    def _without_idle_rows(
        self, query: SSAValue, active: SSAValue, passes_gradient: bool
    ) -> SSAValue:
        """The query with zeros in rows that keep no score, with or without a gradient there."""
        make = self.make
        nothing = make.full(0.0, self.dtype, query)
        if not passes_gradient:
            return make.where(active, query, nothing)
        return make.sub(query, make.detach(make.where(active, nothing, query)))

    def _with_rows(
        self,
        made: SSAValue,
        factor: SSAValue,
        finite: SSAValue | None,
        batch: tuple[Dim, ...],
    ) -> SSAValue:
        """The result times a factor for each row.

        If only some rows are `finite`, the others are made from the value, so that their NaN
        reaches only the gradient of the value.
        """
        make = self.make
        if finite is None:
            return make.mul(made, factor)
        value = self._operand(self.views[2], self.attention.outer, batch)
        return make.where(finite, made, make.mul(make.sum_of_rows(value), factor))

    def _operands(
        self, query: SSAValue, batch: tuple[Dim, ...], masking: Masking
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Query, key and value for a kernel that accepts them.

        Repeated heads are passed only once if the kernel supports groups.
        """
        grouped = self._grouped(batch)
        if grouped is not None:
            request = self._request(query, *grouped, masking)
            if refusal(request) is None:
                self._check_cost(request)
                return (query, *grouped)
            self.make.forget(*grouped)
        attention = self.attention
        _, key_view, value_view = self.views
        key = self._operand(key_view, attention.inner, batch)
        value = self._operand(value_view, attention.outer, batch)
        request = self._request(query, key, value, masking)
        reason = refusal(request)
        if reason is not None:
            raise NotAttention(reason, near=True)
        self._check_cost(request)
        return query, key, value

    def _check_cost(self, request: Request) -> None:
        if self.options.even_unprofitable:
            return
        reason = refusal_by_cost(request, seen=self.sizes.seen)
        if reason is None and request.device.type == "cuda" and self._mask_becomes_dear():
            reason = "a bias as large as the scores, of sizes that are not known, would be dear"
        if reason is not None:
            raise NotAttention(reason, near=True)

    def _mask_becomes_dear(self) -> bool:
        """Whether what the softmax computes by the way becomes a kernel of its own, and a slow one.

        DeBERTa was slower so. The likely reason: a kernel that makes all scores divides the number
        of each element by sizes, where the kernel of a softmax does so once for a row.
        """
        if all(isinstance(size, int) for size in self.attention.inner.shape):
            return False
        return any(map(self._is_made_here, self.attention.masks))

    def _is_made_here(self, mask: Mask) -> bool:
        """Whether a bias differs between all scores, and is computed for this attention alone."""
        type_, root = tensor_type(mask.value), storage_root(mask.value)
        if not isinstance(mask, Added) or not isinstance(root, OpResult) or type_ is None:
            return False
        if type_.rank != len(mask.place.axes) or 1 in type_.shape or 0 in type_.stride:
            return False
        ours = (*self.attention.ops, *self.make.builder.made)
        inside = all(use.operation in ours for use in mask.value.uses)
        return inside and root.op.name != "fx.get_attr" and not is_product(root.op)

    def _request(
        self, query: SSAValue, key: SSAValue, value: SSAValue, masking: Masking
    ) -> Request:
        mask = tensor_type(masking.mask)
        types = [tensor_type(one) for one in (query, key, value)]
        assert None not in types
        return Request(
            self.device,
            self.dtype,
            *(type_.data for type_ in types if type_ is not None),
            mask=None if mask is None else mask.data,
            dropout=self.attention.dropout,
            causal=masking.causal,
            grad="requires_grad" in self.result.data.flags,
        )

    def _grouped(self, batch: tuple[Dim, ...]) -> tuple[SSAValue, SSAValue] | None:
        """Key and value without repeated heads, if both were repeated in the same way."""
        attention, facts = self.attention, self.make.facts
        if attention.inner.batch != batch or attention.outer.batch != batch:
            return None
        key = unrepeated(attention.key, self.reader, facts)
        value = unrepeated(attention.value, self.reader, facts)
        if key is None or value is None or facts.known_equal(key[1], value[1]) is not True:
            return None
        found = []
        for view, _ in (key, value):
            own = view.shape[:-2]
            if facts.known_equal(own[0], batch[0]) is not True:
                return None
            found.append(with_batch(view, own, own, self.dtype, self.reader, self.make))
        return found[0], found[1]

    def _check(self) -> None:
        attention = self.attention
        if attention.dropout and "draws" not in self.options.permits:
            raise NotAttention("dropout has to draw as eager does", near=True)
        if not 0 <= attention.dropout < 1:
            raise NotAttention("all is dropped out", near=True)
        if attention.scale == 0 or not math.isfinite(attention.scale):
            raise NotAttention(f"the scale is {attention.scale}", near=True)
        for view in self.views:
            type_ = tensor_type(view.value)
            assert type_ is not None
            if type_.device != self.device or not type_.dtype.is_floating_point:
                raise NotAttention("an operand is of another device or no float", near=True)
            narrows = torch.promote_types(type_.dtype, self.dtype) is not self.dtype
            if narrows and attention.scores is not self.dtype:
                raise NotAttention(f"scores of {type_.dtype} for a result of {self.dtype}", True)

    def _operand(self, view: View, place: Place, batch: tuple[Dim, ...]) -> SSAValue:
        return with_batch(view, place.batch, batch, self.dtype, self.reader, self.make)

    def _batch(self) -> tuple[Dim, ...]:
        """The two batch dims of the call.

        They are those at a mask, at the last product or at the first one, if one of these places
        has exactly two; otherwise the batch dims are made two.
        """
        attention = self.attention
        places = [mask.place for mask in attention.masks]
        for place in (*places, attention.outer, attention.inner):
            if len(place.batch) == 2:
                return place.batch
        return two_dims(attention.outer.batch)

    def _scaled(self, query: SSAValue, batch: tuple[Dim, ...]) -> SSAValue:
        """The query times the non-constant factors, and times -1 for a negative scale.

        Kernels find the largest score before they scale, so the scale must be positive.
        """
        if self.attention.scale < 0:
            query = self.make.mul(query, -1.0)
        for factor in self.attention.factors:
            value = factor.value
            if tensor_type(value) is not None:
                value = self.make.cast(regrouped(value, factor.place, batch, self.make), self.dtype)
            query = (self.make.div if factor.divides else self.make.mul)(query, value)
        return query


__all__ = ["Options", "Replacement"]
