"""Parses the value types of our text format, `!fx.tensor<f32[s0, 4], cpu>`."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

import torch

from xductor.ir.dialect.dtypes import DTYPE_OF_TEXT, nearest_dtype
from xductor.ir.dialect.types import (
    FLAGS,
    NONE,
    ObjectType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorFields,
    TensorType,
    contiguous_strides,
)
from xductor.ir.symbolic.expressions import ExpressionError, SymExpr, parse_expr
from xductor.ir.text.quoted_strings import TextError, quoted_string

_TENSOR = re.compile(r"\s*(complex<f\d+>|\w+)\s*\[")
_DEVICES = ("cpu", "cuda", "meta", "mps", "xpu", "hpu", "mtia")
#: The most commas in a tensor's type; sizes and strides may be functions of several arguments.
_MOST_COMMAS = 4096
#: The most sizes. Kernels take 64. Each stride is a product of the sizes after it.
_MOST_SIZES = 512


def _expression(text: str, position: int) -> int | SymExpr:
    try:
        return parse_expr(text.strip())
    except ExpressionError as error:
        raise TextError(str(error), position) from None


def split_commas(text: str) -> list[str]:
    """The pieces between commas outside of brackets."""
    pieces: list[str] = []
    depth = start = 0
    for index, char in enumerate(text):
        if char in "([<":
            depth += 1
        elif char in ")]>":
            depth -= 1
        elif char == "," and depth == 0:
            pieces.append(text[start:index])
            start = index + 1
    last = text[start:]
    if last.strip() or pieces:
        pieces.append(last)
    return pieces


def _dims(body: str, position: int) -> tuple[tuple[int | SymExpr, ...], str]:
    """The sizes in brackets at the start of `body`, and the text after the closing bracket."""
    depth = 1
    for index, char in enumerate(body):
        depth += (char == "[") - (char == "]")
        if depth == 0:
            dims = tuple(_expression(piece, position) for piece in split_commas(body[:index]))
            return dims, body[index + 1 :]
    raise TextError("expected ']' after the sizes", position)


def type_of_text(name: str, body: str | None, position: int) -> Any:
    """A type from its name and the text between its angle brackets.

    Raises TextError; `position` is the place of the body in the input.
    """
    if name == "fx.none":
        return NONE
    if body is None:
        raise TextError(f"expected '<' after !{name}", position)
    if name == "fx.tensor":
        return _tensor(body, position)
    if name == "fx.object":
        try:
            return ObjectType(quoted_string(body.strip()))
        except ValueError as error:
            raise TextError(f"bad !{name}: {error}", position) from None
    scalar = {"fx.symint": SymIntType, "fx.symfloat": SymFloatType, "fx.symbool": SymBoolType}.get(
        name
    )
    if scalar is None:
        raise TextError(f"!{name} is no type of this dialect", position)
    return scalar(_expression(body, position))


def _tensor(body: str, position: int) -> TensorType:
    head = _TENSOR.match(body)
    if head is None:
        raise TextError("expected an element type and sizes, such as f32[2, 3]", position)
    dtype = DTYPE_OF_TEXT.get(head.group(1))
    if dtype is None:
        meant = nearest_dtype(head.group(1))
        hint = f"; did you mean {meant}?" if meant else ""
        raise TextError(f"'{head.group(1)}' is no element type{hint}", position)
    if body.count(",") > _MOST_COMMAS:
        raise TextError("a tensor has not that many sizes", position)
    shape, rest = _dims(body[head.end() :], position)
    if len(shape) > _MOST_SIZES:
        raise TextError("a tensor has not that many sizes", position)
    stride: tuple[int | SymExpr, ...] | None = None
    if rest.startswith("["):
        stride, rest = _dims(rest[1:], position)
        if len(stride) != len(shape):
            raise TextError(f"{len(shape)} sizes but {len(stride)} strides", position)
    pieces = split_commas(rest)
    if len(pieces) < 2 or pieces[0].strip() or not pieces[1].strip():
        raise TextError("expected a device after the sizes, such as 'f32[2], cpu'", position)
    _, device, *facts = pieces
    return TensorType(_fields(dtype, shape, stride, device.strip(), facts, position))


def _meant_device(device: str) -> str:
    kind, _, index = device.partition(":")
    close = ["cuda"] if kind == "gpu" else get_close_matches(kind, _DEVICES, n=1)
    meant = f"{close[0]}:{index}" if close and index.isdecimal() else "".join(close)
    return f"; did you mean {meant}?" if meant and meant != device else ""


def _fields(
    dtype: Any, shape: Any, stride: Any, device: str, facts: list[str], position: int
) -> TensorFields:
    offset: int | SymExpr = 0
    flags: list[str] = []
    layout, subclass = "strided", ""
    for fact in facts:
        word, _, rest = fact.strip().partition(" ")
        if word == "offset":
            offset = _expression(rest, position)
        elif word == "layout":
            layout = rest.strip()
        elif word == "class":
            subclass = rest.strip()
        elif word in FLAGS and not rest:
            flags.append(word)
        else:
            raise TextError(f"'{fact.strip()}' is no fact of a tensor type", position)
    for dim in (*shape, *(stride or ()), offset):
        if type(dim) is int and not -(1 << 63) <= dim < 1 << 63:
            raise TextError(f"{dim} has more than 64 bits", position)
    if stride is None:
        try:
            stride = contiguous_strides(shape) if layout == "strided" else ()
        except ExpressionError:
            raise TextError("the strides of these sizes are too long", position) from None
    try:
        made = torch.device(device)
    except RuntimeError:
        raise TextError(f"'{device}' is no device{_meant_device(device)}", position) from None
    return TensorFields(dtype, shape, stride, made, offset, tuple(flags), layout, subclass)


__all__ = ["type_of_text"]
