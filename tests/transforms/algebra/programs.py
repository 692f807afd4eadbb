"""Small programs that do more work than their results need: what `transforms/algebra` is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

Program = Callable[..., Any]

#: By name: the program, of three square matrices and a vector, and the pass that changes it.
PROGRAMS: Mapping[str, tuple[str, Program]] = {
    "diagonal": ("diagonal_of_product", lambda a, b, c, v: torch.diag(a @ b)),
    "diagonal, scaled": ("diagonal_of_product", lambda a, b, c, v: torch.diag(a @ b.t()) * v),
    "diagonal of three": ("diagonal_of_product", lambda a, b, c, v: torch.diag((a @ b) @ c)),
    "trace": ("diagonal_of_product", lambda a, b, c, v: torch.trace(a @ b)),
    "squared norm by trace": ("diagonal_of_product", lambda a, b, c, v: torch.trace(a.t() @ a)),
    "sum": ("sum_of_product", lambda a, b, c, v: (a @ b).sum()),
    "row sums": ("sum_of_product", lambda a, b, c, v: (a @ b).sum(1)),
    "column sums": ("sum_of_product", lambda a, b, c, v: (a @ b).sum(0)),
    "row means": ("sum_of_product", lambda a, b, c, v: (a @ b).mean(-1)),
    "row sums of three": ("sum_of_product", lambda a, b, c, v: ((a @ b) @ c).sum(1)),
    "vector": ("reassociate_product", lambda a, b, c, v: a @ b @ v),
    "narrow": ("reassociate_product", lambda a, b, c, v: (a @ b) @ c[:, :4]),
    "wide": ("reassociate_product", lambda a, b, c, v: a[:4] @ (b @ c)),
    "gram matrix and vector": ("reassociate_product", lambda a, b, c, v: (a.t() @ a) @ v),
    "low rank": ("reassociate_product", lambda a, b, c, v: (a[:, :8] @ b[:8]) @ c[:, :16]),
    "diagonal matrix": ("product_of_diagonal", lambda a, b, c, v: torch.diag(v) @ b),
    "by a diagonal matrix": ("product_of_diagonal", lambda a, b, c, v: a @ torch.diag_embed(v)),
    "scaled rows": ("product_of_diagonal", lambda a, b, c, v: torch.diag(v.exp()) @ b + c),
    "outer product": ("product_of_outer", lambda a, b, c, v: torch.outer(v, v) @ b),
    "outer product of two": ("product_of_outer", lambda a, b, c, v: torch.outer(v, c[0]) @ b),
    "two products of one": ("factor_out_product", lambda a, b, c, v: a @ b + a @ c),
    "two products by one": ("factor_out_product", lambda a, b, c, v: a @ c + b @ c),
    "repeated rows": ("sum_of_expanded", lambda a, b, c, v: v.expand(a.shape).sum(0)),
    "repeated columns": ("sum_of_expanded", lambda a, b, c, v: v[:, None].expand(a.shape).sum(1)),
    "last running sum": ("last_of_cumsum", lambda a, b, c, v: a.cumsum(0)[-1] * v),
    "last running sum of rows": ("last_of_cumsum", lambda a, b, c, v: a.cumsum(1)[:, -1] + v),
    "sum of running sums": ("sum_of_cumsum", lambda a, b, c, v: a.cumsum(0).sum(0)),
    "maximum of exp": ("max_of_monotone", lambda a, b, c, v: a.exp().amax(1)),
    "maximum of tanh": ("max_of_monotone", lambda a, b, c, v: a.tanh().amax(0)),
    "maximum of sigmoid": ("max_of_monotone", lambda a, b, c, v: a.sigmoid().amax()),
    "squared distances": (
        "distances_by_product",
        lambda a, b, c, v: ((a[:, None] - b[None]) ** 2).sum(-1),
    ),
    "squared distances, broadcast": (
        "distances_by_product",
        lambda a, b, c, v: ((a[:, None] - b) ** 2).sum(-1) + c,
    ),
    "nearest": (
        "distances_by_product",
        lambda a, b, c, v: (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(2).amin(1),
    ),
    "product of exp": ("combine_exponentials", lambda a, b, c, v: a.exp() * b.exp()),
    "quotient of exp": ("combine_exponentials", lambda a, b, c, v: a.exp() / b.exp()),
    "log of exp": ("combine_exponentials", lambda a, b, c, v: a.exp().log() + b),
    "power of exp": ("combine_exponentials", lambda a, b, c, v: a.exp() ** 3),
    "transposed": (
        "product_of_transposed",
        lambda a, b, c, v: (b.t() @ a.t()).t().contiguous(),
    ),
}

#: The passes that `default` numerics admit.
BY_DEFAULT = (
    "diagonal_of_product",
    "product_of_transposed",
    "last_of_cumsum",
)


def operands(
    size: int, seed: int = 0, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, ...]:
    """Three matrices of sizes `[size, size]` and a vector, with elements between -1 and 1."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((size, size),) * 3 + ((size,),)
    return tuple((torch.rand(shape, generator=generator, dtype=dtype) * 2 - 1) for shape in shapes)


__all__ = ["BY_DEFAULT", "PROGRAMS", "operands"]
