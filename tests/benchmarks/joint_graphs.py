"""Joint training graphs of a wanted size: a stack of small transformer blocks, traced once."""

from __future__ import annotations

import functools

import torch
import torch.fx as fx
from torch import nn


class Block(nn.Module):
    """Attention and a gated MLP, written plainly: about 206 joint nodes."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(self.norm_1(x)).chunk(3, -1))
        scores = (q @ k.transpose(-2, -1)) / 2.0
        mixed = torch.softmax(scores, -1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm_2(x))))


@functools.cache
def joint_graph(blocks: int) -> fx.GraphModule:
    """The joint graph of so many blocks: 2 have about 400 nodes, 12 2,500, and 49 10,000."""
    from functorch.compile import default_partition, make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.decomposition import select_decomp_table

    captured: list[fx.GraphModule] = []

    def partition(gm: fx.GraphModule, inputs: object, **kwargs: object) -> object:
        captured.append(gm)
        return default_partition(gm, inputs, **kwargs)

    def interpret(gm: fx.GraphModule, inputs: object) -> object:
        return make_boxed_func(gm.forward)

    torch.manual_seed(0)
    torch._dynamo.reset()
    model = nn.Sequential(*[Block() for _ in range(blocks)])
    backend = aot_autograd(
        fw_compiler=interpret, partition_fn=partition, decompositions=select_decomp_table()
    )
    compiled = torch.compile(model, backend=backend)
    compiled(torch.randn(2, 4, 16, requires_grad=True))
    return captured[0]
