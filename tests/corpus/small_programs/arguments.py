"""Arguments that are no tensors: dtypes, layouts, devices, generators; numbers of every sort."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tests.corpus.small_programs.handmade import GraphBuilder
from tests.corpus.small_programs.program import program


@program("dtype", "dtype = bf16", "bf16[4]")
def dtypes_by_turns() -> Any:
    def function(x: Tensor) -> Tensor:
        y = x.to(torch.bfloat16).sum(0, dtype=torch.float64)
        return torch.zeros(4, dtype=torch.bfloat16) + x.to(torch.float16) + y

    return function, (torch.randn(4),)


@program("dtype", "f8E4M3FN", "i1[")
def narrow_dtypes() -> Any:
    def function(x: Tensor) -> Any:
        return x.to(torch.float8_e4m3fn).float(), x > 0, x.to(torch.uint8), x.to(torch.int16)

    return function, (torch.rand(4),)


@program("layout", "layout<strided>")
def a_strided_layout() -> Any:
    return lambda x: x + torch.zeros(4, layout=torch.strided), (torch.randn(4),)


@program("memory format", "memory_format<channels_last>", train=True)
def channels_last() -> Any:
    def function(x: Tensor) -> Tensor:
        y = x.to(memory_format=torch.channels_last) * 2
        return y.contiguous() + torch.empty_like(y, memory_format=torch.preserve_format).fill_(1)

    return function, (torch.randn(2, 3, 4, 4, requires_grad=True),)


@program("device", "device<cpu>")
def a_device_by_name() -> Any:
    return lambda x: torch.arange(4, device="cpu").to(x.device) + x, (torch.randn(4),)


@program("generator", "generator = opaque<torch._C.Generator, ")
def a_generator_of_its_own() -> Any:
    build = GraphBuilder()
    generator = torch.Generator().manual_seed(3)
    x = build.tensor("x", 4)
    drawn = build.call(torch.rand, 4, generator=generator)
    # Times zero: the generator goes on from run to run, and runs are compared.
    return build.module((build.call(torch.add, x, build.call(torch.mul, drawn, 0)),)), [
        torch.rand(4)
    ]


@program("generator", "rand", train=True)
def dropout_of_the_default() -> Any:
    return lambda x: torch.dropout(x, 0.5, True) + torch.rand_like(x), (
        torch.randn(4, requires_grad=True),
    )


@program("bool int float", ", true", ", 1 ", ", 1.0 ")
def one_in_three_ways() -> Any:
    def function(x: Tensor, n: Tensor) -> Any:
        return n + 1, n + 1.0, n + True, torch.full((2,), True), torch.full((2,), 1)

    return function, (torch.randn(4), torch.arange(4))


@program("bool int float", "aten.full.default [2], true")
def constants_to_fold() -> Any:
    def function(x: Tensor) -> Any:
        truth, one, float_one = (torch.full((2,), value) for value in (True, 1, 1.0))
        return x * float_one, x * one, x * truth

    return function, (torch.randn(2),)


@program("negative zero", "-0.0", ", 0.0")
def both_zeros() -> Any:
    return lambda x: (x + -0.0, x + 0.0, torch.full((2,), -0.0), torch.full((2,), 0.0)), (
        torch.tensor([0.0, -0.0]),
    )


@program("nan", "nan")
def fill_with_nan() -> Any:
    return lambda x: (x.masked_fill(x > 0, math.nan), torch.full((2,), math.nan)), (torch.randn(4),)


@program("inf", "-inf", ", inf")
def infinite_bounds() -> Any:
    def function(x: Tensor) -> Tensor:
        causal = torch.full((4, 4), -math.inf).triu(1)
        return torch.softmax(x + causal, -1).clamp(max=math.inf).amax(0)

    return function, (torch.randn(4, 4),)


@program("complex", "complex<f32>")
def complex_arithmetic() -> Any:
    return lambda x: (x * (1 - 2j)).conj() + torch.full((4,), 3j), (
        torch.randn(4, dtype=torch.complex64),
    )


@program("complex", "complex", train=True)
def a_rotation() -> Any:
    def function(x: Tensor, angle: Tensor) -> Tensor:
        turned = torch.view_as_complex(x) * torch.polar(torch.ones_like(angle), angle)
        return torch.view_as_real(turned)

    return function, (torch.randn(4, 2, requires_grad=True), torch.rand(4))


@program("int64", "9223372036854775807", "-9223372036854775808")
def the_greatest_and_least() -> Any:
    def function(x: Tensor) -> Any:
        return x.clamp(max=2**63 - 1), torch.full((2,), -(2**63)), x * (2**40 + 1)

    return function, (torch.arange(4),)
