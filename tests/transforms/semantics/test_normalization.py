"""Softmax and the norms beside their meanings, which hold up to roundings."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from tests.transforms.semantics.agreement import (
    FLOATS,
    Cases,
    assert_refused,
    bf16,
    f32,
    f64,
    i64,
    sizes,
    tensor,
)
from xductor.transforms.semantics.evaluation import result_of

CASES = Cases()


def mild(r: random.Random, shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    """Numbers at which a norm does not lose all digits; kernels differ at infinities."""
    seed = torch.Generator().manual_seed(r.randrange(1 << 30))
    made = torch.randn(shape, generator=seed, dtype=f64) * 2
    if made.numel() and r.random() < 0.3:
        made.view(-1)[r.randrange(made.numel())] = r.choice((float("nan"), -0.0))
    return made.to(dtype)


@CASES.case("aten._softmax.default", "aten._log_softmax.default", relation="close")
def _softmax(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r)
    x = tensor(r, shape, r.choice(FLOATS), special=0.15)
    return x, r.randrange(-max(len(shape), 1), max(len(shape), 1)), False


@CASES.case("prims.prepare_softmax_online.default", relation="close")
def _prepare_softmax(r: random.Random) -> tuple[Any, ...]:
    shape = sizes(r, low=1)
    return mild(r, shape, r.choice((f32, f64))), r.randrange(-len(shape), len(shape))


@CASES.case("aten.softmax.int", "aten.log_softmax.int", relation="close")
def _softmax_int(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r), r.choice((*FLOATS, i64))
    x = torch.ones(shape, dtype=i64) if dtype is i64 else mild(r, shape, dtype)
    dim = r.randrange(-max(len(shape), 1), max(len(shape), 1))
    return x, dim, r.choice((None, f32, f64, bf16))


def parameters(r: random.Random, shape: list[int], dtype: torch.dtype) -> list[Any]:
    own = f32 if dtype is bf16 and r.random() < 0.4 else dtype
    return [r.choice((None, mild(r, shape, own))) for _ in range(2)]


@CASES.case("aten.native_layer_norm.default", "aten.layer_norm.default", relation="close")
def _layer_norm(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r, low=1), r.choice((f32, bf16, f64))
    inner = shape[r.randrange(len(shape)) :]
    return mild(r, shape, dtype), inner, *parameters(r, inner, dtype), r.choice((1e-5, 0.1))


@CASES.case("aten.rms_norm.default", "aten._fused_rms_norm.default", relation="close")
def _rms_norm(r: random.Random) -> tuple[Any, ...]:
    shape, dtype = sizes(r, low=1), r.choice((f32, bf16, f64))
    inner = shape[r.randrange(len(shape)) :]
    weight = r.choice((None, mild(r, inner, dtype)))
    return mild(r, shape, dtype), inner, weight, r.choice((1e-5, 0.1, None))


@CASES.case("aten._native_batch_norm_legit_no_training.default", relation="close")
def _batch_norm(r: random.Random) -> tuple[Any, ...]:
    channels, dtype = r.randint(1, 3), r.choice((f32, f64))
    x = mild(r, [2, channels, *sizes(r, r.randint(1, 2))], dtype)
    seed = torch.Generator().manual_seed(r.randrange(99))
    variance = torch.rand(channels, generator=seed, dtype=dtype)
    mean = mild(r, [channels], dtype)
    return x, *parameters(r, [channels], dtype), mean, variance, 0.1, r.choice((1e-5, 0.1))


@CASES.case("aten.native_group_norm.default", relation="close")
def _group_norm(r: random.Random) -> tuple[Any, ...]:
    groups, each, dtype = r.randint(1, 3), r.randint(1, 2), r.choice((f32, f64))
    # Of one element the kernel leaves what cancels in its own way.
    channels, rest = groups * each, [r.randint(1, 2) for _ in range(r.randint(0, 1))] + [3]
    seed = torch.Generator().manual_seed(r.randrange(999))
    x = torch.randn([2, channels, *rest], generator=seed, dtype=dtype)
    inside = torch.Size(rest).numel()
    return x, *parameters(r, [channels], dtype), 2, channels, inside, groups, 1e-5


@pytest.mark.parametrize("name", CASES.names)
def test_meaning_agrees_with_the_op(name: str) -> None:
    CASES.check(name)


def test_half_to_float_gives_float32() -> None:
    """CPU kernels do not have it, so the reference is the softmax of the input in float32."""
    x = torch.tensor([[1.0, 2.0, -3.0]], dtype=bf16)
    found = result_of("aten._softmax.default", [x, -1, True])
    assert found.dtype is f32
    assert torch.allclose(found, torch.softmax(x.float(), -1))


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("aten._softmax.default", (X, 2, False)),
        ("aten._softmax.default", (X.long(), 1, False)),
        ("aten._log_softmax.default", (X, -3, False)),
        ("aten._softmax.default", (X, 1, True)),
        ("aten.softmax.int", (X.long(), 1)),
        ("aten.log_softmax.int", (X, 5)),
        ("aten.native_layer_norm.default", (X, [2], None, None, 1e-5)),
        ("aten.native_layer_norm.default", (X, [], None, None, 1e-5)),
        ("aten.native_layer_norm.default", (X, [3], torch.ones(2), None, 1e-5)),
        ("aten.native_layer_norm.default", (X, [3], torch.ones(3, dtype=f64), None, 1e-5)),
        ("aten.layer_norm.default", (X, [2, 3, 1])),
        ("aten.rms_norm.default", (X, [2])),
        ("aten.native_group_norm.default", (X[..., None], None, None, 2, 3, 1, 2, 1e-5)),
    ],
)
def test_what_the_op_refuses_the_meaning_refuses(name: str, given: tuple[Any, ...]) -> None:
    assert_refused(name, given)
