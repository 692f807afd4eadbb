"""The environment variables of xductor, and a warning about those that nothing reads."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from xductor.backend.config.warn_once import warn_once

PREFIX = "XDUCTOR_"

KNOWN = (
    "XDUCTOR_DEBUG_COUNTER",
    "XDUCTOR_DEBUG_DIR",
    "XDUCTOR_NUMERICS",
    "XDUCTOR_ON_ERROR",
    "XDUCTOR_OVERRIDE",
    "XDUCTOR_PROOFS",
    "XDUCTOR_REPORT",
    "XDUCTOR_VALIDATE",
    "XDUCTOR_VERIFY",
)

_OF_OUR_TESTS = ("XDUCTOR_TEST_", "XDUCTOR_SLOW", "XDUCTOR_GUI_PYTHON")


class UnknownVariableWarning(UserWarning):
    """An environment variable that looks like one of ours, but that nothing reads."""


def override_folder() -> Path | None:
    """The folder of graphs that take the place of those of compiles; None if there is none.

    Raises NotADirectoryError if the variable names no folder.
    """
    name = os.environ.get("XDUCTOR_OVERRIDE")
    if not name:
        return None
    folder = Path(name)
    if not folder.is_dir():
        raise NotADirectoryError(f"XDUCTOR_OVERRIDE is {name!r}; expected a folder of .mlir files")
    return folder.resolve()


def warn_of_unknown() -> None:
    """Warn of each variable `XDUCTOR_...` that does not exist, once in a process."""
    for name in os.environ:
        if not name.startswith(PREFIX) or name in KNOWN or name.startswith(_OF_OUR_TESTS):
            continue
        close = get_close_matches(name, KNOWN, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        warn_once(
            UnknownVariableWarning,
            name,
            f"the environment variable {name} is none of xductor's, and has no effect.{guess} "
            f"There are: {', '.join(KNOWN)}",
            stacklevel=3,
        )


__all__ = ["KNOWN", "PREFIX", "UnknownVariableWarning", "override_folder", "warn_of_unknown"]
