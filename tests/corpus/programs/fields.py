"""Fields and physics: rays, splats, differential equations, derivatives of nets, geometry."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, jvp, vmap

from tests.corpus.programs.program import program

Made = tuple[Any, tuple[Any, ...]]


class RadianceField(nn.Module):
    """Rays that are sampled, coloured and composed; then sampled again where it matters."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(15, 16), nn.Linear(16, 4)

    def colours(self, points: Tensor) -> tuple[Tensor, Tensor]:
        bands = 2.0 ** torch.arange(2)
        angles = (points[..., None] * bands).flatten(-2)
        encoded = torch.cat([points, angles.sin(), angles.cos()], -1)
        out = self.head(F.relu(self.body(encoded)))
        return torch.sigmoid(out[..., :3]), F.softplus(out[..., 3] - 1)

    def composed(self, origin: Tensor, ray: Tensor, depth: Tensor) -> tuple[Tensor, Tensor]:
        colour, density = self.colours(origin[:, None] + ray[:, None] * depth[..., None])
        gaps = torch.cat([depth[:, 1:] - depth[:, :-1], torch.full_like(depth[:, :1], 1e10)], -1)
        alpha = 1 - torch.exp(-density * gaps)
        clear = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)
        weights = alpha * clear[:, :-1]
        return (weights[..., None] * colour).sum(1), weights

    def finer(self, depth: Tensor, weights: Tensor) -> Tensor:
        mid = 0.5 * (depth[:, 1:] + depth[:, :-1])
        pdf = weights[:, 1:-1] + 1e-5
        cdf = F.pad(torch.cumsum(pdf / pdf.sum(-1, keepdim=True), -1), (1, 0))
        u = torch.linspace(0.05, 0.95, 4).expand(depth.shape[0], 4).contiguous()
        index = torch.searchsorted(cdf.contiguous(), u, right=True)
        below, above = (index - 1).clamp(min=0), index.clamp(max=cdf.shape[-1] - 1)
        c0, c1 = cdf.gather(1, below), cdf.gather(1, above)
        d0, d1 = mid.gather(1, below), mid.gather(1, above)
        width = torch.where(c1 - c0 < 1e-5, torch.ones_like(c0), c1 - c0)
        return torch.sort(torch.cat([depth, d0 + (u - c0) / width * (d1 - d0)], -1), -1).values

    def forward(self, origin: Tensor, ray: Tensor) -> tuple[Tensor, Tensor]:
        ray = F.normalize(ray, dim=-1)
        depth = torch.linspace(0.5, 3.0, 6).expand(origin.shape[0], 6)
        depth = depth + torch.rand(depth.shape) * 0.1
        coarse, weights = self.composed(origin, ray, depth)
        fine, _ = self.composed(origin, ray, self.finer(depth, weights.detach()))
        return coarse, fine


@program()
def radiance_field(batch: int) -> Made:
    return RadianceField(), (torch.randn(batch, 3), torch.randn(batch, 3))


@program()
def splats(batch: int) -> Made:
    def draw(
        centre: Tensor, scale: Tensor, quaternion: Tensor, opacity: Tensor, colour: Tensor
    ) -> Any:
        w, x, y, z = F.normalize(quaternion, dim=-1).unbind(-1)
        rows = [
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
        ]  # fmt: skip
        turn = torch.stack(rows, -1).unflatten(-1, (3, 3)) * scale.exp()[:, None]
        spread = (turn @ turn.mT)[:, :2, :2] + 0.3 * torch.eye(2)
        order = torch.argsort(centre[:, 2], stable=True)
        grid = torch.stack(torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="ij"), -1)
        gap = grid.view(-1, 1, 2) - centre[order, :2]
        power = -0.5 * torch.einsum("pgi,gij,pgj->pg", gap, torch.linalg.inv(spread[order]), gap)
        alpha = (opacity[order].sigmoid() * power.exp()).clamp(max=0.99)
        alpha = torch.where(alpha < 1 / 255, torch.zeros_like(alpha), alpha)
        clear = torch.cumprod(1 - alpha, -1).roll(1, -1)
        clear[:, 0] = 1.0
        return ((alpha * clear) @ colour[order]).view(4, 4, 3)

    count = batch + 3
    sizes = ((count, 3), (count, 3), (count, 4), (count,), (count, 3))
    return draw, tuple(torch.rand(size) * 2 for size in sizes)


