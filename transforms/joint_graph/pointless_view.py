"""`pointless_view` and `pointless_view_pair`: views that end with the shape they started from."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, bind, shared


class PointlessView(Rewrite):
    """`view(x, size)` becomes `x`, if `size` is the shape of `x`.

    One size may be -1. The strides must be equal too, because a view may choose new ones for dims
    of size one.
    """

    stage = "joint"
    inductor = "joint_graph.py:pointless_view"
    numerics = EXACT
    keeps = "x"

    def pattern(self, x: Tensor, size: list[int], y: Tensor) -> Any:
        return bind(y, aten.view(x, size))

    def where(self, x: Tensor, size: list[int], y: Tensor) -> Any:
        return x.has_sizes(size) and x.same_layout(y)

    def replacement(self, x: Tensor) -> Any:
        return x


class PointlessViewPair(Rewrite):
    """`view(view(x, ...), size)` becomes `x`, if `size` is the shape of `x`.

    One size may be -1, and the strides must be equal too. The inner view stays if something else
    uses it.
    """

    stage = "joint"
    inductor = "joint_graph.py:pointless_view_pair"
    numerics = EXACT
    keeps = "x"
    counter = "removed_pointless_view_pair"

    def pattern(self, x: Tensor, size: list[int], y: Tensor) -> Any:
        return bind(y, aten.view(shared(aten.view.default(x, ...)), size))

    def where(self, x: Tensor, size: list[int], y: Tensor) -> Any:
        return x.has_sizes(size) and x.same_layout(y)

    def replacement(self, x: Tensor) -> Any:
        return x


__all__ = ["PointlessView", "PointlessViewPair"]
