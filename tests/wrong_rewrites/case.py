"""What a deliberately wrong rewrite is: its kind, its graph, the level that refuses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch

from xductor.transforms import Rewrite

Level = Literal["class", "match", "contract", "values"]


class Joint(Rewrite, abstract=True):
    stage = "joint"


@dataclass(frozen=True)
class Wrong:
    """One wrong rewrite.

    - `kind`: what is wrong with it; `level`: what refuses it, before it does harm.
    - `make`: gives the class; where `level` is `"class"`, making it fails.
    - `function`, `inputs`: traced into a graph on which it matches, or just does not.
    - `loose`: the same rewrite written so that the level lets it through (a pattern that says `...`
      where the wrong one says nothing), or a function that does what it would do.
    - `says`: a part of what the refusal says.
    """

    name: str
    kind: str
    level: Level
    make: Callable[[], type[Rewrite]]
    function: Callable[..., Any]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    loose: Callable[[], Any]
    says: str = ""
    dynamic: bool = False


CASES: list[Wrong] = []


def wrong(
    kind: str,
    level: Level,
    function: Callable[..., Any],
    *inputs: torch.Tensor,
    says: str = "",
    dynamic: bool = False,
    loose: Any = None,
) -> Callable[[Any], Any]:
    """Add a class to the set; for the level `"class"`, the function that makes it."""

    def add(item: Any) -> Any:
        make = (lambda: item) if isinstance(item, type) else item
        if level in ("class", "match") and loose is None:
            raise ValueError(f"{item.__name__}: say what it would do with the checks off")
        CASES.append(
            Wrong(
                item.__name__,
                kind,
                level,
                make,
                function,
                lambda: tuple([one.clone() for one in inputs]),
                (lambda: loose) if loose is not None else make,
                says,
                dynamic,
            )
        )
        return item

    return add


__all__ = ["CASES", "Joint", "Level", "Wrong", "wrong"]
