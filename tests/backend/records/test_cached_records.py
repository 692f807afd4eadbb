"""A result that comes out of Inductor's caches brings the record of its compile with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters
from torch._functorch import config as functorch_config

import xductor
from xductor import Rewrite, Tensor
from xductor.backend.config import versions
from xductor.backend.records import stage_records
from xductor.backend.records.compile_record import CompileRecord
from xductor.backend.seam import dispatch
from xductor.ir import aten


class PlusZero(Rewrite):
    """A product by a product is a product, for a test."""

    stage = "post_grad"
    numerics = xductor.REASSOCIATES

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mm(aten.mm(x, y), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.mm(x, aten.mm(y, y))


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x.t().t(), w), w)


def _compiled(backend: str = "xductor", *, grad: bool = True, **options: Any) -> CompileRecord:
    torch._dynamo.reset()
    counters.clear()
    given = {"xductor.rewrites": [PlusZero], **options} if backend == "xductor" else options
    x, w = (torch.randn(4, 4, requires_grad=grad) for _ in range(2))
    out = torch.compile(chain, backend=backend, options=given or None)(x, w)
    torch.testing.assert_close(out, chain(x, w), rtol=1e-4, atol=1e-4)
    if grad:
        out.sum().backward()
    return xductor.last_compile()


def _kept(record: CompileRecord) -> list[bool]:
    """Which stages AOTAutograd's cache knows: before 2.12 the first one runs before it is asked."""
    return [one.stage != "pre_grad" or versions.pre_grad_runs_late() for one in record]


def _same(one: CompileRecord, other: CompileRecord) -> None:
    assert [(s.stage, s.direction) for s in one] == [(s.stage, s.direction) for s in other]
    assert one.applications == other.applications
    assert one.counts() == other.counts()
    assert [[p.name for p in s.passes] for s in one] == [[p.name for p in s.passes] for s in other]


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("grad", [True, False], ids=["training", "inference"])
def test_autograd_cache(grad: bool) -> None:
    first = _compiled(grad=grad)
    assert not first.cached
    assert ("plus_zero" in first.counts()) is not grad  # a gradient wants the product between
    assert first.counts()["pointless_permute_pair"] == (3 if grad else 1)
    for again in (_compiled(grad=grad), _compiled(grad=grad)):
        assert counters["aot_autograd"]["autograd_cache_hit"] == 1
        assert again.cached
        assert [one.cached for one in again] == _kept(again)
        _same(again, first)
        assert "(cached)" in str(again)
        assert "TORCHINDUCTOR_FORCE_DISABLE_CACHES" in str(again).replace("\n", "")


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("grad", [True, False], ids=["training", "inference"])
def test_graph_cache(grad: bool) -> None:
    """The stages before the post-grad stage ran."""
    with functorch_config.patch(enable_autograd_cache=False):
        first = _compiled(grad=grad)
        again = _compiled(grad=grad)
    assert counters["inductor"]["fxgraph_cache_hit"] == 1 + grad
    assert [one.cached for one in again] == [one.stage == "post_grad" for one in again]
    assert again.counts() == first.counts()
    assert len(again) == len(first)


@pytest.mark.usefixtures("empty_cache")
def test_a_graph_that_is_found_and_a_result_that_is_not() -> None:
    """What is stored then has the record of the stages that ran for it, and of the graph's own."""
    with functorch_config.patch(enable_autograd_cache=False):
        first = _compiled()
    second = _compiled()
    assert counters["aot_autograd"]["autograd_cache_miss"] == 1
    assert counters["inductor"]["fxgraph_cache_hit"] == 2
    third = _compiled()
    assert counters["aot_autograd"]["autograd_cache_hit"] == 1
    assert [one.cached for one in second] == [False, False, True, True]
    assert [one.cached for one in third] == _kept(third)
    for one in (second, third):
        assert one.counts() == first.counts()


@pytest.mark.usefixtures("empty_cache")
def test_bundled_entries() -> None:
    with functorch_config.patch(bundled_autograd_cache=True):
        first = _compiled()
        again = _compiled()
    assert counters["aot_autograd"]["autograd_cache_hit"] == 1
    assert again.counts() == first.counts()
    assert [one.cached for one in again] == _kept(again)


@pytest.mark.usefixtures("empty_cache")
def test_stock_compiles_leave_and_find_nothing() -> None:
    _compiled()
    before = stage_records.recent()
    for _ in range(2):
        _compiled("inductor")
    assert counters["aot_autograd"]["autograd_cache_hit"] == 1
    assert stage_records.recent() == before


@pytest.mark.usefixtures("empty_cache")
def test_installed_and_listeners() -> None:
    """Who listens to stage calls is told of those that happen, and of the others if asked for."""
    with dispatch.installed():
        first = _compiled("inductor")
        with (
            stage_records.record() as records,
            stage_records.record(detailed=False, cached=True) as all_records,
        ):
            again = _compiled("inductor")
    assert again.cached
    assert again.counts() == first.counts()
    assert len(records) == _kept(again).count(False)
    assert CompileRecord(tuple(all_records)).counts() == first.counts()


@pytest.mark.usefixtures("empty_cache")
def test_a_graph_that_is_not_stored_lends_its_record_to_none() -> None:
    """The forward is kept out of the caches; what the backward has with it is its own."""
    from torch._inductor.codecache import BypassFxGraphCache

    from xductor.backend.config import cache_keys

    stock, seen = cache_keys.key_part, []

    def once() -> Any:
        seen.append(None)
        if len(seen) == 2:  # AOTAutograd's key comes first
            raise BypassFxGraphCache("on purpose")
        return stock()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_keys, "key_part", once)
        _compiled()
    assert counters["inductor"]["fxgraph_cache_bypass"] == 1
    again = _compiled()
    assert counters["inductor"]["fxgraph_cache_hit"] == 1
    cached = [one for one in again if one.cached]
    assert [(one.stage, one.direction) for one in cached] == [("post_grad", "backward")]


@pytest.mark.usefixtures("empty_cache")
def test_without_caches_nothing_is_said_of_them() -> None:
    with inductor_config.patch(force_disable_caches=True):
        _compiled()
        again = _compiled()
    assert not again.cached
    assert "(cached)" not in str(again)
    assert "CACHES" not in str(again)


_SCRIPT = """
import torch, xductor
x, w = torch.ones(4, 4), torch.ones(4, 4)
torch.compile(lambda x, w: torch.mm(x.t().t(), w), backend="xductor")(x, w)
record = xductor.last_compile()
print(record.cached, record.counts(), [one.where[1] for one in record.applications])
"""


def test_a_second_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    runs = [
        subprocess.run(
            [sys.executable, str(script)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert runs == [f"{cached} {{'pointless_permute_pair': 1}} [4]" for cached in (False, True)]
