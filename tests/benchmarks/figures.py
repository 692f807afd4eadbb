"""Measures what the typed IR costs, in copies of the FX graph (`fx.Graph.graph_copy`).

Each figure is a ratio of thread CPU times in one process: both sides are the least of several runs
that alternate, with the garbage collector off, so that what else the machine does drops out.
"""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch.fx as fx
from torch._inductor import config as inductor_config

from xductor import from_fx, joint_graph_passes, parse_ir, print_ir, to_fx, verify
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.stack_room import with_stack_room
from xductor.backend.steps.runner import run_typed
from xductor.transforms import TypedPass
from xductor.transforms.passes.numerics import admits
from xductor.transforms.rows import registry

#: What each may cost, in copies of the graph.
#:
#: In the idle joint stage no enabled rewrite has a root in the graph. Those of the next line have
#: some, but none over what they ask for, or on another device; nothing is lowered for either.
LIMITS: Mapping[str, float] = {
    "from_fx": 2.5,
    "verify": 0.4,  # 0.25 to 0.31, 0.35 on another machine: it waits for memory too
    "to_fx": 0.3,
    # What does not grow with a graph takes 0.13 ms if it is done again at once, and 0.5 ms as
    # measured: it waits for memory, so that machines differ by a third.
    "idle joint stage": 0.2,  # 0.14 to 0.15
    "roots without a match": 0.17,  # 0.10 to 0.12
    "idle typed passes": 0.21,  # 0.15 to 0.17 for 68 passes; 0.16 to 0.19 before, 0.15 for 52
    "print": 20.0,
    "parse": 20.0,
}

#: How much more a node of a large graph may cost than one of a small graph.
GROWTH_LIMIT = 1.3

LIFTING = ("graph_copy", "from_fx", "verify", "to_fx")
TEXT = ("graph_copy", "print", "parse")
IDLE = ("graph_copy", "idle joint stage", "roots without a match", "idle typed passes")

Work = Callable[[], object]


@dataclasses.dataclass(frozen=True)
class Figures:
    """Least CPU seconds of each piece of work on one graph."""

    nodes: int
    seconds: Mapping[str, float]

    def ratio(self, name: str) -> float:
        """The work's cost in copies of the graph."""
        return self.seconds[name] / self.seconds["graph_copy"]

    def per_node(self, name: str) -> float:
        """Microseconds a node."""
        return self.seconds[name] / self.nodes * 1e6


@with_stack_room
def least_seconds(
    works: Mapping[str, Work],
    repeats: int,
    settings_of: Mapping[str, Callable[[], AbstractContextManager[None]]] = {},
) -> dict[str, float]:
    """The least thread CPU time of each piece of work, over `repeats` alternating runs.

    Some work runs under settings of its own; entering them is not measured.
    """
    least = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        try:
            for name, work in works.items():
                with settings_of.get(name, nullcontext)():
                    start = time.thread_time()
                    work()
                    least[name] = min(least[name], time.thread_time() - start)
        finally:
            gc.enable()
    return least


def works_on(gm: fx.GraphModule) -> dict[str, Work]:
    """What is measured on a joint graph, by name."""
    module = from_fx(gm, "joint", subgraphs="declare")
    text = print_ir(module)
    idle = passes_that_cannot_fire(gm)
    return {
        "graph_copy": lambda: fx.Graph().graph_copy(gm.graph, {}),
        "from_fx": lambda: from_fx(gm, "joint", subgraphs="declare"),
        "verify": lambda: verify(module, "structure"),
        "to_fx": lambda: to_fx(module, into=gm),
        "print": lambda: print_ir(module),
        "parse": lambda: parse_ir(text),
        "idle joint stage": lambda: joint_graph_passes(gm),
        "roots without a match": lambda: joint_graph_passes(gm),
        "idle typed passes": lambda: run_typed(gm, idle, "post_grad"),
    }


