"""`unfuse_bias_add_to_pointwise`: when an addmm without factors is mm and add."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import parse_ir
from xductor.transforms.matmul.unfuse_bias_add import UnfuseBiasAddToPointwise
from xductor.transforms.passes.numerics import Policy
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.validation.validate import validate
from xductor.transforms.validation.values import validating

A, B, C = torch.randn(4, 6), torch.randn(6, 5), torch.randn(5)


@pytest.mark.parametrize("sizes", [(5,), (1, 5), (4, 1), (4, 5), ()])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dynamic", [False, True])
def test_the_sum_is_the_same(
    trace: Any, sizes: tuple[int, ...], dtype: torch.dtype, dynamic: bool
) -> None:
    def function(c: Any, a: Any, b: Any) -> Any:
        return torch.addmm(c, a, b).relu()

    given = [torch.randn(one, dtype=dtype) for one in (sizes, (4, 6), (6, 5))]
    case = trace(function, *given, dynamic=dynamic)
    with validating(), watching(any_device=True, even_unprofitable=True):
        assert case.run(UnfuseBiasAddToPointwise) == 1
    assert [op for op in case.ops if "sym_size" not in op] == [
        "aten.mm.default",
        "aten.add.Tensor",
        "aten.relu.default",
    ]


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda c, a, b: torch.addmm(c, a, b, beta=0), (C, A, B)),
        (lambda c, a, b: torch.addmm(c, a, b, beta=2), (C, A, B)),
        (lambda c, a, b: torch.addmm(c, a, b, alpha=0.5), (C, A, B)),
        (lambda c, a, b: torch.addmm(c, a, b), (C.long(), A.long(), B.long())),
    ],
)
def test_factors_and_integers_stay(trace: Any, function: Any, inputs: Any) -> None:
    case = trace(function, *inputs)
    with watching(any_device=True, even_unprofitable=True):
        assert case.run(UnfuseBiasAddToPointwise) == 0


def test_16_bits_are_for_fast_numerics(trace: Any) -> None:
    given = [one.bfloat16() for one in (C, A, B)]
    policies: dict[Policy, int] = {"strict": 0, "default": 0, "fast": 1}
    for policy, applied in policies.items():
        case = trace(lambda c, a, b: torch.addmm(c, a, b).relu(), *given)
        with watching(any_device=True, even_unprofitable=True):
            one = RewritePass.of([UnfuseBiasAddToPointwise], policy=policy)
            assert one.rewrite(case.module) == applied


GRAPH = """
fx.graph @forward stage(post_grad) symbols() (
    %c : !fx.tensor<f32[5], {device}>,
    %a : !fx.tensor<f32[4, 6], {device}>,
    %b : !fx.tensor<f32[6, 5], {device}>) {{
  %s = aten.addmm.default %c, %a, %b : !fx.tensor<f32[4, 5], {device}>
  %v = aten.view.default %s, [20] : !fx.tensor<f32[20], {device}>
  %r = aten.{user}.default %v : !fx.tensor<f32[{out}], {device}>
  fx.output ({returned}%r,)
}}
"""


@pytest.mark.parametrize(
    ("device", "user", "returned", "applied"),
    [
        ("cuda:0", "relu", "", 1),
        ("cuda:0", "sum", "", 0),
        ("cuda:0", "relu", "%s, ", 0),
        ("cpu", "relu", "", 0),
    ],
)
def test_it_pays_on_a_gpu_where_all_readers_are_pointwise(
    device: str, user: str, returned: str, applied: int
) -> None:
    out = "" if user == "sum" else "20"
    text = GRAPH.format(device=device, user=user, out=out, returned=returned)
    assert RewritePass.of([UnfuseBiasAddToPointwise]).rewrite(parse_ir(text)) == applied


def test_it_is_validated() -> None:
    assert validate(UnfuseBiasAddToPointwise, instances=8, rounds=2).ok
