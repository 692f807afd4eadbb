"""Language models and decoding: recurrent nets, caches, sampling, search, recurrences."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.corpus.programs.program import program

Made = tuple[Any, tuple[Any, ...]]
WORDS, WIDTH = 20, 8


class WordModel(nn.Module):
    """Embedding, recurrent layers, an output layer that shares the embedding's weight."""

    def __init__(self, kind: type[nn.LSTM | nn.GRU]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.recurrent = kind(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.out = nn.Linear(WIDTH, WORDS)
        self.out.weight = self.embedding.weight

    def forward(self, words: Tensor) -> Tensor:
        x = F.dropout(self.embedding(words), 0.1, self.training)
        x, _ = self.recurrent(x)
        return F.cross_entropy(self.out(x[:, :-1]).flatten(0, 1), words[:, 1:].flatten())


@program(dynamo={"allow_rnn": True})
def words_by_lstm(batch: int) -> Made:
    return WordModel(nn.LSTM), (torch.randint(0, WORDS, (batch, 5)),)


@program(dynamo={"allow_rnn": True})
def words_by_gru(batch: int) -> Made:
    return WordModel(nn.GRU), (torch.randint(0, WORDS, (batch, 5)),)


class Translator(nn.Module):
    """A bidirectional encoder, and a decoder that attends to it by sums."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, bidirectional=True, batch_first=True)
        self.cell = nn.GRUCell(3 * WIDTH, WIDTH)
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.score, self.out = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, WORDS)

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        memory, last = self.encoder(self.words(source))
        padded = torch.arange(source.shape[1])[None] >= lengths[:, None]
        state = torch.tanh(last.sum(0))
        outputs = []
        for word in self.words(target).unbind(1):
            e = self.score(torch.tanh(self.query(state)[:, None] + self.key(memory))).squeeze(-1)
            weights = e.masked_fill(padded, torch.finfo(e.dtype).min).softmax(-1)
            context = torch.einsum("bs,bsd->bd", weights, memory)
            state = self.cell(torch.cat([word, context], -1), state)
            outputs.append(self.out(state))
        return torch.stack(outputs, 1)


@program(dynamo={"allow_rnn": True})
def translation(batch: int) -> Made:
    words = torch.randint(0, WORDS, (batch, 5)), torch.randint(0, WORDS, (batch, 3))
    return Translator(), (*words, torch.arange(batch) % 4 + 2)


class Decoder(nn.Module):
    """One step of attention over a cache that it writes, with rotated queries and keys."""

    frequencies: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("frequencies", 1.0 / 100.0 ** torch.tensor([0.0, 0.5]))

    def rotated(self, x: Tensor, at: Tensor) -> Tensor:
        angle = at[:, None].float() * self.frequencies
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, at: Tensor) -> Tensor:
        q, k, v = self.qkv(x).split([WIDTH, WIDTH // 2, WIDTH // 2], -1)
        q = self.rotated(q.unflatten(-1, (2, 4)).transpose(1, 2), at)
        k = self.rotated(k.unflatten(-1, (1, 4)).transpose(1, 2), at)
        keys.index_copy_(2, at, k)
        values.index_copy_(2, at, v.unflatten(-1, (1, 4)).transpose(1, 2))
        seen = torch.arange(keys.shape[2])[None] <= at[:, None]
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))


@program(train=False)
def decoding_with_a_cache(batch: int) -> Made:
    cache = torch.zeros(batch, 1, 6, 4), torch.zeros(batch, 1, 6, 4)
    return Decoder(), (torch.randn(batch, 1, WIDTH), *cache, torch.tensor([3]))


@program(train=False)
def filling_a_cache(batch: int) -> Made:
    cache = torch.zeros(batch, 1, 6, 4), torch.zeros(batch, 1, 6, 4)
    return Decoder(), (torch.randn(batch, 4, WIDTH), *cache, torch.arange(4))


@program(train=False)
def cache_of_pages(batch: int) -> Made:
    def step(pages: Tensor, table: Tensor, lengths: Tensor, new: Tensor, query: Tensor) -> Tensor:
        page = table.gather(1, (lengths // 4)[:, None]).squeeze(1)
        pages[page, lengths % 4] = new
        keys = pages[table].flatten(1, 2)
        scores = torch.einsum("bd,bsd->bs", query, keys)
        seen = torch.arange(keys.shape[1])[None] <= lengths[:, None]
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        return torch.einsum("bs,bsd->bd", weights, keys)

    table = torch.randperm(3 * batch).view(batch, 3)
    lengths = torch.arange(batch) % 7 + 2
    pages = torch.randn(3 * batch, 4, WIDTH)
    return step, (pages, table, lengths, torch.randn(batch, WIDTH), torch.randn(batch, WIDTH))


@program(train=False)
def filters_of_logits(batch: int) -> Made:
    def sample(logits: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        score = logits.gather(1, seen)
        logits = logits.scatter(1, seen, torch.where(score < 0, score * 1.2, score / 1.2)) / 0.8
        least = torch.topk(logits, 8).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
        ordered, index = torch.sort(logits, descending=True)
        total = ordered.softmax(-1).cumsum(-1)
        drop = total > 0.9
        drop[:, 1:] = drop[:, :-1].clone()
        drop[:, 0] = False
        logits = logits.masked_fill(drop.scatter(1, index, drop), float("-inf"))
        probs = logits.softmax(-1)
        probs = probs.masked_fill(probs < 0.05 * probs.amax(-1, keepdim=True), 0)
        noise = torch.empty_like(probs).exponential_()
        return probs, (probs / noise).argmax(-1)

    return sample, (torch.randn(batch, WORDS), torch.randint(0, WORDS, (batch, 4)))


@program(train=False)
def typical_and_bigrams(batch: int) -> Made:
    def sample(logits: Tensor, words: Tensor) -> Tensor:
        normalized = F.log_softmax(logits, -1)
        p = normalized.exp()
        entropy = -(normalized * p).nansum(-1, keepdim=True)
        _, order = torch.sort((-normalized - entropy).abs())
        sums = p.gather(-1, order).cumsum(-1)
        last = (sums < 0.8).sum(1).clamp(max=logits.shape[-1] - 1)
        limit = torch.gather((-normalized - entropy).abs(), 1, order).gather(1, last[:, None])
        out = logits.masked_fill((-normalized - entropy).abs() > limit, -1e9)
        before = words[:, :-1] == words[:, -1:]
        banned = torch.zeros_like(logits, dtype=torch.int32)
        banned.scatter_add_(1, words[:, 1:], before.int())
        return torch.where(banned > 0, -float("inf"), out)

    return sample, (torch.randn(batch, WORDS), torch.randint(0, WORDS, (batch, 6)))


@program(train=False)
def step_of_a_beam(batch: int) -> Made:
    def step(logits: Tensor, scores: Tensor, words: Tensor, done: Tensor) -> tuple[Tensor, ...]:
        count, beams = scores.shape
        log_probs = logits.log_softmax(-1).view(count, beams, -1)
        stay = torch.full_like(log_probs[0, 0], float("-inf"))
        stay[0] = 0
        log_probs = torch.where(done[..., None], stay, log_probs)
        total = (scores[..., None] + log_probs).flatten(1)
        best, index = total.topk(beams, dim=1)
        parent = torch.div(index, log_probs.shape[-1], rounding_mode="floor")
        word = index % log_probs.shape[-1]
        kept = words.gather(1, parent[..., None].expand(-1, -1, words.shape[-1]))
        ended = done.gather(1, parent) | (word == 0)
        return best, torch.cat([kept, word[..., None]], -1), ended, best / (kept.shape[-1] + 1)

    args = torch.randn(3 * batch, WORDS), torch.randn(batch, 3), torch.randint(0, 9, (batch, 3, 2))
    return step, (*args, torch.rand(batch, 3) < 0.3)


@program(train=False)
def accepting_a_draft(batch: int) -> Made:
    def accept(draft: Tensor, target: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        p, q = target.softmax(-1), draft.softmax(-1)
        ratio = p.gather(2, words[..., None]) / q.gather(2, words[..., None])
        kept = torch.rand(words.shape) < ratio.squeeze(-1)
        length = kept.int().cumprod(1).sum(1)
        rest = (p - q).clamp_min(0)
        rest = rest / rest.sum(-1, keepdim=True).clamp_min(1e-9)
        at = length.clamp(max=words.shape[1] - 1).long()
        return length, rest[torch.arange(words.shape[0]), at].argmax(-1)

    shape = (batch, 4, WORDS)
    return accept, (torch.randn(shape), torch.randn(shape), torch.randint(0, WORDS, shape[:2]))


@program()
def viterbi_and_forward(batch: int) -> Made:
    def both(emissions: Tensor, transitions: Tensor, tags: Tensor) -> tuple[Tensor, Tensor]:
        alpha = best = emissions[:, 0]
        back = []
        for step in emissions[:, 1:].unbind(1):
            alpha = torch.logsumexp(alpha[:, :, None] + transitions + step[:, None], 1)
            best, index = (best[:, :, None] + transitions).max(1)
            best = best + step
            back.append(index)
        path = [best.argmax(1)]
        for index in reversed(back):
            path.append(index.gather(1, path[-1][:, None]).squeeze(1))
        gold = emissions.gather(2, tags[..., None]).sum((1, 2))
        gold = gold + transitions[tags[:, :-1], tags[:, 1:]].sum(1)
        return (alpha.logsumexp(1) - gold).mean(), torch.stack(path[::-1], 1)

    return both, (torch.randn(batch, 5, 4), torch.randn(4, 4), torch.randint(0, 4, (batch, 5)))


@program()
def linear_attention_by_steps(batch: int) -> Made:
    def attend(q: Tensor, k: Tensor, v: Tensor, gate: Tensor) -> Tensor:
        state = q.new_zeros(q.shape[0], q.shape[-1], v.shape[-1])
        decay = F.logsigmoid(gate).exp()
        out = torch.empty_like(v)
        for t in range(q.shape[1]):
            state = state * decay[:, t, :, None] + k[:, t, :, None] * v[:, t, None, :]
            out[:, t] = (q[:, t, None, :] @ state).squeeze(1)
        return out

    return attend, tuple(torch.randn(batch, 5, 4) for _ in range(4))


@program()
def linear_attention_by_chunks(batch: int) -> Made:
    def attend(q: Tensor, k: Tensor, v: Tensor, gate: Tensor) -> Tensor:
        q, k, v = (x.unflatten(1, (-1, 4)) for x in (q, k, v))
        log = F.logsigmoid(gate).unflatten(1, (-1, 4)).cumsum(-1)
        states = torch.zeros_like(k[:, 0].transpose(1, 2) @ v[:, 0])
        outs = []
        for i in range(q.shape[1]):
            g = log[:, i]
            inside = (g[:, :, None] - g[:, None, :]).tril().exp().tril()
            local = (q[:, i] @ k[:, i].mT * inside) @ v[:, i]
            outs.append(local + (q[:, i] * g.exp()[..., None]) @ states)
            rest = (g[:, -1:] - g).exp()[..., None]
            states = states * g[:, -1, None, None].exp() + (k[:, i] * rest).mT @ v[:, i]
        return torch.cat(outs, 1)

    x = [torch.randn(batch, 12, 4) for _ in range(3)]
    return attend, (*x, torch.randn(batch, 12))


@program()
def delta_rule(batch: int) -> Made:
    def attend(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
        k = F.normalize(k, dim=-1)
        size = q.shape[1]
        upper = torch.triu(torch.ones(size, size, dtype=torch.bool))
        t = -(k * beta[..., None] @ k.mT).masked_fill(upper, 0)
        for i in range(1, size):
            t[:, i, :i] = t[:, i, :i].clone() + (
                t[:, i, :, None].clone() * t[:, :, :i].clone()
            ).sum(1)
        t = t + torch.eye(size)
        u = t @ (v * beta[..., None])
        return (q @ k.mT).masked_fill(upper.triu(1), 0) @ u

    x = [torch.randn(batch, 5, 4) for _ in range(3)]
    return attend, (*x, torch.rand(batch, 5))


@program()
def selective_scan(batch: int) -> Made:
    def scan(x: Tensor, step: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        step = F.softplus(step)
        decay = torch.exp(torch.einsum("bld,dn->bldn", step, -a.exp()))
        write = torch.einsum("bld,bln,bld->bldn", step, b, x)
        state = x.new_zeros(x.shape[0], *a.shape)
        out = []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + write[:, t]
            out.append(torch.einsum("bdn,bn->bd", state, c[:, t]))
        return torch.stack(out, 1) + x

    inputs = torch.randn(batch, 5, 6), torch.randn(batch, 5, 6), torch.randn(6, 3)
    return scan, (*inputs, torch.randn(batch, 5, 3), torch.randn(batch, 5, 3))


@program()
def prefix_scan_by_doubling(batch: int) -> Made:
    def scan(a: Tensor, b: Tensor) -> Tensor:
        a, shift = a.sigmoid(), 1
        while shift < a.shape[1]:
            before = F.pad(b, (0, 0, shift, 0))[:, : b.shape[1]]
            b = b + a * before
            a = a * F.pad(a, (0, 0, shift, 0), value=1.0)[:, : a.shape[1]]
            shift *= 2
        return b

    return scan, (torch.randn(batch, 7, 4), torch.randn(batch, 7, 4))


@program()
def packed_documents(batch: int) -> Made:
    def attend(x: Tensor, ends: Tensor) -> Tensor:
        document = torch.bucketize(torch.arange(x.shape[1]), ends, right=True)
        position = torch.arange(x.shape[1]) - F.pad(ends, (1, 0))[document]
        allowed = (document[:, None] == document[None]) & (position[:, None] >= position[None])
        bias = torch.zeros(allowed.shape).masked_fill(~allowed, float("-inf"))
        scores = torch.softmax(x @ x.mT / x.shape[-1] ** 0.5 + bias, -1)
        return scores @ (x + position[:, None] * 0.01)

    return attend, (torch.randn(batch, 9, 4), torch.tensor([2, 6, 9]))
