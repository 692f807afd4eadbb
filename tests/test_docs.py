"""What the documentation shows is run, and what it lists is what there is."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in _BLOCK.findall(page.read_text()) if kind == language]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def page_id(page: Path) -> str:
    return page.stem if page.parent.name != "examples" else f"examples-{page.stem}"


def test_there_is_something_to_run() -> None:
    assert ROOT / "README.md" in with_blocks("python")
    assert with_blocks("mlir")


@pytest.mark.parametrize("page", with_blocks("python"), ids=page_id)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    """All blocks of a page, top to bottom, as one module."""
    name = f"docs_of_{page_id(page).replace('-', '_').lower()}"
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


def test_the_filecheck_file_that_is_shown_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xductor.backend.cli.run_lines import run_lines, run_pipeline, split_pipeline

    page = ROOT / "docs/verify-in-your-tests.md"
    (text,) = [one for one in blocks(page, "text") if "RUN:" in one]
    (source,) = [one for one in blocks(page, "python") if "class NegNeg(" in one]
    (tmp_path / "neg_neg.mlir").write_text(text)
    (tmp_path / "neg_neg.py").write_text("import torch\n" + source)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (line,) = run_lines(text)
    run_pipeline(split_pipeline(line), tmp_path / "neg_neg.mlir", str(tmp_path / "scratch"))


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
    from xductor.backend.cli.commands import passes

    written = (ROOT / "docs/passes.md").read_text()
    assert written == passes.page(), "run: xductor passes --markdown > docs/passes.md"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert f"- {page.relative_to(ROOT / 'docs')}\n" in navigation


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_page_of_words_has_every_word() -> None:
    from xductor import Rewrite
    from xductor.transforms import Tensor
    from xductor.transforms.rewriting.handles import Dim

    page = (ROOT / "docs/words.md").read_text()
    inner = {"kind", "type", "value", "expr", "facts"}
    words = {f".{name}" for owner in (Tensor, Dim) for name in vars(owner) if name[0] != "_"}
    assert not {word for word in words - {f".{one}" for one in inner} if word not in page}
    fields = [name for name in Rewrite.__annotations__ if name not in ("inductor",)]
    assert not [name for name in fields if f"`{name}" not in page]


TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md"]
PACKAGES = ("ir", "frontend", "transforms", "backend")
_OURS = (*PACKAGES, "tests", "docs")
_PATH = re.compile(r"(?<![\w./-])((?:" + "|".join(_OURS) + r")/[\w./-]*\w/?)(?!\w*:)")
_DOTTED = re.compile(r"\bxductor(?:\.[A-Za-z_]\w*)+")
_COMMAND = re.compile(r"^(?:\$ )?xductor ([a-z]+)", re.MULTILINE)
_MAKE = re.compile(r"`make ([a-z-]+)`|^make ([a-z-]+)", re.MULTILINE)
_MEMBER = re.compile(r"`([a-z_]+)\.([A-Za-z_]\w*)`")


def _wrong_paths(text: str) -> list[str]:
    found = {one.rstrip(".") for one in _PATH.findall(text)}
    there = (ROOT / one for one in found)
    return sorted(
        str(one.relative_to(ROOT))
        for one in there
        if not one.exists() and not one.with_name(f"{one.name}.py").exists()
    )


def _wrong_names(text: str) -> list[str]:
    """Dotted names that lead to no module, no member of one, and no option of a compile."""
    return sorted(one for one in set(_DOTTED.findall(text)) if not _leads_somewhere(one))


def _leads_somewhere(name: str) -> bool:
    from xductor.backend.config.settings import Settings

    if name.removeprefix("xductor.") in Settings.__dataclass_fields__:
        return True
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def _commands(page: Path) -> set[str]:
    """The commands of `xductor` that a page names, in a block or in the text."""
    shell = "\n".join(body for kind in ("sh", "bash") for body in blocks(page, kind))
    named = re.findall(r"`xductor ([a-z]+)", page.read_text())
    return {*_COMMAND.findall(shell), *named}


def _wrong_members(text: str) -> list[str]:
    """`module.name` of a module of ours that has no such name."""
    modules: dict[str, list[Path]] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            modules.setdefault(path.stem, []).append(path)
    return [
        f"{module}.{name}"
        for module, name in _MEMBER.findall(text)
        if name not in ("py", "mlir", "json", "md") and module in modules
        if not any(re.search(rf"\b{name}\b", path.read_text()) for path in modules[module])
    ]


@pytest.mark.parametrize("page", TEXTS, ids=page_id)
def test_what_a_page_mentions_is_there(page: Path) -> None:
    """Paths, modules and their members, commands, targets of `make`."""
    from xductor.backend.cli import main

    text = page.read_text()
    assert _wrong_paths(text) == []
    assert _wrong_names(text) == []
    assert _wrong_members(text) == []
    assert _commands(page) <= set(main.COMMANDS)
    targets = {first or second for first, second in _MAKE.findall(text)}
    assert targets <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_what_is_not_there_is_seen() -> None:
    """The check itself."""
    assert _wrong_paths("`transforms/nowhere/there.py`, ir/text, `tests/test_docs.py`") == [
        "transforms/nowhere/there.py"
    ]
    assert _wrong_names("xductor.verify xductor.numerics xductor.ir.nowhere xductor.verrify") == [
        "xductor.ir.nowhere",
        "xductor.verrify",
    ]
    assert _wrong_members("`cache_keys.listen` `cache_keys.hear` `somebody.s`") == [
        "cache_keys.hear"
    ]
    assert {"capture", "check"} <= _commands(ROOT / "docs/debugging.md")


def test_the_commands_of_the_readme_run_as_they_are_written(tmp_path: Path) -> None:
    """In order, in an empty folder; what installs is left out."""
    shell = [one for one in blocks(ROOT / "README.md", "sh") if "pip install" not in one]
    script = "set -euo pipefail\n" + "\n".join(shell)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "aten.sin.default %x" in done.stdout
    assert "dead_code_elimination" in done.stdout
