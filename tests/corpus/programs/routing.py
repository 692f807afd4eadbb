"""Values that go where others say: experts, graphs, codebooks, detection, sparse sums."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.corpus.programs.program import program

Made = tuple[Any, tuple[Any, ...]]


class Experts(nn.Module):
    """Tokens that each go to two experts, with places for a fixed number of them."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity = capacity
        self.gate = nn.Linear(6, 4, bias=False)
        self.up = nn.Parameter(torch.randn(4, 6, 8) * 0.3)
        self.down = nn.Parameter(torch.randn(4, 8, 6) * 0.3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        probs = self.gate(x).softmax(-1)
        weight, expert = probs.topk(2, -1)
        weight = weight / weight.sum(-1, keepdim=True)
        chosen = F.one_hot(expert, 4).flatten(0, 1)
        place = (chosen.cumsum(0) - 1).mul(chosen).sum(-1)
        fits = place < self.capacity
        slot = torch.where(fits, expert.flatten() * self.capacity + place, 4 * self.capacity)
        token = torch.arange(x.shape[0]).repeat_interleave(2)
        rows = x.new_zeros(4 * self.capacity + 1, 6).index_add(0, slot, x[token])
        hidden = F.silu(torch.bmm(rows[:-1].unflatten(0, (4, self.capacity)), self.up))
        out = F.pad(torch.bmm(hidden, self.down).flatten(0, 1), (0, 0, 0, 1))
        mixed = (out[slot] * (weight.flatten() * fits)[:, None]).unflatten(0, (-1, 2)).sum(1)
        balance = 4 * (probs.mean(0) * chosen.float().mean(0)).sum()
        return mixed, balance


@program()
def experts_with_places(batch: int) -> Made:
    return Experts(3), (torch.randn(batch + 4, 6),)


@program()
def experts_in_a_row(batch: int) -> Made:
    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(5, 3)
            self.experts = nn.ModuleList(nn.Linear(5, 5) for _ in range(3))

        def forward(self, x: Tensor) -> Tensor:
            weight, index = self.gate(x).sigmoid().topk(2, -1)
            out = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                share = torch.where(index == i, weight, 0.0).sum(-1, keepdim=True)
                out += expert(x) * share
            return out

    return Loop(), (torch.randn(batch + 2, 5),)


@program()
def sorted_experts(batch: int) -> Made:
    def route(x: Tensor, logits: Tensor, weights: Tensor) -> Tensor:
        expert = logits.argmax(-1)
        order = expert.argsort(stable=True)
        counts = torch.bincount(expert, minlength=3)
        starts = counts.cumsum(0) - counts
        rank = torch.arange(x.shape[0]) - starts[expert[order]]
        y = torch.einsum("td,tde->te", x[order], weights[expert[order]])
        out = torch.empty_like(y)
        out = out.index_copy(0, order, y * (1 + rank[:, None]))
        return out * logits.softmax(-1).gather(1, expert[:, None])

    return route, (torch.randn(batch + 4, 4), torch.randn(batch + 4, 3), torch.randn(3, 4, 4))


def _edges(batch: int) -> tuple[Tensor, Tensor]:
    count = 3 * batch + 4
    return torch.randint(0, batch + 3, (count,)), torch.randint(0, batch + 3, (count,))


class GraphAttention(nn.Module):
    """Attention over the edges of a graph, normalised by scatters."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 8, bias=False)
        self.near, self.far = nn.Parameter(torch.randn(2, 4)), nn.Parameter(torch.randn(2, 4))

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        count = x.shape[0]
        h = self.linear(x).view(-1, 2, 4)
        score = (h * self.far).sum(-1)[source] + (h * self.near).sum(-1)[target]
        score = F.leaky_relu(score, 0.2)
        index = target[:, None].expand_as(score)
        top = torch.full((count, 2), float("-inf")).scatter_reduce(0, index, score, "amax")
        weight = (score - top.detach()[target]).exp()
        total = torch.zeros(count, 2).scatter_add(0, index, weight)
        weight = weight / (total[target] + 1e-16)
        return (
            torch.zeros(count, 2, 4).index_add(0, target, h[source] * weight[..., None]).flatten(1)
        )


@program()
def attention_over_edges(batch: int) -> Made:
    return GraphAttention(), (torch.randn(batch + 3, 4), *_edges(batch))


@program()
def normalized_neighbours(batch: int) -> Made:
    def spread(x: Tensor, source: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        loops = torch.arange(x.shape[0])
        source, target = torch.cat([source, loops]), torch.cat([target, loops])
        weight = torch.cat([weight.abs(), torch.ones(x.shape[0])])
        degree = torch.zeros(x.shape[0]).scatter_add_(0, target, weight)
        scale = degree.pow(-0.5).masked_fill(degree == 0, 0)
        norm = scale[source] * weight * scale[target]
        for _ in range(2):
            x = torch.zeros_like(x).index_add_(0, target, x[source] * norm[:, None])
        return x

    edges = _edges(batch)
    return spread, (torch.randn(batch + 3, 4), *edges, torch.randn(len(edges[0])))


@program()
def aggregations(batch: int) -> Made:
    def pool(x: Tensor, group: Tensor) -> Tensor:
        index = group[:, None].expand_as(x)
        zero = torch.zeros(4, x.shape[1])
        total = zero.scatter_add(0, index, x)
        count = zero.scatter_add(0, index, torch.ones_like(x)).clamp(min=1)
        mean = total / count
        spread = F.relu(zero.scatter_add(0, index, x * x) / count - mean * mean)
        extremes = [
            zero.scatter_reduce(0, index, x, kind, include_self=False)
            for kind in ("amax", "amin", "mean", "prod")
        ]
        scaled = torch.cat([mean, (spread + 1e-5).sqrt(), *extremes], -1)
        grown = scaled * (count[:, :1].log1p() / 1.3)
        return torch.cat([scaled, grown, scaled * (1.3 / count[:, :1].log1p())], -1)

    return pool, (torch.randn(batch + 5, 3), torch.arange(batch + 5) % 3)


@program()
def codebook(batch: int) -> Made:
    class Quantizer(nn.Module):
        codes: Tensor
        counts: Tensor
        sums: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("codes", torch.randn(6, 4))
            self.register_buffer("counts", torch.ones(6))
            self.register_buffer("sums", torch.randn(6, 4))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            flat = x.flatten(0, 1)
            near = torch.cdist(flat, self.codes).argmin(-1)
            one_hot = F.one_hot(near, 6).type_as(flat)
            quantized = (one_hot @ self.codes).view_as(x)
            if self.training:
                with torch.no_grad():
                    self.counts.mul_(0.9).add_(one_hot.sum(0), alpha=0.1)
                    self.sums.mul_(0.9).add_(one_hot.t() @ flat, alpha=0.1)
                    total = self.counts.sum()
                    smooth = (self.counts + 1e-5) / (total + 6e-5) * total
                    self.codes.copy_(self.sums / smooth[:, None])
            loss = F.mse_loss(x, quantized.detach())
            mean = one_hot.mean(0)
            return x + (quantized - x).detach(), loss, (-(mean * (mean + 1e-9).log()).sum()).exp()

    return Quantizer(), (torch.randn(batch, 3, 4),)


@program()
def residual_codebooks(batch: int) -> Made:
    def quantize(x: Tensor, books: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        residual, total = x, torch.zeros_like(x)
        codes, loss = [], x.new_zeros(())
        for book in books.unbind(0):
            distance = residual.square().sum(-1, keepdim=True) - 2 * residual @ book.t()
            code = (distance + book.square().sum(-1)).argmin(-1)
            near = F.embedding(code, book)
            loss = loss + (residual.detach() - near).square().mean()
            total = total + near
            residual = residual - near.detach()
            codes.append(code)
        return x + (total - x).detach(), torch.stack(codes, -1), loss

    return quantize, (torch.randn(batch, 5, 4), torch.randn(3, 6, 4))


@program()
def finite_scalars(batch: int) -> Made:
    def quantize(x: Tensor) -> tuple[Tensor, Tensor]:
        levels = torch.tensor([5, 4, 3])
        half = (levels - 1) * (1 + 1e-3) / 2
        offset = torch.where(levels % 2 == 0, 0.5, 0.0)
        bounded = (x + (offset / half).atanh()).tanh() * half - offset
        rounded = bounded + (bounded.round() - bounded).detach()
        basis = torch.cumprod(torch.tensor([1, 5, 4]), 0)
        code = ((rounded + levels // 2) * basis).sum(-1).to(torch.int32)
        return rounded / (levels // 2), code

    return quantize, (torch.randn(batch, 5, 3),)


@program()
def binary_codes(batch: int) -> Made:
    def quantize(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        signs = torch.where(x > 0, 1.0, -1.0)
        mask = 2 ** torch.arange(x.shape[-1] - 1, -1, -1)
        code = ((x > 0).int() * mask.int()).sum(-1)
        bits = ((code[..., None].int() & mask) != 0).float() * 2 - 1
        p = (x * 2).sigmoid()
        entropy = -(p * p.clamp(1e-5).log() + (1 - p) * (1 - p).clamp(1e-5).log()).mean()
        return x + (signs - x).detach(), bits, entropy

    return quantize, (torch.randn(batch, 4, 5),)


@program(train=False)
def boxes_without_overlaps(batch: int) -> Made:
    def suppress(boxes: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        order = scores.argsort(descending=True, stable=True)
        low, high = boxes[order, :2], boxes[order, :2] + boxes[order, 2:]
        side = torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)
        both = side.clamp(min=0).prod(-1)
        area = (high - low).prod(-1)
        overlap = (both / (area[:, None] + area - both)).triu(1)
        keep = torch.ones_like(scores, dtype=torch.bool)
        for i in range(scores.shape[0]):
            keep = keep & ~(keep[i] & (overlap[i] > 0.3))
        decayed = scores[order] * torch.exp(-(overlap.amax(0) ** 2) / 0.5)
        return keep, torch.where(keep, decayed, 0)

    return suppress, (torch.rand(batch + 5, 4), torch.rand(batch + 5))


@program()
def matched_anchors(batch: int) -> Made:
    def assign(scores: Tensor, boxes: Tensor, truth: Tensor) -> Tensor:
        side = torch.minimum(boxes[:, None, 1], truth[None, :, 1])
        side = (side - torch.maximum(boxes[:, None, 0], truth[None, :, 0])).clamp(min=0)
        total = (boxes[:, 1] - boxes[:, 0])[:, None] + (truth[:, 1] - truth[:, 0]) - side
        overlap = side / total
        best, index = overlap.max(1)
        label = torch.where(best > 0.3, 1, torch.where(best < 0.1, 0, -1))
        label = label.index_fill(0, overlap.argmax(0), 1)
        valid = (label >= 0).float()
        entropy = F.binary_cross_entropy_with_logits(
            scores, label.clamp(0).float(), reduction="none"
        )
        gap = (boxes - truth[index]).abs().sum(-1)
        return (entropy * valid).sum() / valid.sum() + (gap * (label == 1)).mean()

    boxes = torch.rand(batch + 5, 2).sort().values
    return assign, (torch.randn(batch + 5), boxes, torch.rand(3, 2).sort().values)


@program()
def bags_of_features(batch: int) -> Made:
    class Bags(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bag = nn.EmbeddingBag(12, 4, mode="mean", padding_idx=0)
            self.weights = nn.EmbeddingBag(12, 4, mode="sum", include_last_offset=True)

        def forward(self, ids: Tensor, offsets: Tensor, weights: Tensor) -> Tensor:
            mean = self.bag(ids.view(-1, 2))
            return torch.cat([mean, self.weights(ids, offsets, weights)], 0)

    ids = torch.randint(0, 12, (2 * batch,))
    return Bags(), (ids, torch.tensor([0, 1, 2 * batch]), torch.rand(2 * batch))


@program()
def factorization_machine(batch: int) -> Made:
    class Machine(nn.Module):
        offsets: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.table, self.first = nn.Embedding(30, 4), nn.Embedding(30, 1)
            self.register_buffer("offsets", torch.tensor([0, 10, 20]))
            self.cross = nn.ParameterList(nn.Parameter(torch.randn(12) * 0.1) for _ in range(2))

        def forward(self, ids: Tensor) -> Tensor:
            ids = ids + self.offsets
            rows = self.table(ids)
            second = 0.5 * (rows.sum(1) ** 2 - (rows**2).sum(1)).sum(-1)
            x = start = rows.flatten(1)
            for weight in self.cross:
                x = start * (x @ weight)[:, None] + x
            return torch.sigmoid(second + self.first(ids).sum((1, 2)) + x.sum(-1))

    return Machine(), (torch.randint(0, 10, (batch, 3)),)


@program()
def tokens_kept_and_merged(batch: int) -> Made:
    def merge(x: Tensor) -> tuple[Tensor, Tensor]:
        metric = x / x.norm(dim=-1, keepdim=True)
        a, b = metric[:, ::2], metric[:, 1::2]
        best, at = (a @ b.mT).max(-1)
        order = best.argsort(-1, descending=True)[..., None]
        kept, merged = order[:, 2:], order[:, :2]
        into = at[..., None].gather(1, merged)
        source, target = x[:, ::2], x[:, 1::2]
        wide = source.gather(1, merged.expand(-1, -1, x.shape[-1]))
        target = target.scatter_reduce(1, into.expand_as(wide), wide, "mean")
        return torch.cat([source.gather(1, kept.expand(-1, -1, x.shape[-1])), target], 1), best

    return merge, (torch.randn(batch, 8, 4),)


@program()
def slots(batch: int) -> Made:
    class Slots(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.start = nn.Parameter(torch.randn(1, 3, 6))
            self.q, self.k, self.v = (nn.Linear(6, 6, bias=False) for _ in range(3))
            self.cell, self.norm = nn.GRUCell(6, 6), nn.LayerNorm(6)

        def forward(self, x: Tensor) -> Tensor:
            slots = self.start.expand(x.shape[0], -1, -1)
            k, v = self.k(x), self.v(x)
            for _ in range(2):
                logits = torch.einsum("bsd,bnd->bsn", self.q(self.norm(slots)), k) * 6**-0.5
                weights = logits.softmax(1) + 1e-8
                weights = weights / weights.sum(-1, keepdim=True)
                update = torch.einsum("bsn,bnd->bsd", weights, v)
                slots = self.cell(update.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
            return slots

    return Slots(), (torch.randn(batch, 5, 6),)
