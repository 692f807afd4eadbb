"""Compares random programs of seed after seed, for the commands that do so."""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections import Counter
from collections.abc import Callable

_TOLD_EVERY = 500


def compare_seeds(description: str | None, check: Callable[[int], Counter[str] | None]) -> int:
    """Call `check` with seeds until as many programs are compared as the command line says.

    It returns how often each pass was applied, and None for what eager refuses; what it raises is a
    mismatch. Returns the exit code.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=1000, help="programs to compare")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first")
    given = parser.parse_args()
    logging.disable(logging.ERROR)  # fake kernels log what the programs are not given
    warnings.simplefilter("ignore")
    applied: Counter[str] = Counter()
    compared, mismatches, seed, started = 0, 0, given.seed, time.monotonic()
    while compared < given.count:
        try:
            found = check(seed)
        except Exception as error:
            mismatches += 1
            print(f"--- MISMATCH seed {seed}: {type(error).__name__}: {error}", flush=True)
            found = Counter()
        compared += found is not None
        applied += found or Counter()
        seed += 1
        if seed % _TOLD_EVERY == 0 or compared == given.count:
            took = f"below {seed}, {time.monotonic() - started:.0f} s"
            print(f"{took}: {compared} compared, {mismatches} mismatches", flush=True)
    print(f"applications: {dict(applied)}")
    return 1 if mismatches else 0


__all__ = ["compare_seeds"]
