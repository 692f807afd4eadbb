"""Random programs that cut tensors and put pieces together, in all the spellings there are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

Tensors = list[torch.Tensor]

SIZES = (0, 1, 2, 2, 3, 4, 4, 6)


class Program:
    """A function of some tensors, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = random.Random(seed)
        shape = [rng.choice(SIZES) for _ in range(rng.choice((1, 2, 2, 3, 3)))]
        if rng.random() < 0.85:
            shape = [size or 2 for size in shape]
        self.inputs = [_root(rng, shape) for _ in range(rng.choice((1, 1, 2, 3)))]

    def __call__(self, *roots: torch.Tensor) -> Any:
        rng = random.Random(self.seed + 1)
        values: Tensors = list(roots)
        if rng.random() < 0.4:
            values = [one * 3 for one in values]
        results: Tensors = []
        for _ in range(rng.choice((1, 2, 3, 4))):
            made = _joined(rng, values)
            if made is None:
                continue
            values.append(made)
            results.append(made)
        outputs = [_used(rng, one) for one in results]
        if rng.random() < 0.15:
            roots[0].copy_(torch.zeros_like(roots[0]))
        if rng.random() < 0.1:
            rng.choice(values).add_(1)
        return outputs


def _used(rng: random.Random, x: torch.Tensor) -> torch.Tensor:
    how = rng.randrange(3)
    return x if how == 0 else x + 1 if how == 1 else x.sum(0)


def _root(rng: random.Random, shape: list[int]) -> torch.Tensor:
    # Whole numbers, so that sums are exact in whatever order a layout has them.
    generator = torch.Generator().manual_seed(rng.randrange(9999))
    values = torch.randint(-99, 99, shape, generator=generator).float()
    if values.numel() > 3:
        special = torch.tensor([float("nan"), float("inf"), -0.0])
        values.view(-1)[:3] = special
    how = rng.random()
    if how < 0.15:
        return values.mul(4).nan_to_num(0, 0, 0).to(torch.int64)
    if how < 0.3 and values.dim() > 1:
        return values.transpose(0, -1).contiguous().transpose(0, -1)
    if how < 0.4:
        return torch.stack([values, values + 1], -1)[..., 1]
    return values


def _joined(rng: random.Random, values: Tensors) -> torch.Tensor | None:
    source = rng.choice(values)
    if source.dim() == 0:
        return None
    if rng.random() < 0.3:
        source = _moved(rng, source)
    dim = rng.randrange(source.dim())
    pieces = _cut(rng, source, dim)
    if rng.random() < 0.3:
        other = rng.choice(values)
        if other.shape == source.shape:
            pieces += _cut(rng, other, dim)
    pieces = _arranged(rng, pieces)
    each: Callable[[torch.Tensor], torch.Tensor] = rng.choice(
        (_same, _same, _same, _flat, _unit, torch.clone, _turned)
    )
    pieces = [each(one) for one in pieces]
    if not pieces or pieces[0].dim() == 0:
        return torch.stack(pieces) if pieces else None
    if rng.random() < 0.1:
        pieces.insert(rng.randrange(len(pieces) + 1), torch.zeros(0))
    rank = max(one.dim() for one in pieces)
    join = rng.choice((torch.cat, torch.cat, torch.stack))
    along = min(dim if rng.random() < 0.6 else rng.randrange(rank), rank - 1)
    if not _fit(pieces, rank, along if join is torch.cat else rank):
        return None
    return join(pieces, along - rng.choice((0, rank + (join is torch.stack))))


def _fit(pieces: Tensors, rank: int, along: int) -> bool:
    """Whether pieces have the same sizes in all dims but one; a cat passes over empty vectors."""
    others: set[tuple[int, ...]] = set()
    for one in pieces:
        if one.shape == (0,) and along < rank:
            continue
        if one.dim() != rank:
            return False
        others.add((*one.shape[:along], *one.shape[along + 1 :]))
    return len(others) < 2


def _cut(rng: random.Random, x: torch.Tensor, dim: int) -> Tensors:
    size = x.shape[dim]
    how = rng.randrange(7)
    if how == 0:
        return list(x.split(rng.choice((1, 2, 3)), dim))
    if how == 1:
        return list(x.chunk(rng.choice((1, 2, 3)), dim))
    if how == 2 and x.dim() > 1:
        return list(x.unbind(dim))
    if how == 3 and x.dim() > 1:
        return [x.select(dim, index) for index in range(size)]
    if how == 4:
        seams = sorted(rng.choices(range(size + 1), k=rng.choice((1, 2, 3))))
        sizes = [end - start for start, end in zip([0, *seams], [*seams, size], strict=True)]
        return list(torch.ops.aten.split_with_sizes(x, sizes, dim - rng.choice((0, x.dim()))))
    if how == 5:
        step = rng.choice((1, 2))
        return [x.narrow(dim, start, 1) for start in range(0, size, step)]
    seam = rng.randrange(size + 1)
    return [torch.ops.aten.slice(x, dim, 0, seam), torch.ops.aten.slice(x, dim, seam)]


def _arranged(rng: random.Random, pieces: Tensors) -> Tensors:
    how = rng.random()
    if how < 0.55 or len(pieces) < 2:
        return pieces
    if how < 0.65:
        return rng.sample(pieces, len(pieces))
    if how < 0.75:
        return [*pieces, *pieces]
    if how < 0.85:
        del pieces[rng.randrange(len(pieces))]
        return pieces
    return rng.choices(pieces, k=len(pieces))


def _moved(rng: random.Random, x: torch.Tensor) -> torch.Tensor:
    how = rng.randrange(5)
    if how == 0:
        return x.permute(rng.sample(range(x.dim()), x.dim()))
    if how == 1:
        return x.reshape(-1)
    if how == 2:
        return x.unsqueeze(rng.randrange(x.dim() + 1))
    if how == 3 and x.shape[-1] % 2 == 0:
        return x.reshape(*x.shape[:-1], 2, x.shape[-1] // 2)
    return x.unsqueeze(0).expand(2, *x.shape)


def _same(x: torch.Tensor) -> torch.Tensor:
    return x


def _flat(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1)


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x.unsqueeze(-1)


def _turned(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(0, -1) if x.dim() > 1 else x
