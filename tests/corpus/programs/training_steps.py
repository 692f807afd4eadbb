"""Steps of training: optimisers, averages of weights, generative nets, reinforcement learning."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.rmsprop import rmsprop
from torch.optim.sgd import sgd

from tests.corpus.programs.program import program

Made = tuple[Any, tuple[Any, ...]]
#: Functions on lists, which type checkers do not find in `torch`.
FOREACH: Any = torch
SHAPES = ((4, 3), (3,), (5, 4), ())


class Update(nn.Module):
    """A functional update of weights, whose state is in buffers: what it writes is compared."""

    def __init__(self, update: Callable[..., None], states: int) -> None:
        super().__init__()
        self.update = update
        self.weights = [f"w{i}" for i in range(len(SHAPES))]
        self.states = [[f"s{j}_{i}" for i in range(len(SHAPES))] for j in range(states)]
        for names in (self.weights, *self.states):
            for name, shape in zip(names, SHAPES, strict=True):
                self.register_buffer(name, torch.rand(shape))
        for i in range(len(SHAPES)):
            self.register_buffer(f"step{i}", torch.tensor(2.0))

    def forward(self, *gradients: Tensor) -> None:
        lists = [[getattr(self, name) for name in names] for names in (self.weights, *self.states)]
        steps = [getattr(self, f"step{i}") for i in range(len(SHAPES))]
        self.update(lists[0], list(gradients), lists[1:], steps)


def _gradients() -> tuple[Tensor, ...]:
    return tuple(torch.randn(shape) for shape in SHAPES)


class Optimised(nn.Module):
    """Two steps of an optimiser, gradients given; the weights and the optimiser's tensors."""

    def __init__(self, make: Callable[[list[nn.Parameter]], torch.optim.Optimizer]) -> None:
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.rand(shape)) for shape in SHAPES)
        self.optimiser = make(list(self.weights))

    def forward(self, *gradients: Tensor) -> list[Tensor]:
        for _ in range(2):
            for weight, gradient in zip(self.weights, gradients, strict=True):
                weight.grad = gradient
            self.optimiser.step()
        return [weight.clone() for weight in self.weights]


@program(train=False)
def adam_of_each(batch: int) -> Made:
    return Optimised(lambda w: torch.optim.Adam(w, 0.1, foreach=True)), _gradients()


@program(train=False)
def adam_with_greatest_averages(batch: int) -> Made:
    return Optimised(lambda w: torch.optim.AdamW(w, 0.1, amsgrad=True)), _gradients()


