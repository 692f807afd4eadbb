"""The order of products with symbolic sizes: cheapest at the sizes traced, and right at any."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
import torch

from xductor.backend.fx.export import to_fx
from xductor.ir import parse_ir
from xductor.transforms import TypedPass
from xductor.transforms.rows.registry import typed_class

_MADE: Any = typed_class("reassociate_product")
PASS: TypedPass = _MADE(policy="fast")
OTHER_SIZES = (2, 3, 4, 5, 9, 12, 33)


def _guards(case: Any) -> tuple[Any, ...]:
    env = next(
        one.node.shape_env
        for node in case.gm.graph.nodes
        for one in getattr(node.meta.get("val"), "shape", ())
        if isinstance(one, torch.SymInt)
    )
    return len(env.guards), dict(env.replacements), dict(env.var_to_range)


def _matrices(sizes: Sequence[int], chosen: torch.Generator) -> list[torch.Tensor]:
    """Matrices to be multiplied in a row, of integers, which no order of sums rounds."""
    return [torch.randint(-2, 3, pair, generator=chosen).double() for pair in pairwise(sizes)]


@pytest.mark.parametrize(
    ("sizes", "applied"), [((32, 4, 16, 2), 1), ((2, 4, 16, 32), 0), ((31, 7, 5, 3), 1)]
)
def test_sizes_that_were_traced_decide(
    trace: Any, sizes: tuple[int, int, int, int], applied: int
) -> None:
    def from_left(a: Any, b: Any, c: Any) -> Any:
        return (a @ b) @ c

    generator = torch.Generator().manual_seed(0)
    case = trace(from_left, *_matrices(sizes, generator), dynamic=True)
    guards = _guards(case)
    assert case.run(PASS) == applied
    assert _guards(case) == guards


@pytest.mark.parametrize(
    ("symbol", "applied"),
    [
        ("positive [2, int_oo] hint 2", 1),
        ("positive [2, int_oo] hint 64", 0),
        ("unbacked size_like [2, int_oo]", 0),
    ],
)
def test_sizes_that_depend_on_data(symbol: str, applied: int) -> None:
    graph = f"""
fx.graph @forward stage(joint) symbols(s0 : int {symbol}) (
    %a : !fx.tensor<f32[16, 16], cpu>, %b : !fx.tensor<f32[16, 16], cpu>,
    %c : !fx.tensor<f32[16, s0], cpu>) {{
  %d = aten.mm.default %a, %b : !fx.tensor<f32[16, 16], cpu>
  %e = aten.mm.default %d, %c : !fx.tensor<f32[16, s0], cpu>
  fx.output (%e)
}}
"""
    assert PASS.rewrite(parse_ir(graph)) == applied


@pytest.mark.parametrize("seed", range(40))
def test_random_chains(trace: Any, seed: int) -> None:
    """One graph, at sizes other than those that it was traced and rewritten for."""
    chosen, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    count = chosen.randint(3, 6)
    places = [chosen.randrange(left) for left in range(count - 1, 0, -1)]

    def product(*matrices: Any) -> Any:
        left = list(matrices)
        for place in places:
            left[place : place + 2] = [left[place] @ left[place + 1]]
        return left[0]

    sizes = chosen.sample((2, 3, 4, 5, 7, 8, 9, 11, 16, 17, 31, 64), count + 1)
    case = trace(product, *_matrices(sizes, generator), dynamic=True)
    guards = _guards(case)
    PASS.rewrite(case.module)
    assert PASS.rewrite(case.module) == 0
    assert _guards(case) == guards
    made = to_fx(case.module)
    for _ in range(4):
        given = _matrices([chosen.choice(OTHER_SIZES) for _ in sizes], generator)
        assert torch.equal(made(*given), product(*given))
