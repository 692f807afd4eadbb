"""Random graphs of constants, inputs, views, products and pointwise ops."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch

nn = torch.nn
aten = torch.ops.aten


class Held(nn.Module):
    """`program(x, *constants)`; the module holds the constants."""

    def __init__(self, program: Callable[..., Any], constants: list[torch.Tensor]) -> None:
        super().__init__()
        self.program = program
        self.names = [f"c{number}" for number in range(len(constants))]
        for name, value in zip(self.names, constants, strict=True):
            self.register_buffer(name, value)

    def forward(self, x: torch.Tensor) -> Any:
        return self.program(x, *[getattr(self, name) for name in self.names])


_POINTWISE: tuple[Callable[[Any], Any], ...] = (
    torch.relu, torch.exp, torch.neg, torch.sigmoid, torch.abs,
    lambda a: a * 2.5, lambda a: a + 1, lambda a: a.double().float(),
    lambda a: a.bfloat16().float(), lambda a: (a > 0).float(), lambda a: a.clone(),
    lambda a: torch.zeros_like(a) + a,
)  # fmt: skip
_REDUCED: tuple[Callable[[Any], Any], ...] = (
    lambda a: a.sum(-1), lambda a: a.mean(0), lambda a: a.amax(-1, keepdim=True), torch.cumsum,
)  # fmt: skip


def _view(a: torch.Tensor, rng: Random) -> torch.Tensor:
    """A view, or a copy where there is none."""
    ways: list[Callable[[], torch.Tensor]] = [lambda: a.unsqueeze(rng.randint(0, a.ndim))]
    if a.ndim:
        dim = rng.randrange(a.ndim)
        ways += [lambda: a.reshape(-1), lambda: a.flip(dim), lambda: a.contiguous()]
        if a.shape[dim] > 1:
            ways += [
                lambda: a.narrow(dim, 1, a.shape[dim] - 1),
                lambda: a.select(dim, rng.randrange(a.shape[dim])),
                lambda: a.chunk(2, dim)[rng.randrange(2)],
                lambda: torch.index_select(a, dim, torch.tensor([0, a.shape[dim] - 1, 0])),
            ]
        if a.shape[dim] == 1:
            sizes = [3 if place == dim else size for place, size in enumerate(a.shape)]
            ways += [lambda: a.expand(sizes), lambda: a.squeeze(dim)]
    if a.ndim > 1:
        dims = list(range(a.ndim))
        rng.shuffle(dims)
        ways += [lambda: a.permute(dims)] * 3
    return rng.choice(ways)()


def _joined(a: torch.Tensor, b: torch.Tensor, rng: Random) -> torch.Tensor | None:
    """A value of two, if their sizes allow one."""
    ways: list[Callable[[], torch.Tensor]] = []
    try:
        torch.broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        pass
    else:
        ways += [lambda: a + b, lambda: a * b, lambda: torch.where(a > b, a, b)]
        ways += [lambda: torch.sub(a, b, alpha=3), lambda: torch.maximum(a, b)]
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0]:
        ways += [lambda: a @ b] * 3
        if rng.random() < 0.5:
            ways += [lambda: torch.addmm(torch.full((b.shape[1],), 0.5) * 3, a, b, beta=2)] * 3
    if a.shape == b.shape and a.ndim:
        ways += [lambda: torch.cat([a, b], rng.randrange(a.ndim)), lambda: torch.stack([a, b])]
    return rng.choice(ways)() if ways else None


def random_module(rng: Random) -> tuple[nn.Module, torch.Tensor]:
    """A module and an input. The program is the same each time that it is called."""
    torch.manual_seed(rng.randrange(1 << 30))
    size = rng.randint(1, 3)
    sizes = [(size, size), (size,), (size, size + 1), (1, size), (size, 1, size)]
    constants = [torch.randn(rng.choice(sizes)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.3:  # of one storage
        constants.append(constants[0][:1])
    seed, steps, outputs = rng.randrange(1 << 30), rng.randint(2, 14), rng.randint(1, 4)

    def program(x: torch.Tensor, *held: torch.Tensor) -> tuple[Any, ...]:
        draws = Random(seed)
        values = [x, *held, *held]
        for _ in range(steps):
            a, b = draws.choice(values), draws.choice(values)
            kind = draws.random()
            if kind < 0.35:
                made: Any = _view(a, draws)
            elif kind < 0.6:
                made = draws.choice(_POINTWISE)(a)
            elif kind < 0.65 and a.ndim:
                reduce = draws.choice(_REDUCED)
                made = reduce(a) if reduce is not torch.cumsum else torch.cumsum(a, 0)
            elif kind < 0.68:
                made = torch.arange(a.shape[0] if a.ndim else 2).float()
            else:
                made = _joined(a, b, draws)
            if made is not None and made.numel() < 500:
                values.append(made)
        return tuple(draws.choice(values[1:] + values[-3:]) for _ in range(outputs))

    return Held(program, constants), torch.randn(size, size)


__all__ = ["Held", "random_module"]
