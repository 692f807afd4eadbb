"""Runs what must hold on every release of torch that xductor knows, each in its own environment.

    python tests/torch_versions.py 2.11.0 2.12.1    # `make versions` makes .venv-2.11.0 and so on

prints a row for each release as it is done, and what failed. Exit status 1 if a cell failed.
Nothing is imported but the standard library: this runs outside of those environments.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
#: Seconds for one cell.
LIMIT = 3600

#: One model of the corpus for each family; compiled and compared with eager.
FAMILIES = {
    "decoder": "gpt2", "encoder": "bert", "convolutions": "convolutions", "recurrent": "recurrent",
    "recommender": "recommender", "mixed precision": "mixed_precision", "writes": "writes",
    "checkpoints": "checkpointed", "control flow": "loop_and_branch",
    "data-dependent sizes": "size_from_data", "custom operators": "custom_operator",
    "attention by hand": "attention",
}  # fmt: skip

_TRAINING = "train-static"
_IN_INFERENCE_ONLY = ("loop_and_branch", "size_from_data")

_KNOWN = """
import json, torch
from xductor.backend.config.versions import inductor_version
print(json.dumps({"torch": torch.__version__, "lacks": inductor_version().lacks}))
"""


@dataclass
class Cell:
    """What one thing came to on one release."""

    shown: str
    ok: bool
    output: str = ""
    lacking: list[str] = field(default_factory=list)


def _run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Exit status and what was printed; the last lines of it where it took too long."""
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    environment = {**threads, **os.environ, **caches}
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, text=True, timeout=LIMIT, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        return 1, f"{error.stdout or ''}\nnot done after {LIMIT} s"
    return done.returncode, done.stdout


def environment_of(release: str) -> Path:
    return ROOT / f".venv-{release}" / "bin"


def installed(release: str, folder: Path) -> Cell:
    """Whether the environment has that release, and what the seam knows that it lacks."""
    python = environment_of(release) / "python"
    if not python.exists():
        return Cell("not installed", False, f"{python} does not exist; `make versions` makes it")
    status, output = _run([str(python), "-c", _KNOWN], folder)
    if status:
        return Cell("failed", False, output)
    told = json.loads(output.splitlines()[-1])
    if told["torch"].partition("+")[0] != release:
        return Cell("failed", False, f"{python} has torch {told['torch']}, not {release}")
    return Cell(told["torch"], True, lacking=told["lacks"])


def demo(release: str, folder: Path) -> Cell:
    status, output = _run([str(environment_of(release) / "xductor"), "demo"], folder)
    return Cell("failed" if status else "ok", not status, output)


def round_trips(release: str, folder: Path) -> Cell:
    """Every graph of the corpus through text and back."""
    test = "tests/corpus/test_round_trip.py::test_every_graph_survives"
    cases = " or ".join([_TRAINING, *(f"{name}-eval-dynamic" for name in _IN_INFERENCE_ONLY)])
    return _tests(release, folder, test, cases)


def models(release: str, folder: Path) -> Cell:
    test = "tests/corpus/test_models.py::test_numbers_are_those_of_eager"
    names = [
        f"{name}-{'eval-dynamic' if name in _IN_INFERENCE_ONLY else _TRAINING}"
        for name in FAMILIES.values()
    ]
    return _tests(release, folder, test, " or ".join(names), at_least=len(names))


def _tests(release: str, folder: Path, test: str, cases: str, at_least: int = 1) -> Cell:
    """What pytest says of some cases; a case that is skipped is one that this release lacks."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    python = str(environment_of(release) / "python")
    status, output = _run(
        [python, "-m", "pytest", "-q", test, "-k", cases, f"--junitxml={report}"], folder
    )
    if not report.exists():
        return Cell("failed", False, output)
    found = list(ElementTree.parse(report).iter("testcase"))
    wrong = [case for case in found if _has(case, "failure") or _has(case, "error")]
    lacking = [
        f"{case.get('name')}: {skipped.get('message')}"
        for case in found
        if (skipped := case.find("skipped")) is not None
    ]
    passed = len(found) - len(wrong) - len(lacking)
    if len(found) < at_least:
        output += f"\n{len(found)} cases were found, {at_least} were expected"
    ok = not status and len(found) >= at_least and passed > 0
    shown = f"{passed} of {max(len(found), at_least)}{'' if ok else ', failed'}"
    return Cell(shown, ok, output, lacking)


def _has(case: ElementTree.Element, what: str) -> bool:
    return case.find(what) is not None


CELLS = {"demo": demo, "round trips": round_trips, "models": models}


def row_of(release: str) -> tuple[list[str], list[tuple[str, Cell]]]:
    """The cells of a release, and those that failed."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="xductor-versions-") as name:
        folder = Path(name)
        known = installed(release, folder)
        done = {title: run(release, folder) for title, run in CELLS.items()} if known.ok else {}
    cells = {"torch": known, **done}
    lacking = [text for cell in cells.values() for text in cell.lacking]
    shown = [
        release,
        *(done[title].shown if title in done else known.shown for title in CELLS),
        "; ".join(lacking) or "-",
        f"{time.monotonic() - begun:.0f}",
    ]
    return shown, [(title, cell) for title, cell in cells.items() if not cell.ok]


def main(releases: Sequence[str]) -> int:
    """Print the table; 1 if a cell failed."""
    failed: list[str] = []
    titles = ["torch", *CELLS, "lacks", "seconds"]
    print(_line(titles), _line(["---"] * len(titles)), sep="\n", flush=True)
    for release in releases:
        shown, wrong = row_of(release)
        print(_line(shown), flush=True)
        failed += [f"--- {release}, {title}:\n{_tail(cell.output)}" for title, cell in wrong]
    if failed:
        print("", *failed, sep="\n")
    return int(bool(failed))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _tail(output: str, lines: int = 60) -> str:
    return "\n".join(output.splitlines()[-lines:])


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
