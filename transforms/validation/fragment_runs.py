"""Runs a fragment on inputs made from its types, and records all that can be seen of the run."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, TensorType, TorchOp, entry_graph, run
from xductor.ir.execution.interpreter import seeded
from xductor.ir.execution.sample_inputs import sample_inputs, special_floats
from xductor.ir.symbolic.symbol_values import (
    NoSample,
    Number,
    number,
    symbol_choices,
    symbol_values,
)

#: Shares of special elements (NaN, infinities, signed zeros, denormals, extremes), in turn. 1.0
#: goes through all of them in order, so that even small tensors get each.
SPECIAL = (0.0, 0.3, 1.0, 0.05, 1.0, 0.0, 1.0, 0.3)
#: Fragments of at most so many elements are run two or three times as often.
FEW, VERY_FEW = 256, 16
#: A fragment whose values hold more elements than this is run once; beyond the second, not at all.
ONE_RUN, TOO_LARGE = 1 << 22, 1 << 26


@dataclass(frozen=True)
class Trial:
    """How one set of inputs is made. The same trial makes the same inputs."""

    seed: int
    symbols: dict[str, Number]
    special: float

    def __str__(self) -> str:
        sizes = "".join(f", {name} = {value}" for name, value in self.symbols.items())
        return f"seed {self.seed}{sizes}, {self.special:.0%} special values"


@dataclass
class Run:
    """The results of one run.

    - `inputs`: as they are after it.
    - `outputs`: the tensors and numbers returned.
    - `shares`: for each output, the inputs and earlier outputs that share its storage.
    - `gradients`: of the inputs that require one, if the fragment is before autograd.
    """

    inputs: list[Any]
    outputs: list[Any]
    shares: list[tuple[str, ...]]
    gradients: list[torch.Tensor | None] = field(default_factory=list[Any])


def trials(graph: GraphOp, count: int, seed: int = 0) -> Iterator[Trial]:
    """Trials of a graph: its hints first, then the smallest sizes its symbols allow, then others.

    Raises NoSample if the graph's values would be too large to make.
    """
    table = graph.symbols.data
    size = elements_of(graph, symbol_values(table))
    if size > TOO_LARGE:
        raise NoSample(f"its values have {size:,} elements, too many to run")
    if size > ONE_RUN:
        count = 1
    elif size <= FEW:
        count *= 3 if size <= VERY_FEW else 2
    choices = symbol_choices(table, seed)
    # The hints are used three times: with ordinary numbers, some special ones, and all of them.
    first = next(choices)
    for place, symbols in enumerate(itertools.chain([first] * 3, choices)):
        if place == count:
            break
        own = {name: symbols[name] for name in table}
        yield Trial(seed + place, own, SPECIAL[place % len(SPECIAL)])


def elements_of(graph: GraphOp, symbols: dict[str, Number]) -> int:
    """How many elements the tensors of a graph have."""
    total = 0
    values = [*graph.arguments, *(result for op in graph.block.ops for result in op.results)]
    for value in values:
        type_: Any = value.type
        if isinstance(type_, TensorType):
            count = 1
            for size in type_.shape:
                count *= number(size, symbols)
            total += count
    return total


def inputs_of(graph: GraphOp, trial: Trial, *, tame: bool) -> list[Any]:
    """The inputs of a trial; `tame` leaves out values that overflow when summed."""
    share = min(trial.special, 0.5)
    made = sample_inputs(graph, seed=trial.seed, symbols=trial.symbols, special=share)
    if trial.special == 1.0:
        floats = [one for one in made if isinstance(one, torch.Tensor) and _is_float(one)]
        for place, item in enumerate(floats):
            _fill_with_special(item, trial.seed, place)
    if tame:
        for item in made:
            if isinstance(item, torch.Tensor) and _is_float(item):
                put_ones_for_large(item)
    if graph.stage.data == "pre_grad":
        for item, argument in zip(made, graph.arguments, strict=True):
            type_: Any = argument.type
            if isinstance(type_, TensorType) and "requires_grad" in type_.data.flags:
                item.requires_grad_()
    return made


def _is_float(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and tensor.dtype.itemsize > 1


@torch.no_grad()
def _fill_with_special(tensor: torch.Tensor, seed: int, place: int) -> None:
    """Fill with all special values in order, starting elsewhere for each seed and each input."""
    flat = _elements(tensor)
    values = special_floats(tensor.dtype).to(tensor.dtype)
    start = seed * len(flat) + place * seed
    flat.copy_(values[(torch.arange(len(flat)) + start) % len(values)])


def _elements(tensor: torch.Tensor) -> torch.Tensor:
    """The whole memory of a tensor: expanded or overlapping memory cannot be written as a view."""
    count = tensor.untyped_storage().nbytes() // tensor.itemsize
    return tensor.as_strided((count,), (1,), 0)


@torch.no_grad()
def put_ones_for_large(tensor: torch.Tensor) -> None:
    """Put ones for finite numbers whose square or sum may overflow; NaN and infinities stay."""
    flat = _elements(tensor)
    large = flat.isfinite() & (flat.abs() > largest_tame(flat.dtype))
    flat.masked_fill_(large, 1.0)


def largest_tame(dtype: torch.dtype) -> float:
    """The largest number such that no sum or product of a few of that size overflows."""
    return torch.finfo(dtype).max ** 0.25


def finite_inputs(inputs: Sequence[Any]) -> list[Any]:
    """The magnitudes of the inputs, with one in place of what is not finite."""
    found: list[Any] = []
    for item in inputs:
        if isinstance(item, torch.Tensor) and _is_float(item):
            plain = item.detach().abs().nan_to_num(1.0, 1.0, 1.0)
            found.append(
                torch.empty_strided(item.shape, item.stride(), dtype=item.dtype).copy_(plain)
                if not _overlaps(item)
                else plain
            )
        else:
            found.append(item)
    return found


def _overlaps(tensor: torch.Tensor) -> bool:
    return any(step == 0 and size > 1 for size, step in zip(tensor.shape, tensor.stride()))  # noqa: B905


def run_fragment(module: ModuleOp, inputs: list[Any], seed: int, *, any_dtype: bool = False) -> Run:
    """Run a fragment, with its gradients if it is before autograd. Raises what its ops raise.

    - `any_dtype`: inputs may have other dtypes than the fragment says.
    """
    graph = entry_graph(module)
    before_autograd = graph.stage.data == "pre_grad"
    with warnings.catch_warnings(), seeded(seed):
        warnings.simplefilter("ignore")
        outputs = list(run(module, *inputs, any_dtype=any_dtype))
        gradients = _gradients(inputs, outputs, seed) if before_autograd else []
    return Run(inputs, outputs, _shares(inputs, outputs), gradients)


def _gradients(
    inputs: Sequence[Any], outputs: Sequence[Any], seed: int
) -> list[torch.Tensor | None]:
    wanted = [one for one in inputs if isinstance(one, torch.Tensor) and one.requires_grad]
    differentiable = [one for one in outputs if isinstance(one, torch.Tensor) and one.requires_grad]
    if not wanted or not differentiable:
        return [None] * len(wanted)
    torch.manual_seed(seed + 1)
    weights = [torch.randn(one.shape, dtype=torch.float64).to(one) for one in differentiable]
    with torch.enable_grad():
        return list(torch.autograd.grad(differentiable, wanted, weights, allow_unused=True))


def _shares(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[tuple[str, ...]]:
    owners: list[tuple[str, Any]] = [(f"input {n}", one) for n, one in enumerate(inputs)]
    found: list[tuple[str, ...]] = []
    for place, output in enumerate(outputs):
        found.append(tuple([name for name, one in owners if _same_storage(output, one)]))
        owners.append((f"output {place}", output))
    return found


def _same_storage(left: Any, right: Any) -> bool:
    if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor):
        return False
    return left.untyped_storage()._cdata == right.untyped_storage()._cdata


def terms_of(graphs: Iterable[GraphOp], symbols: dict[str, Number]) -> int:
    """How many terms an element of a result may be the sum of: the longest reductions, added up."""
    return max(
        sum(_terms(op, symbols) for op in graph.block.ops if isinstance(op, TorchOp))
        for graph in graphs
    )


#: Operators that multiply matrices.
PRODUCTS = frozenset(
    ("mm", "bmm", "matmul", "linear", "mv", "dot", "einsum", "addmm", "baddbmm", "addbmm", "addmv")
)


def _terms(op: TorchOp, symbols: dict[str, Number]) -> int:
    types: list[Any] = [one.type for one in op.operands if isinstance(one.type, TensorType)]
    results: list[Any] = [one.type for one in op.results if isinstance(one.type, TensorType)]
    if not types or not results:
        return 0
    name = op.name.split(".")[1]
    sizes = [[number(size, symbols) for size in type_.shape] for type_ in types]
    if name in PRODUCTS:
        return max((size[-1] for size in sizes if size), default=1)
    if name in ("convolution", "_scaled_dot_product_attention"):
        return max(_product(size) for size in sizes)
    result = _product([number(size, symbols) for size in results[0].shape])
    return max(1, max(map(_product, sizes)) // max(result, 1))


def _product(sizes: Iterable[Any]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


__all__ = [
    "PRODUCTS",
    "Run",
    "Trial",
    "elements_of",
    "finite_inputs",
    "inputs_of",
    "run_fragment",
    "terms_of",
    "trials",
]
