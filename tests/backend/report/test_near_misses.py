"""What a page says of rewrites that did not match: candidates, user's lines, reasons, remedies."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from tests.backend.report.browser import browser, run_in_page
from tests.backend.report.compiles import Parsed, compiled, pages, stage
from tests.backend.report.made_up import HOSTILE, hostile_compile
from xductor import ALL_SPELLINGS, Rewrite, Tensor
from xductor.backend.report import collector, near_misses
from xductor.backend.report.collector import ReportWarning
from xductor.backend.report.compile_data import CompileData
from xductor.backend.report.near_misses import NearMisses
from xductor.backend.report.page import page_text
from xductor.backend.report.stage_content import stage_content
from xductor.ir import aten

Collected = list[CompileData]


class ScaledSine(Rewrite):
    """Never made: a transposition is in the way."""

    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(aten.sin(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.mul(y, aten.sin(x))


class Through(ScaledSine):
    through = ALL_SPELLINGS


def sines(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    first = torch.sin(x).t() * y  # the candidate
    return torch.sin(first).t() * y + 1


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = q @ k.transpose(-2, -1) * 0.125
    scores = 50 * torch.tanh(scores / 50)  # in the way
    return torch.softmax(scores, -1) @ v


def line_of(function: Callable[..., Any], text: str) -> int:
    code = function.__code__
    lines = Path(code.co_filename).read_text().splitlines()
    return next(n for n in range(code.co_firstlineno, 999) if text in lines[n - 1])


def of_attention(data: CompileData) -> list[NearMisses]:
    return [one for one in stage(data, "pre_grad").near if one.rewrite == "fuse_attention"]


def of_the_users(data: CompileData) -> list[NearMisses]:
    return [one for one in stage(data, "post_grad inference").near if not one.ours]


def shown(folder: Path) -> str:
    """The text of the one page in a folder."""
    (page,) = pages(folder)
    return " ".join(Parsed(page.read_text()).text.split())


def heads() -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(2, 4, 16, 8) for _ in range(3))


def test_a_rewrite_that_never_fired(collected: Collected, tmp_path: Path) -> None:
    """Its pass was not even run: no op of the graph could be its root together with the rest."""
    x = torch.randn(4, 4)
    compiled(tmp_path, x, x, call=sines, rewrites=[ScaledSine])
    (near,) = of_the_users(collected[0])
    assert near.rewrite == "scaled_sine"
    assert near.pattern == "aten.mul(aten.sin(x), y)"
    (candidate,) = [one for one in near.candidates if one.op == "aten.mul.Tensor"]
    assert (candidate.count, candidate.entry.calls, candidate.entry.of) == (2, 1, 2)
    assert candidate.places[0] == (__file__, line_of(sines, "the candidate"))
    difference = candidate.entry.difference
    assert difference is not None
    assert difference.pattern == "aten.sin(x)"
    assert "aten.permute.default" in difference.graph
    text = shown(tmp_path)
    assert "Near misses" in text
    assert f"{Path(__file__).name}:{line_of(sines, 'the candidate')}" in text
    assert "another op" in text


def test_what_would_help(collected: Collected, tmp_path: Path) -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        sine = torch.sin(x)
        return sine * y, sine

    x = torch.randn(4, 4)
    compiled(tmp_path, x, x, call=f, rewrites=[ScaledSine])
    (near,) = of_the_users(collected[0])
    (candidate,) = near.candidates
    assert "`shared` around aten.sin" in candidate.entry.remedies[0]
    assert candidate.entry.remedies[0] in " ".join(
        Parsed(pages(tmp_path)[0].read_text()).text.split()
    )


def test_attention_that_is_not_fused(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path, *heads(), call=attend)
    (near,) = [
        one for one in stage(collected[0], "pre_grad").near if one.rewrite == "fuse_attention"
    ]
    (candidate,) = near.candidates
    assert "the scores go through pyfn.torch.tanh" in candidate.entry.reason
    assert candidate.places == [(__file__, line_of(attend, "@ v"))]
    assert candidate.entry.obstacle is not None
    assert candidate.entry.obstacle.location == (__file__, line_of(attend, "in the way"))
    text = shown(tmp_path)
    assert "the scores go through pyfn.torch.tanh" in text
    assert "flex_attention" in text


def test_layers_that_read_the_same_are_one_candidate(collected: Collected, tmp_path: Path) -> None:
    def layers(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            q = attend(q, k, v)
        return q

    compiled(tmp_path, *heads(), call=layers)
    (near,) = [
        one for one in stage(collected[0], "pre_grad").near if one.rewrite == "fuse_attention"
    ]
    assert [one.count for one in near.candidates] == [3]
    assert near.count == 3


def test_what_is_fused_is_no_near_miss(collected: Collected, tmp_path: Path) -> None:
    def fused(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q @ k.transpose(-2, -1) * 0.125, -1) @ v

    compiled(tmp_path, *heads(), call=fused)
    steps = stage(collected[0], "pre_grad").steps
    assert [one.applied for one in steps if one.name == "fuse_attention"] == [1]
    assert not of_attention(collected[0])


def test_what_keeps_a_rewrite_from_running_is_said(collected: Collected, tmp_path: Path) -> None:
    class OnGpus(ScaledSine):
        devices = ("cuda",)

    x = torch.randn(4, 4)
    compiled(tmp_path, x, x, call=sines, rewrites=[OnGpus])
    (near,) = of_the_users(collected[0])
    assert any("it runs on cuda only; this graph is on cpu" in note for note in near.notes)
    assert "it runs on cuda only" in shown(tmp_path)


def test_a_pass_is_asked_of_the_graph_on_which_it_runs(
    collected: Collected, tmp_path: Path
) -> None:
    """The second rewrite makes what the third misses by one op."""

    class CosToSin(Rewrite):
        stage = "post_grad"

        def pattern(self, x: Tensor) -> Any:
            return aten.cos(x)

        def replacement(self, x: Tensor) -> Any:
            return aten.sin(x)

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cos(x).t() * y

    x = torch.randn(4, 4)
    compiled(tmp_path, x, x, call=f, rewrites=[CosToSin, _after(ScaledSine)])
    (near,) = of_the_users(collected[0])
    (candidate,) = [one for one in near.candidates if one.op == "aten.mul.Tensor"]
    assert (candidate.entry.calls, candidate.entry.of) == (1, 2)


def _after(rewrite: type[Rewrite]) -> Any:
    from xductor import placed

    return placed(rewrite, before="stable_topological_sort")


def test_the_compile_is_as_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Explaining draws no number of a debug counter, counts nothing, and changes no result."""
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    monkeypatch.setenv("XDUCTOR_DEBUG_COUNTER", "through=0:1")
    found = []
    for report in (None, str(tmp_path)):
        torch._dynamo.reset()
        counters.clear()
        options = {"xductor.rewrites": [Through], "xductor.report": report}
        made = torch.compile(sines, backend="xductor", options=options)(x, y)
        found.append(
            (made, dict(counters["xductor"]), counters["inductor"]["pattern_matcher_count"])
        )
    torch.testing.assert_close(found[0][0], found[1][0], rtol=0, atol=0)
    assert found[0][1:] == found[1][1:]


