"""Makes code generation store the operands of products that became loops.

Otherwise a loop over the products would recompute an operand for each row or column.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps.bridge import flush
from xductor.ir import TorchOp
from xductor.transforms.passes.events import listening
from xductor.transforms.rewriting.driver import Connected

#: The metadata by which code generation knows that a node's value must be stored.
REALIZED = "inductor_realize_to_strides"


@contextmanager
def realizing_operands(run: StageRun) -> Iterator[None]:
    """Mark the nodes of tensors that declared rewrites bind inside the block.

    Changes of earlier passes are raised first, so that all tensors have nodes.
    """
    flush(run)
    nodes: list[Any] = []

    def note(connected: Connected) -> None:
        for value in connected.application.match.bindings.values():
            node = _node(value)
            if node is not None:
                nodes.append(node)

    with listening(Connected, note):
        yield
    for node in nodes:
        node.meta[REALIZED] = True


def _node(value: Any) -> Any:
    if not isinstance(value, OpResult) or not isinstance(value.op, TorchOp):
        return None  # an input is stored anyway
    return value.op.node.origin if isinstance(value, SSAValue) else None


__all__ = ["REALIZED", "realizing_operands"]
