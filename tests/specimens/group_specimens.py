"""Graphs for the group fusions: ops of one form beside each other and above each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms import REASSOCIATES
from xductor.transforms.groups.batch_linear_post_grad import BatchLinearPostGrad
from xductor.transforms.groups.group_fusion import GroupFusion
from xductor.transforms.groups.group_linear import GroupLinear
from xductor.transforms.groups.post_grad_pointwise import (
    BatchAtenAdd,
    BatchAtenDiv,
    BatchAtenMul,
    BatchAtenRelu,
    BatchAtenSigmoid,
    BatchAtenSub,
    BatchAtenTanh,
)
from xductor.transforms.passes.numerics import weakest

Function = Callable[..., torch.Tensor]

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SHAPES: tuple[tuple[int, ...], ...] = ((4, 6), (5,), (2, 1, 3), ())


def _beside(function: Function) -> Any:
    return lambda x, y: tuple(function(one, y) * 2 for one in (x, y, x + 1))


def _above(function: Function) -> Any:
    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        rows = [function(one, x) for one in (x, y)]
        return torch.stack([function(one.neg(), y) for one in rows])

    return run


def _returned(function: Function) -> Any:
    return lambda x, y: (function(x, y), function(y, x), function(y, y))


def _rows(function: Function) -> Any:
    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        both = torch.stack([x, y])
        return torch.stack([function(both[0], y), function(both[1], x)])

    return run


PROGRAMS: Mapping[str, Callable[[Function], Any]] = {
    "beside": _beside,
    "above": _above,
    "returned": _returned,
    "rows": _rows,
}


def _of(one: GroupFusion, function: Function) -> Iterator[Specimen]:
    for what, program in PROGRAMS.items():
        for dtype in DTYPES:
            for shape in SHAPES:
                dynamic = dtype == torch.float32 and shape == SHAPES[0]
                x = torch.ones(shape, dtype=dtype)
                for symbolic in (False, True) if dynamic else (False,):
                    module = traced(program(function), x, x, dynamic=symbolic, stage="post_grad")
                    if module is not None:
                        sizes = "symbolic" if symbolic else str(list(shape))
                        title = f"{what}, {dtype}, {sizes}"
                        yield Specimen(title, module, one, weakest(one.numerics), provable=dynamic)


def _factor(x: torch.Tensor) -> int:
    return 1 if x.dtype.itemsize == 2 else 2


POINTWISE: Mapping[str, tuple[type[GroupFusion], Function]] = {
    "batch_aten_tanh": (BatchAtenTanh, lambda x, y: torch.tanh(x)),
    "batch_aten_sigmoid": (BatchAtenSigmoid, lambda x, y: torch.sigmoid(x)),
    "batch_aten_relu": (BatchAtenRelu, lambda x, y: torch.relu(x)),
    "batch_aten_add": (BatchAtenAdd, lambda x, y: torch.add(x, y, alpha=_factor(x))),
    "batch_aten_sub": (BatchAtenSub, lambda x, y: torch.sub(x, y, alpha=_factor(x))),
    "batch_aten_div": (BatchAtenDiv, torch.div),
    "batch_aten_mul": (BatchAtenMul, torch.mul),
}


def pointwise(name: str) -> Iterator[Specimen]:
    cls, function = POINTWISE[name]
    return _of(cls(min_fuse_set_size=2), function)


def linears() -> Iterator[Specimen]:
    """Products with and without something added, of integers and floats."""
    one = BatchLinearPostGrad(min_fuse_set_size=2)
    for dtype in (*DTYPES, torch.int64, torch.int32):
        for m, k, n in ((3, 4, 5), (1, 1, 1), (2, 0, 3)):
            for bias in ((), (n,), (1, n), (m, n), None):
                x, w = torch.ones(m, k, dtype=dtype), torch.ones(k, n, dtype=dtype)
                c = torch.ones(bias or (), dtype=dtype)

                def run(c: Any, x: Any, w: Any, bias: Any = bias) -> Any:
                    pairs = [(x + i, w * (i + 1)) for i in range(3)]
                    made = [
                        torch.mm(a, b) if bias is None else torch.addmm(c, a, b) for a, b in pairs
                    ]
                    return torch.cat(made), made[0]

                module = traced(run, c, x, w, stage="post_grad")
                if module is not None:
                    plain = dtype == torch.float32 and k == 4
                    title = f"{dtype}, {m, k, n}, {bias}"
                    yield Specimen(title, module, one, REASSOCIATES, provable=plain)


@contextmanager
def fbgemm_as_a_loop() -> Iterator[None]:
    """fbgemm's operator for many products in one call, computed one after the other."""
    library = torch.library.Library("fbgemm", "FRAGMENT")
    library.define(
        "gmm(Tensor[] inputs, Tensor[] weights, Tensor[]? biases=None, *, bool smart_fused=False)"
        " -> Tensor[]"
    )

    def gmm(inputs: Any, weights: Any, biases: Any = None, smart_fused: bool = False) -> Any:
        made = [a @ b for a, b in zip(inputs, weights, strict=True)]
        return made if biases is None else [a + b for a, b in zip(made, biases, strict=True)]

    library.impl("gmm", gmm, "CompositeExplicitAutograd")
    try:
        yield
    finally:
        library._destroy()


def unlike_linears() -> Iterator[Specimen]:
    """Products of matrices of several sizes, some of which share operands, some odd."""
    one = GroupLinear(min_fuse_set_size=2)
    with fbgemm_as_a_loop():
        for dtype in DTYPES:
            for m, k, n in ((4, 8, 6), (2, 2, 2), (6, 4, 10), (0, 4, 2)):
                for bias in ((), (n,), (m, n), None):
                    x, w = torch.ones(m, k, dtype=dtype), torch.ones(k, n, dtype=dtype)
                    c = torch.ones(bias or (), dtype=dtype)

                    def run(c: Any, x: Any, w: Any, bias: Any = bias) -> Any:
                        whole = len(bias or ()) == 2
                        both = torch.cat([x, x + 1]), torch.cat([c, c + 1]) if whole else c
                        made = [(c, x, w), (both[1], both[0], w * 2), (c, x - 1, w.neg())]
                        odd = torch.mm(x[:1], w)
                        if bias is None:
                            return odd, *[torch.mm(a, b) for _, a, b in made]
                        return odd, *[torch.addmm(d, a, b) for d, a, b in made]

                    module = traced(run, c, x, w, stage="post_grad")
                    if module is not None:
                        yield Specimen(f"{dtype}, {m, k, n}, {bias}", module, one, REASSOCIATES)


__all__ = ["POINTWISE", "fbgemm_as_a_loop", "linears", "pointwise", "unlike_linears"]
