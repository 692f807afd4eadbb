"""Quantisation and dequantisation beside their meanings."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

# Defines the operators `quantized_decomposed`.
from torch.ao.quantization.fx import _decomposed as _decomposed

from tests.transforms.semantics.agreement import Cases, assert_refused, sizes
from xductor.transforms.semantics.uninterpreted import QUANTIZED

CASES = Cases()
case = CASES.case

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"


def _numbers(r: random.Random, dtype: torch.dtype) -> tuple[Any, ...]:
    limits = torch.iinfo(dtype)
    high = r.choice((limits.max, limits.max // 2))
    return r.choice((0.5, 0.003, 7.0)), r.choice((0, 3, -20, 128)), limits.min, high, dtype


@case(QUANTIZE)
def _quantize(r: random.Random) -> tuple[Any, ...]:
    x = torch.randn(sizes(r), generator=torch.Generator().manual_seed(r.randrange(99))) * 100
    x = x.to(r.choice((torch.float32, torch.float16, torch.bfloat16)))
    return x, *_numbers(r, r.choice(QUANTIZED[:3]))


@case(DEQUANTIZE)
def _dequantize(r: random.Random) -> tuple[Any, ...]:
    dtype = r.choice(QUANTIZED[:3])
    limits = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(r.randrange(99))
    x = torch.randint(limits.min, limits.max, sizes(r), dtype=dtype, generator=generator)
    return x, *_numbers(r, dtype)


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        (QUANTIZE, (torch.ones(2).double(), 0.5, 0, 0, 255, torch.uint8)),
        (QUANTIZE, (torch.ones(2), 0.5, 0, 0, 255, torch.int64)),
        (DEQUANTIZE, (torch.ones(2, dtype=torch.int8), 0.5, 0, 0, 255, torch.uint8)),
        (DEQUANTIZE, (torch.ones(2), 0.5, 0, 0, 255, torch.float32)),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)
