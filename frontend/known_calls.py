"""A cache of lowered argument lists, by their spelling in the node.

A model repeats the same calls, in which only the values among the arguments differ. A spelling is
hashable, equal only for equal constants (type-exact, bit-exact), and has a placeholder for each
value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.fx as fx
from torch.fx.immutable_collections import immutable_list
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xductor.ir import ArgsAttr, TorchOp
from xductor.ir.dialect.arguments import float_bits

#: The most spellings that are kept; then all are dropped, and those in use are added again.
LIMIT = 1 << 14

_SELF = frozenset((int, str, type(None)))
_UNLIKE_OTHERS = frozenset(
    (torch.dtype, torch.device, torch.layout, torch.memory_format, type(...))
)
_TRUE, _FALSE, _VALUE, _KEYWORDS = object(), object(), object(), object()

_known: dict[Any, ArgsAttr] = {}


def recall(spelling: Any) -> ArgsAttr | None:
    """The arguments that were remembered for a spelling."""
    return _known.get(spelling)


def remember(spelling: Any, args: ArgsAttr) -> None:
    """Keep arguments for later calls with the same spelling."""
    if len(_known) >= LIMIT:
        _known.clear()
    _known[spelling] = args


def spelling_of(
    cls: type[TorchOp], node: fx.Node, env: dict[fx.Node, Any], operands: list[SSAValue]
) -> tuple[Any, ...] | None:
    """The spelling of a node's call of the overload of `cls`; its values are added to `operands`.

    None for rare calls: with values among the keywords of a schema, values of several results, or
    live objects; `operands` then holds only some of the values.
    """
    key: list[Any] = [cls]
    if not _spell(node.args, key, env, operands):
        return None
    if node.kwargs:
        positional = len(operands)
        key += (_KEYWORDS, *node.kwargs)
        if not _spell(node.kwargs.values(), key, env, operands):
            return None
        if len(operands) > positional and not cls.raw_arguments:
            return None  # the order of the values depends on the schema
    return tuple(key)


def _spell(
    items: Iterable[Any], key: list[Any], env: dict[fx.Node, Any], operands: list[SSAValue]
) -> bool:
    """Add the spelling of arguments to `key`; False for rare arguments."""
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
        elif kind is immutable_list or kind is tuple:
            part: list[Any] = [kind]
            if not _spell(item, part, env, operands):
                return False
            key.append(tuple(part))
        elif kind is slice:
            part = [slice]
            if not _spell((item.start, item.stop, item.step), part, env, operands):
                return False
            key.append(tuple(part))
        elif kind is bool:
            key.append(_TRUE if item else _FALSE)
        elif kind is float:
            key.append((float, float_bits(item)))
        else:
            return False
    return True
