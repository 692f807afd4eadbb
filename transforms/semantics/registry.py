"""Meanings by the qualified names of their ops; families are imported when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

Meaning = Callable[..., Any]

_FAMILIES = (
    "index_maps",
    "views",
    "joins",
    "creation",
    "elementwise",
    "selection",
    "comparisons",
    "casts",
    "products",
    "reductions",
    "normalization",
    "attention",
    "matrix_products",
    "activations",
    "indexing",
    "randomness",
    "quantization",
    "other_names",
)
_meanings: dict[str, Meaning] = {}
_loaded: list[str] = []


def meaning(*names: str) -> Callable[[Meaning], Meaning]:
    """Register a function as the meaning of the overloads with these qualified names."""

    def register(function: Meaning) -> Meaning:
        for name in names:
            if name in _meanings:
                raise ValueError(f"{name} has a meaning already, {_meanings[name].__qualname__}")
            _meanings[name] = function
        return function

    return register


def meanings() -> Mapping[str, Meaning]:
    """All meanings by qualified op name."""
    for family in _FAMILIES:
        if family not in _loaded:
            _loaded.append(family)
            import_module(f"xductor.transforms.semantics.families.{family}")
    return MappingProxyType(_meanings)


def meaning_of(name: str) -> Meaning | None:
    """The meaning of an overload; None if it has none."""
    return meanings().get(name)
