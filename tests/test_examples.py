"""The example project of the documentation passes its own tests, as its users run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "docs/examples"


def test_the_examples_pass_their_tests() -> None:
    """In a process of their own: they have their own settings of pytest."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--show-capture=no"],
        cwd=EXAMPLES,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    tests = sum(path.read_text().count("def test_") for path in EXAMPLES.glob("test_*.py"))
    files = len(list(EXAMPLES.glob("*.mlir")))
    found = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    assert found is not None
    assert int(found[1]) >= tests + files
    assert "graphs verified at level types" in done.stdout


def test_each_example_has_its_files_and_its_row() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py") if not path.name.startswith("test_")}
    assert names == {path.stem for path in EXAMPLES.glob("*.mlir")}
    assert names == {path.stem.removeprefix("test_") for path in EXAMPLES.glob("test_*.py")}
    rows = re.findall(r"^\| \[(\w+)\.py\]", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert names == set(rows)
