"""Pages in a real browser: graphs are drawn when they are opened, types show on hover, large
graphs stay usable, narrow windows need no scrolling, and no text of a compile is run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backend.report.browser import browser, run_in_page
from tests.backend.report.compiles import NegNeg, compiled, pages
from tests.backend.report.made_up import HOSTILE, hostile_compile, large_compile
from xductor.backend.report.page_files import write_page
from xductor.backend.report.page_index import write_index

pytestmark = pytest.mark.skipif(browser() is None, reason="no Chromium is installed")

_OPEN_ALL = """
document.querySelectorAll("details").forEach((one) => { one.open = true; });
await new Promise((done) => setTimeout(done, 0));
"""
_COUNT = "document.querySelectorAll('.row').length"


def test_a_pass_is_drawn_when_it_is_opened(tmp_path: Path) -> None:
    compiled(tmp_path, rewrites=[NegNeg])
    script = f"""
    const at_first = {_COUNT};
    const names = [...document.querySelectorAll("details.step .name")];
    const step = names.find((one) => one.textContent === "rewrites").closest("details");
    step.open = true;
    await new Promise((done) => setTimeout(done, 0));
    const value = [...step.querySelectorAll(".new .v")].find((one) => one.textContent === "%mul");
    value.dispatchEvent(new MouseEvent("mouseover", {{ bubbles: true }}));
    const type = document.getElementById("tip").textContent;
    const number = step.querySelector(".old .n");
    number.dispatchEvent(new MouseEvent("mouseover", {{ bubbles: true }}));
    return {{
      at_first, type, line: document.getElementById("tip").textContent,
      old: [...step.querySelectorAll(".differs .old .t")].map((one) => one.textContent),
      marks: [...step.querySelectorAll("mark")].map((one) => one.textContent),
      chart: document.getElementById("chart").width,
    }};
    """
    found = run_in_page(pages(tmp_path)[0], script)
    assert found["at_first"] == 0
    assert found["type"] == "!fx.tensor<f32[4, 8], cpu>"
    assert "compiles.py:" in found["line"] or found["line"].startswith("!fx.tensor")
    assert [line.split(" : ")[0] for line in found["old"][:2]] == [
        "%neg = aten.neg.default %arg0_1",
        "%neg_1 = aten.neg.default %neg",
    ]
    assert found["old"][0].endswith(" : f32[4, 8]")
    assert found["marks"] == ["%neg_1", "%arg0_1"]
    assert found["chart"] > 0


def test_nothing_of_a_compile_is_run(tmp_path: Path) -> None:
    source = tmp_path / "evil.py"
    source.write_text(f"x = 1  # {HOSTILE}\n")
    script = f"""{_OPEN_ALL}
    document.querySelectorAll(".v, .n").forEach(
      (one) => one.dispatchEvent(new MouseEvent("mouseover", {{ bubbles: true }})));
    await new Promise((done) => setTimeout(done, 200));
    return {{ pwned: window.pwned ?? null, images: document.images.length,
             shown: document.querySelector(".diff").textContent }};
    """
    found = run_in_page(write_page(hostile_compile(str(source)), tmp_path), script)
    assert found["pwned"] is None
    assert found["images"] == 0
    assert HOSTILE in found["shown"]


def test_five_thousand_ops_stay_usable(tmp_path: Path) -> None:
    page = write_page(large_compile(5000), tmp_path)
    assert page.stat().st_size < 2_000_000
    script = f"""
    const begin = performance.now(), at_first = document.querySelectorAll("*").length;
    {_OPEN_ALL}
    const opened = {_COUNT}, after = performance.now() - begin;
    for (let i = 0; i < 100; i++) document.querySelectorAll(".more").forEach((one) => one.click());
    const left = document.querySelectorAll(".more").length;
    return {{ at_first, opened, after, left, all: {_COUNT} }};
    """
    found = run_in_page(page, script)
    assert found["at_first"] < 1000
    assert found["opened"] < 5000
    assert found["after"] < 5000  # milliseconds, on a busy machine
    assert found["left"] == 0
    assert found["all"] == 2 * 5001  # the whole stage, and its one pass


@pytest.mark.parametrize("width", [400, 1300])
def test_nothing_is_wider_than_the_window(tmp_path: Path, width: int) -> None:
    script = f"{_OPEN_ALL} return document.documentElement.scrollWidth;"
    compiled(tmp_path, rewrites=[NegNeg])
    assert run_in_page(pages(tmp_path)[0], script, width=width) <= width


def test_a_link_to_a_step_opens_it(tmp_path: Path) -> None:
    page = write_page(large_compile(40), tmp_path)
    script = f"""
    location.hash = "#stage-0-0";
    await new Promise((done) => setTimeout(done, 50));
    return [document.getElementById("stage-0-0").open, {_COUNT} > 0];
    """
    assert run_in_page(page, script) == [True, True]


def test_the_list_leads_to_the_pages(tmp_path: Path) -> None:
    page = write_page(large_compile(40), tmp_path)
    write_index(tmp_path)
    script = "return [...document.links].map((one) => one.getAttribute('href'));"
    assert run_in_page(tmp_path / "index.html", script) == [page.name]
