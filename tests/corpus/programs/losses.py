"""Losses: of sequences, classes, pairs, boxes and distributions."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.corpus.programs.program import program

Made = tuple[Any, tuple[Any, ...]]


@program()
def connectionist_temporal(batch: int) -> Made:
    def loss(logits: Tensor, targets: Tensor, lengths: Tensor, target_lengths: Tensor) -> Tensor:
        log_probs = logits.log_softmax(-1)
        return F.ctc_loss(log_probs, targets, lengths, target_lengths, zero_infinity=True)

    targets = torch.randint(1, 6, (batch, 4))
    lengths = torch.full((batch,), 12)
    return loss, (torch.randn(12, batch, 6), targets, lengths, torch.full((batch,), 4))


@program()
def focal(batch: int) -> Made:
    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        entropy = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        p = torch.sigmoid(logits)
        right = p * targets + (1 - p) * (1 - targets)
        weight = 0.25 * targets + 0.75 * (1 - targets)
        return (weight * (1 - right) ** 2.0 * entropy).sum() / targets.sum().clamp(min=1)

    return loss, (torch.randn(batch, 5, 7), torch.randint(0, 2, (batch, 5, 7)).float())


@program()
def contrastive(batch: int) -> Made:
    def loss(images: Tensor, texts: Tensor, scale: Tensor) -> Tensor:
        images, texts = F.normalize(images, dim=-1), F.normalize(texts, dim=-1)
        logits = scale.exp().clamp(max=100.0) * images @ texts.t()
        labels = torch.arange(logits.shape[0], device=logits.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2

    return loss, (torch.randn(batch + 3, 16), torch.randn(batch + 3, 16), torch.tensor(1.5))


@program()
def normalized_temperature(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        z = F.normalize(torch.cat([x, y]), dim=1)
        count = x.shape[0]
        similar = z @ z.t() / 0.5
        eye = torch.eye(2 * count, dtype=torch.bool, device=x.device)
        similar = similar.masked_fill(eye, float("-inf"))
        index = torch.arange(count, device=x.device)
        return F.cross_entropy(similar, torch.cat([index + count, index]))

    return loss, (torch.randn(batch + 2, 8), torch.randn(batch + 2, 8))


@program()
def hardest_triplet(batch: int) -> Made:
    def loss(x: Tensor, labels: Tensor) -> Tensor:
        distance = torch.cdist(x, x)
        same = labels[:, None] == labels[None, :]
        farthest = distance.masked_fill(~same, 0.0).amax(1)
        nearest = distance.masked_fill(same, float("inf")).amin(1)
        return F.relu(farthest - nearest + 0.3).mean()

    return loss, (torch.randn(2 * batch + 2, 8), torch.arange(2 * batch + 2) % 3)


@program()
def triplet_margins(batch: int) -> Made:
    def loss(anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        apart = F.triplet_margin_loss(anchor, positive, negative, swap=True)
        return apart + F.cosine_embedding_loss(anchor, negative, -torch.ones(anchor.shape[0]), 0.2)

    return loss, tuple(torch.randn(batch, 9) for _ in range(3))


@program()
def supervised_contrastive(batch: int) -> Made:
    def loss(x: Tensor, labels: Tensor) -> Tensor:
        x = F.normalize(x, dim=1)
        logits = x @ x.t() / 0.1
        logits = logits - logits.max(dim=1, keepdim=True).values.detach()
        others = 1 - torch.eye(x.shape[0])
        positives = (labels[:, None] == labels[None, :]).float() * others
        log_probs = logits - (logits.exp() * others).sum(1, keepdim=True).log()
        return -((positives * log_probs).sum(1) / positives.sum(1).clamp(min=1)).mean()

    return loss, (torch.randn(2 * batch, 8), torch.arange(2 * batch) % 2)


@program()
def dice_and_overlap(batch: int) -> Made:
    def loss(logits: Tensor, target: Tensor) -> Tensor:
        p = logits.softmax(1)
        one_hot = F.one_hot(target, 4).movedim(-1, 1).to(p.dtype)
        both, either = (p * one_hot).sum((2, 3)), (p + one_hot).sum((2, 3))
        dice = 1 - (2 * both + 1) / (either + 1)
        overlap = 1 - (both + 1) / (either - both + 1)
        return dice.mean() + overlap.mean()

    return loss, (torch.randn(batch, 4, 6, 6), torch.randint(0, 4, (batch, 6, 6)))


@program()
def generalized_overlap_of_boxes(batch: int) -> Made:
    def loss(a: Tensor, b: Tensor) -> Tensor:
        a, b = (torch.cat([x[:, :2], x[:, :2] + x[:, 2:].abs()], 1) for x in (a, b))
        areas = [(x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (a, b)]
        sides = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(0)
        both = sides[:, 0] * sides[:, 1]
        union = areas[0] + areas[1] - both
        hull = torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])
        whole = hull.prod(1)
        return (1 - both / (union + 1e-7) + (whole - union) / (whole + 1e-7)).mean()

    return loss, (torch.rand(batch + 3, 4) + 0.1, torch.rand(batch + 3, 4) + 0.1)


@program()
def label_smoothing_with_weights(batch: int) -> Made:
    def loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        weights = weight.float()
        mean = F.cross_entropy(logits, target, weights, ignore_index=0, label_smoothing=0.1)
        alone = F.cross_entropy(logits, target, ignore_index=0, reduction="none")
        return mean + alone.sort().values[-2:].mean()

    target = torch.randint(0, 5, (batch, 7))
    target[0, :3] = 0
    return loss, (torch.randn(batch, 5, 7), target, torch.randint(1, 4, (5,)))


@program()
def soft_targets(batch: int) -> Made:
    def loss(student: Tensor, teacher: Tensor) -> Tensor:
        warm = F.log_softmax(student / 2.0, -1)
        with torch.no_grad():
            wanted = F.softmax(teacher / 2.0, -1)
        distilled = F.kl_div(warm, wanted, reduction="batchmean") * 4
        return distilled + F.cross_entropy(student, wanted)

    return loss, (torch.randn(batch, 6), torch.randn(batch, 6))


@program()
def barlow_and_variance(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        a, b = ((z - z.mean(0)) / (z.std(0) + 1e-4) for z in (x, y))
        cross = a.t() @ b / x.shape[0]
        diagonal = torch.diagonal(cross)
        off = cross.flatten()[:-1].view(cross.shape[0] - 1, cross.shape[0] + 1)[:, 1:].flatten()
        hinge = F.relu(1 - torch.sqrt(x.var(dim=0) + 1e-4)).mean()
        return (diagonal - 1).square().sum() + 0.01 * off.square().sum() + hinge

    return loss, (torch.randn(batch + 3, 6), torch.randn(batch + 3, 6))


@program()
def structural_similarity(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        window = torch.exp(-((torch.arange(5.0) - 2) ** 2) / 4.5)
        window = (window[:, None] * window[None, :]).expand(3, 1, 5, 5) / window.sum() ** 2

        def blur(z: Tensor) -> Tensor:
            return F.conv2d(z, window, padding=2, groups=3)

        mx, my = blur(x), blur(y)
        vx, vy, cov = blur(x * x) - mx**2, blur(y * y) - my**2, blur(x * y) - mx * my
        top = (2 * mx * my + 1e-4) * (2 * cov + 9e-4)
        return 1 - (top / ((mx**2 + my**2 + 1e-4) * (vx + vy + 9e-4))).mean()

    return loss, (torch.rand(batch, 3, 9, 9), torch.rand(batch, 3, 9, 9))


@program()
def additive_angular_margin(batch: int) -> Made:
    class Margin(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(5, 8))

        def forward(self, x: Tensor, labels: Tensor) -> Tensor:
            cosine = F.linear(F.normalize(x), F.normalize(self.weight))
            sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(1e-6, 1))
            moved = torch.where(cosine > -0.8, cosine * 0.9 - sine * 0.4, cosine - 0.2)
            chosen = torch.zeros_like(cosine).scatter_(1, labels.view(-1, 1), 1)
            return F.cross_entropy(8.0 * (chosen * moved + (1 - chosen) * cosine), labels)

    return Margin(), (torch.randn(batch, 8), torch.randint(0, 5, (batch,)))


@program()
def transport_by_sinkhorn(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        cost = torch.cdist(x, y).square()
        u = torch.zeros(x.shape[:2])
        v = torch.zeros(y.shape[:2])
        for _ in range(4):
            u = -0.5 * torch.logsumexp((v[:, None, :] - cost) / 0.5, 2)
            v = -0.5 * torch.logsumexp((u[:, :, None] - cost) / 0.5, 1)
        plan = torch.exp((u[:, :, None] + v[:, None, :] - cost) / 0.5)
        return (plan * cost).sum((1, 2)).mean()

    return loss, (torch.randn(batch, 5, 3), torch.randn(batch, 6, 3))


@program()
def spectral_distance(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        total = x.new_zeros(())
        for size in (8, 16):
            window = torch.hann_window(size)
            a, b = (
                torch.stft(z, size, size // 4, window=window, return_complex=True).abs()
                for z in (x, y)
            )
            total = total + torch.linalg.norm(a - b) / torch.linalg.norm(b)
            total = total + F.l1_loss((a + 1e-3).log(), (b + 1e-3).log())
        return total

    return loss, (torch.randn(batch, 48), torch.randn(batch, 48))


@program()
def pairwise_ranking(batch: int) -> Made:
    def loss(scores: Tensor, relevance: Tensor) -> Tensor:
        gap = scores[:, :, None] - scores[:, None, :]
        above = (relevance[:, :, None] > relevance[:, None, :]).float()
        order = scores.argsort(1, descending=True).argsort(1)
        discount = 1 / torch.log2(order.float() + 2)
        weight = (discount[:, :, None] - discount[:, None, :]).abs()
        return (F.softplus(-gap) * above * weight).sum() / above.sum().clamp_min(1)

    return loss, (torch.randn(batch, 6), torch.randint(0, 3, (batch, 6)))


@program()
def losses_of_the_library(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        signs = y.detach().sign()
        return (
            F.smooth_l1_loss(x, y, beta=0.5),
            F.huber_loss(x, y, delta=0.7),
            F.soft_margin_loss(x, signs),
            F.multi_margin_loss(x, labels),
            F.hinge_embedding_loss(x, signs),
            F.poisson_nll_loss(x, y.abs(), full=True),
            F.gaussian_nll_loss(x, y, y.abs() + 0.1),
            F.margin_ranking_loss(x, y, signs, 0.1),
            F.multilabel_soft_margin_loss(x, (signs > 0).float()),
        )

    return loss, (torch.randn(batch, 5), torch.randn(batch, 5), torch.randint(0, 5, (batch,)))
