"""Where procedural passes report the op they are about to change, for the record of a compile.

Declared rewrites report more: `rewriting.driver.Application`, and `Connected`.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from xductor.transforms.passes.events import tell


class Applied(NamedTuple):
    """An op that is about to go or move, and the values that will stand for its results."""

    op: Operation
    new: tuple[SSAValue, ...]


def applied(op: Operation, *new: SSAValue) -> None:
    """Report that `op` is about to be replaced by `new`, moved or erased, as one application.

    Call it once for each application that the pass counts, while `op` is still unchanged.
    """
    tell(Applied(op, new))


__all__ = ["Applied", "applied"]
