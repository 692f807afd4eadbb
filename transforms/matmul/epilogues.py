"""What reads a product: whether code generation can fuse it all behind the product's kernel."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch._ops import OpOverload

from xductor.ir.effects.aliases import schema_aliases
from xductor.transforms.rewriting.handles import User

UNFUSED_ON = ("cuda", "xpu")
"""Where an add is rather fused with what reads it than with the product before it."""


def all_pointwise(users: Iterable[User]) -> bool:
    """Whether all readers of a value are pointwise, those of its views too.

    Pointwise is what PyTorch tags as such. The output of a graph is not. A value that nobody reads
    passes.
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
