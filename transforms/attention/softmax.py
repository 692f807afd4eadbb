"""Finds softmax, as one call or spelled out, plain or safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import TorchOp
from xductor.transforms.attention.reading import Reader, Term, name_of, rank_of


@dataclass(frozen=True)
class Softmax:
    """A softmax of `x` over `dim`; if `safe`, a row of only -inf gives zeros, not NaN."""

    x: SSAValue
    dim: int
    ops: tuple[TorchOp, ...]
    safe: bool = False


def softmax(value: Any, reader: Reader) -> Softmax | None:
    """The softmax that makes a value, or None."""
    term = reader.term(value)
    if term is None:
        return None
    if term.kind in ("softmax", "safe_softmax") and type(term.dim) is int:
        return Softmax(term.x, term.dim, (term.op,), term.kind == "safe_softmax")
    if term.kind == "nan_to_num":
        return _safe(term, softmax(term.x, reader))
    if term.kind == "div" and term.args.get("rounding_mode") is None:
        return _spelled_out(term, reader)
    return None


def _safe(term: Term, inner: Softmax | None) -> Softmax | None:
    """A softmax whose NaN becomes 0; a softmax has no infinities that would be changed too."""
    if inner is None or term.args.get("nan") not in (None, 0, 0.0):
        return None
    return Softmax(inner.x, inner.dim, (term.op, *inner.ops), safe=True)


def _spelled_out(term: Term, reader: Reader) -> Softmax | None:
    """Match `e / e.sum(dim, keepdim)` with `e = exp(x - x.amax(dim, keepdim))`."""
    exp = reader.term(term.x)
    total = reader.term(term.y)
    if exp is None or exp.kind != "exp" or total is None or total.kind != "sum":
        return None
    dim = _reduced(total)
    difference = reader.term(exp.x)
    if dim is None or total.x is not term.x or total.args.get("dtype") is not None:
        return None
    if difference is None or difference.kind != "sub" or difference.args.get("alpha", 1) != 1:
        return None
    above = _maximum(difference.y, reader)
    if above is None or above[0] is not difference.x or above[1] != dim:
        return None
    ops = (term.op, exp.op, total.op, difference.op, *above[2])
    return Softmax(difference.x, dim, ops)


def _reduced(term: Term) -> int | None:
    """The only dim of a reduction that keeps it with size one, counted from the front, or None."""
    return _one_dim(term.x, term.args.get("dim"), term.args.get("keepdim"))


def _one_dim(x: Any, dim: Any, keepdim: Any) -> int | None:
    if isinstance(dim, tuple | list) and len(dim) == 1:
        dim = dim[0]
    rank = rank_of(x)
    return dim % rank if type(dim) is int and keepdim is True and rank else None


def _maximum(value: Any, reader: Reader) -> tuple[SSAValue, int, tuple[TorchOp, ...]] | None:
    """The operand of a maximum over a dim, that dim, and the ops that compute the maximum."""
    if not isinstance(value, OpResult) or not isinstance(value.op, TorchOp):
        return None
    name = name_of(value.op)
    if name in ("detach", "clone", "alias"):
        inner = _maximum(value.op.operands[0], reader)
        return None if inner is None else (inner[0], inner[1], (value.op, *inner[2]))
    args = reader.arguments(value.op) if name in ("amax", "max") else None
    if args is None or value.index != 0 or not args:
        return None
    x = next(iter(args.values()))
    dim = _one_dim(x, args.get("dim"), args.get("keepdim"))
    return None if dim is None else (x, dim, (value.op,))


__all__ = ["Softmax", "softmax"]
