"""Values that code generation may make in the memory of an input that the graph writes to.

If nobody reads the operand of a `slice_scatter` later, Inductor turns it into a write to the
operand. If that is an input, which is written at the end of the graph anyway, the result is the
input from there on: it changes with later writes, and whoever gets it as an output has got the
input. A copy keeps the two apart, so it must not be dropped between such a value and what outlives
the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from torch._ops import HigherOrderOperator
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GraphOp, OutputOp, SchemaOp, TorchOp, result_aliases
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.functionalized_calls import old_content

_OWN_LIBRARIES = frozenset(("aten", "prims"))
_SCATTERS = ("index_put", "_unsafe_index_put", "_foreach_")


def made_in_written_input(value: SSAValue, is_written: Callable[[SSAValue], bool]) -> bool:
    """Whether a value may be made in place in an input, or a constant, that the graph writes to.

    `is_written` answers that for the root of a storage.
    """
    pending, seen = [value], set[SSAValue]()
    while pending:
        root = storage_root(pending.pop())
        if root in seen:
            continue
        seen.add(root)
        if is_written(root):
            return True
        if isinstance(root, OpResult):
            pending.extend(_may_be_made_in(root))
    return False


def _may_be_made_in(result: OpResult) -> Sequence[SSAValue]:
    """The operands in whose memory a result may be made."""
    if (old := old_content(result)) is not None:
        return old
    return result.op.operands if _may_be_done_in_place(result.op) else ()


def outlives(value: SSAValue, graph: GraphOp) -> bool:
    """Whether the memory of a value may be that of an output, or be saved for the backward.

    What a joint graph saves is decided later, so there every value may be saved.
    """
    if graph.stage.data == "joint" and any("tangent" in name for name in graph.argument_names):
        return True
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, OutputOp) or not isinstance(user, TorchOp):
                return True
            in_place = _may_be_done_in_place(user)
            for result, fact in zip(user.results, result_aliases(user), strict=False):
                shares = in_place or (fact is not None and fact[0] == use.index)
                if shares and result not in seen:
                    seen.add(result)
                    pending.append(result)
    return False


def _may_be_done_in_place(op: object) -> bool:
    """Whether Inductor, or a user's pass, may turn a call into a write to one of its operands."""
    if not isinstance(op, SchemaOp):
        return isinstance(op, TorchOp) and isinstance(op.target, HigherOrderOperator)
    return _overload_may_be_done_in_place(op.name)


@cache
def _overload_may_be_done_in_place(overload: str) -> bool:
    library, name, _ = overload.split(".", 2)
    return library not in _OWN_LIBRARIES or name.endswith("_scatter") or name.startswith(_SCATTERS)


__all__ = ["made_in_written_input", "outlives"]
