"""Programs of PT2E's calls, and what rewrites make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._inductor.compile_fx as compile_fx
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.rewriting.rewrite_pass import RewritePass

_MAX_POOL = torch.ops.aten.max_pool2d_with_indices.default
_POOLING = {_MAX_POOL: select_decomp_table()[_MAX_POOL]}

quantized = torch.ops.quantized_decomposed
aten = torch.ops.aten
ALL = {
    torch.uint8: torch.arange(256, dtype=torch.int32).to(torch.uint8).view(16, 16),
    torch.int8: torch.arange(-128, 128, dtype=torch.int32).to(torch.int8).view(16, 16),
}
BOUNDS = {torch.uint8: (0, 255), torch.int8: (-128, 127)}


def up(x: Any, scale: float, zero: int, dtype: torch.dtype = torch.uint8) -> Any:
    return quantized.dequantize_per_tensor.default(x, scale, zero, *BOUNDS[dtype], dtype)


def down(
    x: Any, scale: float, zero: int, dtype: torch.dtype = torch.uint8, high: int | None = None
) -> Any:
    low, most = BOUNDS[dtype]
    return quantized.quantize_per_tensor.default(x, scale, zero, low, high or most, dtype)


def changed(
    rewrites: Sequence[Any], program: Callable[..., Any], x: torch.Tensor
) -> tuple[int, list[str]]:
    """How often the rewrites applied, and the ops after them; values are compared bit for bit."""
    gm = make_fx(lambda x: program(x), _POOLING, tracing_mode="fake")(x)
    gm.graph.eliminate_dead_code()
    compile_fx.view_to_reshape(gm)  # as Inductor does before the stage
    lowered = from_fx(gm, "post_grad")
    count = RewritePass.of(rewrites).rewrite(lowered)
    verify(lowered, "types")
    assert same(parse_ir(print_ir(lowered)), lowered)
    found, wanted = to_fx(lowered)(x.clone()), program(x.clone())
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    return count, [op.name for op in entry_graph(lowered).block.ops][:-1]


__all__ = ["ALL", "BOUNDS", "aten", "changed", "down", "quantized", "up"]
