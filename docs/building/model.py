"""The model of the picture: attention and a gated product, both spelled out."""

import torch
import torch.nn.functional as F


class Block(torch.nn.Module):
    """A block of a language model, of 64 features and four heads."""

    def __init__(self, size: int = 64) -> None:
        super().__init__()
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.gate = torch.nn.Linear(size, 2 * size)
        self.up = torch.nn.Linear(size, 2 * size)
        self.down = torch.nn.Linear(2 * size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(x).view(2, 16, 3, 4, 16).permute(2, 0, 3, 1, 4)
        q, k, v = heads[0], heads[1], heads[2]
        scores = q @ k.transpose(-2, -1) / 4
        mixed = torch.softmax(scores, dim=-1) @ v
        x = x + mixed.transpose(1, 2).reshape(2, 16, 64)
        return x + self.down(F.silu(self.gate(x)) * self.up(x))
