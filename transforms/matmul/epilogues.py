"""Whether code generation can fuse all readers of a product into an epilogue of its kernel."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch._ops import OpOverload

from xductor.ir.effects.aliases import schema_aliases
from xductor.transforms.rewriting.handles import User

#: Devices on which an add is better fused with its readers than with the product.
UNFUSED_ON = ("cuda", "xpu")


def all_pointwise(users: Iterable[User]) -> bool:
    """Whether all readers of a value, and of its views, are pointwise.

    An op is pointwise if PyTorch tags it so; the output of a graph is not. True if there are no
    readers.
    """
    return all(_is_pointwise(user) for user in users)


def _is_pointwise(user: User) -> bool:
    target = getattr(type(user.op), "target", None)
    if not isinstance(target, OpOverload):
        return False
    if any(schema_aliases(target)):
        readers = [use.operation for result in user.op.results for use in result.uses]
        return all_pointwise(User(one.name, one) for one in readers)  # type: ignore[arg-type]
    return torch.Tag.pointwise in target.tags


__all__ = ["UNFUSED_ON", "all_pointwise"]
