"""Every way to write the pattern of a pass before autograd is found; stock's counts beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.before_autograd.fragments.fragment import Entry, Fragment
from tests.before_autograd.fragments.page import COMMAND, page, release
from tests.before_autograd.fragments.runs import captured, ours, stock_count, takes_normalized
from tests.before_autograd.fragments.table import ENTRIES
from xductor.transforms.rows import registry

#: What is nothing in a graph to look for: it only orders, runs others, or is the user's.
_NO_PATTERN = {
    "group_batch_fusion_passes",
    "pre_grad_custom_pass",
    "stable_topological_sort",
    "quant_lift_up",
    "contiguous_attn_mask",  # on CUDA: `tests/transforms/attention/test_contiguous_attn_mask.py`
}
#: Calls of modules, of which Dynamo makes none: `tests/backend/pipelines/test_fuse_fx.py`.
_OF_MODULES = {
    "remove_identity",
    "fuse_conv_bn",
    "efficient_conv_bn_eval_graph_transform",
    "efficient_conv_bn_eval_graph_transform_decomposed",
}
_STOCK = "2.13"
"""The release whose counts the table has."""


def _draws(gm: Any) -> bool:
    return any("exponential_" in str(node.target) for node in gm.graph.nodes)


def _run(gm: Any, inputs: Any) -> tuple[list[torch.Tensor], list[Any]]:
    """Results, and gradients of the inputs."""
    leaves = [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]
    torch.manual_seed(0)
    found = gm(*leaves)
    results = list(found) if isinstance(found, tuple | list) else [found]
    loss: Any = 0
    for place, one in enumerate(results):
        if one.requires_grad:
            weights = torch.cos(torch.arange(1.0, one.numel() + 1)).reshape(one.shape)
            loss = loss + (one * weights).sum() * (place + 1)
    wanted = [one for one in leaves if one.requires_grad]
    if not wanted or not isinstance(loss, torch.Tensor):
        return results, []
    return results, list(torch.autograd.grad(loss, wanted, allow_unused=True))


def _check(entry: Entry, fragment: Fragment) -> None:
    one = captured(entry, fragment)
    count, gm = ours(entry, one)
    assert count == fragment.ours, fragment.text
    (found, grads), (expected, wanted) = (_run(each, one.inputs) for each in (gm, one.gm))
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.stride(), a.dtype, a.requires_grad) == (
            b.shape, b.stride(), b.dtype, b.requires_grad,
        ), fragment.text  # fmt: skip
    if not _draws(one.gm):
        close: Any = {"rtol": entry.tolerance, "atol": entry.tolerance}
        torch.testing.assert_close(found, expected, **close)
        torch.testing.assert_close(grads, wanted, **close)
    if takes_normalized(entry):
        assert ours(entry, one, normalized=True)[0] == fragment.ours, fragment.text
    if release() == _STOCK:
        assert stock_count(entry, one) == fragment.stock, fragment.text


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.shown)
def test_every_spelling_is_found(entry: Entry) -> None:
    """With values, layouts and gradients as before, and as often behind the normalization."""
    for fragment in entry.fragments:
        _check(entry, fragment)


@pytest.mark.skipif(release() != _STOCK, reason="the page has the numbers of one release")
def test_the_page_is_current() -> None:
    written = (Path(__file__).parents[2] / "docs/pre-grad-passes.md").read_text()
    assert written == page(), f"run: {COMMAND}"


def test_there_are_enough_of_them() -> None:
    shown = {entry.shown for entry in ENTRIES}
    rows = registry.rows("pre_grad")
    others = {row.name for row in rows if row.name.startswith("normalize_") and row.covered_by}
    assert {row.name for row in rows} == shown | others | _NO_PATTERN | _OF_MODULES
    for entry in ENTRIES:
        texts = {fragment.text for fragment in entry.fragments}
        assert len(texts) == len(entry.fragments) >= 4, entry.shown


def test_ours_are_no_fewer_than_stocks() -> None:
    for entry in ENTRIES:
        for fragment in entry.fragments:
            assert fragment.ours >= (fragment.stock or 0)
