"""Ban deep imports of what a front door exports: `ruff check` for the other packages.

Ruff has one list of banned names for all folders, and the package itself must import deeply, so
each front door is a run of its own. The lists are those of the front doors.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import xductor.ir
import xductor.transforms

FOLDERS = ("ir", "frontend", "transforms", "backend", "tests")
DOORS = {"ir": xductor.ir, "transforms": xductor.transforms}
BANNED_API = "lint.flake8-tidy-imports.banned-api"


def main() -> int:
    """Check the imports of all packages; the highest exit status of ruff."""
    return max(_check(package, door._HOME) for package, door in DOORS.items())


def _check(package: str, homes: dict[str, str]) -> int:
    door = f"xductor.{package}"
    banned = [
        f"[{BANNED_API}]",
        *(
            f'"{door}.{home}.{name}".msg = {json.dumps(f"from {door} import {name}")}'
            for name, home in homes.items()
        ),
    ]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "ruff.toml")
        config.write_text("\n".join(banned) + "\n")
        ruff = [str(Path(sys.executable).with_name("ruff")), "check", "--no-cache"]
        others = [one for one in FOLDERS if one != package]
        return subprocess.run(
            [*ruff, "--select", "TID251", "--config", str(config), *others], check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
