"""Random graphs through the stage before autograd: `python -m tests.before_autograd.random_graphs`.

The graphs are built as graphs, not traced: views, joins, writes, modes, rows of calls and products.
Each goes through the stage with every option on, in turn at torch level and before dispatch.
"""

from __future__ import annotations

import sys
from collections import Counter

import torch

from tests.before_autograd.many_seeds import compare_seeds
from tests.before_autograd.random_group_graphs import GroupGraph, run, without_draws
from tests.before_autograd.random_piece_graphs import PieceGraph
from tests.before_autograd.random_product_graphs import ProductGraph
from tests.before_autograd.stages_with_all_options import OPTIONS, STAGES, staged
from tests.corpus.capture import graph_copy

#: Dropouts drop by what they are given here.
DROPOUT = {"pre_grad_fusion_options": {**OPTIONS, "batch_dropout": {"min_fuse_set_size": 2}}}
KINDS = (PieceGraph, GroupGraph, ProductGraph)


def graph(seed: int) -> PieceGraph:
    """The graph of a seed; each kind has every third."""
    return KINDS[seed % len(KINDS)](seed // len(KINDS))


def check(seed: int) -> Counter[str] | None:
    """One graph through one form of the stage; how often each pass was applied.

    None where eager refuses the graph. Raises AssertionError if values, gradients, inputs, layouts
    or aliases differ, and what the stage raises.
    """
    one = graph(seed)
    copied = graph_copy(one.gm)
    try:
        facts, numbers = run(without_draws(one.gm), one.inputs)
    except RuntimeError:  # what only real values show: a write to what overlaps itself
        return None
    applied: Counter[str] = Counter()
    name = list(STAGES)[seed // len(KINDS) % len(STAGES)]
    given = [x.detach().clone().requires_grad_(x.requires_grad) for x in one.inputs]
    flags, added = STAGES[name]
    gm = staged(copied, given, {**flags, **DROPOUT}, added, applied)
    found, others = run(without_draws(gm), one.inputs)
    assert found == facts, (seed, name)
    for number, wanted in zip(others, numbers, strict=True):
        torch.testing.assert_close(
            number,
            wanted,
            rtol=1e-9,
            atol=1e-9,
            equal_nan=True,
            msg=lambda text: f"{seed}, {name}: {text}",
        )
    return applied


if __name__ == "__main__":
    sys.exit(compare_seeds(__doc__, check))
