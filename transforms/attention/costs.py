"""Whether a fused call is faster than the products and the softmax that it replaces.

This was measured: each row of a table is an attention that was timed in both forms by
`tests/benchmarks/attention_costs.py`. Another attention is judged by the rows nearest to it.

`measured_costs.csv` is of an H200. Short rows with a mask lose, as in the windows of a vision
transformer. So do most long rows with a bias that has a gradient: the kernel writes one as large as
the scores.

`measured_costs_on_cpu.csv` is of two cores with AVX-512 and without AMX. The kernel multiplies
bfloat16 slowly there.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import torch

from xductor.ir.dialect.types import Dim, TensorFields
from xductor.transforms.attention.kernels import Request

_TABLES = {"cuda": "measured_costs.csv", "cpu": "measured_costs_on_cpu.csv"}
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


class Group(NamedTuple):
    """What is compared with each other.

    - `device`: its type.
    - `kind`: of mask, as the table has it.
    - `grad`: whether there is a backward.
    - `dtype`: on a CPU; GPUs were measured in half precision, and are judged so in any dtype.
    """

    device: str
    kind: str
    grad: bool
    dtype: torch.dtype | None = None


def static_size(size: Dim) -> int | None:
    """A size that is a plain number; None if it is symbolic."""
    return size if isinstance(size, int) else None


def refusal_by_cost(
    request: Request, slower: float = 1.0, seen: Callable[[Dim], float | None] = static_size
) -> str | None:
    """Why a fused call does not pay; None if it does, or if nothing is known of its costs.

    Nothing is known of sizes that depend on data, of CPUs with AMX in 16 bits, and of dtypes of
    which the table has no row.

    - `slower`: how many times longer what it replaces takes than products and a softmax in the
      dtype of the request.
    - `seen`: what a size was while the graph was traced; None if it was not known then.
    """
    sizes = [seen(one) for one in (*request.query.shape, request.key.shape[2])]
    batch, heads, rows, head, columns = (int(one or 0) for one in sizes)
    if not all((batch, heads, rows, head, columns)):
        return None
    group = group_of(request)
    if _has_other_products(group):
        return None
    known = _estimated(Shape(batch * heads, rows, columns, head), group)
    if known is None or known / slower <= 1:
        return None
    return f"the fused call would take {known / slower:.2f} times as long as what it replaces"


def _has_other_products(group: Group) -> bool:
    """Whether products of a CPU are not those that were measured."""
    return group.dtype is torch.bfloat16 and torch.cpu._is_amx_tile_supported()


def group_of(request: Request) -> Group:
    """The group of the table by which a request is judged."""
    device = request.device.type
    if device == "cpu":
        kind = "plain" if request.mask is None else "padding"
        return Group(device, kind, request.grad, request.dtype)
    return Group(device, _kind_of(request), request.grad)


def _kind_of(request: Request) -> str:
    """The kind of mask.

    A mask that wants no gradient costs a backward what padding does, whatever its sizes.
    """
    mask = request.mask
    if mask is None:
        return "causal" if request.causal else "plain"
    if request.grad and not request.mask_grad:
        return "padding"
    if _is_spread(mask, 0):
        return "bias"
    return "padding" if _is_spread(mask, 1) else "scores"


def _is_spread(mask: TensorFields, dim: int) -> bool:
    return mask.shape[dim] == 1 or mask.stride[dim] == 0


@lru_cache(maxsize=1024)
def _estimated(shape: Shape, group: Group) -> float | None:
    """What `estimated` says of the rows of a group; None if there are none. Layers of a model ask
    the same.
    """
    rows = measured(group.device).get(group)
    return None if rows is None else estimated(shape, rows)


def estimated(shape: Shape, rows: Iterable[Measured]) -> float:
    """The time of the fused form over that of the other, by the nearest of some rows."""
    near = sorted((shape.distance(row.shape), math.log(row.ratio)) for row in rows)[:_NEAREST]
    weights = [1 / (distance + 0.1) ** 2 for distance, _ in near]
    total = sum(weight * ratio for weight, (_, ratio) in zip(weights, near, strict=True))
    return math.exp(total / sum(weights))


@cache
def measured(device: str) -> dict[Group, list[Measured]]:
    """The rows of the table of a type of device, by group; none if there is no table."""
    found: dict[Group, list[Measured]] = {}
    if device not in _TABLES:
        return found
    with Path(__file__).with_name(_TABLES[device]).open(newline="") as file:
        for row in csv.DictReader(file):
            batch, heads, *sizes = (
                int(row[name]) for name in ("batch", "heads", "rows", "columns", "head")
            )
            shape = Shape(batch * heads, *sizes)
            ratio = float(row["fused_us"]) / float(row["spelled_out_us"])
            kind = "scores" if row["kind"] == "window" else row["kind"]
            dtype = getattr(torch, row["dtype"]) if device == "cpu" else None
            group = Group(device, kind, row["grad"] == "True", dtype)
            found.setdefault(group, []).append(Measured(shape, ratio))
    return found


__all__ = [
    "Group",
    "Measured",
    "Shape",
    "estimated",
    "group_of",
    "measured",
    "refusal_by_cost",
    "static_size",
]
