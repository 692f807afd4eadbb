"""A script to capture: three graph breaks, dynamic shapes, a recompile, and training.

With `--fail` it ends in an exception after its first step, with `--exit N` in that status.
"""

import argparse
import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Encoder(nn.Module):
    """Four parts, with something between them that Dynamo cannot trace."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.norm = nn.LayerNorm(8)
        self.expand = nn.Linear(8, 16)
        self.contract = nn.Linear(16, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        x = x.transpose(0, 1).transpose(0, 1)
        torch._dynamo.graph_break()
        x = self.norm(x) + x.to(torch.float32)
        torch._dynamo.graph_break()
        x = x + self.contract(F.gelu(self.expand(x)))
        torch._dynamo.graph_break()
        return self.head(x.reshape(-1, 8))


def step(model: nn.Module, compiled: nn.Module, tokens: Tensor) -> float:
    """One step of training, with a class per token to learn."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = F.cross_entropy(compiled(tokens), tokens.flatten() % 5)
    loss.backward()
    optimizer.step()
    return loss.item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--exit", type=int)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Encoder()
    compiled = torch.compile(model)  # sizes become symbols when they change
    for number in range(options.steps):
        tokens = torch.randint(0, 20, (3 + number, 7))
        print(f"step {number}: loss {step(model, compiled, tokens):.4f}")
        if options.fail:
            raise RuntimeError("the script failed on purpose")
    if options.exit is not None:
        sys.exit(options.exit)


if __name__ == "__main__":
    main()
