"""`normalize_node_kwargs_pass`: names, defaults and dims, of functions, methods and operators."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from tests.backend.pipelines.test_predispatch import run
from tests.before_autograd.captured import graph_module
from tests.specimens.spelling_specimens import CALLS
from tests.transforms.groups.test_before_autograd import check
from xductor.backend.pipelines.predispatch import DEFAULT
from xductor.transforms.pre_grad.normalize_node_kwargs_pass import NormalizeNodeKwargsPass

ONE = NormalizeNodeKwargsPass()


def written(function: Any, *inputs: torch.Tensor) -> Any:
    """The calls of a graph behind the pass, which gives what it gave."""
    gm = graph_module(lambda *given: function(*given), *inputs)
    module = xductor.from_fx(gm, stage="pre_grad")
    ONE.rewrite(module)
    assert ONE.rewrite(module) == 0
    xductor.verify(module, level="types")
    after = xductor.to_fx(module)
    torch.testing.assert_close(after(*inputs), gm(*inputs))
    return [node for node in after.graph.nodes if node.op.startswith("call")]


x = torch.rand(1, 4, 4)


@pytest.mark.parametrize("name", CALLS)
def test_every_call(name: str) -> None:
    """No dim is counted from the end, and every argument of a function has its name."""
    for node in written(CALLS[name], x):
        if node.target in vars(operator).values() or name == "view":
            continue
        assert node.op != "call_function" or not node.args, node.format_node()
        assert _counts_from_front(node.kwargs)


def test_operators() -> None:
    """Of a graph of operators, as the stage sees it."""

    def function(x: torch.Tensor) -> Any:
        return [one for call in CALLS.values() for one in torch.utils._pytree.tree_leaves(call(x))]

    others = ",".join({*DEFAULT, "remove_noop"} - {"normalize_node_kwargs_pass"})
    counts, after = run(function, (x,), remove=others)
    assert counts["normalize_node_kwargs_pass"] > 20
    for node in after.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        names = [] if schema is None else [one.name for one in schema.arguments]
        assert _counts_from_front(dict(zip(names, node.args, strict=False)))


def _counts_from_front(given: Mapping[str, Any]) -> bool:
    dims = [item for key, item in given.items() if key.startswith("dim")]
    flat = [one for item in dims for one in (item if isinstance(item, list | tuple) else [item])]
    return all(one >= 0 for one in flat)


def test_names_defaults_and_dims() -> None:
    linear, cat, split, _, softmax = written(
        lambda x: (torch.cat([F.linear(x, x[0] if False else x.view(4, 4)), x], -1).split(2, -1)[0]
                   .softmax(-1)), x)[1:]  # fmt: skip
    assert list(linear.kwargs) == ["input", "weight", "bias"]
    assert (list(cat.kwargs), cat.kwargs["dim"]) == (["tensors", "dim"], 2)
    assert (len(split.args), dict(split.kwargs)) == (1, {"split_size": 2, "dim": 2})
    assert dict(softmax.kwargs) == {"dim": 2, "dtype": None}


def test_gradients_are_as_before() -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.cat([x, x.relu()], -1).sum(-1), F.softmax(x, -2).flatten(-2) * 2

    module = xductor.from_fx(graph_module(function, x), stage="pre_grad")
    check(ONE, function, ONE.rewrite(module), x.clone().requires_grad_())


def test_what_stays() -> None:
    """Calls in place, those of operators of Python, and with `out`."""

    def function(x: torch.Tensor) -> Any:
        y = x.clone(memory_format=torch.preserve_format)
        y.clamp_(0).unsqueeze_(-1)
        return y[..., -1] + 1, torch.cat([y], -1, out=torch.empty(size=(1, 4, 4, 1)))

    module = xductor.from_fx(graph_module(function, x), stage="pre_grad")
    before = xductor.print_ir(module)
    ONE.rewrite(module)
    changed = set(before.splitlines()) ^ set(xductor.print_ir(module).splitlines())
    stays = ("clamp_ ", "unsqueeze_ ", " out =", "getitem", "_operator")
    assert not [line for line in changed if any(word in line for word in stays)]


def test_may_apply() -> None:
    def graph(function: Any) -> torch.fx.Graph:
        return make_fx(function, tracing_mode="fake", pre_dispatch=True)(x).graph

    assert not ONE.may_apply(graph(lambda x: torch.ops.aten.sum.dim_IntList(x, [1])))
    assert ONE.may_apply(graph(lambda x: torch.ops.aten.sum.dim_IntList(x, [-1])))
