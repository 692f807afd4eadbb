"""What passes tell of the ops that they leave alone, if somebody asks."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from xductor.ir import TorchOp
from xductor.transforms.passes.events import listeners_of, tell


class Refused(Protocol):
    """Takes the ops that nearly matched, each with the reason why it was left alone.

    - `at`: the op that stands in the way, if it is another; `remedy`: with what it would match.
    """

    def __call__(
        self, op: TorchOp, reason: str, /, *, at: TorchOp | None = None, remedy: str = ""
    ) -> None: ...


class LeftAlone(NamedTuple):
    """An op that a pass would have replaced, and the contract that does not let it."""

    op: TorchOp
    reason: str


def left_alone(op: TorchOp, reason: str, *parts: object) -> None:
    """Tell that a contract keeps an op from being replaced, if somebody listens.

    The parts are put into the reason only then, as `str.format` does.
    """
    if listeners_of(LeftAlone):
        tell(LeftAlone(op, reason.format(*parts) if parts else reason))


__all__ = ["LeftAlone", "Refused", "left_alone"]
