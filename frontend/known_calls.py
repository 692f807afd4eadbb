"""Argument lists that were lowered before, found by how the node spells them.

A model makes the same call again and again: of the arguments of an overload only the values differ.
A spelling is hashable, equal for equal constants only (type-exact, bit-exact), and has a mark in
the place of each value.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from torch.fx.immutable_collections import immutable_list
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.ir.arguments import ArgsAttr, float_bits

LIMIT = 1 << 14
"""How many spellings are kept; then all are dropped, and those in use come back by and by."""

_SELF = frozenset((int, str, type(None)))
_UNLIKE_OTHERS = frozenset((torch.dtype, torch.device, torch.layout, torch.memory_format))
_TRUE, _FALSE, _VALUE, _KEYWORDS = object(), object(), object(), object()

_known: dict[Any, ArgsAttr] = {}


def recall(spelling: Any) -> ArgsAttr | None:
    """The arguments that were remembered for a spelling."""
    return _known.get(spelling)


def remember(spelling: Any, args: ArgsAttr) -> None:
    """Keep arguments for the next call that is spelled like this one."""
    if len(_known) >= LIMIT:
        _known.clear()
    _known[spelling] = args


def spelling_of(
    cls: type, node: fx.Node, env: dict[fx.Node, Any], operands: list[SSAValue]
) -> tuple[Any, ...] | None:
    """How a node calls the overload of `cls`; its values are added to `operands`.

    None for what is seldom: values among the keywords, tuples of values, live objects; `operands`
    then holds some of the values.
    """
    key: list[Any] = [cls]
    args: tuple[Any, ...] = node.args
    for item in args:
        kind = type(item)
        if kind is fx.Node:
            value = env.get(item)
            if type(value) is not OpResult and type(value) is not BlockArgument:
                return None
            operands.append(value)
            key.append(_VALUE)
        elif kind in _SELF or kind in _UNLIKE_OTHERS:
            key.append(item)
        elif kind is immutable_list:
            part = _list(item, env, operands)
            if part is None:
                return None
            key.append(part)
        else:
            part = _number(kind, item)
            if part is None:
                return None
            key.append(part)
    if node.kwargs:
        key.append(_KEYWORDS)
        for name, item in node.kwargs.items():
            kind = type(item)
            constant = item if kind in _SELF or kind in _UNLIKE_OTHERS else _number(kind, item)
            if constant is None and item is not None:
                return None
            key += (name, constant)
    return tuple(key)


def _number(kind: type, item: Any) -> Any:
    if kind is bool:
        return _TRUE if item else _FALSE
    return (float, float_bits(item)) if kind is float else None


def _list(items: Any, env: dict[fx.Node, Any], operands: list[SSAValue]) -> tuple[Any, ...] | None:
    key: list[Any] = [list]
    for item in items:
        kind = type(item)
        if kind is int:
            key.append(item)
        elif kind is fx.Node:
            value = env.get(item)
            if type(value) is not OpResult and type(value) is not BlockArgument:
                return None
            operands.append(value)
            key.append(_VALUE)
        elif kind is bool:
            key.append(_TRUE if item else _FALSE)
        elif item is None:
            key.append(None)
        else:
            return None
    return tuple(key)
