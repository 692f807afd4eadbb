"""What can be seen of a call: values, inputs afterwards, gradients, `requires_grad`, aliases."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch._functorch import partitioners
from torch._inductor import compile_fx, config

import xductor
from tests.before_autograd.in_float64 import in_float64
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.seam.written_inputs import keep_what_inputs_held
from xductor.ir.execution.interpreter import seeded

Inputs = Sequence[Tensor]


@dataclass
class Observation:
    """One call of a function, as its caller sees it.

    - `tensors`: results, then inputs afterwards; detached copies.
    - `kinds`: dtype, sizes, `requires_grad` of each.
    - `sharing`: pairs of them that share storage; `same`: that are one tensor.
    - `gradients`: of the leaves, for a weighted sum of what requires a gradient.
    """

    tensors: list[Tensor]
    kinds: list[tuple[Any, ...]]
    sharing: list[tuple[int, int]]
    same: list[tuple[int, int]]
    gradients: list[Tensor | None]


def observe(function: Callable[..., Any], leaves: Inputs) -> Observation:
    """Call a function on inputs made of leaves, and go back from its results.

    A leaf that requires a gradient is given as a computed tensor, which may be written to. Raises
    whatever the call or its backward raises.
    """
    own = [leaf.detach().clone().requires_grad_(leaf.requires_grad) for leaf in leaves]
    with seeded(0):
        inputs = [leaf * 1 if leaf.requires_grad else leaf for leaf in own]
        returned = function(*inputs)
        results = list(returned) if isinstance(returned, tuple | list) else [returned]
        seen = [*results, *inputs]
        places = range(len(seen))
        pairs = [(a, b) for b in places for a in range(b)]
        storages = [one.untyped_storage().data_ptr() if one.numel() else -1 for one in seen]
        found = Observation(
            [one.detach().clone() for one in seen],
            [(one.dtype, tuple(one.shape), one.requires_grad) for one in seen],
            [(a, b) for a, b in pairs if storages[a] == storages[b] != -1],
            [(a, b) for a, b in pairs if seen[a] is seen[b]],
            [],
        )
        total = [_weighted(one, place) for place, one in enumerate(seen) if one.requires_grad]
        if total:
            torch.stack(total).sum().backward()
    found.gradients = [leaf.grad for leaf in own]
    return found


def _weighted(tensor: Tensor, place: int) -> Tensor:
    weights = torch.arange(1.0, tensor.numel() + 1).reshape(tensor.shape)
    return (tensor.float() * torch.cos(weights + place)).sum()


#: The numbers of an observation in float64: of its tensors, then of its gradients.
Exact = Sequence[Tensor | None]


def observe_exact(function: Callable[..., Any], leaves: Inputs) -> Exact:
    """The numbers that `observe` would see if nothing were rounded to fewer than 64 bits."""
    with in_float64() as exact:
        found = observe(function, leaves)
        return [None if one is None else exact(one) for one in (*found.tensors, *found.gradients)]


def difference(expected: Observation, found: Observation, tolerance: float = 1e-4) -> str:
    """What differs first between two calls; "" if nothing does."""
    return next((f"{part}: {what}" for part, what in differences(expected, found, tolerance)), "")


def differences(
    expected: Observation, found: Observation, tolerance: float = 1e-4, exact: Exact | None = None
) -> Iterator[tuple[str, str]]:
    """The parts in which two calls differ, each with how it does.

    Numbers may be off by `tolerance`, as a share of the largest and of each. Where the `exact` ones
    are given, what is off must also be farther from these than the expected numbers: four times as
    far, and `tolerance` more.
    """
    for part in ("kinds", "sharing", "same"):
        a, b = getattr(expected, part), getattr(found, part)
        if a != b:
            yield part, f"expected {a}, found {b}"
    one, other = numbers(expected), numbers(found)
    rights = exact or [None] * len(one)
    for (part, a), b, right in zip(one.items(), other.values(), rights, strict=True):
        existing = a if b is None else b
        if existing is None:
            continue
        # A gradient that does not exist and one of zeros are one to an optimiser's caller.
        a, b = (torch.zeros_like(existing) if one is None else one for one in (a, b))
        how = numbers_differ(a, b, tolerance)
        if how and right is not None and right.shape == a.shape == b.shape:
            off = 4 * _error(a, right) + tolerance * _scale(right)
            how = "" if _error(b, right) <= off else f"{how}\nexact {right}"
        if how:
            yield part, how


def numbers(one: Observation) -> dict[str, Tensor | None]:
    """Tensors and gradients by the names that `differences` has for them."""
    found: dict[str, Tensor | None] = {f"tensor {i}": each for i, each in enumerate(one.tensors)}
    return found | {f"gradient {i}": each for i, each in enumerate(one.gradients)}


def numbers_differ(a: Tensor, b: Tensor, tolerance: float) -> str:
    """How two tensors differ in more than rounding; "" if they do not."""
    try:
        torch.testing.assert_close(
            b, a, atol=tolerance * _scale(a), rtol=tolerance, equal_nan=True, check_stride=False
        )
    except AssertionError as error:
        return f"{error}\nexpected {a}\nfound {b}"
    return ""


def _scale(a: Tensor) -> float:
    return max(1.0, float(torch.nan_to_num(a.double().abs(), 0, 0, 0).max())) if a.numel() else 1.0


def _error(a: Tensor, right: Tensor) -> float:
    """How far numbers are from the exact ones; infinite where one of both is no number."""
    a = a.double()
    if not torch.equal(a.isfinite(), right.isfinite()):
        return float("inf")
    return float(torch.nan_to_num(a - right, 0, 0, 0).abs().max()) if a.numel() else 0.0


@contextmanager
def keeping_what_inputs_held() -> Iterator[None]:
    """Let stock's forwards, too, save copies of inputs that they write to."""
    name = "_extract_fwd_bwd_modules"
    stock = getattr(partitioners, name)

    def extract(*args: Any, **kwargs: Any) -> Any:
        forward, backward = stock(*args, **kwargs)
        keep_what_inputs_held(forward, backward, kwargs["num_fwd_outputs"])
        return forward, backward

    with patch.object(partitioners, name, extract):
        yield


