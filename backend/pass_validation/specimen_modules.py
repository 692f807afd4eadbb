"""Finds the graphs on which procedural passes are validated: a module's `SPECIMENS`, by pass.

Those of this project's own passes lie with its tests, and are not part of an installed package.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from xductor.backend.pass_validation.specimen import Specimens
from xductor.transforms.rows import registry

_CHECKOUT = Path(registry.__file__).resolve().parents[2]
_FILE = Path("tests/specimens/passes.py")


class NoSpecimens(Exception):
    """There are no specimens where they were looked for; the message says what to do."""


@cache
def ours() -> Mapping[str, Specimens]:
    """The specimens of this project's passes, of the checkout that this package runs from.

    Raises:
        NoSpecimens: If the package runs from somewhere else.
    """
    if not (_CHECKOUT / _FILE).is_file():
        raise NoSpecimens(
            "the graphs on which the passes of xductor are validated are in its repository "
            f"({_FILE}) and are not installed; run this from a checkout (pip install -e .), or "
            "name a module of your own with --specimens"
        )
    if str(_CHECKOUT) not in sys.path:
        sys.path.insert(0, str(_CHECKOUT))
    return specimens_of(import_module(".".join(_FILE.with_suffix("").parts)))


def specimens_of(module: ModuleType) -> Mapping[str, Specimens]:
    """What a module has as `SPECIMENS`: by the name of a pass, the graphs for it.

    Raises:
        NoSpecimens: If it has no such mapping.
    """
    found = getattr(module, "SPECIMENS", None)
    if not isinstance(found, Mapping) or not found:
        raise NoSpecimens(
            f"{module.__name__}: expected SPECIMENS, a mapping from names of passes to Specimens, "
            f"found {'none' if found is None else repr(found)}"
        )
    wrong = [name for name, one in found.items() if not isinstance(one, Specimens)]
    if wrong:
        raise NoSpecimens(
            f"{module.__name__}: SPECIMENS[{wrong[0]!r}] is {found[wrong[0]]!r}, expected Specimens"
        )
    return found


__all__ = ["NoSpecimens", "ours", "specimens_of"]
