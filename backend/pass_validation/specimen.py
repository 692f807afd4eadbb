"""A graph on which a pass should fire, and what has to agree before and after it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
import torch._dynamo
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp

from xductor.frontend import from_fx
from xductor.transforms import EXACT, Numerics, TypedPass

#: Runs both modules on generated inputs and returns on how many they agreed. Raises Violation.
Comparison = Callable[[ModuleOp, ModuleOp, Numerics], int]


@dataclass(frozen=True)
class Specimen:
    """One graph on which a pass is validated.

    - `title`: what it is, in a word or two, with dtype and sizes.
    - `module`: the graph; a validation does not change it.
    - `one`: the pass with the options that are tried.
    - `numerics`: what the pass may change about the values of this graph.
    - `given`: the graph that the pass is run on, if that cannot be run itself because its ops are
      shuffled.
    - `provable`: whether the pair is worth a proof: one for each kind of graph, not each size.
    """

    title: str
    module: ModuleOp
    one: TypedPass
    numerics: Numerics = EXACT
    given: ModuleOp | None = None
    provable: bool = False

    def changed(self) -> ModuleOp | None:
        """What the pass makes of the graph; None if it does not fire."""
        module = (self.given or self.module).clone()
        return module if self.one.rewrite(module) else None


@dataclass(frozen=True)
class Specimens:
    """The graphs for one pass.

    - `make`: yields them.
    - `agree`: runs and compares a pair.
    - `what`: what agreed, if it is not simply the results, in words for the table.
    - `unproved`: why no proof is tried, if none is.
    - `owner`: the pass that is run, if these are kept under another name than its own.
    """

    make: Callable[[], Iterator[Specimen]]
    agree: Comparison
    what: str = ""
    unproved: str = ""
    owner: str = ""


_every: ContextVar[tuple[int, Iterator[int]]] = ContextVar("xductor_sampled_specimens")


@contextmanager
def sampling(every: int) -> Iterator[None]:
    """Trace only one in every `every` graphs that are asked for inside the block."""
    token = _every.set((every, count()))
    try:
        yield
    finally:
        _every.reset(token)


def _is_wanted() -> bool:
    every, numbers = _every.get((1, count()))
    return next(numbers) % every == 0


def traced(
    function: Callable[..., Any],
    *inputs: torch.Tensor,
    dynamic: bool = False,
    stage: str = "joint",
    decompositions: Any = None,
) -> ModuleOp | None:
    """The graph that `make_fx` records, with its results in one tuple.

    None if PyTorch refuses the inputs, or if sampling leaves the graph out.

    A graph before autograd keeps composite operators, and knows which inputs ask for gradients.
    """
    if not _is_wanted():
        return None

    def flat(*given: Any) -> tuple[Any, ...]:
        return tuple(tree_leaves(function(*given)))

    before = stage == "pre_grad"
    mode = "symbolic" if dynamic else "real" if before else "fake"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = make_fx(flat, decompositions, tracing_mode=mode, pre_dispatch=before)
            gm = made(*inputs)
        except (NotImplementedError, RuntimeError, TypeError):
            return None
        return _as_dynamo_gives(gm, inputs) if before else from_fx(gm, stage)


def captured(
    function: Callable[..., Any], *inputs: torch.Tensor, dynamic: bool = False
) -> ModuleOp | None:
    """The graph before autograd that Dynamo records, in torch's own words.

    None if PyTorch refuses the inputs, or if sampling leaves the graph out.
    """
    if not _is_wanted():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*inputs)
        except (NotImplementedError, RuntimeError, TypeError):
            return None
        return _as_dynamo_gives(function, inputs, dynamic)


def _as_dynamo_gives(
    function: Callable[..., Any], inputs: Sequence[torch.Tensor], dynamic: bool = False
) -> ModuleOp:
    """A graph before autograd, whose values know whether they ask for gradients."""
    found: list[ModuleOp] = []

    def backend(graph: torch.fx.GraphModule, given: Sequence[Any]) -> Callable[..., Any]:
        found.append(from_fx(graph, "pre_grad", example_inputs=given))
        return graph

    torch._dynamo.reset()
    torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)(*inputs)
    return found[0]


__all__ = ["Comparison", "Specimen", "Specimens", "captured", "sampling", "traced"]
