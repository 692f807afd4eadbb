"""`pad_mm` in the joint stage: Inductor is asked whether it pays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._inductor import config
from torch._inductor.fx_passes import joint_graph
from torch._inductor.fx_passes import pad_mm as stock_pad_mm

from xductor.backend.records import stage_records
from xductor.transforms.rewriting.driver import watching


@pytest.fixture
def _stock_pads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inductor's decision as on a GPU, with padding forced."""
    joint_graph.lazy_init(torch.device("cpu"))
    monkeypatch.setattr(stock_pad_mm, "check_device", lambda *_: True)
    monkeypatch.setattr(stock_pad_mm, "has_triton", lambda: True)
    with config.patch(shape_padding=True, force_shape_pad=True), watching(any_device=True):
        yield


@pytest.mark.usefixtures("_stock_pads", "our_stages")
@pytest.mark.parametrize("dynamic", [False, True])
def test_the_stage_asks_inductor_and_pads_alike(dynamic: bool) -> None:
    def fn(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Any:
        return (x @ w).relu(), torch.addmm(b, x, w).relu(), torch.bmm(c, c).relu()

    inputs = (torch.randn(6, 5), torch.randn(5, 7), torch.randn(7), torch.randn(3, 5, 5))
    if dynamic:
        torch._dynamo.mark_dynamic(inputs[0], 0)
    with stage_records.record() as records:
        found = torch.compile(fn)(*inputs)
    torch.testing.assert_close(found, fn(*inputs))
    joint = next(one for one in records if one.stage == "joint")
    fired = {one.name: one.applications for one in joint.passes if one.applications}
    assert {"pad_mm": 1, "pad_addmm": 1, "pad_bmm": 1}.items() <= fired.items()
    assert counters["inductor"]["pattern_matcher_count"] >= 3
