"""Argument lists that were lowered before, found by how the node spells them.

A model makes the same call again and again: of the arguments of an overload only the values differ.
A spelling is hashable, equal for equal constants only (type-exact, bit-exact), and has a mark in
the place of each value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.fx as fx
from torch.fx.immutable_collections import immutable_list
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.ir import ArgsAttr
from xductor.ir.dialect.arguments import float_bits

#: How many spellings are kept; then all are dropped, and those in use come back by and by.
LIMIT = 1 << 14

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
    if not _spell(node.args, key, env, operands):
        return None
    if node.kwargs:
        positional = len(operands)
        key += (_KEYWORDS, *node.kwargs)
        if not _spell(node.kwargs.values(), key, env, operands) or len(operands) > positional:
            return None  # which of the values comes first is for the schema to say
    return tuple(key)


def _spell(
    items: Iterable[Any], key: list[Any], env: dict[fx.Node, Any], operands: list[SSAValue]
) -> bool:
    """Add how arguments are spelled to `key`; False for what is seldom."""
    for item in items:
        kind = type(item)
        if kind is fx.Node:
            value = env.get(item)
            if type(value) is not OpResult and type(value) is not BlockArgument:
                return False
            operands.append(value)
            key.append(_VALUE)
        elif kind in _SELF or kind in _UNLIKE_OTHERS:
            key.append(item)
        elif kind is immutable_list:
            part: list[Any] = [list]
            if not _spell(item, part, env, operands):
                return False
            key.append(tuple(part))
        elif kind is bool:
            key.append(_TRUE if item else _FALSE)
        elif kind is float:
            key.append((float, float_bits(item)))
        else:
            return False
    return True
