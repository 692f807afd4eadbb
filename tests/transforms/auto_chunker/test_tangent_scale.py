"""Ops that pass the tangent's scale on are linear in what has it; the others refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.ir import entry_graph
from xductor.transforms.auto_chunker import tangent_scale
from xductor.transforms.auto_chunker.refusal import CannotChunk
from xductor.transforms.auto_chunker.tangent_scale import scales

aten, prims = torch.ops.aten, torch.ops.prims
X = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
Y = X.flip(0) + 2
INDEX = torch.arange(6).view(6, 1) % 4
ZERO = 0.0

# The op on something that is multiplied by the tangent, the tangent, and other things.
LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    "alias": lambda x, t: aten.alias(x * t),
    "clone": lambda x, t: aten.clone(x * t),
    "neg": lambda x, t: aten.neg(x * t),
    "view": lambda x, t: aten.view(x * t, [-1]),
    "permute": lambda x, t: aten.permute(x * t, [1, 0]),
    "t": lambda x, t: aten.t.default(x * t),
    "transpose": lambda x, t: aten.transpose.int(x * t, 0, 1),
    "expand": lambda x, t: aten.expand(t, [6, 8]),
    "squeeze": lambda x, t: aten.squeeze.dim((x * t)[:, :1], 1),
    "unsqueeze": lambda x, t: aten.unsqueeze(x * t, 0),
    "select": lambda x, t: aten.select.int(x * t, 1, 2),
    "slice": lambda x, t: aten.slice.Tensor(x * t, 1, 2, 4),
    "sum": lambda x, t: aten.sum(x * t),
    "sum of a dim": lambda x, t: aten.sum.dim_IntList(x * t, [1]),
    "mean": lambda x, t: aten.mean(x * t),
    "mean of a dim": lambda x, t: aten.mean.dim(x * t, [1]),
    "mul by a number": lambda x, t: aten.mul.Scalar(x * t, 3),
    "div by a number": lambda x, t: aten.div.Scalar(x * t, 3),
    "div": lambda x, t: aten.div.Tensor(x * t, x),
    "mul": lambda x, t: aten.mul.Tensor(x.exp(), x * t),
    "mm": lambda x, t: aten.mm(x, (x * t).t()),
    "bmm": lambda x, t: aten.bmm((x * t)[None], x.t()[None]),
    "gather": lambda x, t: aten.gather(x * t, 1, INDEX),
    "cumsum": lambda x, t: aten.cumsum(x * t, 1),
    "convert": lambda x, t: prims.convert_element_type(x * t, torch.float64),
    "add": lambda x, t: aten.add.Tensor(x * t, x.exp() * t),
    "add of zero": lambda x, t: aten.add.Tensor(x * t, torch.full([6, 8], 0.0)),
    "sub": lambda x, t: aten.sub.Tensor(x * t, x.exp() * t, alpha=2),
    "where": lambda x, t: aten.where.self(x > 0, x * t, x.exp() * t),
    "where else zero": lambda x, t: aten.where.self(x > 0, torch.full([], 0.0), x * t),
    "addmm": lambda x, t: aten.addmm(x[:, 0] * t, x, (x * t)[:6].t()),
    "scatter": lambda x, t: aten.scatter.value(x * t, 1, INDEX, 0),
    "scatter_add": lambda x, t: aten.scatter_add(x * t, 1, INDEX, x.exp() * t),
    "scatter_add to zero": lambda x, t: aten.scatter_add(torch.full([6, 8], 0.0), 1, INDEX, x * t),
    "scatter of both": lambda x, t: aten.scatter.src(x * t, 1, INDEX, x.exp() * t),
    "slice_scatter": lambda x, t: aten.slice_scatter(x * t, (x * t)[:, :2], 1, 3, 5),
    "masked_fill": lambda x, t: aten.masked_fill.Scalar(x * t, x > 0, 0),
    "pad": lambda x, t: aten.constant_pad_nd(x * t, [1, 1], 0),
    "cat": lambda x, t: aten.cat([x * t, x.exp() * t], 1),
    "softmax backward": lambda x, t: aten._softmax_backward_data(x * t, x, 1, torch.float32),
    "log_softmax backward": lambda x, t: aten._log_softmax_backward_data(
        x * t, x, 1, torch.float32
    ),
    "fma": lambda x, t: prims.fma(x, x * t, x.exp() * t),
}

REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda x, t: aten.exp(x * t),
    "relu": lambda x, t: aten.relu(x * t),
    "amax": lambda x, t: aten.amax(x * t, [1]),
    "abs": lambda x, t: aten.abs(x * t),
    "square": lambda x, t: aten.mul.Tensor(x * t, x * t),
    "mm of both": lambda x, t: aten.mm(x * t, (x * t).t()),
    "divisor": lambda x, t: aten.div.Tensor(x, x * t),
    "ratio": lambda x, t: aten.div.Tensor(x * t, x * t),
    "add of one": lambda x, t: aten.add.Tensor(x * t, torch.full([6, 8], 1.0)),
    "add of a number": lambda x, t: aten.add.Scalar(x * t, 1.0),
    "add of something else": lambda x, t: aten.add.Tensor(x * t, x),
    "where else one": lambda x, t: aten.where.self(x > 0, x * t, torch.full([], 1.0)),
    "where of the sign": lambda x, t: aten.where.self((x * t) > 0, x * t, x * t),
    "addmm of another": lambda x, t: aten.addmm(x[:, 0], x, (x * t)[:6].t()),
    "scatter of one": lambda x, t: aten.scatter.value(x * t, 1, INDEX, 1.0),
    "scatter_add to another": lambda x, t: aten.scatter_add(x, 1, INDEX, x * t),
    "masked_fill of one": lambda x, t: aten.masked_fill.Scalar(x * t, x > 0, 1.0),
    "pad of ones": lambda x, t: aten.constant_pad_nd(x * t, [1, 1], 1.0),
    "convert to integers": lambda x, t: prims.convert_element_type(x * t, torch.int64),
    "comparison": lambda x, t: aten.gt.Scalar(x * t, 0),
    "fma of another": lambda x, t: prims.fma(x, x * t, x),
}


def _scale(function: Callable[[Any, Any], Any]) -> Any:
    """The scale of what the last op gives; constants as the joint stage has them."""
    gm = make_fx(lambda x, t, i: function(x, t), tracing_mode="real")(X, torch.tensor(1.0), INDEX)
    gm = make_fx(gm, tracing_mode="fake", _allow_non_fake_inputs=True)(X, torch.tensor(1.0), INDEX)
    graph = entry_graph(from_fx(gm, "joint"))
    ops = [op for op in graph.block.ops if op.results and op.name != "fx.get_attr"]
    tangent = graph.arguments[1]
    known = scales([op for op in ops if op.operands], [tangent])  # type: ignore[misc]
    return known[ops[-1].results[0]] is tangent


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("tangent", [-2.0, 0.0, 4.0])
def test_linear(name: str, tangent: float) -> None:
    function = LINEAR[name]
    assert _scale(function)
    one, other = (function(X, torch.tensor(t)) for t in (1.0, tangent))
    torch.testing.assert_close(other, one * tangent)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(CannotChunk, match="not known to be linear"):
        _scale(REFUSED[name])


def test_two_tangents() -> None:
    gm = make_fx(lambda x, s, t: x * s + x * t, tracing_mode="fake")(
        X, torch.tensor(1.0), torch.tensor(1.0)
    )
    graph = entry_graph(from_fx(gm, "joint"))
    ops: list[Any] = list(graph.block.ops)[:-1]
    with pytest.raises(CannotChunk, match=r"aten\.add\.Tensor.*linear"):
        scales(ops, graph.arguments[1:])


def test_every_linear_op_is_tested() -> None:
    texts: set[str] = set()
    for function in LINEAR.values():
        gm = make_fx(function, tracing_mode="real")(X, torch.tensor(1.0))
        texts |= {str(node.target) for node in gm.graph.nodes if node.op == "call_function"}
    names = tangent_scale._IN_FIRST | tangent_scale._IN_EACH | set(tangent_scale._RULES)
    # The same as one that is tested, under another name.
    twins = {"aten._unsafe_view.default", "aten.reshape.default", "aten.squeeze.default"}
    twins |= {"aten.squeeze.dims", "aten.detach.default", "aten.select_scatter.default"}
    assert names - twins <= texts
