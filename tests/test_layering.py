"""Who may import whom: the contracts of pyproject.toml, and that they would notice a breach."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("ir", "frontend", "transforms", "backend")
LINTER = shutil.which("lint-imports", path=str(Path(sys.executable).parent))

needs_linter = pytest.mark.skipif(LINTER is None, reason="import-linter is not installed")


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    assert LINTER is not None
    command = [LINTER, "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


def copied(folder: Path, module: str, line: str) -> Path:
    """A copy of the packages in which a module more says `line`."""
    package = folder / "xductor"
    shutil.copytree(ROOT / "backend/api", package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
        shutil.copytree(
            ROOT / room, package / room, ignore=shutil.ignore_patterns("__pycache__", "api")
        )
    (package / module).write_text(line + "\n")
    return folder


@needs_linter
def test_arrows_between_rooms() -> None:
    done = lint(ROOT / "tests/typeroot")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_linter
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("ir/breach.py", "from xductor.frontend import fx_importer"),
        ("ir/breach.py", "import xductor.backend.seam.dispatch"),
        ("frontend/breach.py", "from xductor.transforms import registry"),
        ("transforms/breach.py", "from xductor.backend import seam"),
        ("transforms/joint_graph/breach.py", "import xductor.transforms.post_grad"),
        ("backend/reduce/breach.py", "import xductor.backend.cli.commands.reduce"),
    ],
)
def test_a_breach_is_reported(tmp_path: Path, module: str, line: str) -> None:
    done = lint(copied(tmp_path, module, line))
    assert done.returncode == 1
    assert "BROKEN" in done.stdout
    assert "breach" in done.stdout


@needs_linter
@pytest.mark.parametrize(
    ("module", "line", "arrow"),
    [
        (
            "backend/config/a.py",
            "def f():\n    import xductor.backend.stages",
            "config -> ",
        ),
        ("transforms/passes/a.py", "import xductor.transforms.rows.registry", "passes -> .rows"),
    ],
)
def test_a_cycle_is_reported(tmp_path: Path, module: str, line: str, arrow: str) -> None:
    done = lint(copied(tmp_path, module, line))
    assert done.returncode == 1
    assert arrow in done.stdout, done.stdout


def python_files() -> list[Path]:
    folders = [*(ROOT / room for room in ROOMS), ROOT / "tests"]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    return [path for path in files if "typeroot" not in path.parts]


def test_no_room_is_imported_by_its_folder_name() -> None:
    """``import ir`` works from the checkout and gives a second copy of every class."""
    bare = re.compile(rf"^\s*(?:import|from)\s+(?:{'|'.join(ROOMS)})\b(?!\S*\s*=)", re.MULTILINE)
    for path in python_files():
        assert not bare.search(path.read_text()), path


def test_no_module_is_called_utils() -> None:
    names = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}
    assert not [path for path in python_files() if path.name in names]


def test_files_stay_small() -> None:
    sizes = {path.relative_to(ROOT): path.read_text().count("\n") for path in python_files()}
    assert not {path: size for path, size in sizes.items() if size > 700}
