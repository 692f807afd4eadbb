"""What the documentation shows is run, and what it lists is what there is."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in _BLOCK.findall(page.read_text()) if kind == language]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def page_id(page: Path) -> str:
    return page.stem


def test_there_is_something_to_run() -> None:
    assert ROOT / "README.md" in with_blocks("python")
    assert with_blocks("mlir")


@pytest.mark.parametrize("page", with_blocks("python"), ids=page_id)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    """All blocks of a page, top to bottom, as one module."""
    name = f"docs_of_{page.stem.replace('-', '_').lower()}"
    program = tmp_path / f"{name}.py"
    program.write_text("\n\n".join(blocks(page, "python")))
    spec = importlib.util.spec_from_file_location(name, program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]


@pytest.mark.parametrize("page", with_blocks("mlir"), ids=page_id)
def test_ir_blocks_are_what_the_printer_prints(page: Path) -> None:
    import xductor

    for text in blocks(page, "mlir"):
        module = xductor.parse_ir(text, page.name)
        xductor.verify(module, level="types")
        shown = xductor.print_ir(module)
        assert text.split() == _inside_module(shown).split()


def _inside_module(text: str) -> str:
    """The graphs of a printed module, without the ``builtin.module { }`` around them."""
    return text.strip().removeprefix("builtin.module {").removesuffix("}")


def test_pass_page_is_current() -> None:
    from xductor.backend.cli import passes

    written = (ROOT / "docs/passes.md").read_text()
    assert written == passes.page(), "run: xductor passes --markdown > docs/passes.md"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name in navigation


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
