"""Measures matching, contracts and registration of declared rewrites, each against a yardstick."""

from __future__ import annotations

from collections.abc import Callable

import torch.fx as fx
from xdsl.dialects.builtin import ModuleOp

from tests.benchmarks.figures import Work, least_seconds
from xductor import Rewrite, Tensor, from_fx, to_fx
from xductor.ir import aten
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.rows import registry

#: Ratios, and seconds for the last on a machine that copies a node in `NODE_SECONDS`.
LIMITS = {
    "200 rewrites against 20": 1.5,
    "one walk against graph_copy": 0.5,  # 0.37 to 0.43; it was 0.3 for 28 rewrites
    "contracts against none": 1.2,
    "registering 300 rewrites": 0.1,
}

NODE_SECONDS = 22e-6

_ROOTS = [
    "add",
    "sub",
    "mul",
    "div",
    "mm",
    "bmm",
    "view",
    "permute",
    "expand",
    "sum",
    "sin",
    "cos",
    "tan",
    "exp",
    "log",
    "neg",
    "abs",
    "relu",
    "sigmoid",
    "tanh",
]
_FIRST_ARGUMENTS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "mm": 1, "bmm": 1}


def idle_rewrite(number: int) -> type[Rewrite]:
    """A rewrite that matches nothing, over one of twenty roots, most of them in any graph."""
    name = _ROOTS[number % len(_ROOTS)]
    root = getattr(aten, name)
    inner = (aten.erfc, aten.lgamma, aten.digamma)[number % 3]

    def of(x: Tensor) -> object:
        below = inner(inner(x))
        if name in _FIRST_ARGUMENTS:
            return root.Tensor(below, x) if name in ("add", "sub", "mul", "div") else root(below, x)
        if name in ("view", "permute", "expand"):
            return root.default(below, ...)
        return root.default(below) if name == "sum" else root(below)

    def pattern(self: Rewrite, x: Tensor) -> object:
        return of(x)

    def replacement(self: Rewrite, x: Tensor) -> object:
        return aten.erf(x)

    members = {"stage": "joint", "pattern": pattern, "replacement": replacement}
    return type(f"Idle{number}", (Rewrite,), members)


class ViewAsReshape(Rewrite):
    """Applies at every view: what contracts cost shows where much is applied."""

    stage = "joint"

    def pattern(self, x: Tensor, size: list[int]) -> object:
        return aten.view(x, size)

    def replacement(self, x: Tensor, size: list[int]) -> object:
        return aten.reshape(x, size)


class SubAsAdd(Rewrite):
    """Applies at every difference."""

    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor) -> object:
        return aten.sub(x, y)

    def replacement(self, x: Tensor, y: Tensor) -> object:
        return aten.add(x, y, alpha=-1)


class PowAsMul(Rewrite):
    """Applies at every square."""

    stage = "joint"

    def pattern(self, x: Tensor) -> object:
        return aten.pow(x, 2)

    def replacement(self, x: Tensor) -> object:
        return aten.mul.Tensor(x, x)


def _least(works: dict[str, Work], repeats: int) -> dict[str, float]:
    for work in works.values():
        work()
    return least_seconds(works, repeats)


def matching(gm: fx.GraphModule, repeats: int) -> float:
    """The cost of matching 200 rewrites that do not apply, in that of 20."""
    module = from_fx(gm, "joint", subgraphs="declare")
    few = RewritePass.of([idle_rewrite(number) for number in range(20)])
    many = RewritePass.of([idle_rewrite(number) for number in range(200)])
    seconds = _least(
        {"few": lambda: few.rewrite(module), "many": lambda: many.rewrite(module)}, repeats
    )
    assert few.rewrite(module) == many.rewrite(module) == 0
    return seconds["many"] / seconds["few"]


def walk(gm: fx.GraphModule, repeats: int) -> float:
    """One walk with all rewrites of the joint stage over a graph that has had one, in copies."""
    module = from_fx(gm, "joint", subgraphs="declare")
    # What keeps its own pattern for rows that are not finite would apply in each walk.
    ones = [one for one in registry.declared_rewrites("joint") if not one.once]
    joint = RewritePass.of(ones, "fast")
    joint.rewrite(module)
    assert joint.rewrite(module) == 0
    works: dict[str, Work] = {
        "graph_copy": lambda: fx.Graph().graph_copy(gm.graph, {}),
        "walk": lambda: joint.rewrite(module),
    }
    seconds = _least(works, repeats)
    return seconds["walk"] / seconds["graph_copy"]


def contracts(gm: fx.GraphModule, repeats: int) -> tuple[float, int]:
    """Lowering, rewriting and raising with contracts, in the same without; and the applications.

    The rewrites apply at hundreds of ops, which is more than those of any stage do.
    """
    applied = 0
    ones = (*registry.declared_rewrites("joint"), ViewAsReshape, SubAsAdd, PowAsMul)
    one = RewritePass.of(ones, "fast")

    def pipeline(unchecked: bool) -> Callable[[], object]:
        def run() -> object:
            nonlocal applied
            module: ModuleOp = from_fx(gm, "joint", subgraphs="declare")
            with watching(unchecked=unchecked):
                applied = one.rewrite(module)
            return to_fx(module)

        return run

    seconds = _least({"with": pipeline(False), "without": pipeline(True)}, repeats)
    return seconds["with"] / seconds["without"], applied


def registering(gm: fx.GraphModule, repeats: int) -> float:
    """Seconds for making 300 rewrite classes, on a machine that copies a node in `NODE_SECONDS`."""
    works: dict[str, Work] = {
        "graph_copy": lambda: fx.Graph().graph_copy(gm.graph, {}),
        "register": lambda: [idle_rewrite(number) for number in range(300)],
    }
    seconds = _least(works, repeats)
    slowness = seconds["graph_copy"] / len(gm.graph.nodes) / NODE_SECONDS
    return seconds["register"] / max(slowness, 1.0)


__all__ = ["LIMITS", "contracts", "matching", "registering", "walk"]
