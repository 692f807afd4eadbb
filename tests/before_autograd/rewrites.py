"""Rewrites of torch's functions and methods that are right wherever the contracts let them apply.

Most of them would be wrong in many places: where what they drop or share is written, returned, or
made under another mode. It is the contracts that have to tell.
"""

from __future__ import annotations

from typing import Any

from xductor.ir import ops
from xductor.transforms import Rewrite, Tensor

method, pyfn = ops.method, ops.pyfn


class PreGrad(Rewrite, abstract=True):
    stage = "pre_grad"


class TwiceTransposed(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.t(method.t(x))

    def replacement(self, x: Tensor) -> Any:
        return x


class TwiceCloned(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.clone(method.clone(x))

    def replacement(self, x: Tensor) -> Any:
        return method.clone(x)


class CloneIsItself(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.clone(x)

    def replacement(self, x: Tensor) -> Any:
        return x


class CloneIsView(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.clone(x)

    def replacement(self, x: Tensor) -> Any:
        return method.view_as(x, x)


class ViewIsClone(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return method.view_as(x, y)

    def where(self, x: Tensor, y: Tensor) -> Any:
        return x.same_shape(y) & x.is_contiguous()

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return method.clone(x)


class TwiceNegated(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.neg(method.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


class DetachedOfNothing(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.detach(x)

    def replacement(self, x: Tensor) -> Any:
        return x


class JoinedAsSplit(PreGrad):
    """The pieces of a split in order are what was split."""

    def pattern(self, x: Tensor, size: int, dim: int) -> Any:
        pieces = method.split(x, size, dim)
        return pyfn.torch.cat([pieces[0], pieces[1]], dim)

    def replacement(self, x: Tensor) -> Any:
        return x


class JoinedAsChunked(PreGrad):
    def pattern(self, x: Tensor, dim: int) -> Any:
        pieces = method.chunk(x, 2, dim)
        return pyfn.torch.cat([pieces[0], pieces[1]], dim)

    def replacement(self, x: Tensor) -> Any:
        return x


class WrittenLater(PreGrad):
    """The write moves down to its reader."""

    once = True

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.sin(method.add_(x, y))

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.sin(method.add_(x, y))


class ReadLater(PreGrad):
    """The inner read moves down to the outer."""

    once = True

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.add(pyfn.torch.sin(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.add(y, pyfn.torch.sin(x))


class DrawnLater(PreGrad):
    """The draw moves down to its reader."""

    once = True

    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.relu(pyfn.torch.nn.functional.dropout(x, 0.5, True))

    def replacement(self, x: Tensor) -> Any:
        return pyfn.torch.relu(pyfn.torch.nn.functional.dropout(x, 0.5, True))


class ReadTogether(PreGrad):
    """Two readers of one tensor stand at one place."""

    once = True

    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.cos(x), pyfn.torch.tanh(x)

    def replacement(self, x: Tensor) -> Any:
        return pyfn.torch.cos(x), pyfn.torch.tanh(x)


class WrittenTogether(PreGrad):
    """Two writes of one tensor into others stand at one place."""

    once = True

    def pattern(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return method.add_(x, z), method.add_(y, z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return method.add_(x, z), method.add_(y, z)


class ContiguousIsItself(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.contiguous(x)

    def where(self, x: Tensor) -> Any:
        return x.is_contiguous()

    def replacement(self, x: Tensor) -> Any:
        return x


class CastToItself(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.float(x)

    def where(self, x: Tensor) -> Any:
        import torch

        return x.dtype == torch.float32

    def replacement(self, x: Tensor) -> Any:
        return x


REWRITES: tuple[type[Rewrite], ...] = (
    TwiceTransposed,
    TwiceCloned,
    JoinedAsSplit,
    JoinedAsChunked,
    TwiceNegated,
    CloneIsItself,
    CloneIsView,
    ViewIsClone,
    DetachedOfNothing,
    WrittenLater,
    ReadLater,
    DrawnLater,
    ReadTogether,
    WrittenTogether,
    ContiguousIsItself,
    CastToItself,
)

__all__ = ["REWRITES", "PreGrad"]
