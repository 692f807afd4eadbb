"""Graphs for the group fusions before autograd, in torch's words, half of which ask for gradients.

Calls of one form stand beside and above each other, are returned, and read parts of one tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any

import torch
import torch.nn.functional as F

from xductor.backend.pass_validation.specimen import Specimen, captured
from xductor.transforms.groups.batch_layernorm import BatchLayernorm
from xductor.transforms.groups.batch_linear import BatchLinear
from xductor.transforms.groups.batch_linear_lhs import BatchLinearLhs
from xductor.transforms.groups.fuse_parallel_linear_pass import FuseParallelLinearPass
from xductor.transforms.groups.group_fusion import GroupFusion
from xductor.transforms.groups.pre_grad_pointwise import (
    BatchClamp,
    BatchDetach,
    BatchDropout,
    BatchNanToNum,
    BatchRelu,
    BatchSigmoid,
    BatchTanh,
)
from xductor.transforms.passes.numerics import weakest

Tensor = torch.Tensor
Unary = Callable[[Tensor], Tensor]

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SHAPES: tuple[tuple[int, ...], ...] = ((4, 6), (5,), (2, 1, 3), (0, 3))


def _beside(first: Unary, second: Unary) -> Any:
    def run(x: Tensor, y: Tensor) -> Any:
        made = [first(x), second(y), first(x + y)]
        return sum(one * n for n, one in enumerate(made))

    return run


def _above(first: Unary, second: Unary) -> Any:
    def run(x: Tensor, y: Tensor) -> Any:
        below = [first(x) * y, second(y) * x]
        return torch.stack([second(below[0]), first(below[1])]) * x

    return run


def _returned(first: Unary, second: Unary) -> Any:
    def run(x: Tensor, y: Tensor) -> Any:
        made = [first(x * 2), second(y * 2), first(x * y)]
        return made[0], made[2], torch.cat([one.neg() for one in made])

    return run


def _rows(first: Unary, second: Unary) -> Any:
    def run(x: Tensor, y: Tensor) -> Any:
        a, b = torch.stack([x, y]).unbind(0)
        return torch.maximum(first(a), second(b)) * x

    return run


def _alone(first: Unary, second: Unary) -> Any:
    def run(x: Tensor, y: Tensor) -> Any:
        with torch.no_grad():
            made = torch.stack([first(x - 1), second(y - 1)])
        return made + first(x) + second(y)

    return run


PROGRAMS: Mapping[str, Callable[[Unary, Unary], Any]] = {
    "beside": _beside,
    "above": _above,
    "returned": _returned,
    "rows": _rows,
    "under no_grad too": _alone,
}

POINTWISE: Mapping[str, tuple[type[GroupFusion], Unary, Unary]] = {
    "batch_tanh": (BatchTanh, torch.tanh, lambda x: x.tanh()),
    "batch_sigmoid": (BatchSigmoid, torch.sigmoid, lambda x: x.sigmoid()),
    "batch_relu": (BatchRelu, F.relu, lambda x: x.relu()),
    "batch_detach": (BatchDetach, torch.detach, lambda x: x.detach()),
    "batch_nan_to_num": (
        BatchNanToNum,
        lambda x: torch.nan_to_num(x, 1.0, 2.0),
        lambda x: x.nan_to_num(1.0, posinf=2.0),
    ),
    "batch_clamp": (BatchClamp, lambda x: torch.clamp(x, -1, 1), lambda x: x.clip(max=1, min=-1)),
    "batch_dropout": (
        BatchDropout,
        lambda x: F.dropout(x, 0.4),
        lambda x: torch.dropout(x, 0.4, True),
    ),
}


def pointwise(name: str) -> Iterator[Specimen]:
    cls, *ways = POINTWISE[name]
    one = cls(min_fuse_set_size=2)
    grad = cycle((True, False, True))
    for what, program in PROGRAMS.items():
        for dtype in DTYPES:
            for shape in SHAPES:
                provable = dtype == torch.float32 and shape == SHAPES[0]
                asks = provable or next(grad)
                x, y = (_tensor(shape, dtype, asks) for _ in range(2))
                for symbolic in (False, True) if provable else (False,):
                    module = captured(program(*ways), x, y, dynamic=symbolic)
                    if module is not None:
                        sizes = "symbolic" if symbolic else str(list(shape))
                        title = f"{what}, {dtype}, {sizes}{', with gradients' * asks}"
                        yield Specimen(title, module, one, weakest(one.numerics), provable=provable)


def _tensor(shape: tuple[int, ...], dtype: torch.dtype, asks: bool) -> Tensor:
    return torch.ones(shape, dtype=dtype, requires_grad=asks)


def linears() -> Iterator[Specimen]:
    """Of several inputs by several weights."""

    def run(x: Tensor, w: Tensor, b: Tensor | None) -> Any:
        made = [F.linear(x * n, w + n, None if b is None else b * n) for n in range(1, 4)]
        return torch.cat(made), made[0]

    return _linears(BatchLinear(min_fuse_set_size=2), run)


def linears_of_one() -> Iterator[Specimen]:
    """Of one input by weights of several widths."""

    def run(x: Tensor, w: Tensor, b: Tensor | None) -> Any:
        made = [F.linear(x, w[:n], None if b is None else b[:n]) for n in range(1, len(w) + 1)]
        return torch.cat(made, 1), made[0], made[-1].reshape(-1) * 2

    return _linears(BatchLinearLhs(min_fuse_set_size=2), run)


def _linears(one: GroupFusion, run: Callable[..., Any]) -> Iterator[Specimen]:
    for dtype in (*DTYPES, torch.int64):
        for m, k, n in ((3, 4, 5), (1, 1, 2), (2, 3, 2), (4, 2, 3)):
            for has_bias in (False, True):
                for asks in (False, True) if dtype.is_floating_point else (False,):
                    x, w, b = (_tensor(one, dtype, asks) for one in ((m, k), (n, k), (n,)))
                    provable = dtype == torch.float32 and (m, asks) == (2, True)
                    given = (x, w, b) if has_bias else (x, w)
                    for symbolic in (False, True) if provable else (False,):
                        module = captured(
                            lambda x, w, b=None: run(x, w, b), *given, dynamic=symbolic
                        )
                        if module is not None:
                            title = f"{dtype}, {m, k, n}, {has_bias=}, {asks=}, {symbolic=}"
                            yield Specimen(
                                title, module, one, weakest(one.numerics), provable=provable
                            )


def parallel_products() -> Iterator[Specimen]:
    """Of one input by weights of several widths, in several ways to write them."""
    one = FuseParallelLinearPass()
    for dtype in (*DTYPES, torch.int64):
        for what, program in PRODUCTS.items():
            for lead, k, n in (((64,), 4, 3), ((2, 30), 3, 2), ((48,), 1, 1)):
                if what == "addmm" and len(lead) > 1:
                    continue
                for asks in (False, True) if dtype.is_floating_point else (False,):
                    shapes = ((*lead, k), (n, k), (1, k), (n,))
                    given = [_tensor(shape, dtype, asks) for shape in shapes]
                    provable = dtype == torch.float32 and (k, asks) == (4, True)
                    for symbolic in (False, True) if provable else (False,):
                        module = captured(program, *given, dynamic=symbolic)
                        if module is not None:
                            title = f"{what}, {dtype}, {[*lead, k, n]}, {asks=}, {symbolic=}"
                            yield Specimen(
                                title, module, one, weakest(one.numerics), provable=provable
                            )


def _linear(x: Tensor, q: Tensor, k: Tensor, b: Tensor) -> Any:
    return F.linear(x, q, b) * 2, F.linear(x, k) + 1


def _matmul(x: Tensor, q: Tensor, k: Tensor, b: Tensor) -> Any:
    return (x @ q.t()).sum(0), F.linear(x, k, b[:1]) + 1, F.linear(x, k) * 3


def _addmm(x: Tensor, q: Tensor, k: Tensor, b: Tensor) -> Any:
    columns = q.t() + 0 * q.t()
    return torch.addmm(b, x, columns) * 2, x.mm(columns) + 1


PRODUCTS: Mapping[str, Callable[..., Any]] = {
    "linear": _linear,
    "matmul": _matmul,
    "addmm": _addmm,
}


def layer_norms() -> Iterator[Specimen]:
    """Over one dim or several, with and without weight and bias."""
    one = BatchLayernorm(min_fuse_set_size=2)
    grad = cycle((True, False, True))
    for dtype in DTYPES:
        for shape, over in (((4, 6), (6,)), ((2, 3, 4), (3, 4)), ((2, 3, 4), (4,)), ((5,), (5,))):
            for has in ((True, True), (True, False), (False, True), (False, False)):
                asks = next(grad)
                x, w, b = (_tensor(one, dtype, asks) for one in (shape, over, over))
                module = captured(_norms(over, *has), x, w, b)
                if module is not None:
                    title = f"{dtype}, {shape} over {over}, {has}, {asks=}"
                    provable = dtype == torch.float32 and not any(has)
                    yield Specimen(title, module, one, weakest(one.numerics), provable=provable)


def _norms(over: tuple[int, ...], has_weight: bool, has_bias: bool) -> Any:
    def run(x: Tensor, w: Tensor, b: Tensor) -> Any:
        made = [
            F.layer_norm(x + n * w, over, w * n if has_weight else None, b if has_bias else None)
            for n in range(1, 4)
        ]
        return torch.stack(made), made[1]

    return run


__all__ = [
    "POINTWISE",
    "layer_norms",
    "linears",
    "linears_of_one",
    "parallel_products",
    "pointwise",
]
