"""Says of what was given as a rewrite why it cannot run as one, before anything is compiled."""

from __future__ import annotations

from typing import Any

from xductor.transforms import Rewrite


def unfit(item: Any, shown: str = "") -> str:
    """Why `item` cannot run as a rewrite, and what to give instead; "" if nothing is known.

    - `shown`: how a message names it; by default the name of its class.
    """
    holds = getattr(item, "rewrite", None)
    if isinstance(holds, type) and issubclass(holds, Rewrite) and not hasattr(item, "stage"):
        shown = shown or f"a {type(item).__name__} with the rewrite {holds.__qualname__}"
        return f"{shown} is no rewrite itself; give its `.rewrite`"
    cls = item if isinstance(item, type) else type(item)
    if not issubclass(cls, Rewrite) or hasattr(cls, "replacement"):
        return ""
    return (
        f"{shown or cls.__qualname__} has no `replacement`, so it can match and not rewrite; make "
        "a subclass with a method `replacement`, or give `pattern_from` a `replacement=function`"
    )


__all__ = ["unfit"]
