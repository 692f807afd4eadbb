"""The error for graphs that cannot be lowered."""

from __future__ import annotations

import torch.fx as fx

from xductor.ir.dialect.metadata import user_location


class LoweringError(ValueError):
    """A graph cannot be lowered because of `node`. The graph was not changed."""

    def __init__(self, node: fx.Node | None, problem: str, hint: str = "") -> None:
        self.node = node
        lines = [
            problem
            if node is None
            else f"node '{node.name}' ({node.op} {target_text(node)}): {problem}"
        ]
        location = user_location(node.meta.get("stack_trace")) if node is not None else None
        if location is not None:
            lines.append(f"  user code: {location[0]}:{location[1]}")
        if hint:
            lines.append(f"  {hint}")
        super().__init__("\n".join(lines))


def target_text(node: fx.Node) -> str:
    """A node's target as text for a message."""
    target = node.target
    return target if isinstance(target, str) else getattr(target, "__name__", None) or str(target)
