"""Measurements taken one after the other of what processes compiled side by side.

A process compiles, says that it is ready, and waits for its turn; when all are ready they measure,
one after the other, so that nothing else runs on the device meanwhile. Kernels are tuned one at a
time too (`tuning_alone`): a choice made beside the kernels of other processes is made by chance.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

_READY = "@ready"
_FOUND = "@found "
_LAST_LINES = 3


def wait_for_turn() -> None:
    """In a process that compiled: say so, and wait until the others stand still."""
    print(_READY, flush=True)
    sys.stdin.readline()


@contextmanager
def tuning_alone() -> Iterator[None]:
    """Let one process at a time tune a generated kernel on a GPU, by a lock on a file."""
    tune: Any = CachingAutotuner.autotune_to_one_config
    lock = Path(tempfile.gettempdir()) / "xductor_tuning.lock"

    def alone(self: CachingAutotuner, *args: Any, **kwargs: Any) -> Any:
        with lock.open("w") as held:
            torch.cuda.synchronize()
            fcntl.flock(held, fcntl.LOCK_EX)
            return tune(self, *args, **kwargs)

    with mock.patch.object(CachingAutotuner, "autotune_to_one_config", alone):
        yield


def say(found: dict[str, Any]) -> None:
    """In a process that measured: what it found, a dictionary of JSON."""
    print(_FOUND + json.dumps(found), flush=True)


def measured(
    commands: Mapping[Any, Sequence[str]], jobs: int, seconds: float
) -> Iterator[tuple[Any, dict[str, Any] | str]]:
    """By key what each command found, or its last words; `jobs` of them compile at a time.

    A command that is not ready after `seconds`, counted from the start of its process, is stopped.
    """
    with ThreadPoolExecutor(jobs) as pool:
        started = list(pool.map(lambda command: _compiled(command, seconds), commands.values()))
    for key, (process, words) in zip(commands, started, strict=True):
        yield key, _turn(process, words)


def _compiled(command: Sequence[str], seconds: float) -> tuple[subprocess.Popen[str], list[str]]:
    """A process that is ready, or has ended, and what it printed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    limit = threading.Timer(seconds, process.kill)
    limit.start()
    words: list[str] = []
    for line in process.stdout:
        if line.strip() == _READY:
            break
        words.append(line)
    if limit.finished.is_set():
        words.append(f"stopped: not compiled after {seconds:.0f} s")
    limit.cancel()
    return process, words


def _turn(process: subprocess.Popen[str], words: list[str]) -> dict[str, Any] | str:
    if process.poll() is None:
        rest, _ = process.communicate("\n")
        words.extend(rest.splitlines(keepends=True))
    for line in reversed(words):
        if line.startswith(_FOUND):
            return json.loads(line.removeprefix(_FOUND))
    return " ".join(f"{''.join(words[-_LAST_LINES:])} (ended with {process.returncode})".split())


__all__ = ["measured", "say", "tuning_alone", "wait_for_turn"]
