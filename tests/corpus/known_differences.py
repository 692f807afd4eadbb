"""Where our pipelines go further than Inductor's own, on purpose; mirrored in docs/differences.md.

Each difference is a rewrite of the graph that Inductor left. Parity is equality after the rewrites
that are needed, so a difference excuses nothing but itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx as fx
from torch._inductor.fx_passes import joint_graph

from tests.corpus.graph_comparison import Comparison, compare_graphs
from xductor.backend.pipelines import user_patterns
from xductor.backend.pipelines.runner import run_typed
from xductor.transforms import registry
from xductor.transforms.pre_grad.fuse_attention import FuseAttention


@dataclass(frozen=True)
class Difference:
    """What a pass of ours does more, why, and the same thing done to Inductor's result."""

    name: str
    stage: str
    reason: str
    apply: Callable[[fx.GraphModule], None]


def _shared_permute_pairs(gm: fx.GraphModule) -> None:
    permute = torch.ops.aten.permute.default
    for outer in list(gm.graph.find_nodes(op="call_function", target=permute)):
        inner = outer.args[0]
        if not isinstance(inner, fx.Node) or inner.target is not permute:
            continue
        first, second = inner.args[1], outer.args[1]
        if [first[dim] for dim in second] == list(range(len(first))):  # type: ignore[index]
            outer.replace_all_uses_with(inner.args[0])  # type: ignore[arg-type]
            gm.graph.erase_node(outer)
            if not inner.users:
                gm.graph.erase_node(inner)


def _fused_attention(gm: fx.GraphModule) -> None:
    """The pass, on the graph that Inductor's own stage leaves."""
    run_typed(gm, [FuseAttention("fast")], "pre_grad")


def stock_joint_passes(gm: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
    """Inductor's joint stage without its attention patterns: ours fuses before autograd."""
    joint_graph.lazy_init(*args[:1])
    entries = joint_graph.patterns.patterns
    joint_graph.patterns.patterns = user_patterns.without(
        joint_graph.patterns, registry.covered_homes()
    ).patterns
    try:
        return joint_graph.joint_graph_passes(gm, *args, **kwargs)
    finally:
        joint_graph.patterns.patterns = entries


DIFFERENCES = (
    Difference(
        "pointless_permute_pair",
        "joint",
        "also where the inner permute has other users: in training a weight's transpose is used "
        "by the forward and transposed again by the backward",
        _shared_permute_pairs,
    ),
    Difference(
        "fuse_attention",
        "pre_grad",
        "before autograd, so that a kernel brings its own backward, and whatever the spelling",
        _fused_attention,
    ),
)


@dataclass(frozen=True)
class Parity:
    """A comparison, and the known differences that it took to make the graphs equal."""

    comparison: Comparison
    known: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return self.comparison.equal


def parity(
    stage: str,
    ours: fx.GraphModule,
    theirs: fx.GraphModule,
    differences: Sequence[Difference] = DIFFERENCES,
) -> Parity:
    """Compare our result of a stage with Inductor's, known differences of that stage aside.

    `theirs` is edited.
    """
    comparison = compare_graphs(ours, theirs)
    known: tuple[str, ...] = ()
    for difference in differences:
        if comparison.equal:
            break
        if difference.stage == stage:
            difference.apply(theirs)
            known += (difference.name,)
            comparison = compare_graphs(ours, theirs)
    return Parity(comparison, known)
