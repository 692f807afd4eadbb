"""Which classes of rewrites were traced from a function."""

from __future__ import annotations

import sys

#: How the name of a file begins that is the text of a traced rewrite, which only linecache has.
TRACED = "<traced pattern "


def is_traced(cls: type) -> bool:
    """Whether the text of this very class was traced, and not only that of a base of it."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return str(file).startswith(TRACED)


__all__ = ["TRACED", "is_traced"]
