"""One way to spell attention, with inputs to run it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

#: Batches, heads, rows and columns, size of a head.
B, H, S, D = 2, 4, 8, 16

NO_KERNEL_WITH_DROPOUT = "the kernel on cpu has no dropout"
NO_GRADIENT_OF_MASK = "the kernel on cpu gives no gradient of the mask"
NO_GRADIENT_OF_ROW = "a row that is masked as a whole has no gradient"


@dataclass(frozen=True)
class Spelling:
    """A function that computes attention.

    - `function`: takes the inputs and `training`, a keyword.
    - `inputs`: makes the inputs.
    - `inference`, `training`: "" if it fuses there, else why it does not; None: it is not run.
    - `error`: how far the outputs may be from eager's.
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    inference: str | None = ""
    training: str | None = ""
    error: float = 2e-6
    causal: bool = False
    grouped: bool = False

    def call(self, training: bool) -> Callable[..., Any]:
        """The function for inference or for training, as a new one that Dynamo has not seen."""
        function = self.function

        def run(*inputs: Any) -> Any:
            return function(*inputs, training=training)

        return run


def constant(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that asks for no gradient in training."""
    tensor.wants_grad = False  # type: ignore[attr-defined]
    return tensor


def bhsd(dtype: torch.dtype = torch.float32, n: int = 3) -> tuple[torch.Tensor, ...]:
    """Query, key, value as `[batch, heads, rows, size]`."""
    return tuple(torch.randn(B, H, S, D, dtype=dtype) for _ in range(n))


def bshd(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    """Query, key, value as `[batch, rows, heads, size]`."""
    return tuple(torch.randn(B, S, H, D, dtype=dtype) for _ in range(3))


def three(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    """Query, key, value as `[batch * heads, rows, size]`."""
    return tuple(torch.randn(B * H, S, D, dtype=dtype) for _ in range(3))


def bias(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A mask of numbers to add."""
    return constant(torch.randn(*shape, dtype=dtype))


def padding(*shape: int) -> torch.Tensor:
    """A boolean mask: a column is kept by all rows, or by none; the first is kept."""
    kept = torch.rand(*shape) > 0.3
    kept[..., 0] = True
    return kept


Scores = Callable[..., Tensor]


def attend(scores: Scores) -> Callable[..., Tensor]:
    """Attention with these scores."""

    def function(q: Tensor, k: Tensor, v: Tensor, *more: Any, training: bool) -> Tensor:
        return F.softmax(scores(q, k, *more), dim=-1) @ v

    return function


def with_more(*more: Callable[[], Any], make: Any = bhsd) -> Callable[[], tuple[Any, ...]]:
    """Query, key, value, and what else is given."""
    return lambda: (*make(), *(one() for one in more))


__all__ = [
    "NO_GRADIENT_OF_MASK",
    "NO_GRADIENT_OF_ROW",
    "NO_KERNEL_WITH_DROPOUT",
    "B",
    "D",
    "H",
    "S",
    "Scores",
    "Spelling",
    "attend",
    "bhsd",
    "bias",
    "bshd",
    "constant",
    "padding",
    "three",
    "with_more",
]