@program(train=False)
def optimisers_of_many_kinds(batch: int) -> Made:
    kinds = torch.optim.NAdam, torch.optim.RAdam, torch.optim.Adadelta, torch.optim.Adamax
    parts = [Optimised(lambda w, kind=kind: kind(w, 0.1)) for kind in kinds]

    class All(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList(parts)

        def forward(self, *gradients: Tensor) -> list[Tensor]:
            return [one for part in self.parts for one in part(*gradients)]

    return All(), _gradients()


@program(train=False)
def descent_with_momentum(batch: int) -> Made:
    def update(weights: Any, gradients: Any, states: Any, steps: Any) -> None:
        sgd(
            weights, gradients, states[0], foreach=True, weight_decay=0.1, momentum=0.9, lr=0.1,
            dampening=0.0, nesterov=True, maximize=False,
        )  # fmt: skip

    return Update(update, 1), _gradients()


@program(train=False)
def mean_squares_centered(batch: int) -> Made:
    def update(weights: Any, gradients: Any, states: Any, steps: Any) -> None:
        states[1] = [s * 0.0 for s in states[1]]
        rmsprop(
            weights, gradients, states[0], states[1], states[2], steps, foreach=True, lr=0.01,
            alpha=0.99, eps=1e-6, weight_decay=0.0, momentum=0.9, centered=True,
        )  # fmt: skip

    return Update(update, 3), _gradients()


@program(train=False)
def clipping_and_scaling(batch: int) -> Made:
    def step(*gradients: Tensor) -> tuple[Tensor, Tensor]:
        FOREACH._foreach_mul_(gradients, 1 / 8.0)
        bad = torch.stack([(~torch.isfinite(g)).any() for g in gradients]).any()
        norm = torch.linalg.vector_norm(torch.stack(FOREACH._foreach_norm(gradients)))
        FOREACH._foreach_mul_(gradients, (1.0 / (norm + 1e-6)).clamp(max=1.0))
        return norm, bad

    return step, _gradients()


@program(train=False)
def orthogonal_momentum(batch: int) -> Made:
    def step(weight: Tensor, gradient: Tensor, momentum: Tensor) -> None:
        momentum.lerp_(gradient, 0.05)
        x = gradient.lerp(momentum, 0.95).bfloat16()
        x = x.mT if x.shape[0] > x.shape[1] else x
        x = x / (x.norm() + 1e-7)
        for _ in range(3):
            gram = x @ x.mT
            x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
        x = x.mT if weight.shape[0] > weight.shape[1] else x
        weight.mul_(1 - 0.01).add_(x.to(weight.dtype), alpha=-0.02 * (6 / 4) ** 0.5)

    return step, tuple(torch.randn(6, 4) for _ in range(3))


@program(train=False)
def factored_second_moments(batch: int) -> Made:
    def step(weight: Tensor, gradient: Tensor, row: Tensor, column: Tensor) -> None:
        square = gradient.square() + 1e-30
        row.mul_(0.8).add_(square.mean(-1), alpha=0.2)
        column.mul_(0.8).add_(square.mean(-2), alpha=0.2)
        r = (row / row.mean(-1, keepdim=True)).rsqrt_().unsqueeze(-1)
        update = r * column.unsqueeze(-2).rsqrt() * gradient
        update.div_((update.norm(2) / update.numel() ** 0.5).clamp_(min=1.0))
        weight.add_(update, alpha=-0.01)

    return step, (torch.randn(4, 6), torch.randn(4, 6), torch.rand(4), torch.rand(6))


@program(train=False)
def sign_of_momentum(batch: int) -> Made:
    def step(weight: Tensor, gradient: Tensor, average: Tensor) -> None:
        weight.mul_(0.99)
        weight.add_(average.mul(0.9).add(gradient, alpha=0.1).sign_(), alpha=-0.01)
        average.lerp_(gradient, 0.01)

    return step, tuple(torch.randn(5, 4) for _ in range(3))


@program(train=False)
def averages_of_weights(batch: int) -> Made:
    class Average(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.online = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Linear(5, 2))
            self.slow = copy.deepcopy(self.online)

        def forward(self, x: Tensor) -> Tensor:
            slow, online = list(self.slow.parameters()), list(self.online.parameters())
            FOREACH._foreach_lerp_(slow, online, 0.25)
            for ours, theirs in zip(self.slow.buffers(), self.online.buffers(), strict=True):
                ours.copy_(theirs)
            return self.slow(x)

    return Average(), (torch.randn(batch, 4),)


class Autoencoder(nn.Module):
    """A variational autoencoder with its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.SiLU(), nn.Flatten())
        self.moments = nn.Linear(64, 8)
        self.decoder = nn.Sequential(
            nn.Linear(4, 64), nn.SiLU(), nn.Unflatten(1, (4, 4, 4)),
            nn.ConvTranspose2d(4, 1, 4, 2, 1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        mean, log_variance = self.moments(self.encoder(x)).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        rebuilt = F.binary_cross_entropy_with_logits(self.decoder(z), x.sigmoid())
        return rebuilt - 0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()


@program()
def variational_autoencoder(batch: int) -> Made:
    return Autoencoder(), (torch.randn(batch, 1, 8, 8),)


class Adversaries(nn.Module):
    """The losses of a generator and a discriminator in one step."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(4, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
            nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False), nn.Tanh(),
        )  # fmt: skip
        self.judge = nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Conv2d(1, 4, 4, 2, 1)),
            nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(4, 1, 4),
        )  # fmt: skip

    def forward(self, real: Tensor) -> tuple[Tensor, Tensor]:
        fake = self.generator(torch.randn(real.shape[0], 4, 1, 1))
        hinge = F.relu(1 - self.judge(real)).mean() + F.relu(1 + self.judge(fake.detach())).mean()
        return hinge, -self.judge(fake).mean()


@program()
def adversarial_step(batch: int) -> Made:
    return Adversaries(), (torch.randn(batch, 1, 8, 8),)


class Denoiser(nn.Module):
    """The loss of a small diffusion model: schedule, noise, time embedding."""

    kept: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.into, self.out = nn.Conv2d(2, 8, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)
        self.norm, self.time = nn.GroupNorm(2, 8), nn.Linear(8, 16)
        self.register_buffer("kept", torch.cumprod(1 - torch.linspace(1e-4, 0.02, 50), 0))

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        noise = torch.randn_like(x)
        kept = self.kept[t].view(-1, 1, 1, 1)
        noised = kept.sqrt() * x + (1 - kept).sqrt() * noise
        angles = t[:, None].float() * torch.exp(torch.arange(4) * -2.0)
        embedded = self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        scale, shift = embedded.chunk(2, 1)
        h = F.silu(self.norm(self.into(noised)) * (1 + scale) + shift)
        return F.mse_loss(self.out(h), noise)


