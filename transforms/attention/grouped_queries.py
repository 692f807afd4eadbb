"""Finds keys and values that several heads share, although they are repeated for each head."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xductor.ir import Facts
from xductor.ir.dialect.types import Dim
from xductor.transforms.attention.axes import View, seen_through
from xductor.transforms.attention.reading import Reader, Term, tensor_type
from xductor.transforms.editing.replacement import known_equal


def unrepeated(view: View, reader: Reader, facts: Facts) -> tuple[View, Dim] | None:
    """The view before its heads were repeated, and the number of repetitions.

    `view` is `[..., heads, length, size]`, with the repetitions of a head next to each other. None
    if it was not made by repeating heads.
    """
    view = seen_through(view, reader)
    term = reader.term(view.value)
    heads = view.axes[-3] if len(view.axes) >= 3 else None
    if term is None or heads is None or None in view.axes:
        return None
    found: tuple[SSAValue, Dim] | None = None
    if term.kind == "repeat_interleave":
        found = _interleaved(term, heads)
    elif term.kind == "reshape":
        found = _expanded(view.value, term.x, heads, reader, facts)
    if found is None:
        return None
    source, times = found
    return View(source, view.axes), times


def _interleaved(term: Term, heads: int) -> tuple[SSAValue, Dim] | None:
    x, times, dim = term.x, term.args.get("repeats"), term.args.get("dim")
    type_ = tensor_type(x)
    if type_ is None or type(times) is not int or type(dim) is not int:
        return None
    return (x, times) if dim % type_.rank == heads else None


def _expanded(
    value: SSAValue, expanded: SSAValue, heads: int, reader: Reader, facts: Facts
) -> tuple[SSAValue, Dim] | None:
    """Match `x[:, :, None].expand(b, h, n, s, d).reshape(b, h * n, s, d)`, with heads anywhere."""
    expand = reader.term(expanded)
    while expand is not None and expand.kind == "copy":
        expand = reader.term(expand.x)
    if expand is None or expand.kind != "expand":
        return None
    narrow = reader.term(expand.x)
    if narrow is None or narrow.kind != "reshape":
        return None
    types = [tensor_type(one) for one in (value, expanded, expand.x, narrow.x)]
    joined, wide, thin, source = types
    if joined is None or wide is None or thin is None or source is None:
        return None
    new = heads + 1  # the dim that was added behind the heads
    if wide.rank != joined.rank + 1 or thin.rank != wide.rank or thin.shape[new] != 1:
        return None
    without = (*wide.shape[:new], *wide.shape[new + 1 :])
    same = (
        known_equal(source.shape, without, facts)
        and known_equal((*thin.shape[:new], *thin.shape[new + 1 :]), without, facts)
        and known_equal(
            (*joined.shape[:heads], *joined.shape[heads + 1 :]),
            (*source.shape[:heads], *source.shape[heads + 1 :]),
            facts,
        )
    )
    return (narrow.x, wide.shape[new]) if same else None


__all__ = ["unrepeated"]
