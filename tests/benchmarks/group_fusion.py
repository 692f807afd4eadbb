"""What group fusion before autograd costs: `python -m tests.benchmarks.group_fusion`.

A graph of layers, each with towers of its own weights, is given to Inductor's stage before autograd
and to ours with `batch_linear` on: lowering, checks and raising are ours too. Every fifth node is a
linear, and the linears of a layer form a group. Both make the same groups, which is checked. With
`--folding` the layers are convolutions with batch norms, which are folded, in blocks that write in
place.
"""

from __future__ import annotations

import argparse
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
import torch.fx as fx
import torch.nn.functional as F
from torch._inductor import config as inductor_config
from torch._inductor.fx_passes.group_batch_fusion import PRE_GRAD_FUSIONS
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.benchmarks.stage_ratios import in_turns, seconds_of
from tests.corpus.capture import graph_copy
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.seam import dispatch

FUSION = "batch_linear"
#: Nodes of a layer, and the linears among them.
NODES, TOWERS = 25, 5
ROWS, WIDTH = 4, 8


def layers_graph(nodes: int) -> fx.GraphModule:
    """A graph before autograd of about so many nodes."""
    graph = fx.Graph()
    with FakeTensorMode(allow_non_fake_inputs=True):
        x = _input(graph, "x", torch.empty(ROWS, TOWERS * WIDTH))
        weights = [_weights(graph, number) for number in range(nodes // NODES)]
        for layer in weights:
            x = _layer(graph, x, layer)
        graph.output((x,)).meta["example_value"] = (x.meta["example_value"],)
    return fx.GraphModule(torch.nn.Module(), graph)


def _input(graph: fx.Graph, name: str, value: torch.Tensor) -> fx.Node:
    node = graph.placeholder(name)
    node.meta["example_value"] = value
    return node


def _weights(graph: fx.Graph, layer: int) -> list[tuple[fx.Node, fx.Node]]:
    return [
        (
            _input(graph, f"w_{layer}_{tower}", torch.empty(WIDTH, WIDTH)),
            _input(graph, f"b_{layer}_{tower}", torch.empty(WIDTH)),
        )
        for tower in range(TOWERS)
    ]


def _call(graph: fx.Graph, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
    """A call with the value that it gives."""
    node = graph.call_function(target, args, kwargs)
    given = fx.map_arg((args, kwargs), lambda used: used.meta["example_value"])
    node.meta["example_value"] = target(*given[0], **given[1])
    return node


def _layer(graph: fx.Graph, x: fx.Node, weights: list[tuple[fx.Node, fx.Node]]) -> fx.Node:
    """Towers over pieces of the features, put together again, and normalised with the residual."""
    pieces = _call(graph, torch.split, x, WIDTH, dim=1)
    towers = [
        _call(graph, F.linear, _call(graph, operator.getitem, pieces, tower), *pair)
        for tower, pair in enumerate(weights)
    ]
    joined = _call(graph, torch.relu, _call(graph, torch.cat, towers, dim=1))
    return _call(graph, F.layer_norm, _call(graph, operator.add, x, joined), (TOWERS * WIDTH,))


def residual_graph(nodes: int) -> fx.GraphModule:
    """Blocks of a convolution, a norm in evaluation, a ReLU and a sum in place."""
    graph = fx.Graph()
    sizes = ((WIDTH, WIDTH, 3, 3), *[(WIDTH,)] * 4)
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        x = _input(graph, "x", torch.empty(1, WIDTH, 4, 4))
        blocks = range(nodes // (len(sizes) + 4))
        parameters = [
            [_input(graph, f"p_{block}_{number}", torch.empty(size)) for number, size in
             enumerate(sizes)]
            for block in blocks
        ]  # fmt: skip
        for weight, scale, shift, mean, var in parameters:
            y = _call(graph, torch.conv2d, x, weight, None, 1, 1)
            y = _call(graph, F.batch_norm, y, mean, var, scale, shift, False, 0.1, 1e-5)
            x = _call(graph, operator.iadd, _call(graph, F.relu, y, inplace=True), x)
        graph.output((x,)).meta["example_value"] = (x.meta["example_value"],)
    return fx.GraphModule(torch.nn.Module(), graph)


def groups_of(gm: fx.GraphModule) -> Counter[int]:
    """How many batched products of each number of linears a graph has."""
    batched = (torch.baddbmm, torch.ops.aten.baddbmm.default)
    return Counter(
        node.meta["example_value"].shape[0] if "example_value" in node.meta else _members(node)
        for node in gm.graph.nodes
        if node.target in batched
    )


def _members(node: fx.Node) -> int:
    """The number of tensors that were stacked for a batched product of Inductor's."""
    stacks = [one for one in node.all_input_nodes if one.target is torch.stack]
    return max(len(one.all_input_nodes) for one in stacks)


def options() -> dict[str, Any]:
    """Inductor's flags with this fusion alone, and batch norms folded."""
    return {
        "pre_grad_fusion_options": {FUSION: {"min_fuse_set_size": 2}},
        "efficient_conv_bn_eval_fx_passes": True,
    }


def stock(gm: fx.GraphModule) -> fx.GraphModule:
    """Inductor's stage before autograd, with the fusion on."""
    with inductor_config.patch(options()):
        dispatch.stock_function("pre_grad")(gm, _inputs(gm))
    return gm


def ours(gm: fx.GraphModule) -> fx.GraphModule:
    """Our stage before autograd, with the fusion on; a fallback is an error."""
    strict = settings.current().replace(on_error="raise")
    with inductor_config.patch(options()), settings.use(strict):
        stages.pre_grad_passes(gm, _inputs(gm))
    return gm


def _inputs(gm: fx.GraphModule) -> list[Any]:
    return [node.meta["example_value"] for node in gm.graph.nodes if node.op == "placeholder"]


def ratio(nodes: int, runs: int) -> tuple[float, float]:
    """The seconds of Inductor's stage and of ours, in turns in this process.

    Raises AssertionError if the groups are not the same.
    """
    dispatch.attach()
    assert FUSION in PRE_GRAD_FUSIONS
    gm = layers_graph(nodes)
    theirs, own = (groups_of(work(graph_copy(gm))) for work in (stock, ours))
    assert own == theirs == {TOWERS: nodes // NODES}, (own, theirs)
    return in_turns(stock, ours, lambda: graph_copy(gm), runs)


def seconds(gm: fx.GraphModule, runs: int) -> float:
    """The least seconds of our stage alone."""
    dispatch.attach()
    return min(seconds_of(ours, graph_copy(gm)) for _ in range(runs))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", default="1000,10000,100000")
    parser.add_argument("--stock-up-to", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folding", action="store_true")
    args = parser.parse_args(argv)
    print("| nodes | stock ms | ours ms | ratio | ours: us a node |")
    print("| --- | --- | --- | --- | --- |")
    for nodes in map(int, args.nodes.split(",")):
        if args.folding or nodes > args.stock_up_to:
            own = seconds(residual_graph(nodes) if args.folding else layers_graph(nodes), 1)
            beside = f" | {own * 1e3:.0f} | "
        else:
            theirs, own = ratio(nodes, args.runs)
            beside = f"{theirs * 1e3:.0f} | {own * 1e3:.0f} | {own / theirs:.2f}"
        print(f"| {nodes} | {beside} | {own / nodes * 1e6:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
