"""Gradients that somebody chose: returns, straight-through estimators, adjoints, curvature."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, vmap

from tests.corpus.programs.program import program

Made = tuple[object, tuple[object, ...]]


@program()
def advantages_and_corrected_returns(batch: int) -> Made:
    def returns(reward: Tensor, value: Tensor, last: Tensor, done: Tensor, log: Tensor) -> Any:
        advantage, running = torch.zeros_like(reward), torch.zeros_like(last)
        following = torch.cat([value[1:], last[None]])
        for t in reversed(range(reward.shape[0])):
            error = reward[t] + 0.99 * following[t] * (1 - done[t]) - value[t]
            running = error + 0.9405 * (1 - done[t]) * running
            advantage[t] = running
        ratio = log.exp()
        clipped, cut = ratio.clamp(max=1.0), torch.minimum(ratio, torch.ones_like(ratio))
        error = clipped * (reward + 0.99 * (1 - done) * following - value)
        total, corrected = torch.zeros_like(last), []
        for t in range(reward.shape[0] - 1, -1, -1):
            total = error[t] + 0.99 * (1 - done[t]) * cut[t] * total
            corrected.append(total)
        target = torch.stack(corrected[::-1]) + value
        scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        return advantage, scaled, target.detach(), clipped * (target - value)

    reward, value, log = (torch.randn(3, batch) for _ in range(3))
    done = (torch.arange(3 * batch).view(3, batch) % 4 == 0).float()
    return returns, (reward, value, torch.randn(batch), done, log)


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.round()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0]


@program()
def learned_steps(batch: int) -> Made:
    class Quantized(nn.Module):
        low: Tensor
        high: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(6, 4))
            self.steps = nn.Parameter(torch.tensor([0.1, 0.05]))
            self.register_buffer("low", torch.tensor(0.0))
            self.register_buffer("high", torch.tensor(0.0))

        def _quantized(self, x: Tensor, step: Tensor, low: int, high: int) -> Tensor:
            scale = (x.numel() * high) ** -0.5
            step = (step - step * scale).detach() + step * scale
            rounded: Tensor = _Round.apply((x / step).clamp(low, high))
            return rounded * step

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            if self.training:
                with torch.no_grad():
                    self.low.copy_(torch.minimum(self.low, x.min()))
                    self.high.copy_(torch.lerp(self.high, x.max(), 0.1))
            weight = self._quantized(self.weight, self.steps[0], -8, 7)
            return F.linear(self._quantized(x.relu(), self.steps[1], 0, 255), weight), self.high * 1

    return Quantized(), (torch.randn(batch, 4),)


class _Solved(torch.autograd.Function):
    """Euler's steps, whose backward goes through the states again."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, weight: Tensor) -> Tensor:
        states = [y]
        for _ in range(3):
            states.append(states[-1] + 0.1 * torch.tanh(states[-1] @ weight))
        ctx.save_for_backward(weight, *states[:-1])
        return states[-1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        weight, *states = ctx.saved_tensors
        adjoint, total = grads[0], torch.zeros_like(weight)
        for state in reversed(states):
            slope = adjoint * 0.1 * (1 - torch.tanh(state @ weight).square())
            total, adjoint = total + state.t() @ slope, adjoint + slope @ weight.t()
        return adjoint, total


@program()
def adjoint_of_a_solver(batch: int) -> Made:
    return _Solved.apply, (torch.randn(batch, 4), torch.randn(4, 4))


@program()
def curvature_of_a_net(batch: int) -> Made:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    weights = {name: one.detach() for name, one in net.named_parameters()}

    def curvature(x: Tensor, y: Tensor, *directions: Tensor) -> list[Tensor]:
        def loss(values: Any, x: Tensor, y: Tensor) -> Tensor:
            return F.cross_entropy(functional_call(net, values, (x,)), y)

        along = dict(zip(weights, directions, strict=True))
        found: Any = jvp(lambda values: grad(loss)(values, x, y), (weights,), (along,))
        slope, product = found
        each = vmap(lambda x, y: grad(loss)(weights, x[None], y[None]))(x, y)
        return [*slope.values(), *product.values(), *[g.square().mean(0) for g in each.values()]]

    directions = [torch.randn_like(one) for one in weights.values()]
    return curvature, (torch.randn(batch, 3), torch.arange(batch) % 2, *directions)


@program()
def penalty_of_gradients(batch: int) -> Made:
    class Penalty(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

        def forward(self, real: Tensor, made: Tensor, share: Tensor) -> Tensor:
            between = share * real + (1 - share) * made
            slopes = vmap(grad(lambda one: self.critic(one).sum()))(between)
            penalty = (slopes.norm(2, dim=-1) - 1).square().mean()
            return 10 * penalty + self.critic(made).mean() - self.critic(real).mean()

    return Penalty(), (torch.randn(batch, 4), torch.randn(batch, 4), torch.rand(batch, 1))
