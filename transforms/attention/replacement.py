"""The fused call that stands for an attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import SSAValue

from xductor.transforms.attention.building import Torch, four_dims, shape_of, with_batch
from xductor.transforms.attention.kernels import Request, refusal
from xductor.transforms.attention.parts import Attention, NotAttention
from xductor.transforms.attention.reading import Reader, tensor_type


@dataclass(frozen=True)
class Options:
    """What the compile allows.

    - `policy`: under `fast` a row that is masked as a whole may give zeros where it gave NaN.
    - `dropout`: whether dropout may draw its numbers in another way.
    """

    policy: Literal["strict", "default", "fast"] = "default"
    dropout: bool = True


def replacement(attention: Attention, reader: Reader, make: Torch, options: Options) -> SSAValue:
    """Makes the ops that stand for an attention; returns the value of its result.

    Raises NotAttention: no kernel computes it.
    """
    batch = attention.outer_batch
    added, four = four_dims(batch)
    result = tensor_type(attention.result)
    assert result is not None
    operands = []
    for view in (attention.query, attention.key, attention.value):
        made = with_batch(view, batch, reader, make)
        for _ in range(added):
            made = make.unsqueeze(made, 0)
        operands.append(make.cast(made, result.dtype))
    query, key, value = operands
    if attention.masks:
        raise NotAttention("masks are not known yet", near=True)
    request = Request(
        result.device,
        result.dtype,
        shape_of(query),
        shape_of(key),
        shape_of(value),
        dropout=attention.dropout,
    )
    reason = refusal(request)
    if reason is not None:
        raise NotAttention(reason, near=True)
    made = make.attention(
        query, key, value, mask=None, dropout=attention.dropout, causal=False,
        scale=attention.scale, grouped=False,
    )  # fmt: skip
    made = make.reshape(made, (*batch, *shape_of(made)[-2:]))
    return make.permute(made, attention.order)


__all__ = ["Options", "replacement"]
