"""Whether a fused call is faster than the products and the softmax that it replaces.

On CUDA this was measured: each row of `measured_costs.csv` is an attention that was timed in both
forms on an H200 by `tests/benchmarks/attention_costs.py`. Another attention is judged by the
rows nearest to it. Short rows with a mask lose, as in the windows of a vision transformer. So do
most long rows with a bias that has a gradient: the kernel writes one as large as the scores.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from xductor.ir.dialect.types import TensorFields
from xductor.transforms.attention.kernels import Request

_TABLE = Path(__file__).with_name("measured_costs.csv")
_NEAREST = 4
#: The weight of a doubling in the number of heads, against one of rows, columns or the head size.
_HEADS = 0.4
#: How far apart columns that fill whole vectors are from those that do not, in doublings.
_UNALIGNED = 1.0


class Shape(NamedTuple):
    """The sizes that decide what attention costs.

    - `batches`: batch entries times heads.
    - `rows`, `columns`: of the scores.
    - `head`: the size of a head.
    """

    batches: int
    rows: int
    columns: int
    head: int

    def distance(self, other: Shape) -> float:
        """How different two attentions are, in doublings of a size."""
        batches, *sizes = (
            math.log2(one / another) ** 2 for one, another in zip(self, other, strict=True)
        )
        apart = math.sqrt(_HEADS * batches + sum(sizes))
        return apart + _UNALIGNED * ((self.columns % 8 == 0) is not (other.columns % 8 == 0))


class Measured(NamedTuple):
    """An attention that was timed, and the time of the fused form over that of the other."""

    shape: Shape
    ratio: float


Group = tuple[str, bool]


def refusal_by_cost(request: Request, slower: float = 1.0) -> str | None:
    """Why a fused call does not pay; None if it does, or if nothing is known of its costs.

    Nothing is known of CPUs, and of sizes that are not known while compiling.

    - `slower`: how many times longer what it replaces takes than products and a softmax in the
      dtype of the request.
    """
    if request.device.type != "cuda":
        return None
    sizes = (*request.query.shape, request.key.shape[2])
    batch, heads, rows, head, columns = (one if isinstance(one, int) else 0 for one in sizes)
    if not all((batch, heads, rows, head, columns)):
        return None
    shape = Shape(batch * heads, rows, columns, head)
    ratio = estimated(shape, measured()[group_of(request)]) / slower
    if ratio <= 1:
        return None
    return f"the fused call would take {ratio:.2f} times as long as what it replaces"


def group_of(request: Request) -> Group:
    """Kind of mask, and whether there is a backward, as the table has them.

    A mask that wants no gradient costs a backward what padding does, whatever its sizes.
    """
    mask = request.mask
    if mask is None:
        return ("causal" if request.causal else "plain"), request.grad
    if request.grad and not request.mask_grad:
        return "padding", True
    if _is_spread(mask, 0):
        return "bias", request.grad
    return ("padding" if _is_spread(mask, 1) else "scores"), request.grad


def _is_spread(mask: TensorFields, dim: int) -> bool:
    return mask.shape[dim] == 1 or mask.stride[dim] == 0


def estimated(shape: Shape, rows: Iterable[Measured]) -> float:
    """The time of the fused form over that of the other, by the nearest of some rows."""
    near = sorted((shape.distance(row.shape), math.log(row.ratio)) for row in rows)[:_NEAREST]
    weights = [1 / (distance + 0.1) ** 2 for distance, _ in near]
    total = sum(weight * ratio for weight, (_, ratio) in zip(weights, near, strict=True))
    return math.exp(total / sum(weights))


@cache
def measured() -> dict[Group, list[Measured]]:
    """The rows of the table, by kind of mask and whether there is a backward."""
    found: dict[Group, list[Measured]] = {}
    with _TABLE.open(newline="") as file:
        for row in csv.DictReader(file):
            batch, heads, *sizes = (
                int(row[name]) for name in ("batch", "heads", "rows", "columns", "head")
            )
            shape = Shape(batch * heads, *sizes)
            ratio = float(row["fused_us"]) / float(row["spelled_out_us"])
            kind = "scores" if row["kind"] == "window" else row["kind"]
            found.setdefault((kind, row["grad"] == "True"), []).append(Measured(shape, ratio))
    return found


__all__ = ["Measured", "Shape", "estimated", "group_of", "measured", "refusal_by_cost"]
