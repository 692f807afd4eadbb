"""A script to bisect: a small model, right rewrites, and one that is wrong."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from xductor import Rewrite, Scalar, Tensor
from xductor.ir import aten


class WrongScale(Rewrite):
    stage = ("joint", "post_grad")

    def pattern(self, x: Tensor, s: Scalar) -> Any:
        return aten.add(aten.mul(x, s), x)

    def replacement(self, x: Tensor, s: Scalar) -> Any:
        return aten.mul(x, s)


class NegNeg(Rewrite):
    stage = ("joint", "post_grad")

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.transpose(0, 1).transpose(0, 1)
        y = self.norm(y).neg().neg() + 0
        y = y.view(-1, 8).view(3, 5, 8)
        y = self.b(F.gelu(self.a(y)))
        y = y * 0.5 + y
        return y.neg().neg().view(15, 8).view(3, 5, 8).tanh()


def main() -> None:
    torch.manual_seed(0)
    model = Model()
    compiled = torch.compile(
        model, backend="xductor", options={"xductor.rewrites": [NegNeg, WrongScale]}
    )
    x = torch.randn(3, 5, 8)
    loss = compiled(x).square().mean()
    loss.backward()
    print(f"loss {loss.item():.4f}")
    print(f"gradient {model.a.weight.grad.norm():.4f}")


if __name__ == "__main__":
    main()
