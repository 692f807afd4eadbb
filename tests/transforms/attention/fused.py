"""Functions with attention in them: traced, fused, and run, without code generation.

`fused(function, inputs)` traces with Dynamo, runs the pass on the graph that Dynamo hands over, and
returns what calls the graph that came out; it runs eagerly, under autograd where inputs ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import TorchOp, parse_ir, print_ir, same, verify
from xductor.transforms.attention.fusion import fuse
from xductor.transforms.attention.replacement import Options

Function = Callable[..., Any]


@dataclass
class Outcome:
    """What became of a function's graph.

    - `count`: how many attentions were fused; `reasons`: why others were not.
    - `text`: the IR of the graph behind the pass.
    """

    count: int = 0
    reasons: list[str] = field(default_factory=list[str])
    text: str = ""
    module: ModuleOp | None = None


def run_pass(gm: torch.fx.GraphModule, inputs: Sequence[Any], options: Options) -> Outcome:
    """Run the pass on a graph before autograd, check what it leaves, and raise it into `gm`."""
    outcome = Outcome()

    def report(op: TorchOp, reason: str, **_: object) -> None:
        outcome.reasons.append(reason)

    module = from_fx(gm, "pre_grad", example_inputs=inputs)
    before = print_ir(module)
    outcome.count = fuse(module, options, report)
    outcome.text, outcome.module = print_ir(module), module
    assert (before == outcome.text) == (outcome.count == 0)
    verify(module, "types")
    assert same(parse_ir(outcome.text), module)
    if outcome.count:
        to_fx(module, into=gm, values="checked")
    return outcome


def fused(
    function: Function, options: Options | None = None, *, dynamic: bool = False
) -> tuple[Function, Outcome]:
    """The function with its attention fused, and what the pass did when it was first called."""
    seen = Outcome()

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Function:
        allowed = replace(options or Options(), even_unprofitable=True)
        found = run_pass(gm, inputs, allowed)
        seen.count += found.count
        seen.reasons += found.reasons
        seen.text += found.text
        return gm

    torch._dynamo.reset()
    return torch.compile(function, backend=backend, dynamic=dynamic, fullgraph=True), seen


def copies(inputs: Sequence[Any], *, grad: bool) -> list[Any]:
    """Copies of inputs with their strides; floating point ones ask for gradients, if `grad`."""
    found: list[Any] = []
    for one in inputs:
        if isinstance(one, torch.Tensor):
            copy = torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device=one.device)
            copy.copy_(one)
            wants = grad and one.dtype.is_floating_point and getattr(one, "wants_grad", True)
            found.append(copy.requires_grad_(wants))
        else:
            found.append(one)
    return found


@dataclass
class Comparison:
    """Errors against eager: the largest difference of outputs, and of gradients if there are."""

    outcome: Outcome
    forward: float
    backward: float | None = None


def compare(
    function: Function,
    inputs: Sequence[Any],
    options: Options | None = None,
    *,
    grad: bool = False,
    dynamic: bool = False,
) -> Comparison:
    """Run a function with its attention fused and as it is, with the same inputs."""
    run, outcome = fused(function, options, dynamic=dynamic)
    ours, theirs = copies(inputs, grad=grad), copies(inputs, grad=grad)
    with torch.set_grad_enabled(grad):
        found, expected = _outputs(run(*ours)), _outputs(function(*theirs))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.stride() == other.stride() or 0 in one.shape
    forward = max(map(difference, found, expected))
    if not grad:
        return Comparison(outcome, forward)
    gradients = [
        _gradients(outputs, given) for outputs, given in ((found, ours), (expected, theirs))
    ]
    return Comparison(outcome, forward, max(map(difference, *gradients), default=0.0))


def _outputs(result: Any) -> list[torch.Tensor]:
    return list(result) if isinstance(result, tuple | list) else [result]


def _gradients(outputs: Sequence[torch.Tensor], inputs: Sequence[Any]) -> list[torch.Tensor]:
    wanted = [one for one in inputs if isinstance(one, torch.Tensor) and one.requires_grad]
    loss = sum(one.float().square().mean() for one in outputs if one.requires_grad)
    assert isinstance(loss, torch.Tensor)
    found = torch.autograd.grad(loss, wanted, allow_unused=True)
    return [torch.zeros(()) if gradient is None else gradient for gradient in found]


def difference(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference; infinite where only one is NaN, or infinities differ."""
    a, b = one.detach().double(), other.detach().double()
    if a.shape != b.shape or not torch.equal(a.isnan(), b.isnan()):
        return float("inf")
    gap = (a - b).abs()
    gap[a.isnan() | (a == b)] = 0.0
    return gap.max().item() if gap.numel() else 0.0


__all__ = ["Comparison", "Outcome", "compare", "copies", "difference", "fused", "run_pass"]