def measure(gm: fx.GraphModule, names: tuple[str, ...], repeats: int) -> Figures:
    """The figures called `names`, of one joint graph."""
    works = works_on(gm)
    idle = {
        "idle joint stage": lambda: joint_stage_of(passes_without_roots(gm)),
        "roots without a match": lambda: joint_stage_of(passes_that_cannot_fire(gm)),
    }
    seconds = least_seconds({name: works[name] for name in names}, repeats, idle)
    return Figures(len(gm.graph.nodes), seconds)


def growth(small: fx.GraphModule, large: fx.GraphModule, repeats: int) -> dict[str, float]:
    """How much more a node of the large graph costs than one of the small, for each of `LIFTING`.

    Both sides take turns, do as much and have as much in memory, so that other load and the
    processor's caches treat both alike: the small side are as many copies of the small graph, each
    with a module of its own, as have the large one's number of nodes.
    """
    times = round(len(large.graph.nodes) / len(small.graph.nodes))
    nodes = times * len(small.graph.nodes) / len(large.graph.nodes)
    many, one = [works_on(repeated(small, 1)) for _ in range(times)], works_on(large)
    ratios: dict[str, float] = {}
    for name in LIFTING:
        works = [little[name] for little in many]
        pair: dict[str, Work] = {
            "small": lambda works=works: [work() for work in works],
            "large": one[name],
        }
        seconds = least_seconds(pair, repeats)
        ratios[name] = seconds["large"] / seconds["small"] * nodes
    return ratios


def passes_that_cannot_fire(gm: fx.GraphModule) -> list[TypedPass]:
    """Every typed pass of the later stages that finds nothing to rewrite in the joint FX graph.

    Passes before autograd never see such a graph, and a compile by default has none of those that
    need `fast` numerics.
    """
    classes = dict.fromkeys(
        registry.typed_class(row.name)
        for row in registry.rows()
        if row.factory and row.stage != "pre_grad"
    )
    by_default = [cls for cls in classes if admits("default", cls.numerics)]
    return [cls() for cls in by_default if not cls.may_apply(gm.graph)]


def passes_without_roots(gm: fx.GraphModule) -> list[TypedPass]:
    """Every typed pass that asks for roots of which the FX graph has none."""
    idle = passes_that_cannot_fire(gm)
    return [one for one in idle if one.roots and not one.has_root(gm.graph)]


@contextmanager
def joint_stage_of(passes: Sequence[TypedPass]) -> Iterator[None]:
    """Under these settings a joint stage has the passes that are given, and no others.

    Inductor's flags turn its own functions off. Of the passes given, those are asked for that are
    tied to roots; the others, which look at every node, the stage runs only after a change.
    """
    names = {one.name for one in passes}
    others = {row.name for row in registry.rows() if row.factory} - names
    now = settings.current().replace(
        on_error="raise",
        disabled_passes=frozenset(others),
        rewrites=tuple(one for one in passes if one.roots),
    )
    flags = {
        "pattern_matcher": False,
        "joint_graph_constant_folding": False,
        "fallback_random": True,
    }
    with inductor_config.patch(flags), settings.use(now):
        yield


def lowered_by_idle_stage(gm: fx.GraphModule) -> int:
    """How often the joint stage lowers a graph on which no pass could fire."""
    with joint_stage_of(passes_that_cannot_fire(gm)), stage_records.record() as records:
        joint_graph_passes(gm)
    (record,) = records
    return record.lowered


def repeated(gm: fx.GraphModule, times: int) -> fx.GraphModule:
    """A graph of `times` independent copies of a graph, with its nodes' values."""
    graph = fx.Graph()
    mapped: list[dict[fx.Node, fx.Node]] = [{} for _ in range(times)]
    for copy in mapped:
        for node in gm.graph.find_nodes(op="placeholder"):
            made = copy[node] = graph.node_copy(node)
            made.target = made.name  # the parameters of `forward` have to differ
    outputs: list[Any] = []
    for copy in mapped:
        outputs.extend(graph.graph_copy(gm.graph, copy) or ())
    graph.output(tuple(outputs))
    return fx.GraphModule(gm, graph)
