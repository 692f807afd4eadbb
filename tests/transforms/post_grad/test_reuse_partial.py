"""`reuse_partial`: the extreme of all from those of the rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import parse_ir
from xductor.transforms.post_grad.reuse_partial import ReusePartialMax, ReusePartialMin
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.validation.values import validating

X = torch.randn(64, 128)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8])
@pytest.mark.parametrize(("dim", "keepdim"), [([0], False), ([-1], True), ([0, 1], False)])
@pytest.mark.parametrize("largest", [True, False])
def test_the_extreme_is_the_same(
    trace: Any, dtype: torch.dtype, dim: list[int], keepdim: bool, largest: bool
) -> None:
    def function(x: Any) -> Any:
        part = torch.amax if largest else torch.amin
        return part(x, dim, keepdim), (torch.max if largest else torch.min)(x)

    x = (X * 9).to(dtype)
    case = trace(function, x)
    with validating():
        assert case.run(ReusePartialMax if largest else ReusePartialMin) == 1
    case.check_values(x)


@pytest.mark.parametrize("special", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_found(trace: Any, special: float) -> None:
    x = X.clone()
    x[3, 5] = special
    case = trace(lambda x: (torch.amax(x, [1]), torch.max(x)), x)
    assert case.run(ReusePartialMax) == 1
    case.check_values(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (torch.amax(x[:8, :8], [1]), torch.max(x[:8, :8])),
        lambda x: (torch.amax(x, [1]), torch.min(x)),
        lambda x: (torch.amax(x, [1]), torch.max(x + 1)),
        lambda x: (torch.amax(x, [1]), torch.amax(x, [0])),
        lambda x: (torch.sum(x, [1]), torch.sum(x)),
    ],
)
def test_what_stays(trace: Any, function: Any) -> None:
    assert trace(function, X).run(ReusePartialMax) == 0


def test_which_zero_it_is_depends_on_the_order_so_strict_takes_integers_only(trace: Any) -> None:
    def function(x: Any) -> Any:
        return torch.amax(x, [1]), torch.max(x)

    for x, applied in ((X, 0), (X.long(), 1)):
        case = trace(function, x)
        assert RewritePass.of([ReusePartialMax], policy="strict").rewrite(case.module) == applied


GRAPH = """
fx.graph @forward stage(post_grad) symbols(s0 : int positive [2, 64]) (
    %a : !fx.tensor<f32[s0, 128], cpu>) {
  %u = aten.amax.default %a, [1] : !fx.tensor<f32[s0], cpu>
  %v = aten.max.default %a : !fx.tensor<f32[], cpu>
  fx.output (%u, %v)
}
"""


def test_of_a_size_that_may_be_small_it_is_not_known_whether_it_pays() -> None:
    assert RewritePass.of([ReusePartialMax]).rewrite(parse_ir(GRAPH)) == 0
    seen = GRAPH.replace("[2, 64]", "[2, 64] hint 64")  # Inductor asks for any size, too
    assert RewritePass.of([ReusePartialMax]).rewrite(parse_ir(seen)) == 0
    with watching(even_unprofitable=True):
        assert RewritePass.of([ReusePartialMax]).rewrite(parse_ir(GRAPH)) == 1
