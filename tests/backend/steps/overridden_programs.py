"""Random programs whose graphs are dumped and taken back, those behind each pass and in training
too.

`python -m tests.backend.steps.overridden_programs COUNT SEED`: what each program returns, writes
and gives as gradients must be what it was when its graphs did not go through text.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.before_autograd.observation import differences, observe_compiled
from tests.before_autograd.programs import program
from xductor.backend.cli.commands.capture import Capture
from xductor.backend.stage_runs import stage_watch
from xductor.backend.stage_runs.applications import Changed
from xductor.backend.steps import overrides
from xductor.transforms.passes.events import listening


@contextmanager
def dumping(folder: Path) -> Iterator[None]:
    """Write the graphs of stages and of passes into a folder, as `capture --passes`."""
    capture = Capture(folder)
    with (
        stage_watch.watching(capture),
        listening(Changed, capture.changed, everywhere=True),
    ):
        yield


def taken_back(seed: int, folder: Path) -> str:
    """What came of a program: "same", or what differs; "refused" if it does not compile anyway."""
    one = program(seed)
    overrides._names.clear()
    try:
        with dumping(folder):
            expected, _ = observe_compiled(one.function(), one.leaves)
    except RuntimeError:  # of eager, or Dynamo's around what autograd raises
        return "refused"
    (folder / "index.json").unlink()  # so that every file counts
    os.environ["XDUCTOR_OVERRIDE"] = str(folder)
    try:
        found, _ = observe_compiled(one.function(), one.leaves)
    except Exception as error:  # whatever it is, it is a difference
        return f"seed {seed} raises {type(error).__name__}: {str(error)[:600]}"
    finally:
        del os.environ["XDUCTOR_OVERRIDE"]
    faults = dict(differences(expected, found))
    return f"seed {seed} differs: {faults}" if faults else "same"


def run(count: int, seed: int) -> Counter[str]:
    """What came of some programs, and how often."""
    outcome: Counter[str] = Counter()
    same, overrides.same = overrides.same, lambda *_: False  # what is unchanged is taken too
    try:
        for number in range(seed, seed + count):
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome[taken_back(number, Path(folder))] += 1
    finally:
        overrides.same = same
    return outcome


if __name__ == "__main__":
    for text, times in run(int(sys.argv[1]), int(sys.argv[2])).most_common():
        print(times, text)
