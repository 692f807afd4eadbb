"""The error that says why a graph is not chunked."""

from __future__ import annotations

from xductor.ir import TorchOp


class CannotChunk(Exception):
    """The graph cannot be cut into chunks; the message names the op and the reason."""

    @classmethod
    def at(cls, op: TorchOp, reason: str) -> CannotChunk:
        """The error for one op, with its place in the user's program if known."""
        names = ", ".join(f"%{name}" for name in op.node.names if name)
        place = op.node.location()
        where = "" if place is None else f" ({place[0]}:{place[1]})"
        return cls(f"{names or 'an op'} = {op.name}{where}: {reason}")


__all__ = ["CannotChunk"]
