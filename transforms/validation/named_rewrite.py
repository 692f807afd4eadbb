"""The rewrite that somebody names, as a class, an object or its name."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from xductor.transforms.rewriting.rewrite import Rewrite


def rewrite_of(rewrite: Any) -> Rewrite:
    """A rewrite that is given as such, as a class, or by the name of one that is loaded.

    Names are those of the command: `"pointless_view"`; `"remove_noop_pass:NoopView"` where several
    rewrites have one name.

    Raises ValueError for a name that no declared rewrite has, or several; TypeError for what is no
    rewrite.
    """
    if isinstance(rewrite, str):
        return _named(rewrite)()
    if isinstance(rewrite, type) and issubclass(rewrite, Rewrite):
        return rewrite()
    if isinstance(rewrite, Rewrite):
        return rewrite
    raise TypeError(f"expected a rewrite, its class or its name, and not {rewrite!r}")


def _named(name: str) -> type[Rewrite]:
    from xductor.transforms.rows.registry import declared_rewrites, rows

    declared_rewrites()  # loads those of our passes
    loaded = list(_subclasses(Rewrite))
    wanted, _, cls = name.partition(":")
    found = [one for one in loaded if one.name == wanted and cls in ("", one.__name__)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(f"'{wanted}:{one.__name__}'" for one in found)
        raise ValueError(f"'{name}' is the name of {len(found)} rewrites: {listed}")
    if any(row.name == name for row in rows()):
        raise ValueError(
            f"'{name}' is no declared rewrite; as a pass it is validated by the command "
            f"`xductor validate {name}`"
        )
    known = {one.name for one in loaded}
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean '{close[0]}'?" if close else "give the class itself"
    raise ValueError(f"no declared rewrite that is loaded is called '{name}'; {hint}")


def _subclasses(cls: type[Rewrite]) -> Iterator[type[Rewrite]]:
    for one in dict.fromkeys(cls.__subclasses__()):
        if isinstance(vars(one).get("name"), str):
            yield one
        yield from _subclasses(one)


__all__ = ["rewrite_of"]
