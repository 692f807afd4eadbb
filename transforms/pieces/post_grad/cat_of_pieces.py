"""`cat_of_pieces`: pieces that are joined again are read from where they were cut."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from torch._ops import OpOverload
from torch.fx import Graph, Node

from xductor.ir import op_class_by_name
from xductor.ir.effects.aliases import needs_storage_check, schema_aliases
from xductor.transforms.pieces.pieces_pass import Form, Pieces, PiecesPass
from xductor.transforms.pieces.regions import KEEP_ORDER


@dataclass(frozen=True)
class CatOfPieces(PiecesPass):
    """A cat or stack of pieces as a view of what was cut, or a cat of fewer and larger pieces.

    Where Inductor's pattern asks for all pieces of one `split_with_sizes`, this one takes pieces
    however they were cut: some of them, of several tensors, mixed with other operands.
    """

    name = "cat_of_pieces"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether a join has two adjacent parts that may be pieces of one tensor."""
        return any(map(_may_have_pieces, cls.root_nodes(graph)))

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if len(pieces.runs) == len(pieces.join.parts) > 1:
            return ()
        return ("view", "fewer")


def _may_have_pieces(join: Node) -> bool:
    parts: Any = join.args[0] if join.args else join.kwargs.get("tensors")
    if not isinstance(parts, list | tuple) or len(parts) < 2:
        return True
    roots = [_root(one) for one in parts]
    return any(one is other for one, other in pairwise(roots))


def _root(part: Any) -> Any:
    """The node whose storage a part may lie in, seen through copies that keep the order."""
    while isinstance(part, Node) and part.op == "call_function" and _may_be_followed(part.target):
        inputs = part.all_input_nodes
        if not inputs:
            break
        part = inputs[0]
    return part


_KEEP_ORDER = frozenset(op_class_by_name(name).target for name in KEEP_ORDER)


@cache
def _may_be_followed(target: Any) -> bool:
    """Whether a call may give a view or a copy in the same order, or picks what one gives."""
    if target is operator.getitem or target in _KEEP_ORDER or needs_storage_check(target):
        return True
    return isinstance(target, OpOverload) and any(schema_aliases(target))


__all__ = ["CatOfPieces"]
