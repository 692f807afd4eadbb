"""Graphs that draw random numbers, for `replace_random` and the passes after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch._inductor.decomposition import select_decomp_table

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.ir import parse_ir
from xductor.transforms import TypedPass
from xductor.transforms.random.chain_random_ops_ordering import ChainRandomOpsOrdering
from xductor.transforms.random.fuse_seed_creation_pass import (
    FuseOffsetCreationPass,
    FuseSeedCreationPass,
)
from xductor.transforms.random.replace_random import ReplaceRandint, ReplaceRandom

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SHAPES: tuple[tuple[int, ...], ...] = ((3, 4), (1, 5), (0, 3), (), (2, 1, 3))

Function = Callable[[torch.Tensor], Any]

PROGRAMS: Mapping[str, Function] = {
    "rand": lambda x: x + torch.rand(x.shape, dtype=x.dtype),
    "randn": lambda x: x * torch.randn(x.shape, dtype=x.dtype),
    "randint": lambda x: x + torch.randint(2, 9, x.shape),
    "randint of another dtype": lambda x: x + torch.randint(-3, 3, x.shape, dtype=torch.int32),
    "rand_like of the default dtype": lambda x: x + torch.rand_like(x, dtype=torch.float32),
    "dropout": lambda x: torch.nn.functional.dropout(x, 0.4),
    "dropout twice": lambda x: torch.dropout(torch.dropout(x, 0.3, True).relu(), 0.5, True),
    "three kinds": lambda x: (
        x + torch.rand(x.shape, dtype=x.dtype),
        x + torch.randn(x.shape) * torch.rand(x.shape),
        x + torch.randint(0, 5, x.shape),
    ),
    "among others": lambda x: (
        torch.rand_like(x)
        + torch.poisson(x.abs().to(torch.float32).nan_to_num(1, 1, 1).clamp(max=9)),
        torch.randn_like(x) + torch.rand_like(x),
        torch.randperm(5),
        torch.randint(1, 4, (6,)) + torch.randint(4, 9, (6,)),
    ),
    "one draw used twice": lambda x: (
        [drawn + x, drawn * x] if (drawn := torch.rand_like(x)) is not None else []
    ),
}


def _graphs() -> Iterator[tuple[str, Any]]:
    for what, program in PROGRAMS.items():
        for dtype in DTYPES:
            for shape in SHAPES:
                for dynamic in (False, True) if shape == (3, 4) else (False,):
                    module = traced(
                        program,
                        torch.ones(shape, dtype=dtype),
                        dynamic=dynamic,
                        decompositions=select_decomp_table(),
                    )
                    if module is not None:
                        sizes = "symbolic" if dynamic else str(list(shape))
                        yield f"{what}, {dtype}, {sizes}", module


def floats() -> Iterator[Specimen]:
    """For `replace_random`."""
    return _of(ReplaceRandom())


def integers() -> Iterator[Specimen]:
    """For `replace_randint`."""
    return _of(ReplaceRandint())


def _of(one: TypedPass) -> Iterator[Specimen]:
    for title, module in _graphs():
        if one.rewrite(module.clone()):
            yield Specimen(title, module, one)


def seeds() -> Iterator[Specimen]:
    """For `fuse_seed_creation_pass`: graphs with a seed for each draw."""
    for title, module in _graphs():
        replaced = [one.rewrite(module) for one in (ReplaceRandom(), ReplaceRandint())]
        if sum(replaced) > 1:
            yield Specimen(title, module, FuseSeedCreationPass())


def offsets() -> Iterator[Specimen]:
    """For `fuse_offset_creation_pass`: draws on CUDA, each with a seed and an offset of its own."""
    for count in range(2, 7):
        for first in (0, 1, 8):
            steps = [4 * (1 + (first + place * 3) % 5) for place in range(count)]
            for size in ("[7]", "[2, 3]", "[0]", "[]"):
                text = _offset_graph(steps, size)
                yield Specimen(f"steps {steps}, {size}", parse_ir(text), FuseOffsetCreationPass())


def _offset_graph(steps: list[int], size: str) -> str:
    typed = f"!fx.tensor<f32{size}, cuda:0>"
    lines = [f"fx.graph @draws stage(joint) symbols() (%x : {typed}) {{"]
    last = "x"
    for place, step in enumerate(steps):
        lines += [
            f"  %o{place} = prims.inductor_rand_eager_offset.default {step}, device<cuda:0>"
            " : !fx.tensor<i64[2], cuda:0>",
            f'  %r{place} = prims.inductor_random.default {size}, %o{place}, "rand" : {typed}',
            f"  %y{place} = aten.sub.Tensor %r{place}, %{last} : {typed}",
        ]
        last = f"y{place}"
    results = ", ".join(f"%y{place}" for place in range(len(steps)))
    return "\n".join([*lines, f"  fx.output ({results},)", "}"])


def chained() -> Iterator[Specimen]:
    """For `chain_random_ops_ordering`: graphs that draw at least twice from PyTorch's generator."""
    return _of(ChainRandomOpsOrdering())


__all__ = ["chained", "floats", "integers", "offsets", "seeds"]
