"""Random graphs before autograd, built as graphs: views, joins, writes and modes.

Calls are made in all the words that there are for them. What eager refuses when the graph is built
is left out of it.
"""

from __future__ import annotations

import operator
import random
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Node

Pair = tuple[Node, Any]


class PieceGraph:
    """One graph with its inputs; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.graph = Graph()
        self.mode = FakeTensorMode()
        self.values: list[Pair] = []
        self.grad = True
        self.inputs = [self._input(number) for number in range(self._count())]
        for _ in range(self._steps()):
            self._step()
        self._set_grad(True)
        self.graph.output(tuple(self._outputs()))
        self.gm = GraphModule({}, self.graph)

    def _count(self) -> int:
        """How many inputs there are."""
        return self.rng.choice((1, 1, 2))

    def _steps(self) -> int:
        return self.rng.randint(3, 9)

    def _input(self, number: int) -> torch.Tensor:
        rng = self.rng
        shape = [rng.choice((1, 2, 3, 4, 6)) for _ in range(rng.choice((1, 2, 2, 3)))]
        if number:
            shape = list(self.inputs_shape)
        self.inputs_shape = shape
        generator = torch.Generator().manual_seed(rng.randrange(999))
        real = torch.randint(-9, 9, shape, generator=generator).double()
        real.requires_grad_(rng.random() < 0.6)
        node = self.graph.placeholder(f"x{number}")
        fake = self.mode.from_tensor(real)
        node.meta["example_value"] = fake
        self.values.append((node, fake))
        return real

    def _set_grad(self, on: bool) -> None:
        if on is self.grad:
            return
        self.grad = on
        self.graph.call_function(torch._C._set_grad_enabled, (on,))

    def _call(self, target: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of a function or a method; its value, or its values where it gives several.

        Raises what eager raises.
        """

        def value(item: Any) -> Any:
            if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Node):
                return item[1]
            return type(item)(map(value, item)) if isinstance(item, list | tuple) else item

        def node(item: Any) -> Any:
            if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Node):
                return item[0]
            return type(item)(map(node, item)) if isinstance(item, list | tuple) else item

        given = value(args), {key: value(item) for key, item in kwargs.items()}
        written = node(args), {key: node(item) for key, item in kwargs.items()}
        with self.mode, torch.set_grad_enabled(self.grad):
            if isinstance(target, str):
                found = getattr(given[0][0], target)(*given[0][1:], **given[1])
            else:
                found = target(*given[0], **given[1])
        method = isinstance(target, str)
        make = self.graph.call_method if method else self.graph.call_function
        made = make(target, written[0], written[1])
        made.meta["example_value"] = found
        if not isinstance(found, list | tuple):
            self.values.append((made, found))
            return self.values[-1]
        results: list[Pair] = []
        for place, one in enumerate(found):
            item = self.graph.call_function(operator.getitem, (made, place))
            item.meta["example_value"] = one
            results.append((item, one))
        return results

    def _step(self) -> None:
        how = self.rng.random()
        try:
            if how < 0.65:
                self._join()
            elif how < 0.8:
                self._view(self.rng.choice(self.values))
            elif how < 0.88:
                self._write()
            elif how < 0.94:
                self._set_grad(not self.grad)
            else:
                self._pointwise(self.rng.choice(self.values))
        except (RuntimeError, IndexError, TypeError, ValueError):
            return

    def _write(self) -> None:
        pair = self.rng.choice(self.values)
        other = self.rng.choice(self.values)
        how = self.rng.randrange(3)
        if how == 0:
            self._call("add_", pair, 1)
        elif how == 1:
            self._call(operator.imul, pair, 2)
        else:
            self._call("copy_", pair, other)

    def _pointwise(self, pair: Pair) -> Pair:
        target, args = self.rng.choice(
            [(operator.mul, (3,)), (torch.add, (1,)), ("neg", ()), ("clone", ()), ("detach", ()),
             ("tanh", ()), (torch.nn.functional.relu, ())]
        )  # fmt: skip
        return self._call(target, pair, *args)

    def _view(self, pair: Pair) -> Pair:
        rng, x = self.rng, pair[1]
        rank = x.dim()
        dim = rng.randrange(rank) if rank else 0
        how = rng.randrange(7)
        if how == 0:
            return self._call(rng.choice(("transpose", torch.swapaxes)), pair, 0, dim)
        if how == 1:
            return self._call(rng.choice(("unsqueeze", torch.unsqueeze)), pair, dim)
        if how == 2:
            return self._call(rng.choice(("reshape", "view")), pair, -1)
        if how == 3:
            order = rng.sample(range(rank), rank)
            return self._call("permute", pair, *order)
        if how == 4:
            index = (*[slice(None)] * dim, slice(rng.randrange(2), None))
            return self._call(operator.getitem, pair, index)
        if how == 5:
            return self._call(rng.choice(("squeeze", torch.squeeze)), pair, dim)
        return self._call(operator.getitem, pair, (Ellipsis, None))

    def _cut(self, pair: Pair, dim: int) -> list[Pair]:
        rng, x = self.rng, pair[1]
        size, rank = x.shape[dim], x.dim()
        along = dim - rng.choice((0, rank))
        how = rng.randrange(9)
        step = rng.choice((1, 2, 3))
        if how == 0:
            return self._call(torch.functional.split, pair, step, along)
        if how == 1:
            return self._call("split", pair, step, dim=along)
        if how == 2:
            seams = sorted(rng.choices(range(size + 1), k=rng.choice((1, 2))))
            sizes = [b - a for a, b in zip([0, *seams], [*seams, size], strict=True)]
            return self._call(torch.functional.split, pair, sizes, dim=along)
        if how == 3:
            return self._call(rng.choice((torch.chunk, "chunk")), pair, step, along)
        if how == 4:
            return self._call(rng.choice((torch.unbind, "unbind")), pair, along)
        if how == 5:
            whole = [slice(None)] * dim
            return [self._call(operator.getitem, pair, (*whole, i)) for i in range(size)]
        if how == 6:
            target = rng.choice(("narrow", torch.narrow))
            return [self._call(target, pair, along, i, 1) for i in range(0, size, step)]
        if how == 7:
            seam = rng.randrange(size + 1)
            whole = [slice(None)] * dim
            left = self._call(operator.getitem, pair, (*whole, slice(None, seam)))
            return [left, self._call(operator.getitem, pair, (*whole, slice(seam, None)))]
        return [self._call("select", pair, along, i) for i in range(size)]

    def _join(self) -> Pair | None:
        rng = self.rng
        pair = rng.choice(self.values)
        if not pair[1].dim():
            return None
        dim = rng.randrange(pair[1].dim())
        pieces = self._cut(pair, dim)
        if rng.random() < 0.15:
            place = rng.randrange(len(pieces))
            if pieces[place][1].dim() > dim and pieces[place][1].numel():
                pieces[place : place + 1] = self._cut(pieces[place], dim)
        if rng.random() < 0.25:
            pieces += self._cut(rng.choice(self.values), dim)
        how = rng.random()
        if how < 0.1:
            rng.shuffle(pieces)
        elif how < 0.2:
            pieces = [*pieces, *pieces]
        elif how < 0.35 and len(pieces) > 1:
            del pieces[rng.randrange(len(pieces))]
        if rng.random() < 0.2:
            pieces = [self._call("reshape", one, -1) for one in pieces]
        elif rng.random() < 0.15:
            pieces = [self._pointwise(one) for one in pieces]
        elif rng.random() < 0.2:
            pieces = [self._call("unsqueeze", one, dim) for one in pieces]
        elif rng.random() < 0.1:
            self._set_grad(not self.grad)
        target = rng.choice((torch.cat, torch.cat, torch.concat, torch.stack, torch.concatenate))
        rank = pieces[0][1].dim() + (target is torch.stack)
        along = min(dim, rank - 1) if rng.random() < 0.7 else rng.randrange(rank)
        along -= rng.choice((0, rank))
        word = rng.choice(("dim", "axis", ""))
        parts: Any = rng.choice((list, tuple))(pieces)
        given = {word: along} if word else {}
        made = self._call(target, parts, *([] if word else [along]), **given)
        if rng.random() < 0.2:
            tanh = self._call(torch.tanh, made)
            self._call(torch.unbind, tanh, along)
        return made

    def _outputs(self) -> list[Node]:
        made = self.values[len(self.inputs) :]
        if not made:
            return [self.values[0][0]]
        chosen = self.rng.sample(made, min(len(made), self.rng.choice((1, 2, 3))))
        if self.rng.random() < 0.5:
            chosen.append(made[-1])
        return [node for node, _ in chosen]


