"""What an author of passes needs. Names are imported when first used."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xductor.transforms.passes import declared_attributes

if TYPE_CHECKING:
    from xductor.transforms.analysis.analyses import Analyses
    from xductor.transforms.analysis.graphs import graphs_of
    from xductor.transforms.matching.patterns import bind, each, in_order, maybe, one_of, shared
    from xductor.transforms.matching.spellings import ALL_SPELLINGS
    from xductor.transforms.passes.numerics import (
        APPROXIMATE,
        DROPS_ROUNDING,
        EXACT,
        REASSOCIATES,
        ROUNDS_LESS_OFTEN,
        UP_TO_ZERO_SIGN,
        Numerics,
    )
    from xductor.transforms.passes.stage import Stage
    from xductor.transforms.passes.typed_pass import TypedPass
    from xductor.transforms.rewriting.decisions import all_of, any_of, known, no
    from xductor.transforms.rewriting.handles import Scalar, Tensor
    from xductor.transforms.rewriting.rewrite import Rewrite

_HOME = {
    "ALL_SPELLINGS": "matching.spellings",
    "APPROXIMATE": "passes.numerics",
    "Analyses": "analysis.analyses",
    "DROPS_ROUNDING": "passes.numerics",
    "EXACT": "passes.numerics",
    "Numerics": "passes.numerics",
    "REASSOCIATES": "passes.numerics",
    "ROUNDS_LESS_OFTEN": "passes.numerics",
    "Rewrite": "rewriting.rewrite",
    "Scalar": "rewriting.handles",
    "Stage": "passes.stage",
    "Tensor": "rewriting.handles",
    "TypedPass": "passes.typed_pass",
    "UP_TO_ZERO_SIGN": "passes.numerics",
    "all_of": "rewriting.decisions",
    "any_of": "rewriting.decisions",
    "bind": "matching.patterns",
    "each": "matching.patterns",
    "graphs_of": "analysis.graphs",
    "in_order": "matching.patterns",
    "known": "rewriting.decisions",
    "maybe": "matching.patterns",
    "no": "rewriting.decisions",
    "one_of": "matching.patterns",
    "shared": "matching.patterns",
}

__all__ = [
    "ALL_SPELLINGS",
    "APPROXIMATE",
    "DROPS_ROUNDING",
    "EXACT",
    "REASSOCIATES",
    "ROUNDS_LESS_OFTEN",
    "UP_TO_ZERO_SIGN",
    "Analyses",
    "Numerics",
    "Rewrite",
    "Scalar",
    "Stage",
    "Tensor",
    "TypedPass",
    "all_of",
    "any_of",
    "bind",
    "each",
    "graphs_of",
    "in_order",
    "known",
    "maybe",
    "no",
    "one_of",
    "shared",
]


def _passes_of(stage: Stage) -> Collection[str]:
    names: Collection[str] = import_module("xductor.transforms.rows.registry").place_names(stage)
    return names


declared_attributes.know_passes(_passes_of)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'xductor.transforms' has no attribute {name!r}")
    value = getattr(import_module(f"xductor.transforms.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
