"""Runs a pass that joins products of one tensor on a graph with held constants, and checks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.freezing.random_constant_graphs import Held
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.freezing.concat_linear import ConcatLinear


def joined(
    one: ConcatLinear,
    program: Callable[..., Any],
    constants: Sequence[torch.Tensor],
    x: torch.Tensor,
    *,
    dynamic: bool = False,
    **tolerance: float,
) -> tuple[int, list[str]]:
    """How many groups became one product, and the names of the ops after it."""
    module = Held(program, list(constants))
    mode = "symbolic" if dynamic else "fake"
    gm = make_fx(module, tracing_mode=mode, _allow_non_fake_inputs=True)(x)
    lowered = from_fx(gm, "post_grad")
    before = print_ir(lowered)
    count = one.rewrite(lowered)
    verify(lowered, "types")
    assert same(parse_ir(print_ir(lowered)), lowered)
    assert (print_ir(lowered) == before) == (count == 0)
    after = to_fx(lowered)
    for rows in (x, torch.cat([x, x]) if dynamic else x + 1):
        for found, wanted in zip(after(rows), module(rows), strict=True):
            torch.testing.assert_close(found, wanted, **tolerance)
            assert found.stride() == wanted.stride()
    return count, [op.name for op in entry_graph(lowered).block.ops]
