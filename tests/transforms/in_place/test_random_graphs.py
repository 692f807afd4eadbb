"""Random functional graphs with epilogues through the tail, before and after run side by side."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from tests.specimens.in_place_specimens import random_graph
from xductor.ir import parse_ir, print_ir, run, same, verify
from xductor.transforms.in_place.decompose_auto_functionalized import DecomposeAutoFunctionalized
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps


def _inputs(seed: int) -> list[torch.Tensor]:
    x = torch.arange(16.0).view(4, 4)
    rows = torch.tensor([seed % 4, seed // 4 % 4])
    return [x / 7, x**1.5 - 9, x[:2] + 0.5, rows]


def _observed(module: ModuleOp, seed: int) -> Any:
    """Everything that is seen of results and inputs: values, layouts, which share storage."""
    inputs = _inputs(seed)
    tensors = [*inputs, *run(module, *inputs)]
    storages = [one.untyped_storage().data_ptr() for one in tensors]
    sharing = [storages.index(one) for one in storages]
    return [one.clone() for one in tensors], sharing, [one.stride() for one in tensors]


def through_the_tail(seed: int) -> tuple[Counter[str], ModuleOp] | None:
    """How often the passes were applied to a graph, checked; None where eager refuses the graph."""
    module = random_graph(seed)
    try:
        expected = _observed(module, seed)
    except RuntimeError:  # a write to what is expanded
        return None
    applied: Counter[str] = Counter()
    for one in (ReinplaceInplaceableOps(), DecomposeAutoFunctionalized()):
        applied[one.name] += one.rewrite(module)
        verify(module, "types")
        assert same(parse_ir(print_ir(module)), module)
    found = _observed(module, seed)
    torch.testing.assert_close(found[0], expected[0], equal_nan=True)
    assert found[1:] == expected[1:]
    return applied, module


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_nobody_can_tell(first: int) -> None:
    for seed in range(first, first + 40):
        through_the_tail(seed)


def test_graphs_give_the_passes_work() -> None:
    """The test above is not about idle passes: each form in place comes up."""
    texts: list[str] = []
    applied: Counter[str] = Counter()
    for seed in range(200):
        found = through_the_tail(seed)
        if found is not None:
            applied += found[0]
            texts.append(print_ir(found[1]))
    assert applied["reinplace_inplaceable_ops"] > 100
    assert applied["decompose_auto_functionalized"] > 50
    for name in ("index_put_.default", "copy_.default %slice", "copy_.default %diagonal"):
        assert any(name in text for text in texts)


@pytest.mark.parametrize("seed", [9500552, 10501221, 15501418])
def test_graphs_that_the_contract_refused_once(seed: int) -> None:
    """A part is written, and then all of it; a copy back that undoes a write; a reshape that may
    have copied.
    """
    assert through_the_tail(seed) is not None  # the contract raises where the pass is wrong
