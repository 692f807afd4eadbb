"""Graphs for the passes that compute in 8 bits what PT2E quantised."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp

from tests.specimens.int8_models import CONVOLUTIONS, LINEARS, Int8Layer, bounds, decomposed, up
from tests.specimens.onednn_specimens import READERS
from tests.transforms.onednn.random_packed_models import lowered
from xductor.backend.fx.export import to_fx
from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import entry_graph
from xductor.transforms import REASSOCIATES, ROUNDS_LESS_OFTEN, Numerics
from xductor.transforms.quantized.qconv_packing import QconvWeightPrepack
from xductor.transforms.quantized.qconv_post_ops import QconvPostOps
from xductor.transforms.quantized.qlinear_packing import QlinearWeightPrepack
from xductor.transforms.quantized.qlinear_post_ops import QlinearPostOps
from xductor.transforms.rewriting.contracts import Violation

F = torch.nn.functional
_ROUNDS = 8
_DTYPES = (torch.float32, torch.bfloat16)
#: How far results may be apart, beside the largest element.
_NEAR = {torch.float32: 1e-5, torch.bfloat16: 2e-2}


def one_step_apart(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Check that quantised results are at most one step apart, others near, on finite inputs.

    Raises Violation if they are not.
    """
    spelled, packed = to_fx(before), to_fx(after)
    for seed in range(_ROUNDS):
        inputs = _inputs(before, seed)
        given = [one.clone() for one in inputs]
        with torch.no_grad():
            pairs = zip(spelled(*inputs), packed(*inputs), strict=True)
        for place, (old, new) in enumerate(pairs):
            problem = _apart(old, new)
            if problem:
                raise Violation(f"result {place}, seed {seed}: {problem}")
        if not all(map(torch.equal, inputs, given)):
            raise Violation(f"seed {seed}: an input was written to")
    return _ROUNDS


def _inputs(module: ModuleOp, seed: int) -> list[torch.Tensor]:
    chance = torch.Generator().manual_seed(seed)
    made: list[torch.Tensor] = []
    for argument in entry_graph(module).arguments:
        type_: Any = argument.type
        if type_.dtype.is_floating_point:
            drawn = torch.randn(type_.shape, generator=chance).to(type_.dtype) * (1 + seed % 3)
        else:
            low, high, dtype = bounds(type_.dtype)
            drawn = torch.randint(low, high + 1, type_.shape, dtype=dtype, generator=chance)
        made.append(torch.empty_strided(type_.shape, type_.stride, dtype=type_.dtype).copy_(drawn))
    return made


def _apart(old: torch.Tensor, new: torch.Tensor) -> str:
    """What is wrong about a result; empty if nothing is."""
    if (old.dtype, old.shape, old.stride()) != (new.dtype, new.shape, new.stride()):
        return f"{old.dtype}{list(old.shape)} {old.stride()} became {new.dtype} {new.stride()}"
    if not old.is_floating_point():
        steps = int((old.int() - new.int()).abs().max())
        return f"{steps} steps apart" if steps > 1 else ""
    error = float((old.double() - new.double()).abs().max())
    largest = max(1.0, float(old.abs().max()))
    return f"{error:.2g} apart" if error > _NEAR[old.dtype] * largest else ""


def _numerics(dtype: torch.dtype) -> Numerics:
    return REASSOCIATES if dtype is torch.float32 else ROUNDS_LESS_OFTEN


def packed_convolutions() -> Iterator[Specimen]:
    """For `qconv_weight_prepack`."""
    torch.manual_seed(0)
    for dtype, (name, (make, sizes)), reader in itertools.product(
        _DTYPES, CONVOLUTIONS.items(), READERS
    ):
        model = Int8Layer(make(), lambda y, x, r=READERS[reader]: r(y), dtype=dtype)
        module = lowered(model, torch.ones(sizes))
        title = f"{name}, {dtype}, read by {reader}"
        yield Specimen(title, module, QconvWeightPrepack(), _numerics(dtype))


def packed_products() -> Iterator[Specimen]:
    """For `qlinear_weight_prepack`."""
    torch.manual_seed(0)
    for dtype, (name, (make, sizes)), reader in itertools.product(
        _DTYPES, LINEARS.items(), READERS
    ):
        model = make(after=lambda y, x, r=READERS[reader]: r(y), dtype=dtype)
        module = lowered(model, torch.ones(sizes))
        title = f"{name}, {dtype}, read by {reader}"
        yield Specimen(title, module, QlinearWeightPrepack(), _numerics(dtype))


