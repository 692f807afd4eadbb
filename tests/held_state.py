"""What a module holds, bit for bit: to see that a compile left it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class _Held:
    """One tensor of a module: which object it is, where it lies, and a copy of its bytes."""

    tensor: Tensor
    place: tuple[Any, ...]
    content: bytes


class HeldState:
    """Parameters, buffers and other tensors of a module and its children, as they are now."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._names = _names(module)
        self._held = {
            name: _Held(one, _place(one), _content(one)) for name, one in _tensors(module)
        }

    def changes(self) -> list[str]:
        """What differs now, in words; nothing if all is as it was, aliases included."""
        now = dict(_tensors(self._module))
        found = [f"{name} is new" for name in now.keys() - self._held.keys()]
        if _names(self._module) != self._names:
            found.append("parameters, buffers or the state dict have other names")
        for name, held in self._held.items():
            if name not in now:
                found.append(f"{name} is gone")
            elif now[name] is not held.tensor:
                found.append(f"{name} is another tensor")
            elif _place(now[name]) != held.place:
                found.append(f"{name} is {_place(now[name])}, and was {held.place}")
            elif _content(now[name]) != held.content:
                found.append(f"{name} has other elements")
        return found


def _names(module: nn.Module) -> tuple[list[str], ...]:
    named = (
        module.named_parameters(remove_duplicate=False),
        module.named_buffers(remove_duplicate=False),
    )
    return (*([name for name, _ in each] for each in named), list(module.state_dict()))


def _tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for prefix, one in module.named_modules(remove_duplicate=False):
        for kind in (one._parameters, one._buffers, vars(one)):
            for name, value in kind.items():
                if isinstance(value, Tensor):
                    yield f"{prefix}.{name}", value


def _place(tensor: Tensor) -> tuple[Any, ...]:
    """Type, sizes, strides, storage, gradients and count of writes; aliases share a storage."""
    storage = tensor.untyped_storage()
    where = storage.data_ptr(), storage.nbytes(), tensor.storage_offset(), tensor._version
    layout = tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.layout
    return (*layout, *where, tensor.requires_grad, type(tensor))


def _content(tensor: Tensor) -> bytes:
    """The bytes of the whole storage, beside and between the elements too."""
    with torch.no_grad():
        flat = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
        return flat.numpy().tobytes()


__all__ = ["HeldState"]
