"""Random graphs through the stage before autograd: `python -m tests.before_autograd.random_graphs`.

The graphs are built as graphs, not traced: views, joins, writes, modes, rows of calls and products.
Each goes through the stage with every option on, in turn at torch level and before dispatch.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import warnings
from collections import Counter
from typing import Any

import torch
from torch._inductor import config
from torch.fx import GraphModule

from tests.before_autograd.random_group_graphs import GroupGraph, run, without_draws
from tests.before_autograd.random_piece_graphs import PieceGraph
from tests.before_autograd.random_product_graphs import ProductGraph
from tests.before_autograd.stages_with_all_options import OPTIONS, STAGES
from tests.corpus.capture import graph_copy
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stages import pre_grad_passes

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
    gm = _staged(copied, given, *STAGES[name], applied)
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


def _staged(
    gm: GraphModule, inputs: Any, flags: Any, added: str | None, applied: Counter[str]
) -> GraphModule:
    now = settings.current().replace(numerics="fast", on_error="raise")
    with settings.use(now), config.patch({**flags, **DROPOUT}), stage_records.record() as records:
        gm = pre_grad_passes(gm, inputs, added)
    for record in records:
        applied.update({name: count for name, count in record.counts().items() if count})
    return gm


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="graphs to compare")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first")
    given = parser.parse_args()
    logging.disable(logging.ERROR)  # fake kernels log what the graphs are not given
    warnings.simplefilter("ignore")
    applied: Counter[str] = Counter()
    compared, mismatches, seed, started = 0, 0, given.seed, time.monotonic()
    while compared < given.count:
        try:
            found = check(seed)
        except Exception as error:
            mismatches += 1
            print(f"--- MISMATCH seed {seed}: {type(error).__name__}: {error}", flush=True)
            found = Counter()
        compared += found is not None
        applied += found or Counter()
        seed += 1
        if seed % 500 == 0 or compared == given.count:
            took = time.monotonic() - started
            print(f"below {seed}, {took:.0f} s: {compared} compared, {mismatches} mismatches")
            sys.stdout.flush()
    print(f"applications: {dict(applied)}")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
