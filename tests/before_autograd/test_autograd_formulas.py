"""What has no autograd formula is not put where a gradient is required."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.before_autograd.observation import difference, observe, observe_compiled
from tests.before_autograd.rewrites import PreGrad
from xductor import transforms
from xductor.ir import ops


@torch.library.custom_op("formulas::without", mutates_args=())
def _without(x: Tensor, y: Tensor) -> Tensor:
    return F.silu(x) * y


@torch.library.custom_op("formulas::with_one", mutates_args=())
def _with_one(x: Tensor, y: Tensor) -> Tensor:
    return F.silu(x) * y


for _op in (_without, _with_one):
    _op.register_fake(lambda x, y: torch.empty_like(x))


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    x, y = ctx.saved_tensors
    s = torch.sigmoid(x)
    return grad * y * (s + x * s * (1 - s)), grad * F.silu(x)


_with_one.register_autograd(
    _backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
)

_LIBRARY = torch.library.Library("formulas", "FRAGMENT")
for _name in ("no_kernel", "composite"):
    _LIBRARY.define(f"{_name}(Tensor x, Tensor y) -> Tensor")
_LIBRARY.impl("no_kernel", lambda x, y: F.silu(x) * y, "CPU")
torch.library.register_fake("formulas::no_kernel", lambda x, y: torch.empty_like(x), lib=_LIBRARY)
_LIBRARY.impl("composite", lambda x, y: F.silu(x) * y, "CompositeImplicitAutograd")


def _into(name: str) -> type[PreGrad]:
    """`silu(x) * y` into one operator."""

    class Fused(PreGrad):
        def pattern(self, x: transforms.Tensor, y: transforms.Tensor) -> Any:
            return ops.pyfn._operator.mul(ops.pyfn.torch.nn.functional.silu(x), y)

        def replacement(self, x: transforms.Tensor, y: transforms.Tensor) -> Any:
            return getattr(ops.formulas, name)(x, y)

    Fused.__name__ = f"Into_{name}"
    return Fused


class IntoPrim(PreGrad):
    """Prims have no formula either."""

    def pattern(self, x: transforms.Tensor) -> Any:
        return ops.pyfn.torch.sin(x)

    def replacement(self, x: transforms.Tensor) -> Any:
        return ops.prims.sin(x)


def _gated(a: Tensor, b: Tensor) -> Tensor:
    return F.silu(a) * b + torch.sin(a)


def _compiled(function: Callable[..., Any], rewrite: type[PreGrad], grad: bool) -> tuple[str, int]:
    leaves = [torch.randn(4, 4).requires_grad_(grad), torch.randn(4, 4)]
    found, records = observe_compiled(function, leaves, rewrites=[rewrite])
    count = sum(record.applications(rewrite().name) for record in records)
    return difference(observe(function, leaves), found), count


@pytest.mark.parametrize("rewrite", [_into("without"), _into("no_kernel"), IntoPrim])
def test_without_a_formula(rewrite: type[PreGrad]) -> None:
    assert _compiled(_gated, rewrite, grad=False) == ("", 1)
    with pytest.raises(Exception, match="has no autograd formula") as caught:
        _compiled(_gated, rewrite, grad=True)
    assert f"rewrite {rewrite().name}" in str(caught.value)


@pytest.mark.parametrize("name", ["without", "no_kernel"])
def test_where_no_gradient_flows(name: str) -> None:
    def silent(a: Tensor, b: Tensor) -> Tensor:
        with torch.no_grad():
            gated = F.silu(a) * b
        return gated * a

    assert _compiled(silent, _into(name), grad=True) == ("", 1)
    with torch.no_grad():
        assert _compiled(_gated, _into(name), grad=True)[1] == 1
    with torch.inference_mode():
        assert _compiled(_gated, _into(name), grad=False)[1] == 1


@pytest.mark.parametrize("name", ["with_one", "composite"])
def test_with_a_formula(name: str) -> None:
    assert _compiled(_gated, _into(name), grad=True) == ("", 1)
    assert _compiled(_gated, _into(name), grad=False) == ("", 1)