@program()
def hashed_grid(batch: int) -> Made:
    class Grid(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Parameter(torch.randn(2, 32, 2))

        def forward(self, x: Tensor) -> Tensor:
            found = []
            for level, size in enumerate((4, 7)):
                scaled = x * size
                low = scaled.floor().long()
                part = scaled - low
                total = torch.zeros(x.shape[0], 2)
                for corner in range(4):
                    offset = torch.tensor([corner & 1, corner >> 1])
                    cell = low + offset
                    at = (cell[:, 0] ^ (cell[:, 1] * 2654435761)) % 32
                    weight = torch.where(offset.bool(), part, 1 - part).prod(-1, keepdim=True)
                    total = total + weight * self.table[level][at]
                found.append(total)
            return torch.cat(found, -1)

    return Grid(), (torch.rand(batch + 2, 2),)


class Flow(nn.Module):
    """A differential equation, solved by fixed steps of Runge and Kutta."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))

    def slope(self, t: Tensor, x: Tensor) -> Tensor:
        return self.net(torch.cat([x, t.expand(x.shape[0], 1)], -1))

    def forward(self, x: Tensor) -> Tensor:
        h = 0.25
        for t in torch.arange(0, 1, h).unbind():
            k1 = self.slope(t, x)
            k2 = self.slope(t + h / 2, x + h / 2 * k1)
            k3 = self.slope(t + h / 2, x + h / 2 * k2)
            k4 = self.slope(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x


@program()
def differential_equation(batch: int) -> Made:
    return Flow(), (torch.randn(batch, 2),)


@program()
def adaptive_step(batch: int) -> Made:
    def step(x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        k1 = torch.sin(x) - x
        k2 = torch.sin(x + h * k1) - (x + h * k1)
        low, high = x + h * k1, x + 0.5 * h * (k1 + k2)
        error = ((high - low) / (1e-3 + 1e-3 * torch.maximum(x.abs(), high.abs()))).square().mean()
        fine = error.sqrt() <= 1
        factor = (0.9 / error.sqrt().clamp_min(1e-9).sqrt()).clamp(0.2, 10.0)
        return torch.where(fine, high, x), torch.where(fine, h * factor, h * factor.clamp(max=1))

    return step, (torch.randn(batch, 3), torch.tensor(0.1))


def _burgers(net: nn.Module) -> Any:
    weights: dict[str, Tensor] = dict(net.named_parameters())

    def u(x: Tensor, t: Tensor) -> Tensor:
        return functional_call(net, weights, (torch.stack([x, t]),)).squeeze()

    def residual(x: Tensor, t: Tensor) -> Tensor:
        first = grad(u, 0)
        return grad(u, 1)(x, t) + u(x, t) * first(x, t) - 0.01 * grad(first, 0)(x, t)

    return residual


class Burgers(nn.Module):
    """The residual of an equation, whose derivatives are those of a net."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return vmap(_burgers(self.net))(x, t).square().mean()


@program()
def physics(batch: int) -> Made:
    return Burgers(), (torch.randn(batch), torch.randn(batch))


@program()
def jacobians_of_a_net(batch: int) -> Made:
    class Derivatives(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(3, 6), nn.Softplus(), nn.Linear(6, 3))

        def forward(self, x: Tensor, v: Tensor) -> tuple[Tensor, ...]:
            jacobian = vmap(jacrev(self.net))(x)
            value, pushed = jvp(self.net, (x,), (v,))[:2]
            curvature = vmap(jacrev(jacrev(lambda y: self.net(y).square().sum())))(x)
            return jacobian.diagonal(dim1=1, dim2=2).sum(-1), value, pushed, curvature

    return Derivatives(), (torch.randn(batch, 3), torch.randn(batch, 3))


@program(train=False)
def gradients_of_each_sample(batch: int) -> Made:
    class PerSample(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))

        def forward(self, x: Tensor, y: Tensor) -> list[Tensor]:
            def loss(weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
                return F.cross_entropy(functional_call(self.net, weights, (x[None],)), y[None])

            weights = {name: p.detach() for name, p in self.net.named_parameters()}
            each = vmap(grad(loss), in_dims=(None, 0, 0))(weights, x, y)
            norms = torch.stack([g.flatten(1).norm(dim=1) for g in each.values()]).norm(dim=0)
            scale = (1.0 / (norms + 1e-6)).clamp(max=1.0)
            return [torch.einsum("b,b...->...", scale, g) for g in each.values()]

    return PerSample(), (torch.randn(batch, 4), torch.randint(0, 3, (batch,)))


@program(train=False)
def inner_loop(batch: int) -> Made:
    class Adapts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Linear(3, 1)

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            weights = {name: p.detach() for name, p in self.net.named_parameters()}

            def outer(weights: Any, x: Tensor, y: Tensor) -> Tensor:
                def loss(w: Any) -> Tensor:
                    return F.mse_loss(functional_call(self.net, w, (x,)), y)

                for _ in range(2):
                    slopes = grad(loss)(weights)
                    weights = {name: w - 0.1 * slopes[name] for name, w in weights.items()}
                return loss(weights)

            return vmap(outer, in_dims=(None, 0, 0))(weights, x, y)

    return Adapts(), (torch.randn(batch, 4, 3), torch.randn(batch, 4, 1))


@program()
def coupled_flow(batch: int) -> Made:
    class Coupling(nn.Module):
        order: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.nets = nn.ModuleList(nn.Linear(2, 4) for _ in range(3))
            self.register_buffer("order", torch.tensor([3, 1, 0, 2]))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            volume = x.new_zeros(x.shape[0])
            for net in self.nets:
                a, b = x.chunk(2, -1)
                log_scale, shift = net(a).chunk(2, -1)
                log_scale = torch.tanh(log_scale)
                x = torch.cat([a, b * log_scale.exp() + shift], -1)[:, self.order]
                volume = volume + log_scale.sum(-1)
            base = torch.distributions.Independent(
                torch.distributions.Normal(torch.zeros(4), torch.ones(4)), 1
            )
            return x, base.log_prob(x) + volume

    return Coupling(), (torch.randn(batch, 4),)


@program()
def spline_flow(batch: int) -> Made:
    def spline(x: Tensor, widths: Tensor, heights: Tensor, slopes: Tensor) -> Tensor:
        widths, heights = (
            F.pad(torch.cumsum(w.softmax(-1), -1), (1, 0)) * 2 - 1 for w in (widths, heights)
        )
        slopes = F.softplus(slopes) + 1e-3
        inside = (x > -1) & (x < 1)
        bin = (torch.sum(x[..., None] >= widths, -1) - 1).clamp(0, widths.shape[-1] - 2)[..., None]
        x0, y0 = widths.gather(-1, bin)[..., 0], heights.gather(-1, bin)[..., 0]
        w = widths.gather(-1, bin + 1)[..., 0] - x0
        h = heights.gather(-1, bin + 1)[..., 0] - y0
        d0, d1 = slopes.gather(-1, bin)[..., 0], slopes.gather(-1, bin + 1)[..., 0]
        theta = (x - x0) / w
        both = theta * (1 - theta)
        out = y0 + h * (h / w * theta**2 + d0 * both) / (h / w + (d0 + d1 - 2 * h / w) * both)
        return torch.where(inside, out, x)

    sizes = ((batch, 3), (batch, 3, 4), (batch, 3, 4), (batch, 3, 5))
    return spline, tuple(torch.randn(size) for size in sizes)


@program()
def wave_in_steps(batch: int) -> Made:
    def wave(u: Tensor, before: Tensor) -> Tensor:
        kernel = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
        for _ in range(3):
            padded = F.pad(u[:, None], (1, 1, 1, 1), mode="circular")
            change = F.conv2d(padded, kernel[None, None]).squeeze(1)
            u, before = 2 * u - before + 0.1 * change, u
        return u

    return wave, (torch.randn(batch, 5, 5), torch.randn(batch, 5, 5))


@program()
def spectral_operator(batch: int) -> Made:
    class Spectral(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 3, 4, 2))
            self.mix = nn.Conv1d(3, 3, 1)

        def forward(self, x: Tensor) -> Tensor:
            modes = torch.fft.rfft(x)
            weight = torch.view_as_complex(self.weight)
            kept = torch.einsum("bim,iom->bom", modes[..., :4], weight)
            out = torch.zeros(x.shape[0], 3, modes.shape[-1], dtype=torch.cfloat)
            out[..., :4] = kept
            return F.gelu(torch.fft.irfft(out, n=x.shape[-1]) + self.mix(x))

    return Spectral(), (torch.randn(batch, 3, 10),)


