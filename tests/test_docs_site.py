"""The site: its first page shows what the tool prints, and each pass has a page."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

import xductor
import xductor.ir
import xductor.transforms
from xductor.backend.cli import passes_page
from xductor.backend.testing.captured_stages import capture
from xductor.transforms.rows import registry

ROOT = Path(__file__).resolve().parents[1]
BUILDING = ROOT / "docs/building"


def building(name: str) -> ModuleType:
    """A module of `docs/building`, imported as MkDocs imports it."""
    sys.path.insert(0, str(BUILDING))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BUILDING))


@pytest.fixture(scope="module")
def pass_pages() -> ModuleType:
    return building("pass_pages")


def graphs_of_the_first_page() -> list[str]:
    text = (ROOT / "docs/index.md").read_text()
    return re.findall(r"^```mlir[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_graphs_are_those_of_the_code_beside_them(tmp_path: Path) -> None:
    text = (ROOT / "docs/index.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    program = tmp_path / "model.py"
    program.write_text(code[: code.index("compiled =")])
    spec = importlib.util.spec_from_file_location("model", program)
    assert spec is not None
    assert spec.loader is not None
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)

    q, k, v = (torch.randn(2, 8, 128, 64) for _ in range(3))
    captured = capture(model.attention, q, k, v).one("pre_grad")
    before, after = graphs_of_the_first_page()
    assert before.split() == _inside(captured.before_text, program).split()
    assert after.split() == _inside(captured.after_text, program).split()


def _inside(module: str, program: Path) -> str:
    """The graph of a printed module; its locations without the folder of the program."""
    graph = module.strip().removeprefix("builtin.module {").removesuffix("}")
    return graph.replace(str(program), program.name)


def test_figures_of_the_first_page_are_among_the_figures() -> None:
    figures = (ROOT / "docs/figures.md").read_text()
    shown = re.findall(
        r"^\| \*\*([\d.]+)\*\* \|", (ROOT / "docs/index.md").read_text(), re.MULTILINE
    )
    assert shown
    for number in shown:
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", figures), number


def test_each_row_stands_once_in_the_table() -> None:
    named = re.findall(r"^\| +\d+ \| `([^`]+)` \|", passes_page.page(), re.MULTILINE)
    assert sorted(named) == sorted(row.name for row in registry.rows())


def test_each_row_leads_to_a_page(pass_pages: ModuleType) -> None:
    made = {pass_pages.path_of(row) for row in registry.rows()}
    assert made == {pass_pages.path_of(row) for row in registry.rows() if not row.covered_by}
    linked = passes_page.page(pass_pages.linked)
    assert set(re.findall(r"\]\((passes/[^)]+)\)", linked)) == made


def test_a_page_shows_all_that_is_known_of_a_pass(pass_pages: ModuleType) -> None:
    text = pass_pages.page(registry.row("bmm_to_mm"))
    assert "aten.bmm.default %a, %b" in text
    assert "%mm = aten.mm.default %squeeze, %squeeze_1" in text
    assert '{.mlir title="before" hl_lines="2 3"}' in text
    assert "`joint_graph.py:bmm_to_mm`" in text
    assert "kernels differ in products of infinities" in text
    assert "Several products; a device where it does not pay" in text
    assert "The kernel of mm may sum in another order." in text


def test_links_from_a_page_lead_somewhere(pass_pages: ModuleType) -> None:
    for row in (registry.row("remove_noop_ops"), registry.row("fuse_attention")):
        for target in re.findall(r"\]\(([^)#\s]+)", pass_pages.page(row)):
            if "://" not in target:
                path = (ROOT / "docs" / pass_pages.path_of(row)).parent / target
                written = path.resolve().relative_to(ROOT / "docs")
                there = {pass_pages.path_of(one) for one in registry.rows()}
                assert path.resolve().exists() or str(written) in there, target


def test_the_differences_of_what_a_pass_stands_for_are_its_own(pass_pages: ModuleType) -> None:
    assert len(pass_pages.differences_of(registry.row("fuse_attention"))) > 3
    assert pass_pages.differences_of(registry.row("bmm_to_mm"))


def test_a_pass_without_a_page_of_its_own_shares_one(pass_pages: ModuleType) -> None:
    row = registry.row("_sfdp_pattern_1")
    assert pass_pages.path_of(row) == pass_pages.path_of(registry.row("fuse_attention"))


def test_the_api_has_every_public_name() -> None:
    text = "\n".join((ROOT / "docs" / name).read_text() for name in ("api.md", "api-ir.md"))
    named = {one.rpartition(".")[2] for one in re.findall(r"xductor(?:\.\w+)+", text)}
    for door in (xductor, xductor.ir, xductor.transforms):
        assert set(door.__all__) <= named, door.__name__
    assert all(map(_leads_to_something, re.findall(r"^::: (\S+)$", text, re.MULTILINE)))


def _leads_to_something(name: str) -> bool:
    module, _, member = name.rpartition(".")
    return hasattr(importlib.import_module(module), member)


def test_the_picture_is_current(tmp_path: Path) -> None:
    command = [sys.executable, str(BUILDING / "pictures.py"), str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    kept, made = (
        (folder / "last_compile.svg").read_text(encoding="utf-8")
        for folder in (ROOT / "docs/pictures", tmp_path)
    )
    assert _text_of(kept) == _text_of(made)
    assert "fuse_attention" in kept


def _text_of(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "passes/joint/bmm_to_mm/index.html").read_text()
    assert 'class="nv"' in page, "the graphs are not coloured: is the entry point installed?"