#: How results are quantised: to what dtype, within which bounds. Steps are wide, so that bfloat16
#: is exact enough to tell them apart.
ENDS: Mapping[str, Callable[[Any], Any]] = {
    "uint8": lambda y: decomposed.quantize_per_tensor(y, 0.1, 30, *bounds(torch.uint8)),
    "int8": lambda y: decomposed.quantize_per_tensor(y, 0.1, -5, *bounds(torch.int8)),
    "seven bits": lambda y: decomposed.quantize_per_tensor(y, 0.1, 64, 0, 127, torch.uint8),
    "as it is": lambda y: y,
}
_NARROW_OF = {"uint8": torch.uint8, "int8": torch.int8, "seven bits": torch.uint8}

CONVOLUTION_ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "nothing": lambda y: y,
    "relu": torch.relu,
    "relu6": F.relu6,
    "hardtanh": lambda y: F.hardtanh(y, -0.5, 2.0),
    "hardswish": F.hardswish,
    "silu": F.silu,
}
LINEAR_ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "nothing": lambda y: y,
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu by tanh": lambda y: F.gelu(y, approximate="tanh"),
}
SUMS: Mapping[str, Callable[[Any, Any], Any]] = {
    "sum": lambda y, other: y + other,
    "sum, second": lambda y, other: other + y,
    "relu of a sum": lambda y, other: torch.relu(y + other),
}


def _packed(model: nn.Module, x: torch.Tensor, one: Any) -> ModuleOp:
    if x.dim() == 4:
        x = x.contiguous(memory_format=torch.channels_last)
    module = lowered(model, x)
    assert one.rewrite(module) == 1
    return module


def convolutions_with_post_ops() -> Iterator[Specimen]:
    """For `qconv_post_op_fusion`."""
    torch.manual_seed(0)
    for dtype, (what, act), (end, quantise), name in itertools.product(
        _DTYPES,
        CONVOLUTION_ACTIVATIONS.items(),
        ENDS.items(),
        ("conv", "conv of groups", "conv over one dim"),
    ):
        if what == "nothing" and end == "as it is":
            continue
        make, sizes = CONVOLUTIONS[name]
        model = Int8Layer(make(), lambda y, x, a=act, q=quantise: q(a(y)), dtype=dtype)
        module = _packed(model, torch.ones(sizes), QconvWeightPrepack())
        yield Specimen(f"{name}, {dtype}, {what}, {end}", module, QconvPostOps(), _numerics(dtype))
    for (what, add), (end, quantise) in itertools.product(SUMS.items(), ENDS.items()):
        narrow = _NARROW_OF.get(end, torch.uint8)

        def beside(y: Any, x: Any, add: Any = add, narrow: Any = narrow, q: Any = quantise) -> Any:
            other = decomposed.quantize_per_tensor(x[:, :1] * 3, 0.05, 7, *bounds(narrow))
            other = other.expand(y.shape).clone(memory_format=torch.channels_last)
            return q(add(y, up(other, 0.05, 7)))

        model = Int8Layer(nn.Conv2d(4, 6, 3, padding=1), beside)
        module = _packed(model, torch.ones(2, 4, 5, 4), QconvWeightPrepack())
        yield Specimen(f"{what}, {end}", module, QconvPostOps(), REASSOCIATES)


def products_with_post_ops() -> Iterator[Specimen]:
    """For `qlinear_post_op_fusion`."""
    torch.manual_seed(0)
    names = ("linear", "linear of batches", "linear by tensors")
    for dtype, (what, act), (end, quantise), name in itertools.product(
        _DTYPES, LINEAR_ACTIVATIONS.items(), ENDS.items(), names
    ):
        hides = what == "relu" and end == "as it is" and name == "linear by tensors"
        if hides or (what == "nothing" and end == "as it is"):
            continue
        make, sizes = LINEARS[name]
        model = make(after=lambda y, x, a=act, q=quantise: q(a(y)), dtype=dtype)
        module = _packed(model, torch.ones(sizes), QlinearWeightPrepack())
        yield Specimen(
            f"{name}, {dtype}, {what}, {end}", module, QlinearPostOps(), _numerics(dtype)
        )
    for dtype, (what, add), (end, quantise), name in itertools.product(
        _DTYPES, SUMS.items(), ENDS.items(), names
    ):
        make, sizes = LINEARS[name]
        model = make(
            after=lambda y, x, a=add, q=quantise: q(a(y, x[..., :6] * 2)),
            dtype=dtype,
        )
        module = _packed(model, torch.ones(sizes), QlinearWeightPrepack())
        yield Specimen(
            f"{name}, {dtype}, {what}, {end}", module, QlinearPostOps(), _numerics(dtype)
        )


__all__ = [
    "CONVOLUTION_ACTIVATIONS",
    "ENDS",
    "LINEAR_ACTIVATIONS",
    "SUMS",
    "convolutions_with_post_ops",
    "one_step_apart",
    "packed_convolutions",
    "packed_products",
    "products_with_post_ops",
]
