"""How a program is registered, and what its module is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

#: Calls of a builder with a batch size give a module or a function, and its arguments.
Builder = Callable[[int], tuple[Any, tuple[Any, ...]]]

BUILDERS: dict[str, Builder] = {}
META: dict[str, dict[str, Any]] = {}


class Function(nn.Module):
    """A function as a module without parameters."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def program(
    *, train: bool = True, dynamo: dict[str, Any] | None = None
) -> Callable[[Builder], Builder]:
    """Register a builder under its own name.

    `train` says whether a training step makes sense, `dynamo` has settings of Dynamo that it needs.
    """

    def register(builder: Builder) -> Builder:
        name = getattr(builder, "__name__")  # noqa: B009
        assert name not in BUILDERS, name
        BUILDERS[name] = builder
        META[name] = {"train": train, "needs": None, "dynamo": dynamo or {}}
        return builder

    return register


def as_module(made: Any) -> nn.Module:
    """A module as it is, a function as a module."""
    return made if isinstance(made, nn.Module) else Function(made)


__all__ = ["BUILDERS", "META", "Builder", "Function", "Tensor", "as_module", "program"]
