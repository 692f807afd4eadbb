"""Graphs of products of pieces that are added up, in torch's words, some with gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any

import torch
import torch.nn.functional as F

from xductor.backend.pass_validation.specimen import Specimen, captured
from xductor.transforms.matmul.fuse_split_linear_add_pass import FuseSplitLinearAddPass
from xductor.transforms.passes.numerics import numerics_at

Tensor = torch.Tensor
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _split(x: Tensor, u: Tensor, v: Tensor, b: Tensor) -> Any:
    one, two = x.split([1, x.shape[-1] - 1], -1)
    return F.linear(one, u) + F.linear(two, v, b)


def _slices(x: Tensor, u: Tensor, v: Tensor, b: Tensor) -> Any:
    return torch.add(x[..., 1:] @ v.t(), torch.matmul(x[..., :1], u.T)).exp() + b


def _biased(x: Tensor, u: Tensor, v: Tensor, b: Tensor) -> Any:
    rest = x.narrow(-1, 1, x.shape[-1] - 1)
    return F.linear(rest, v, b).add(F.linear(x[..., 0:1], u, bias=b * 2)) * 2


def _with_others(x: Tensor, u: Tensor, v: Tensor, b: Tensor) -> Any:
    return sum([F.linear(x[..., 1:], v), x.sum(-1, keepdim=True) + b, F.linear(x[..., :1], u)])


PROGRAMS: Mapping[str, Callable[..., Any]] = {
    "split": _split,
    "slices": _slices,
    "biases": _biased,
    "other terms": _with_others,
}


def sums_of_products() -> Iterator[Specimen]:
    one = FuseSplitLinearAddPass()
    grad = cycle((True, False, True))
    for dtype in DTYPES:
        for what, program in PROGRAMS.items():
            for lead, k, n in (((16,), 4, 3), ((2, 5), 3, 2), ((7,), 2, 4), ((1, 6), 4, 1)):
                provable = dtype == torch.float32 and len(lead) == 1
                asks = next(grad) and dtype.itemsize > 2
                shapes = ((*lead, k), (n, 1), (n, k - 1), (n,))
                given = [torch.ones(shape, dtype=dtype, requires_grad=asks) for shape in shapes]
                module = captured(program, *given)
                if module is not None:
                    title = f"{what}, {dtype}, {[*lead, k, n]}, {asks=}"
                    numerics = numerics_at(one.numerics, dtype)
                    assert numerics is not None
                    yield Specimen(title, module, one, numerics, provable=provable)


__all__ = ["sums_of_products"]
