"""Random programs around products with narrow weights: what the passes leave computes the same.

`python -m tests.transforms.quantized.test_random_products COUNT SEED` runs as many as one likes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.freezing.random_constant_graphs import Held
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import verify
from xductor.transforms.post_grad.view_to_reshape import ViewToReshape
from xductor.transforms.quantized.concat_linear_woq_int4 import ConcatLinearWoqInt4
from xductor.transforms.quantized.int8_woq_fusion_pattern import Int8WoqFusionPattern
from xductor.transforms.quantized.woq_lowerings import WOQ_LOWERINGS
from xductor.transforms.rewriting.rewrite_pass import RewritePass

BF16 = torch.bfloat16
aten = torch.ops.aten


def _wide(weight: Any) -> Any:
    return torch.ops.prims.convert_element_type.default(weight, BF16)


READS: tuple[Callable[[Any], Any], ...] = (
    torch.relu,
    lambda y: y,
    lambda y: y.sum(-1),
    lambda y: y.transpose(-1, -2) * 2,
    lambda y: y.reshape(-1)[1:],
)


class Program:
    """A few products of one tensor, and of a view of it; some fit the passes, some do not."""

    def __init__(self, seed: int) -> None:
        chance = self.chance = random.Random(seed)
        self.inner = chance.choice((32, 64, 64, 96, 40, 33))
        self.rows = chance.choice((1, 2, 4, 6))
        self.constants: list[torch.Tensor] = []
        self.products = [self._product() for _ in range(chance.randint(1, 4))]
        x = torch.randn(self.rows, self.inner)
        self.x = x.to(BF16)

    def _held(self, tensor: torch.Tensor) -> int:
        self.constants.append(tensor)
        return len(self.constants) - 1

    def _product(self) -> Callable[..., Any]:
        read = self.chance.choice(READS)
        multiply = self._int4() if self.chance.random() < 0.3 else self._int8()
        return lambda x, constants: read(multiply(x, constants))

    def _int4(self) -> Callable[..., Any]:
        inner, group = 64, 32
        columns = self.chance.choice((16, 64, 64, 128))
        weight = torch.randint(0, 16, (columns, inner), dtype=torch.int32)
        held = self._held(aten._convert_weight_to_int4pack_for_cpu(weight, 1))
        scales = self._held(torch.rand(inner // group, columns, 2).to(BF16))

        def multiply(x: Any, constants: Any) -> Any:
            rows = x if self.inner == inner else x[:, :1].expand(-1, inner).contiguous()
            return aten._weight_int4pack_mm_for_cpu(rows, constants[held], group, constants[scales])

        return multiply

    def _int8(self) -> Callable[..., Any]:
        chance = self.chance
        columns = chance.choice((1, 3, 8))
        weight = torch.randint(-8, 8, (columns, self.inner), dtype=torch.int8)
        if chance.random() < 0.3:
            weight = weight.t().contiguous().t()
        held = self._held(weight)
        sizes = chance.choice(((columns,), (columns,), (columns,), (1,), (1, columns), ()))
        scales = self._held(torch.rand(sizes).to(BF16))
        if chance.random() < 0.2 and sizes == (columns,):
            self.constants[scales] = torch.rand(2 * columns).to(BF16)[::2]
        form, shift = chance.randrange(4), chance.random() < 0.3

        def multiply(x: Any, constants: Any) -> Any:
            x = x + 1 if shift else x
            weight, scale = constants[held], constants[scales]
            turned = _wide(weight.permute(1, 0)) if form % 2 else _wide(weight).permute(1, 0)
            product = torch.mm(x, turned)
            if form == 2:
                product = product.view(self.rows, 1, columns)
            return scale * product if form == 3 else product * scale

        return multiply

    def __call__(self, x: Any, *constants: Any) -> Any:
        return tuple(product(x, constants) for product in self.products)


def check(seed: int) -> int:
    """Run a program before and after the passes; returns how often they applied."""
    torch.manual_seed(seed)
    program = Program(seed)
    module = Held(program, program.constants)
    gm = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)(program.x)
    lowered = from_fx(gm, "post_grad")
    ViewToReshape().rewrite(lowered)
    count = Int8WoqFusionPattern(enable_concat_linear=True).rewrite(lowered)
    count += ConcatLinearWoqInt4(enable_concat_linear=True).rewrite(lowered)
    count += RewritePass.of(WOQ_LOWERINGS).rewrite(lowered)
    verify(lowered, "types")
    for found, wanted in zip(to_fx(lowered)(program.x), module(program.x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=2e-2, atol=0.5)
        assert found.stride() == wanted.stride()
    return count


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs(first: int) -> None:
    assert sum(check(seed) for seed in range(first, first + 20)) >= 5


if __name__ == "__main__":
    number, start = (int(one) for one in sys.argv[1:])
    applied = sum(check(seed) for seed in range(start, start + number))
    print(f"{number} programs, {applied} applications, no mismatch")
