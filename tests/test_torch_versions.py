"""The table of `make versions`, over environments that only pretend; and what it has to try."""

import re
import tomllib
from pathlib import Path

import pytest

from tests import torch_versions
from xductor.backend.config.versions import VERSIONS

ROOT = Path(__file__).resolve().parents[1]

PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then echo '{{"torch": "{told}", "lacks": ["lists of custom passes"]}}'; exit 0; fi
for word; do report="${{word#--junitxml=}}"; done
echo '<testsuites><testsuite>' > "$report"
for case in {cases}; do echo "<testcase name='$case'>$({inside})</testcase>" >> "$report"; done
echo '</testsuite></testsuites>' >> "$report"
echo "what pytest said"
exit {status}
"""


def pretend(
    folder: Path,
    release: str,
    *,
    told: str | None = None,
    demo: int = 0,
    status: int = 0,
    cases: int = len(torch_versions.FAMILIES),
    inside: str = "true",
) -> None:
    """An environment whose programs say what they are told to say."""
    home = folder / f".venv-{release}" / "bin"
    home.mkdir(parents=True)
    names = " ".join(f"case{index}" for index in range(cases))
    python = PYTHON.format(told=told or f"{release}+cpu", cases=names, inside=inside, status=status)
    programs = {"python": python, "xductor": f"#!/bin/sh\necho what the demo said\nexit {demo}\n"}
    for name, text in programs.items():
        (home / name).write_text(text)
        (home / name).chmod(0o755)


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_versions, "ROOT", tmp_path)


def test_a_row_for_each_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pretend(tmp_path, "9.1.0")
    pretend(tmp_path, "9.2.0")
    assert torch_versions.main(["9.1.0", "9.2.0"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "| torch | demo | round trips | models | lacks | seconds |"
    assert rows[2].startswith("| 9.1.0 | ok | 12 of 12 | 12 of 12 | lists of custom passes | ")
    assert rows[3].startswith("| 9.2.0 | ok |")


def test_what_is_skipped_is_lacking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = """[ $case = case3 ] && echo "<skipped message='no such op'/>"; true"""
    pretend(tmp_path, "9.1.0", inside=skipped)
    assert torch_versions.main(["9.1.0"]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    assert "| ok | 11 of 12 | 11 of 12 |" in row
    assert "case3: no such op" in row


@pytest.mark.parametrize(
    ("pretended", "shown", "said"),
    [
        ({"demo": 3}, "| failed | 12 of 12 | 12 of 12 |", "what the demo said"),
        ({"status": 1}, "| ok | 12 of 12, failed | 12 of 12, failed |", "what pytest said"),
        ({"cases": 11}, "| ok | 11 of 11 | 11 of 12, failed |", "11 cases were found, 12 were"),
        ({"cases": 0, "status": 5}, "| ok | 0 of 1, failed | 0 of 12, failed |", "0 cases were"),
        ({"told": "9.2.0"}, "| failed | failed | failed |", "has torch 9.2.0, not 9.1.0"),
    ],
)
def test_a_cell_that_fails(
    pretended: dict[str, int],
    shown: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pretend(tmp_path, "9.1.0", **pretended)
    assert torch_versions.main(["9.1.0"]) == 1
    printed = capsys.readouterr().out
    assert shown in printed
    assert said in printed


def test_an_environment_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert torch_versions.main(["9.1.0"]) == 1
    assert "`make versions` makes it" in capsys.readouterr().out


def test_every_known_release_is_tried_and_no_other_is_installed() -> None:
    found = re.search(r"^TORCH_VERSIONS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found is not None
    tried = [tuple(map(int, release.split(".")[:2])) for release in found[1].split()]
    assert tried == sorted(VERSIONS)
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (bounds,) = (one for one in table["dependencies"] if one.startswith("torch"))
    (first, last), (major, minor) = (min(VERSIONS), max(VERSIONS))
    assert bounds == f"torch>={first}.{last},<{major}.{minor + 1}"
