"""What our stages cost by node on models of ever more layers: `python -m tests.benchmarks.scaling`.

The stage calls of one layer's training step are made calls of as many layers as are wanted: the
next layer reads what the last one returns, and on the way back the last one the gradient of the
next. Each stage runs once on each length, in the compile of the one layer, and thread CPU time is
taken. Lowering, checks and raising are ours too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx

from tests.benchmarks.joint_graphs import Block
from tests.benchmarks.stage_ratios import seconds_of
from tests.corpus.capture import StageCall, capture
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records

#: What the layers hand on: batch, length, width.
SHAPE = (2, 8, 16)


@dataclass(frozen=True)
class Cost:
    """What one stage took on one graph."""

    stage: str
    nodes: int
    seconds: float
    applications: int

    @property
    def per_node(self) -> float:
        """Microseconds."""
        return self.seconds / self.nodes * 1e6


def measure(nodes: Sequence[int], found: Callable[[Cost], None]) -> None:
    """Call `found` with the cost of each stage on graphs of about so many nodes."""

    def on_call(call: StageCall) -> None:
        _cost(_of_layers(call, 1))  # what is imported and compiled at the first use
        for wanted in nodes:
            times = max(1, wanted // len(call.gm.graph.nodes))
            found(_cost(_of_layers(call, times)))

    def step(compiler: Callable[..., Any]) -> None:
        torch.manual_seed(0)
        x = torch.randn(SHAPE, requires_grad=True)
        compiler(Block(SHAPE[-1]))(x).sum().backward()

    capture(step, on_call)


def _cost(call: StageCall) -> Cost:
    stage = {
        "pre_grad": stages.pre_grad_passes,
        "joint": stages.joint_graph_passes,
        "post_grad": stages.post_grad_passes,
    }[call.stage]
    strict = settings.current().replace(on_error="raise")
    nodes = len(call.gm.graph.nodes)
    work: Callable[[Any], object] = lambda gm: stage(gm, *call.args, **call.kwargs)  # noqa: E731
    with settings.use(strict), stage_records.record() as records:
        seconds = seconds_of(work, call.gm)
    applications = sum(sum(one.counts().values()) for one in records)
    name = call.stage
    if name == "post_grad":
        name += " backward" if _tangents(call.gm.graph) else " forward"
    return Cost(name, nodes, seconds, applications)


def _of_layers(call: StageCall, times: int) -> StageCall:
    """A stage call of one layer, as that of so many."""
    key = "example_value" if call.stage == "pre_grad" else "val"
    gm = _Layers(call.gm, key).of(times)
    if call.stage != "pre_grad":
        return replace(call, gm=gm)
    inputs = [node.meta[key] for node in gm.graph.find_nodes(op="placeholder")]
    return replace(call, gm=gm, args=(inputs, *call.args[1:]))


class _Layers:
    """Repeats the graph of one layer.

    What it hands on has a shape of its own: `given` takes it, and `made` is it; on the way back,
    for what depends on a tangent, `tangent` and `gradient`.
    """

    def __init__(self, gm: fx.GraphModule, key: str) -> None:
        self.gm, self.key = gm, key
        self.tangents = _tangents(gm.graph)
        backward = self.backward = set[fx.Node](self.tangents)
        for node in gm.graph.nodes:
            if not backward.isdisjoint(node.all_input_nodes):
                backward.add(node)
        (output,) = gm.graph.find_nodes(op="output")
        self.results: list[fx.Node] = [one for one in output.args[0] if one is not None]
        backward.discard(output)
        inputs = gm.graph.find_nodes(op="placeholder")
        self.given = self._first(one for one in inputs if one not in backward)
        self.made = self._first(one for one in self.results if one not in backward)
        self.tangent = self._first(self.tangents)
        self.gradient = self._first(one for one in self.results if one in backward)

    def of(self, times: int) -> fx.GraphModule:
        """The graph of so many layers, with values of its own."""
        graph = fx.Graph()
        layers: list[dict[fx.Node, fx.Node]] = [{} for _ in range(times)]
        for number, layer in enumerate(layers):
            for node in self.gm.graph.find_nodes(op="placeholder"):
                if not self._is_handed_on(node, number, times):
                    layer[node] = made = graph.node_copy(node)
                    made.target = made.name
        for last, layer in zip([{}, *layers], layers, strict=False):
            self._copy(graph, layer, last, forward=True)
        for last, layer in zip([{}, *layers[::-1]], layers[::-1], strict=False):
            self._copy(graph, layer, last, forward=False)
        graph.output(tuple(layer[one] for layer in layers for one in self.results))
        gm = fx.GraphModule(self.gm, graph)
        self._give_values(gm)
        return gm

    def _is_handed_on(self, node: fx.Node, number: int, times: int) -> bool:
        if node is self.given and self.made is not None:
            return number > 0
        return node is self.tangent and self.gradient is not None and number < times - 1

    def _copy(
        self,
        graph: fx.Graph,
        layer: dict[fx.Node, fx.Node],
        last: dict[fx.Node, fx.Node],
        *,
        forward: bool,
    ) -> None:
        taken, handed = (self.given, self.made) if forward else (self.tangent, self.gradient)
        if last and taken is not None and handed is not None:
            layer[taken] = last[handed]
        for node in self.gm.graph.nodes:
            if node.op not in ("placeholder", "output") and (node in self.backward) != forward:
                layer[node] = graph.node_copy(node, layer.__getitem__)

    def _give_values(self, gm: fx.GraphModule) -> None:
        """Tensors of their own for all nodes: the layers share none."""
        mode = next(
            value.fake_mode
            for node in gm.graph.nodes
            if isinstance(value := node.meta.get(self.key), torch._subclasses.FakeTensor)
        )
        values: dict[fx.Node, Any] = {}
        with mode:
            for node in gm.graph.nodes:
                if node.op == "placeholder":
                    old = node.meta[self.key]
                    values[node] = _like(old)
                elif node.op == "output":
                    continue
                else:
                    args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
                    run = getattr(fx.Interpreter(gm, garbage_collect_values=False), node.op)
                    values[node] = run(node.target, args, kwargs)
                node.meta[self.key] = values[node]

    def _first(self, nodes: Any) -> fx.Node | None:
        return next((one for one in nodes if _shape(one, self.key) == SHAPE), None)


def _like(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    made = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device)
    return made.requires_grad_(value.requires_grad)


def _shape(node: fx.Node, key: str) -> tuple[int, ...] | None:
    value = node.meta.get(key)
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def _tangents(graph: fx.Graph) -> list[fx.Node]:
    return [one for one in graph.find_nodes(op="placeholder") if "tangents" in one.name]


def main(argv: Sequence[str] | None = None) -> int:
    """Print what a node costs, by stage and number of nodes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    args = parser.parse_args(argv)
    print("| stage | nodes | applications | ms | us a node |")
    print("| --- | --- | --- | --- | --- |")
    measure(args.nodes, _print)
    return 0


def _print(one: Cost) -> None:
    cells = (one.stage, f"{one.nodes:,}", f"{one.applications:,}", f"{one.seconds * 1e3:,.0f}")
    print(f"| {' | '.join(cells)} | {one.per_node:.0f} |", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
