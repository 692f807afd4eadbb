"""`pointless_view` and `pointless_view_pair`: views that end at the shape they started from."""

from __future__ import annotations

from typing import Any

from xductor.ir import aten
from xductor.transforms import EXACT, Rewrite, Tensor, bind, shared


class PointlessView(Rewrite):
    """A view to the shape of its input is its input.

    One size may be -1. Strides must agree too: a view may choose those of size-one dims anew.
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
    """A view of a view, back to the shape before both, is what was viewed.

    The inner view stays if something else uses it. Conditions as for `pointless_view`.
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
