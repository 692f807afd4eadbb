"""States that decay: retention, state spaces, matrix memories; in steps and all at once."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.corpus.programs.program import program

Made = tuple[object, tuple[object, ...]]


class Retention(nn.Module):
    """Heads that forget at different rates, normalised by group."""

    decay: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.gate, self.out = (
            nn.Linear(8, 8, bias=False) for _ in range(5)
        )
        self.norm = nn.GroupNorm(2, 8)
        self.register_buffer("decay", torch.log(1 - 2.0 ** (-5 - torch.arange(2.0))))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (one(x).view(batch, length, 2, 4).transpose(1, 2) for one in self._projections())
        gap = torch.arange(length)[:, None] - torch.arange(length)
        mask = torch.exp(gap * self.decay[:, None, None]).masked_fill(gap < 0, 0.0)
        mask = mask / mask.sum(-1, keepdim=True).sqrt()
        score = q @ (k * 0.5).transpose(-1, -2) * mask
        score = score / score.detach().abs().sum(-1, keepdim=True).clamp(min=1)
        kept = self.norm((score @ v).transpose(1, 2).reshape(batch * length, width))
        return self.out(F.silu(self.gate(x)) * kept.view(batch, length, width))

    def _projections(self) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
        return self.q, self.k, self.v


@program()
def retention(batch: int) -> Made:
    return Retention(), (torch.randn(batch, 5, 8),)


@program()
def decayed_averages(batch: int) -> Made:
    def average(k: Tensor, v: Tensor, decay: Tensor, first: Tensor) -> tuple[Tensor, ...]:
        slower = -decay.exp()
        total, count = torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0])
        top, steps = torch.full_like(total, -1e38), []
        for key, value in zip(k.unbind(1), v.unbind(1), strict=True):
            peak = torch.maximum(top, key + first)
            old, new = (top - peak).exp(), (key + first - peak).exp()
            steps.append((old * total + new * value) / (old * count + new))
            peak = torch.maximum(top + slower, key)
            old, new = (top + slower - peak).exp(), (key - peak).exp()
            total, count, top = old * total + new * value, old * count + new, peak
        return torch.stack(steps, 1), total, count, top

    k, v = torch.randn(batch, 3, 4), torch.randn(batch, 3, 4)
    return average, (k, v, torch.randn(4), torch.randn(4))


@program()
def convolved_states(batch: int) -> Made:
    class Convolved(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out, self.step = nn.Parameter(torch.randn(4, 3, 2)), nn.Parameter(torch.rand(4))
            self.real = nn.Parameter(torch.zeros(4, 3))
            self.turn = nn.Parameter(torch.pi * torch.arange(3.0).repeat(4, 1))

        def forward(self, u: Tensor) -> Tensor:
            length, step = u.shape[-1], (self.step - 3).exp()
            rate = -self.real.exp() + 1j * self.turn
            scaled = rate * step[:, None]
            out = torch.view_as_complex(self.out) * (scaled.exp() - 1) / rate
            powers = (scaled[..., None] * torch.arange(length)).exp()
            kernel = 2 * torch.einsum("hn,hnl->hl", out, powers).real
            product = torch.fft.rfft(u, n=2 * length) * torch.fft.rfft(kernel, n=2 * length)
            return F.gelu(torch.fft.irfft(product, n=2 * length)[..., :length])

    return Convolved(), (torch.randn(batch, 4, 6),)


@program()
def matrix_memory(batch: int) -> Made:
    def remember(q: Tensor, k: Tensor, v: Tensor, take: Tensor, keep: Tensor) -> Tensor:
        length = q.shape[2]
        logs = F.logsigmoid(keep)
        sums = torch.cat([torch.zeros_like(logs[..., :1]), logs.cumsum(-1)], -1)
        between = (sums[..., None] - sums[..., None, :])[..., 1:, 1:]
        below = torch.ones(length, length, dtype=torch.bool).tril()
        gates = between.masked_fill(~below, -float("inf")) + take[..., None, :]
        top = gates.max(-1, keepdim=True).values
        weights = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5 * (gates - top).exp()
        scale = torch.maximum(weights.sum(-1, keepdim=True).abs(), (-top).exp())
        return (weights / (scale + 1e-6)) @ v

    q, k, v = (torch.randn(batch, 2, 4, 3) for _ in range(3))
    return remember, (q, k, v, torch.randn(batch, 2, 4), torch.randn(batch, 2, 4))


@program()
def gated_delta(batch: int) -> Made:
    def update(q: Tensor, k: Tensor, v: Tensor, rate: Tensor, gate: Tensor) -> tuple[Tensor, ...]:
        state = v.new_zeros(v.shape[0], k.shape[-1], v.shape[-1])
        out = torch.empty_like(v)
        k = F.normalize(k, dim=-1)
        for t in range(q.shape[1]):
            state = state * gate[:, t, None, None].sigmoid()
            found = (state * k[:, t][..., None]).sum(-2)
            change = (v[:, t] - found) * rate[:, t, None].sigmoid()
            state = state + k[:, t][..., None] * change[..., None, :]
            out[:, t] = (state * q[:, t][..., None]).sum(-2)
        return out, state

    q, k, v = (torch.randn(batch, 3, 4) for _ in range(3))
    return update, (q, k, v, torch.randn(batch, 3), torch.randn(batch, 3))