@program()
def point_clouds(batch: int) -> Made:
    def loss(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        apart = (x[:, :, None] - y[:, None]).square().sum(-1)
        chamfer = apart.amin(2).mean() + apart.amin(1).mean()
        near = apart.topk(3, dim=2, largest=False).indices
        rows = torch.arange(x.shape[0])[:, None, None]
        local = y[rows, near] - x[:, :, None]
        return chamfer, torch.linalg.eigvalsh(local.mT @ local / 3 + 0.1 * torch.eye(3))

    return loss, (torch.randn(batch, 5, 3), torch.randn(batch, 6, 3))


@program(train=False)
def farthest_points(batch: int) -> Made:
    def sample(x: Tensor) -> Tensor:
        distance = torch.full(x.shape[:2], float("inf"))
        chosen = torch.zeros(x.shape[0], 3, dtype=torch.long)
        last = chosen[:, 0]
        rows = torch.arange(x.shape[0])
        for i in range(3):
            chosen[:, i] = last
            gap = (x - x[rows, last][:, None]).square().sum(-1)
            distance = torch.minimum(distance, gap)
            last = distance.argmax(-1)
        return chosen

    return sample, (torch.randn(batch, 7, 3),)


@program()
def rigid_alignment(batch: int) -> Made:
    def align(x: Tensor, y: Tensor) -> Tensor:
        mx, my = x.mean(1, keepdim=True), y.mean(1, keepdim=True)
        u, _, vh = torch.linalg.svd((x - mx).mT @ (y - my))
        sign = torch.det(u @ vh).sign()
        flip = torch.diag_embed(
            torch.stack([torch.ones_like(sign), torch.ones_like(sign), sign], -1)
        )
        turn = u @ flip @ vh
        return ((x - mx) @ turn - (y - my)).square().mean()

    return align, (torch.randn(batch, 6, 3), torch.randn(batch, 6, 3))


@program()
def sampled_warp(batch: int) -> Made:
    def warp(image: Tensor, flow: Tensor, turn: Tensor) -> tuple[Tensor, Tensor]:
        ys, xs = torch.meshgrid(torch.arange(5.0), torch.arange(5.0), indexing="ij")
        at = torch.stack([xs, ys], -1) + flow.movedim(1, -1)
        at = at / 2 - 1
        moved = F.grid_sample(image, at, align_corners=True, padding_mode="border")
        grid = F.affine_grid(turn, list(image.shape), align_corners=False)
        return moved, F.grid_sample(image, grid, mode="bilinear", align_corners=False)

    return warp, (
        torch.randn(batch, 2, 5, 5),
        torch.randn(batch, 2, 5, 5),
        torch.randn(batch, 2, 3),
    )
