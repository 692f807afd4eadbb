"""Random graphs before autograd of products by weights, beside writes, views and modes."""

from __future__ import annotations

import operator
from typing import Any

import torch

from tests.before_autograd.random_piece_graphs import Pair, PieceGraph

F = torch.nn.functional
ROWS = ((3, 4), (1, 4), (4, 4), (2, 4))
COLUMNS = ((4, 3), (4, 1), (4, 4))
BIASES = ((3,), (1,), (4,), (2,))


class ProductGraph(PieceGraph):
    """Several products of one value, in all the words that there are for them."""

    def _count(self) -> int:
        return 2 + len(ROWS) + len(COLUMNS) + len(BIASES)

    def _steps(self) -> int:
        return self.rng.randint(2, 7)

    def _input(self, number: int) -> torch.Tensor:
        rng = self.rng
        if not number:
            self.asks = rng.choice((0.0, 0.9, 1.0, 0.5))
        shapes: tuple[tuple[int, ...], ...] = ((36, 4), (2, 18, 4), *ROWS, *COLUMNS, *BIASES)
        shape = shapes[number]
        generator = torch.Generator().manual_seed(rng.randrange(999))
        real = torch.randint(-9, 9, shape, generator=generator).double() / 4
        if rng.random() < 0.1:
            real.view(-1)[rng.randrange(real.numel())] = rng.choice((-0.0, float("inf")))
        if len(shape) == 2 and number > 1 and rng.random() < 0.2:
            lies = torch.empty_strided(shape, (1, shape[0]), dtype=real.dtype)  # and is no view
            real = lies.copy_(real)
        real.requires_grad_(rng.random() < self.asks)
        node = self.graph.placeholder(f"x{number}")
        fake = self.mode.from_tensor(real)
        node.meta["example_value"] = fake
        self.values.append((node, fake))
        return real

    def _step(self) -> None:
        how = self.rng.random()
        try:
            if how < 0.35:
                self._products()
            elif how < 0.6:
                self._sum_of_pieces()
            elif how < 0.7:
                self._view(self.rng.choice(self.values))
            elif how < 0.78:
                self._write()
            elif how < 0.84:
                self._set_grad(not self.grad)
            else:
                self._pointwise(self.rng.choice(self.values))
        except (RuntimeError, IndexError, TypeError, ValueError):
            return

    def _products(self) -> None:
        """Products of one value, sometimes with something in between."""
        rng = self.rng
        wide = [one for one in self.values if one[1].dim() > 1 and one[1].shape[-1] == 4]
        pair = rng.choice([*self.values[:2], rng.choice(wide)])
        made: list[Pair] = []
        for _ in range(rng.choice((2, 3, 3, 5))):
            made.append(self._product(pair))
            if rng.random() < 0.1:
                made[-1] = self._pointwise(made[-1])
            if rng.random() < 0.08:
                self._write()
            if rng.random() < 0.06:
                self._set_grad(not self.grad)
        for one in made:
            self._read(one)
        if rng.random() < 0.4:
            self._call(torch.cat, made, rng.choice((-1, made[0][1].dim() - 1)))

    def _sum_of_pieces(self) -> None:
        """Products of pieces of one value, added up."""
        rng = self.rng
        wide = [one for one in self.values if one[1].dim() > 1 and one[1].shape[-1] > 1]
        pair = rng.choice([*self.values[:2], rng.choice(wide)])
        pieces = self._cut(pair, pair[1].dim() - 1)
        if rng.random() < 0.15:
            pieces += self._cut(rng.choice(self.values[:2]), pair[1].dim() - 1)
        if rng.random() < 0.3:
            rng.shuffle(pieces)
        if rng.random() < 0.15 and len(pieces) > 1:
            pieces[rng.randrange(len(pieces))] = self._pointwise(rng.choice(pieces))
        number = rng.randrange(len(ROWS))
        terms = [self._of_piece(one, number) for one in pieces if one[1].dim() > 1]
        if rng.random() < 0.3:
            like = [one for one in self.values if one[1].shape == terms[0][1].shape]
            terms.insert(rng.randrange(len(terms) + 1), rng.choice(like))
        if rng.random() < 0.1:
            self._set_grad(not self.grad)
        if rng.random() < 0.1:
            self._write()
        while len(terms) > 1:
            place = rng.randrange(len(terms) - 1)
            left, right = terms[place : place + 2]
            target = rng.choice((operator.add, operator.add, torch.add, "add"))
            given = {"alpha": 2} if target is torch.add and rng.random() < 0.2 else {}
            terms[place : place + 2] = [self._call(target, left, right, **given)]
            if rng.random() < 0.06:
                self._write()
        self._read(terms[0])

    def _of_piece(self, pair: Pair, number: int) -> Pair:
        rng = self.rng
        size = pair[1].shape[-1]
        chosen = self.values[2 + number] if rng.random() < 0.95 else self.values[2]
        whole = slice(None)
        weight = self._call(operator.getitem, chosen, (whole, slice(0, size)))
        bias = self.values[2 + len(ROWS) + len(COLUMNS) + number]
        how = rng.randrange(4)
        if how == 0:
            return self._call(F.linear, pair, weight)
        if how == 1:
            return self._call(F.linear, pair, weight, bias)
        turned = self._call("t", weight)
        if pair[1].dim() == 2 and how == 2:
            return self._call(torch.addmm, bias, pair, turned)
        return self._call(rng.choice((operator.matmul, torch.matmul)), pair, turned)

    def _read(self, pair: Pair) -> None:
        rng = self.rng
        how = rng.random()
        if how < 0.35:
            self._pointwise(pair)
        elif how < 0.5:
            self._view(pair)
        elif how < 0.55:
            self._call("add_", pair, 1)
        elif how < 0.65:
            self._call(operator.add, pair, self._product(pair) if pair[1].shape[-1] == 4 else 1)

    def _weight(self) -> Pair:
        """A matrix of four columns; sometimes made in the graph."""
        rng = self.rng
        chosen = rng.choice(self.values[2 : 2 + len(ROWS)])
        if rng.random() < 0.12:
            return self._call(rng.choice((operator.mul, torch.mul)), chosen, 2)
        return chosen

    def _product(self, pair: Pair) -> Pair:
        rng = self.rng
        first = 2 + len(ROWS)
        matrix = pair[1].dim() == 2
        how = rng.randrange(5)
        if how == 0:
            other = rng.choice(self.values[first : first + len(COLUMNS)])
        elif how < 3:
            other = self._weight()
            turn = rng.choice(("t", torch.t, getattr, "mT"))
            if turn is getattr:
                other = self._call(getattr, other, "T")
            elif turn == "mT":
                other = self._call("transpose", other, 0, 1)
            else:
                other = self._call(turn, other)
        else:
            return self._linear(pair)
        biases = [
            one
            for one in self.values[first + len(COLUMNS) : self._count()]
            if one[1].shape[0] == other[1].shape[1]
        ]
        if matrix and biases and rng.random() < 0.4:
            given = rng.choice(({}, {}, {"beta": 1, "alpha": 1}, {"alpha": 2}))
            return self._call(rng.choice((torch.addmm, "addmm")), biases[0], pair, other, **given)
        ways: list[Any] = [operator.matmul, torch.matmul, "matmul"]
        return self._call(rng.choice([*ways, torch.mm, "mm"] if matrix else ways), pair, other)

    def _linear(self, pair: Pair) -> Pair:
        rng = self.rng
        weight = self._weight()
        first = 2 + len(ROWS) + len(COLUMNS)
        biases = [
            one
            for one in self.values[first : first + len(BIASES)]
            if one[1].shape[0] == weight[1].shape[0]
        ]
        target = F.linear if rng.random() < 0.8 else torch.ops.aten.linear
        if not biases or rng.random() < 0.5:
            return self._call(target, pair, weight)
        return self._call(target, pair, weight, bias=rng.choice(biases))


__all__ = ["ProductGraph"]
