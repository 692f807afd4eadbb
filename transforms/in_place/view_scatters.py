"""View scatters in a general form: a base, a source, and the views that lead to its place.

`slice_scatter(x, select_scatter(slice(x), source))` writes to a select of a slice of `x`: it has
one base, one source and two views. If the base may be written, this form becomes a write; otherwise
the ops stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from xductor.ir import SchemaOp, TensorType, TorchOp
from xductor.transforms.analysis.analyses import Analyses
from xductor.transforms.in_place.terms import Step, Steps
from xductor.transforms.in_place.views import SCATTERED, arguments_behind, chain_of, step_of

_MUTATING = frozenset(("aten.diagonal_scatter.default", "aten.as_strided_scatter.default"))


@dataclass(frozen=True)
class ViewScatter:
    """Nested scatters into views of one base, each the source of the next.

    - `scatters`: from the innermost, which has the source, to the outermost, which has the base.
    """

    scatters: tuple[SchemaOp, ...]

    @property
    def base(self) -> SSAValue:
        return self.scatters[-1]._operands[0]

    @property
    def source(self) -> SSAValue:
        return self.scatters[0]._operands[1]

    @property
    def steps(self) -> Steps:
        """The steps from the base to the place of the source."""
        return tuple([_step(op) for op in reversed(self.scatters)])

    @property
    def always_writes(self) -> bool:
        """Whether code generation copies the base and writes to the copy in any case."""
        return any(op.name in _MUTATING for op in self.scatters)

    @property
    def counts_from_storage(self) -> bool:
        """Whether one of the views has an offset from the start of the storage."""
        return any(op.name == "aten.as_strided_scatter.default" for op in self.scatters)


def _step(op: SchemaOp) -> Step:
    source: Any = op._operands[1]._type
    shape = source.shape if type(source) is TensorType else ()
    return step_of(SCATTERED[op.name], arguments_behind(op, 2), op._operands[0]._type, shape)


def view_scatters(analyses: Analyses) -> list[ViewScatter]:
    """The view scatters of a graph in order, with nested scatters into one base joined."""
    found: dict[TorchOp, ViewScatter] = {}
    for op in analyses.named(tuple(SCATTERED)):
        if len(op._operands) < 2 or not all(
            type(value._type) is TensorType for value in op._operands[:2]
        ):
            continue
        inner = found.get(op._operands[1].owner)
        if inner is not None and _goes_into(inner, op, analyses.order.key):
            del found[inner.scatters[-1]]
            found[op] = ViewScatter((*inner.scatters, op))
        else:
            found[op] = ViewScatter((op,))
    return list(found.values())


def _goes_into(inner: ViewScatter, op: SchemaOp, order: Callable[[Any], Any]) -> bool:
    """Whether a scatter puts the result of `inner` back into the view that `inner` started from."""
    if not inner.scatters[-1].results[0].has_one_use():
        return False
    base, steps = chain_of(inner.base)
    outer, above = chain_of(op._operands[0])
    if steps is None or above is None or base is not outer or steps != (*above, _step(op)):
        return False
    first = inner.scatters[0]
    return all(
        not isinstance(operand.owner, Operation)
        or operand.owner is inner.scatters[-1]
        or order(operand.owner) < order(first)
        for operand in op._operands
    )


__all__ = ["ViewScatter", "view_scatters"]
