"""`merge_splits_pass`: a split of a piece of a split along the same dim is one split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.ir import OpResult, SSAValue

from xductor.ir import TorchOp, aten
from xductor.ir.functions.torch_calls import aten_call
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms import EXACT
from xductor.transforms.matching.matcher import Match
from xductor.transforms.pieces.regions import strided
from xductor.transforms.rewriting.driver import Procedure
from xductor.transforms.rewriting.handles import Tensor, value_handle
from xductor.transforms.rewriting.procedural_pass import REFUSALS, ProceduralPass

#: The dim of splits that have none among their arguments; that of a vector is always the first.
_DIMS = {"hsplit": 1, "vsplit": 0, "dsplit": 2}
#: The pieces of a `tensor_split` may overlap; a split of their sizes cannot be built then.
SPLITS = frozenset(
    ("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default",
     "aten.tensor_split.sections", "aten.tensor_split.indices",
     *(f"aten.{name}.{kind}" for name in _DIMS for kind in ("int", "array")))
)  # fmt: skip


class Split(NamedTuple):
    """A split of `source` along a dim counted from the front."""

    op: TorchOp
    source: SSAValue
    dim: int


@dataclass(frozen=True)
class MergeSplitsPass(ProceduralPass):
    """A split of a piece that nothing else reads is merged into the split that made the piece.

    Splits are `split`, `chunk`, `tensor_split`, `hsplit`, `vsplit` and `dsplit`.
    """

    name = "merge_splits_pass"
    stage = "pre_grad"
    inductor = "split_cat.py:merge_splits"
    numerics = EXACT
    counter = "merge_splits_pass"
    roots = spelled(SPLITS)

    def replace_at(self, ops: Sequence[Any], procedure: Procedure) -> int:
        return sum(_merge(op, procedure) for op in ops if op.parent is not None)


def split_of(op: Any) -> Split | None:
    """The call as a split whose pieces are known from their types; None for any other call."""
    call = aten_call(op)
    if call is None or call.name not in SPLITS:
        return None
    source = call.argument("self")
    type_ = strided(source) if isinstance(source, SSAValue) else None
    named = _DIMS.get(call.name.split(".")[1])
    dim = call.argument("dim") if named is None or type_ is None else min(named, type_.rank - 1)
    if type_ is None or type(dim) is not int or any(strided(one) is None for one in op.results):
        return None
    return Split(op, source, dim % type_.rank)


def _merge(op: TorchOp, procedure: Procedure) -> bool:
    inner = split_of(op)
    if inner is None or not isinstance(inner.source, OpResult) or not _is_read(op):
        return False
    outer = split_of(inner.source.op)
    if outer is None or outer.dim != inner.dim or len(list(inner.source.uses)) != 1:
        return False
    place = inner.source.index
    before, after = outer.op.results[:place], outer.op.results[place + 1 :]
    pieces = [*before, *op.results, *after]
    facts = procedure.state.facts

    def build() -> list[Any]:
        sizes = [Tensor(strided(one), facts).shape[outer.dim] for one in pieces]  # type: ignore[arg-type]
        whole: Any = value_handle(outer.source, facts)
        return list(aten.split_with_sizes(whole, sizes, outer.dim))

    try:
        procedure.replace(Match.of(op, [outer.op, op], pieces, [outer.source]), build)
    except REFUSALS as refusal:
        procedure.refuse(op, refusal)
        return False
    return True


def _is_read(op: TorchOp) -> bool:
    return any(one.first_use is not None for one in op.results)


__all__ = ["SPLITS", "MergeSplitsPass", "Split", "split_of"]
