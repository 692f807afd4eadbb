"""Tensors that are given the storage of others: what shares memory the graph tells no more.

The graph records the storage of such a tensor from afterwards, so that views from before seem to
have memory of their own, and a write to the tensor does not seem to hit what it is now a view of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import xductor
from tests.before_autograd.captured import graph_module
from xductor import Rewrite, Tensor
from xductor.ir import ops
from xductor.transforms.groups.batch_linear import BatchLinear
from xductor.transforms.groups.pre_grad_pointwise import BatchRelu
from xductor.transforms.rewriting.rewrite_pass import RewritePass

pyfn = ops.pyfn
TWO: dict[str, Any] = {"min_fuse_set_size": 2}
REFUSED = "modified by an inplace operation|has been modified inplace"


def _random(*sizes: int, grad: bool = True) -> torch.Tensor:
    made = torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes)))
    return made.requires_grad_(grad)


def _linears(change: Callable[[Any, Any], Any]) -> Any:
    """Two linears of pieces of a tensor that is changed behind them."""

    def function(x: Any, w: Any, v: Any, y: Any) -> Any:
        z = x * 1
        a, b = z.split(2)
        made = torch.stack([F.linear(a, w), F.linear(b, v)])
        change(z, y)
        return made + 0 * y.sum()

    return function


def _transpose(z: Any, y: Any) -> None:
    z.t_()


#: What changes a tensor or its memory, so that a backward that was to read it fails.
CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "set_": lambda z, y: z.set_(y),
    "set_ of another view": lambda z, y: z.detach().set_(y),
    "aten.set_": lambda z, y: torch.ops.aten.set_.source_Tensor(z, y),
    "set_ of a piece of another": lambda z, y: z.set_(y[:1]),
    "aten.resize_": lambda z, y: torch.ops.aten.resize_.default(z.detach(), [5, 3]),
    "copy_": lambda z, y: z.copy_(y),
    "mul_": lambda z, y: z.mul_(2),
    "zero_ of another view": lambda z, y: z.detach().zero_(),
    "t_": _transpose,
    "as_strided_": lambda z, y: z.as_strided_((3, 4), (1, 3)),
    "unsqueeze_": lambda z, y: z.unsqueeze_(0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_backward_raises_as_eagers_does(change: str) -> None:
    sizes = ((4, 3), (5, 3), (5, 3), (4, 3))
    gm = graph_module(_linears(CHANGES[change]), *(_random(*one) for one in sizes))
    module = xductor.from_fx(gm, stage="pre_grad")
    assert BatchLinear(**TWO).rewrite(module) == 0
    for graph in (gm, xductor.to_fx(module)):
        with pytest.raises(RuntimeError, match=REFUSED):
            graph(*(_random(*one) for one in sizes))[0].sum().backward()


def test_the_same_without_a_change_is_fused() -> None:
    sizes = ((4, 3), (5, 3), (5, 3), (4, 3))
    inputs = [_random(*one) for one in sizes]
    gm = graph_module(_linears(lambda z, y: None), *inputs)
    module = xductor.from_fx(gm, stage="pre_grad")
    assert BatchLinear(**TWO).rewrite(module) == 1
    torch.testing.assert_close(xductor.to_fx(module)(*inputs)[0], gm(*inputs)[0])


def _write_through_the_other(x: Any, y: Any) -> Any:
    y, z = y * 1, x * 1
    before = torch.relu(y)
    z.set_(y)
    z.add_(1)
    return before * 2 + torch.relu(y)


def _data(x: Any, y: Any) -> Any:
    y = y * 1
    before = torch.relu(y)
    x.data = y
    x.add_(1)
    return before * 2 + torch.relu(y)


def _write_to_a_view_from_before(x: Any, y: Any) -> Any:
    z = x * 1
    view = z.view(3, 4)
    before = torch.relu(view)
    z[0].mul_(-1)
    after = torch.relu(view)
    z.set_(y)
    return before * 2 + after


class _TwoRelus(Rewrite):
    """A sum of two relus is taken behind both."""

    stage = "pre_grad"
    numerics = "approximate"

    def pattern(self, x: Tensor) -> Any:
        return pyfn._operator.add(pyfn._operator.mul(pyfn.torch.relu(x), 2), pyfn.torch.relu(x))

    def replacement(self, x: Tensor) -> Any:
        return pyfn._operator.mul(pyfn.torch.relu(x), 3)


@pytest.mark.parametrize(
    "function", [_write_through_the_other, _data, _write_to_a_view_from_before]
)
def test_values(function: Any) -> None:
    """A write between the two reads is seen by the second alone."""
    for one in (BatchRelu(**TWO), RewritePass.of([_TwoRelus])):
        given = [_random(4, 3, grad=False) for _ in range(2)]
        gm = graph_module(function, *(one.clone() for one in given))
        module = xductor.from_fx(gm, stage="pre_grad")
        assert one.rewrite(module) == 0
        found = xductor.to_fx(module)(*(one.clone() for one in given))[0]
        assert torch.equal(found, function(*(one.clone() for one in given)))


def test_it_is_told() -> None:
    gm = graph_module(_write_through_the_other, *(_random(4, 3, grad=False) for _ in range(2)))
    near = xductor.explain(_TwoRelus, gm, stage="pre_grad").near
    assert any("set_ gives a tensor another storage" in str(one) for one in near), near