def seen(gm: Any, inputs: list[torch.Tensor]) -> Any:
    """What a program sees of a run: results, inputs afterwards, aliases, gradients, errors."""
    leaves = [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]
    with torch.enable_grad():  # a graph that raises may leave the mode as it is by then
        given = [one * 1 if one.requires_grad else one for one in leaves]
        results = list(gm(*given))
    tensors = [*given, *results]
    storages = [one.untyped_storage().data_ptr() for one in tensors if one.numel()]
    told = [
        (
            one.dtype,
            tuple(one.shape),
            strides_shown(one),
            one.storage_offset() if one.numel() else 0,
            one.requires_grad,
            str(one.detach().tolist()),
        )
        for one in tensors
    ]
    return told, [storages.index(one) for one in storages], _gradients(results, leaves)


def strides_shown(tensor: torch.Tensor) -> list[int]:
    """The strides along which elements lie; a tensor without elements shows none."""
    if not tensor.numel():
        return []
    return [step for size, step in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def _gradients(results: list[torch.Tensor], leaves: list[torch.Tensor]) -> Any:
    wanted = [one for one in leaves if one.requires_grad]
    loss: Any = 0
    for place, one in enumerate(results):
        if one.requires_grad:
            weights = torch.arange(1.0, one.numel() + 1, dtype=one.dtype).reshape(one.shape)
            loss = loss + (one * weights).sum() * (place + 1)
    if not wanted or not isinstance(loss, torch.Tensor):
        return None
    try:
        found = torch.autograd.grad(loss, wanted, allow_unused=True)
    except RuntimeError as error:
        return type(error).__name__, "inplace operation" in str(error)
    # A sum of gradients may be added up in another order.
    return [None if one is None else one.round(decimals=6).tolist() for one in found]


__all__ = ["Pair", "PieceGraph", "seen", "strides_shown"]
