"""Joint graphs of losses over a large product, for `auto_chunker`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch._inductor.decomposition import select_decomp_table
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.backend.pass_validation.close_results import AllWide
from xductor.backend.pass_validation.comparison import ROUNDS
from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.ir import NodeMeta, entry_graph
from xductor.transforms import Numerics
from xductor.transforms.auto_chunker import AutoChunker
from xductor.transforms.rewriting.contracts import Violation
from xductor.transforms.uniform_values.constant_fold_uniform_value import ConstantFoldUniformValue

Loss = Callable[[torch.Tensor, Any], torch.Tensor]

ROWS, SIZE, CLASSES = 32, 8, 64

#: Each with whether its targets are class indices.
LOSSES: dict[str, tuple[Loss, bool]] = {
    "cross entropy": (F.cross_entropy, True),
    "its sum": (lambda y, t: F.cross_entropy(y, t, reduction="sum"), True),
    "smoothed labels": (lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1), True),
    "upcast": (lambda y, t: F.cross_entropy(y.float(), t), True),
    "soft labels": (lambda y, t: F.cross_entropy(y, t.softmax(1)), False),
    "squares": (lambda y, t: (y - t).square().mean(), False),
    "logarithm of the sum": (lambda y, t: y.logsumexp(1).square().mean() + (y * t).mean(), False),
}


def _joint(loss: Loss) -> Callable[..., Any]:
    def run(x: Any, w: Any, targets: Any, tangent: Any) -> Any:
        x, w = (one.detach().requires_grad_() for one in (x, w))
        out = loss(x @ w.t(), targets)
        return out, *torch.autograd.grad(out, (x, w), tangent.to(out.dtype))

    return run


def losses() -> Iterator[Specimen]:
    """Losses in two dtypes, in two to eight chunks."""
    for title, (loss, of_classes) in LOSSES.items():
        for dtype in (torch.float32, torch.bfloat16):
            targets = (
                torch.zeros(ROWS, dtype=torch.int64)
                if of_classes
                else torch.ones(ROWS, CLASSES, dtype=dtype)
            )
            x, w = torch.ones(ROWS, SIZE, dtype=dtype), torch.ones(CLASSES, SIZE, dtype=dtype)
            for count in (2, 4, 8):
                module = traced(
                    _joint(loss),
                    *(x, w, targets, torch.ones(())),
                    decompositions=select_decomp_table(),
                )
                if module is not None:
                    one = AutoChunker(64, 0.5, count)
                    yield Specimen(f"{title}, {dtype}, {count} chunks", _ready(module), one)


def _ready(module: ModuleOp) -> ModuleOp:
    """The joint graph as the chunker finds it: constants folded, and the tangent named as such."""
    ConstantFoldUniformValue().rewrite(module)
    graph = entry_graph(module)
    graph.attributes["node"] = NodeMeta((*graph.argument_names[:-1], "tangents_1"))
    return module


def close_to_exact(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Check that the errors of loss and gradients against float64 grow at most fourfold.

    On finite inputs, for several tangents. Raises Violation if they grow more.
    """
    spelled, chunked = to_fx(before), to_fx(after)
    for seed in range(ROUNDS):
        inputs = _inputs(before, seed)
        wide = [one.double() if one.is_floating_point() else one for one in inputs]
        exact = tree_leaves(_in_double(spelled)(*wide))
        old, new = (tree_leaves(one(*inputs)) for one in (spelled, chunked))
        for place, (a, b, goal) in enumerate(zip(old, new, exact, strict=True)):
            if (a.dtype, a.shape, a.stride()) != (b.dtype, b.shape, b.stride()):
                raise Violation(f"result {place}: {a.dtype}{list(a.shape)} is another tensor")
            errors = [float((one.double() - goal).abs().max()) for one in (a, b)]
            slack = torch.finfo(a.dtype).eps * float(goal.abs().max())
            if not errors[1] <= 4 * errors[0] + 2 * slack:
                raise Violation(f"result {place}: errs by {errors[1]:.2g}, before {errors[0]:.2g}")
    return ROUNDS


def _inputs(module: ModuleOp, seed: int) -> list[torch.Tensor]:
    """Class indices, and normal numbers; the tangent, which is last, is one of a few numbers."""
    chance = torch.Generator().manual_seed(seed)
    types: list[Any] = [argument.type for argument in entry_graph(module).arguments]
    made = [
        torch.randn(type_.shape, generator=chance).to(type_.dtype)
        if type_.dtype.is_floating_point
        else torch.randint(0, CLASSES, type_.shape, generator=chance)
        for type_ in types[:-1]
    ]
    return [*made, torch.tensor((1.0, 0.5, -3.0, 1.5)[seed % 4], dtype=types[-1].dtype)]


def _in_double(gm: torch.fx.GraphModule) -> Callable[..., Any]:
    def run(*inputs: torch.Tensor) -> Any:
        with AllWide():
            return gm(*inputs)

    return run


__all__ = ["LOSSES", "close_to_exact", "losses"]
