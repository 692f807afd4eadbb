"""Generated code of what is computed in 8 bits gives what eager gives, but for a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch._inductor import config

import xductor
from tests.specimens.int8_models import Int8Layer, decomposed, down, up
from tests.transforms.quantized.int8_passes import assert_near
from tests.transforms.quantized.test_int8_calls import Block, image

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN"),
    pytest.mark.filterwarnings("ignore"),
]

F = torch.nn.functional


def _seven_bits(y: Any, x: Any) -> Any:
    return decomposed.quantize_per_tensor(y, 0.01, 64, 3, 120, torch.uint8)


class Blocks(nn.Module):
    """Blocks in a row: each adds to what the one before has made."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(returns=False) for _ in range(3)])

    def forward(self, x: torch.Tensor) -> Any:
        for block in self.blocks:
            x = up(block(x)[0])
        return (x,)


class Rows(nn.Module):
    """Linears as of a transformer: one of three readers, GELU, and sums with what came in."""

    def __init__(self, by_tensors: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        how: dict[str, Any] = {"by_tensors": by_tensors}
        self.inner = nn.ModuleList([Int8Layer(nn.Linear(16, 16), **how) for _ in range(3)])
        self.wide = Int8Layer(nn.Linear(16, 32), lambda y, x: F.gelu(y), **how)
        self.narrow = Int8Layer(nn.Linear(32, 16), **how)

    def forward(self, x: torch.Tensor) -> Any:
        q, k, v = (one(x)[0] for one in self.inner)
        x = x + F.scaled_dot_product_attention(q, k, v)
        x = F.layer_norm(x, (16,))
        return (self.narrow(self.wide(x)[0])[0] + x,)


PROGRAMS: Mapping[str, tuple[Callable[[], nn.Module], torch.Tensor]] = {
    "seven bits": (lambda: Int8Layer(nn.Linear(8, 8), _seven_bits), torch.randn(3, 8)),
    "seven bits of a convolution": (
        lambda: Int8Layer(nn.Conv2d(4, 4, 3), _seven_bits),
        torch.randn(2, 4, 6, 5),
    ),
    "one dim": (
        lambda: Int8Layer(nn.Conv1d(4, 8, 3), lambda y, x: down(torch.relu(y))),
        torch.randn(2, 4, 7),
    ),
    "blocks": (Blocks, image(2, 4, 6, 5)),
    "rows": (lambda: Rows(by_tensors=False), torch.randn(2, 5, 16)),
    "rows by tensors": (lambda: Rows(by_tensors=True), torch.randn(2, 5, 16)),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_inputs(name: str, dynamic: bool) -> None:
    make, x = PROGRAMS[name]
    model, given = make().eval(), x.clone()
    torch._dynamo.reset()
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    with torch.no_grad(), config.patch(freezing=True, fx_graph_cache=False):
        compiled = torch.compile(model, backend="xductor", dynamic=dynamic, options=options)
        for _ in range(2):
            assert_near(compiled(x), model(x), tolerance=0.05)
    assert torch.equal(x, given)
    found = xductor.last_compile()
    packed = [found.count(f"{kind}_weight_prepack") for kind in ("qconv", "qlinear")]
    assert sum(packed) == {"blocks": 6, "rows": 5, "rows by tensors": 5}.get(name, 1)
