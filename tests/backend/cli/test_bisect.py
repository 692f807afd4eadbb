"""`xductor bisect`: the one wrong application among right ones is found, and shown small."""

import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import xductor
from xductor.backend.cli.command import CommandError
from xductor.backend.cli.commands.bisect import Step, Steps, counters, halve, text_difference

SCRIPT = Path(__file__).with_name("planted_rewrite.py")


def bisect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "xductor", "bisect", str(SCRIPT), "--no-codegen"]
    return subprocess.run(
        [*command, "-o", str(folder), *arguments], capture_output=True, text=True, check=False
    )


def test_a_planted_rewrite_is_found_and_shown_small(tmp_path: Path) -> None:
    done = bisect(tmp_path, "--reference", "eager")
    assert done.returncode == 0, done.stderr
    assert "rewrite:   wrong_scale, in pass rewrites" in done.stdout
    assert "op:        aten.add.Tensor" in done.stdout
    lines = SCRIPT.read_text().splitlines()
    wrong = next(number for number, line in enumerate(lines, 1) if "y * 0.5 + y" in line)
    assert f"{SCRIPT}:{wrong}" in done.stdout
    assert "the first 0: right" in done.stderr
    module = xductor.parse_ir((tmp_path / "small.mlir").read_text())
    names = [op.name for op in module.walk()]
    assert names[2:] == ["aten.mul.Tensor", "aten.add.Tensor", "fx.output"]
    after = xductor.parse_ir((tmp_path / "small.after.mlir").read_text())
    assert [op.name for op in after.walk()][2:] == ["aten.mul.Tensor", "fx.output"]
    assert "XDUCTOR_DEBUG_COUNTER='*=0:" in done.stdout


class FakeSteps:
    """Runs that are wrong from application `culprit` on; 0 is always, None never."""

    def __init__(self, culprit: int | None, total: int) -> None:
        self.culprit = culprit
        self.total = total
        self.runs = 0

    def run(self, count: int | None) -> Step:
        self.runs += 1
        made = self.total if count is None else count
        return Step(self.culprit is None or made < self.culprit, self.total, "no good")


@pytest.mark.parametrize("culprit", [1, 2, 99, 100, 157, 200])
def test_halving_takes_few_runs(culprit: int) -> None:
    steps = FakeSteps(culprit, 200)
    assert halve(cast(Steps, steps)) == (culprit, 200)
    assert steps.runs <= 2 + 8


def test_nothing_to_find() -> None:
    with pytest.raises(CommandError, match="right with all applications"):
        halve(cast(Steps, FakeSteps(None, 5)))


def test_wrong_without_any_application() -> None:
    with pytest.raises(CommandError, match=r"wrong without any application \(no good\)"):
        halve(cast(Steps, FakeSteps(0, 5)))


def test_counters_are_added_to_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_COUNTER", "cse=1:2")
    assert counters(7) == "cse=1:2,*=0:7"
    assert counters(None) == "cse=1:2,*=0:"


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("loss 0.50000", "loss 0.50001", True),
        ("loss 0.5", "loss 0.6", False),
        ("loss nan", "loss nan", True),
        ("loss 1.0", "lost 1.0", False),
        ("a\nb", "a", False),
    ],
)
def test_what_is_printed_is_compared_up_to_rounding(expected: str, found: str, same: bool) -> None:
    assert (text_difference(expected, found, 1e-3) is None) is same
