"""What a program computes if nothing is rounded to fewer bits than those of float64.

The program runs as it is, and beside each storage there is another of float64, in which each op is
done too. So views, writes, casts and autograd are those of the program, and only the numbers are
other ones: they say how far from right eager and a compile are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten

#: What draws: the numbers are those that the program drew.
_DRAWS = (aten.rand_like.default, aten.bernoulli_.float)
_DROPOUTS = (aten.dropout.default, aten.native_dropout.default)


class _Shadows(TorchDispatchMode):
    """Does each op a second time, in float64."""

    def __init__(self) -> None:
        super().__init__()
        # A storage is held as long as its number must not be given to another.
        self._held: dict[int, tuple[torch.UntypedStorage, Tensor]] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """The same elements of the second storage; made of the tensor's own where there is none."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self._held:
            flat = torch.empty(0, dtype=tensor.dtype).set_(storage)
            self._held[storage._cdata] = storage, flat.to(_wider(tensor.dtype), copy=True)
        whole = self._held[storage._cdata][1]
        return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = (args, kwargs or {})
        own = tree_map(self._widened, given)
        found = func(*given[0], **given[1])
        if torch.Tag.nondeterministic_seeded in func.tags:
            self._drawn(func, own[0], found)
            return found
        wide = func(*own[0], **own[1])
        for one, other in zip(_tensors(found), _tensors(wide), strict=True):
            if one.untyped_storage()._cdata not in self._held:
                self.of(one).copy_(other)
        return found

    def _widened(self, given: Any) -> Any:
        if isinstance(given, Tensor):
            return self.of(given)
        return _wider(given) if isinstance(given, torch.dtype) else given

    def _drawn(self, func: Any, own: Any, found: Any) -> None:
        first = _tensors(found)[0]
        if func in _DROPOUTS:
            self.of(first).copy_(own[0] * (first != 0) / (1 - own[1]))
        elif func in _DRAWS:
            self.of(first).copy_(first)
        else:
            raise NotImplementedError(f"{func} may draw numbers: say here which")


def _wider(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype.is_floating_point else dtype


def _tensors(found: Any) -> list[Tensor]:
    return [one for one in tree_leaves(found) if isinstance(one, Tensor)]


@contextmanager
def in_float64() -> Iterator[Callable[[Tensor], Tensor]]:
    """Compute beside what is run in the block; gives what tells the exact numbers of a tensor."""
    with _Shadows() as shadows:
        yield lambda tensor: shadows.of(tensor).clone()


__all__ = ["in_float64"]