def observe_compiled(
    function: Callable[..., Any],
    leaves: Inputs,
    *,
    backend: str = "xductor",
    rewrites: Sequence[Any] = (),
    on_error: str = "raise",
) -> tuple[Observation, list[stage_records.StageRecord]]:
    """As `observe`, compiled up to code generation; with the records of the stages.

    Random numbers are drawn as in eager.
    """
    torch._dynamo.reset()
    options: dict[str, Any] = {}
    if backend == "xductor":
        options = {"xductor.on_error": on_error, "xductor.rewrites": list(rewrites)}
    with (
        without_codegen(),
        config.patch(fallback_random=True, force_disable_caches=True),
        stage_records.record() as records,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        compiled = torch.compile(function, backend=backend, options=options, fullgraph=True)
        return observe(compiled, leaves), records


def observe_what_goes_to_autograd(
    function: Callable[..., Any], leaves: Inputs, rewrites: Sequence[Any], *, by_stock: bool
) -> Observation:
    """As `observe`, with the graph that our stage before autograd gives; as it stands, or compiled
    by stock.
    """
    options = {"xductor.on_error": "raise", "xductor.rewrites": list(rewrites)}

    def compiled(gm: Any, inputs: Any) -> Callable[..., Any]:
        with xductor.installed(options):
            rewritten = compile_fx._recursive_pre_grad_passes(gm, inputs)
        return compile_fx.compile_fx(rewritten, inputs) if by_stock else rewritten

    torch._dynamo.reset()
    with (
        without_codegen(),
        config.patch(fallback_random=True, force_disable_caches=True),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        return observe(torch.compile(function, backend=compiled, fullgraph=True), leaves)


__all__ = [
    "Exact",
    "Observation",
    "difference",
    "differences",
    "keeping_what_inputs_held",
    "numbers",
    "numbers_differ",
    "observe",
    "observe_compiled",
    "observe_exact",
    "observe_what_goes_to_autograd",
]
