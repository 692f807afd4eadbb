"""Random graphs before autograd of calls that may be grouped, beside writes, views and modes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule

from tests.before_autograd.random_piece_graphs import Pair, PieceGraph, strides_shown

F = torch.nn.functional


class GroupGraph(PieceGraph):
    """Rows of calls of one form, in all the words that there are for them."""

    def _input(self, number: int) -> torch.Tensor:
        rng = self.rng
        if not number:
            self.rows = rng.choice((1, 2, 3))
        shape = ((self.rows, 4), (self.rows, 4), (4, 4), (4, 4), (4,), (4,))[number]
        generator = torch.Generator().manual_seed(rng.randrange(999))
        real = torch.randint(-9, 9, shape, generator=generator).double() / 4
        if rng.random() < 0.2:
            real.view(-1)[rng.randrange(real.numel())] = rng.choice((-0.0, float("inf"), 1e300))
        real.requires_grad_(rng.random() < 0.6)
        node = self.graph.placeholder(f"x{number}")
        fake = self.mode.from_tensor(real)
        node.meta["example_value"] = fake
        self.values.append((node, fake))
        return real

    def _count(self) -> int:
        return 6

    def _steps(self) -> int:
        return self.rng.randint(4, 10)

    def _step(self) -> None:
        rng = self.rng
        how = rng.random()
        try:
            if how < 0.65:
                self._row()
            elif how < 0.72:
                self._view(rng.choice(self.values))
            elif how < 0.79:
                self._write()
            elif how < 0.85:
                self._set_grad(not self.grad)
            else:
                self._meet()
        except (RuntimeError, IndexError, TypeError, ValueError):
            return

    def _row(self) -> None:
        """Calls of one kind on several values, sometimes with something in between."""
        rng = self.rng
        make = rng.choice(_KINDS)
        shape = rng.choice(self.values)[1].shape
        same = [one for one in self.values if one[1].shape == shape]
        made: list[Pair] = []
        for number in range(rng.choice((2, 3, 4, 6))):
            chosen = rng.choice(same)
            if number and rng.random() < 0.3:
                chosen = self._call(operator.add, chosen, number)
            made.append(make(self, chosen))
            if rng.random() < 0.06:
                self._write()
            if rng.random() < 0.04:
                self._set_grad(not self.grad)
        if rng.random() < 0.4:
            made = [self._call(rng.choice(("neg", torch.neg)), one) for one in made]
        if rng.random() < 0.6:
            self._call(rng.choice((torch.stack, torch.cat)), made)
        elif rng.random() < 0.5:
            self._sum(made)

    def _sum(self, pairs: list[Pair]) -> None:
        total = pairs[0]
        for one in pairs[1:]:
            total = self._call(self.rng.choice((operator.add, torch.add)), total, one)

    def _meet(self) -> None:
        pair = self.rng.choice(self.values)
        same = [one for one in self.values if one[1].shape == pair[1].shape]
        self._sum(self.rng.sample(same, min(len(same), self.rng.choice((2, 3, 5)))))

    def linear(self, pair: Pair) -> Pair:
        rng = self.rng
        weight = rng.choice(self.values[2:4])
        bias = rng.choice((None, *self.values[4:6]))
        target = F.linear if rng.random() < 0.9 else torch.ops.aten.linear
        if bias is None:
            return self._call(target, pair, weight)
        return self._call(target, pair, weight, bias=bias)

    def layer_norm(self, pair: Pair) -> Pair:
        rng = self.rng
        given: dict[str, Any] = {}
        for name in ("weight", "bias"):
            if rng.random() < 0.6:
                given[name] = rng.choice(self.values[4:6])
        if rng.random() < 0.2:
            given["eps"] = 0.5
        return self._call(rng.choice((F.layer_norm, torch.layer_norm)), pair, [4], **given)


Kind = Callable[[GroupGraph, Pair], Pair]


def _of(*ways: Any) -> Kind:
    """One of several ways to write a call: what is called, and further arguments."""

    def make(graph: GroupGraph, pair: Pair) -> Pair:
        target, args, kwargs = graph.rng.choice(ways)
        return graph._call(target, pair, *args, **kwargs)

    return make


_KINDS: tuple[Kind, ...] = (
    _of((torch.tanh, (), {}), ("tanh", (), {}), (F.tanh, (), {})),
    _of((torch.sigmoid, (), {}), ("sigmoid", (), {}), (F.sigmoid, (), {})),
    _of((torch.relu, (), {}), ("relu", (), {}), (F.relu, (), {})),
    _of((F.relu, (), {}), (F.relu, (), {"inplace": True})),
    _of((torch.detach, (), {}), ("detach", (), {})),
    _of((torch.nan_to_num, (1.0, 2.0), {}), ("nan_to_num", (1.0,), {"posinf": 2.0})),
    _of((torch.nan_to_num, (), {}), ("nan_to_num", (1.0,), {})),
    _of((torch.clamp, (-1, 1), {}), ("clip", (), {"min": -1, "max": 1})),
    _of((torch.clamp, (), {"min": 0.0}), ("clamp", (-0.0,), {})),
    _of((F.dropout, (0.5,), {}), (torch.dropout, (0.5, True), {}), (F.dropout, (), {"p": 0.5})),
    _of((F.dropout, (0.5,), {}), (F.dropout, (0.5, False), {})),
    GroupGraph.linear,
    GroupGraph.linear,
    GroupGraph.layer_norm,
    GroupGraph.layer_norm,
)


def without_draws(gm: GraphModule) -> GraphModule:
    """The graph with dropouts that drop by what they are given."""
    for node in gm.graph.nodes:
        if node.target in (F.dropout, torch.dropout):
            node.target = _dropped
            names = {"train": "training"}  # as the two functions call it
            node.kwargs = {names.get(key, key): one for key, one in node.kwargs.items()}
    gm.recompile()
    return gm


def _dropped(
    input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> torch.Tensor:
    if not training:
        return input
    small = input.detach().clamp(-99, 99)  # the last bit of a large number must not decide
    kept = torch.floor(small + 0.3) % 3 >= 1
    return input * kept / (1 - p)


def run(gm: GraphModule, inputs: list[torch.Tensor]) -> tuple[list[Any], list[Any]]:
    """What a program sees of a run: facts, and numbers that may be rounded otherwise."""
    leaves = [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]
    with torch.enable_grad():
        given = [one * 1 if one.requires_grad else one for one in leaves]
        results = list(gm(*given))
    tensors = [*given, *results]
    storages = [one.untyped_storage().data_ptr() for one in tensors if one.numel()]
    facts: list[Any] = [storages.index(one) for one in storages]
    for one in tensors:
        steps = strides_shown(one)
        facts.append((one.dtype, one.shape, steps, one.storage_offset(), one.requires_grad))
    gradients = _gradients(results, leaves)
    if isinstance(gradients, str):
        facts.append(gradients)
        gradients = []
    return facts, [*(one.detach() for one in tensors), *gradients]


def _gradients(results: list[torch.Tensor], leaves: list[torch.Tensor]) -> Any:
    wanted = [one for one in leaves if one.requires_grad]
    loss: Any = 0
    for place, one in enumerate(results):
        if one.requires_grad:
            weights = torch.arange(1.0, one.numel() + 1, dtype=one.dtype).reshape(one.shape)
            loss = loss + (one * weights).sum() * (place + 1)
    if not wanted or not isinstance(loss, torch.Tensor):
        return []
    try:
        found = torch.autograd.grad(loss, wanted, allow_unused=True)
    except RuntimeError as error:
        return f"{type(error).__name__}, {'inplace operation' in str(error)}"
    # A gradient that does not exist and one of zeros are one to an optimiser.
    return [
        torch.zeros_like(leaf) if one is None else one
        for one, leaf in zip(found, wanted, strict=True)
    ]


__all__ = ["GroupGraph", "run", "without_draws"]