def test_an_error_of_explaining_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Iterator[Any]:
        raise ValueError("broken")
        yield

    monkeypatch.setattr(collector, "near_misses", broken)
    x = torch.randn(4, 4)
    with pytest.warns(ReportWarning, match="broken"):
        out = compiled(tmp_path, x, x, call=sines, rewrites=[ScaledSine])
    torch.testing.assert_close(out, sines(x, x))
    assert pages(tmp_path)


def test_nothing_is_explained_without_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("asked")

    monkeypatch.setattr(near_misses, "explained_part", never)
    monkeypatch.setattr(collector, "near_misses", never)
    torch._dynamo.reset()
    options = {"xductor.rewrites": [ScaledSine], "xductor.on_error": "raise"}
    x = torch.randn(4, 4)
    made = torch.compile(sines, backend="xductor", options=options)(x, x)
    torch.testing.assert_close(made, sines(x, x))


def test_large_graphs_are_searched_for_the_users_rewrites_only(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_misses, "_LARGE", 3)
    compiled(tmp_path, *heads(), call=attend)
    assert not stage(collected[0], "pre_grad").near
    x = torch.randn(4, 4)
    compiled(tmp_path, x, x, call=sines, rewrites=[ScaledSine])
    assert stage(collected[1], "post_grad inference").near


def test_dynamic_sizes(collected: Collected, tmp_path: Path) -> None:
    torch._dynamo.reset()
    options = {"xductor.rewrites": [ScaledSine], "xductor.report": str(tmp_path)}
    x = torch.randn(4, 4)
    small = torch.randn(3, 3)
    made = torch.compile(sines, backend="xductor", options=options, dynamic=True)
    torch.testing.assert_close(made(x, x), sines(x, x))
    torch.testing.assert_close(made(small, small), sines(small, small))
    assert len(collected) == 1, "explaining added a guard"
    assert of_the_users(collected[0])


def test_traces_have_them_too(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path, *heads(), call=attend)
    content = stage_content(stage(collected[0], "pre_grad"))
    told = json.loads(json.dumps(content))["near_misses"]
    (near,) = [one for one in told if one["rewrite"] == "fuse_attention"]
    assert "tanh" in near["candidates"][0]["entry"]["reason"]


def test_hostile_text_is_text() -> None:
    page = page_text(hostile_compile("nowhere.py"))
    assert HOSTILE not in page
    assert Parsed(page).text.count(HOSTILE) > 8


@pytest.mark.skipif(browser() is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [400, 1300])
def test_in_a_browser(tmp_path: Path, width: int) -> None:
    compiled(tmp_path, *heads(), call=attend)
    script = """
    const near = document.querySelector("details.near");
    const shut = near.querySelector("td").checkVisibility();
    near.open = true;
    await new Promise((done) => setTimeout(done, 0));
    const row = near.querySelector("td").parentElement;
    return {
      shut, name: near.querySelector("h3").textContent, cells: row.children.length,
      seen: row.checkVisibility(), row: row.textContent.replace(/\\s+/g, " "),
      wide: document.documentElement.scrollWidth,
    };
    """
    found = run_in_page(pages(tmp_path)[0], script, width=width)
    assert (found["shut"], found["seen"], found["cells"]) == (False, True, 4)
    assert found["name"] == "fuse_attention"
    assert "the scores go through pyfn.torch.tanh" in found["row"]
    assert f"{Path(__file__).name}:" in found["row"]
    assert found["wide"] <= width


def test_it_is_not_loaded_when_off() -> None:
    import subprocess

    code = (
        "import sys, torch, xductor\n"
        "from xductor.backend.run_as_fx.without_codegen import without_codegen\n"
        "with without_codegen():\n"
        "    torch.compile(lambda x: x.t().t() + 1, backend='xductor')(torch.randn(3, 3))\n"
        "assert 'xductor.backend.report.near_misses' not in sys.modules\n"
        "assert 'xductor.backend.explained_graphs' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
