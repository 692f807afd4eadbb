"""A joint training graph of some 700 ops, captured from aot_autograd."""

from __future__ import annotations

import torch
import torch.fx as fx
import torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch import nn
from torch._decomp import core_aten_decompositions
from torch._functorch.aot_autograd import aot_function
from torch._functorch.partitioners import default_partition

WIDTH, HEADS = 16, 2


class Block(nn.Module):
    """Attention, and a gated MLP: the gate is the sigmoid of a mean."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        heads = self.qkv(self.norm_1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * 0.25).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))
        gate = torch.sigmoid(x.mean(-1, keepdim=True))
        return x + self.down(F.gelu(self.up(self.norm_2(x))) * gate)


def joint_graph(blocks: int) -> fx.GraphModule:
    """The joint graph of the mean square of so many blocks: 4 have about 730 ops."""
    torch.manual_seed(0)
    model = nn.Sequential(*[Block() for _ in range(blocks)])
    names, parameters = zip(*model.named_parameters(), strict=True)
    captured: list[fx.GraphModule] = []

    def loss(x: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        called = torch.func.functional_call(model, dict(zip(names, values, strict=True)), (x,))
        return called.square().mean()

    def partition(gm: fx.GraphModule, inputs: object, **kwargs: object) -> object:
        captured.append(gm)
        return default_partition(gm, inputs, **kwargs)

    def interpret(gm: fx.GraphModule, inputs: object) -> object:
        return make_boxed_func(gm.forward)

    traced = aot_function(
        loss,
        fw_compiler=interpret,
        partition_fn=partition,
        decompositions=core_aten_decompositions(),
    )
    traced(torch.randn(2, 4, WIDTH, requires_grad=True), *parameters)
    return captured[0]
