"""Softmax, whole or spelled out, plain or safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xductor.ir.operations import TorchOp
from xductor.transforms.attention.reading import Reader


@dataclass(frozen=True)
class Softmax:
    """A softmax of `x` over `dim`; `safe`: a row of nothing but -inf gives zeros, not NaN."""

    x: SSAValue
    dim: int
    ops: tuple[TorchOp, ...]
    safe: bool = False


def softmax(value: Any, reader: Reader) -> Softmax | None:
    """The softmax that makes a value, if one does."""
    term = reader.term(value)
    if term is None:
        return None
    if term.kind in ("softmax", "safe_softmax") and type(term.dim) is int:
        return Softmax(term.x, term.dim, (term.op,), term.kind == "safe_softmax")
    return None


__all__ = ["Softmax", "softmax"]