@program()
def denoising(batch: int) -> Made:
    return Denoiser(), (torch.randn(batch, 2, 6, 6), torch.randint(0, 50, (batch,)))


class QLearning(nn.Module):
    """A double, duelling deep Q network with its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.value, self.advantage = nn.Linear(8, 1), nn.Linear(8, 3)
        self.target = nn.Linear(4, 3)

    def q(self, x: Tensor) -> Tensor:
        h = self.body(x)
        advantage = self.advantage(h)
        return self.value(h) + advantage - advantage.mean(1, keepdim=True)

    def forward(self, x: Tensor, y: Tensor, action: Tensor, reward: Tensor, end: Tensor) -> Tensor:
        chosen = self.q(x).gather(1, action)
        with torch.no_grad():
            following = self.target(y).gather(1, self.q(y).argmax(1, keepdim=True))
            wanted = reward + 0.99 * following * (1 - end.float())
        error = F.smooth_l1_loss(chosen, wanted, reduction="none")
        weight = (chosen - wanted).detach().abs().pow(0.6)
        return (error * weight / weight.max()).mean()


@program()
def q_learning(batch: int) -> Made:
    states = torch.randn(batch, 4), torch.randn(batch, 4)
    rest = torch.randint(0, 3, (batch, 1)), torch.randn(batch, 1), torch.rand(batch, 1) < 0.5
    return QLearning(), (*states, *rest)


class PolicyStep(nn.Module):
    """Advantages estimated over time, and a clipped policy loss."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = nn.Linear(4, 3), nn.Linear(4, 1)

    def forward(self, x: Tensor, action: Tensor, reward: Tensor, end: Tensor, old: Tensor) -> Any:
        values = self.value(x).squeeze(-1)
        advantages = torch.zeros_like(reward)
        last = torch.zeros_like(reward[0])
        for t in reversed(range(reward.shape[0] - 1)):
            alive = 1 - end[t].float()
            delta = reward[t] + 0.99 * values[t + 1].detach() * alive - values[t].detach()
            last = delta + 0.99 * 0.95 * alive * last
            advantages[t] = last
        spread = torch.distributions.Categorical(logits=self.policy(x))
        ratio = (spread.log_prob(action) - old).exp()
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = torch.min(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled).mean()
        fit = F.mse_loss(values, advantages + values.detach())
        return -clipped + 0.5 * fit - 0.01 * spread.entropy().mean()


@program()
def clipped_policy(batch: int) -> Made:
    shape = (5, batch)
    rest = torch.randn(shape), torch.rand(shape) < 0.2, -torch.rand(shape)
    return PolicyStep(), (torch.randn(*shape, 4), torch.randint(0, 3, shape), *rest)


@program()
def squashed_normal_policy(batch: int) -> Made:
    def loss(x: Tensor, q: Tensor) -> Tensor:
        mean, log_std = x.chunk(2, -1)
        spread = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        drawn = spread.rsample()
        action = torch.tanh(drawn)
        log_prob = spread.log_prob(drawn) - torch.log(1 - action.pow(2) + 0.1)
        return (0.2 * log_prob.sum(-1) - (q * action).sum(-1)).mean()

    return loss, (torch.randn(batch, 6), torch.randn(batch, 3))


@program()
def preferences(batch: int) -> Made:
    def loss(logits: Tensor, reference: Tensor, labels: Tensor) -> Tensor:
        mask = labels != -100
        index = labels.clamp(min=0)[..., None]
        ours, theirs = (
            (x.log_softmax(-1).gather(2, index).squeeze(2) * mask).sum(-1)
            for x in (logits, reference)
        )
        gap = ours - theirs.detach()
        chosen, rejected = gap.chunk(2)
        return -F.logsigmoid(0.1 * (chosen - rejected)).mean()

    labels = torch.randint(0, 7, (2 * batch, 4))
    labels[:, 0] = -100
    return loss, (torch.randn(2 * batch, 4, 7), torch.randn(2 * batch, 4, 7), labels)


@program()
def group_relative_policy(batch: int) -> Made:
    def loss(new: Tensor, old: Tensor, base: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
        groups = reward.view(-1, 2)
        scaled = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        ratio = torch.exp(new - old.detach())
        a = scaled.view(-1, 1)
        policy = -torch.minimum(ratio * a, ratio.clamp(0.8, 1.28) * a)
        drift = (base - new).exp() - (base - new) - 1
        return ((policy + 0.04 * drift) * mask).sum(-1).div(mask.sum(-1).clamp_min(1)).mean()

    logs = [-torch.rand(2 * batch, 5) for _ in range(3)]
    return loss, (*logs, torch.randn(2 * batch), (torch.rand(2 * batch, 5) < 0.8).float())
