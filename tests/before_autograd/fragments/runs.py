"""Runs the stage before autograd, ours and Inductor's, on the graphs of fragments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.utils import counters
from torch._inductor import config
from torch._inductor.fx_passes import pre_grad
from torch.fx import GraphModule
from torch.fx.passes.shape_prop import ShapeProp

import xductor
from tests.before_autograd.fragments.fragment import Entry, Fragment
from tests.corpus.capture import graph_copy
from xductor.backend.config import settings
from xductor.backend.pipelines.predispatch import DEFAULT
from xductor.backend.records import stage_records
from xductor.backend.stages import pre_grad_passes
from xductor.transforms.rewriting.driver import watching
from xductor.transforms.rows import registry

NORMALIZES: dict[str, Any] = {"normalization_pass": {}}
"""What Inductor's passes over pieces ask for: they look for one spelling."""


@dataclass(frozen=True)
class Captured:
    """A graph, what a stage is given with it, and real inputs in the order of the graph."""

    gm: GraphModule
    given: Sequence[Any]
    inputs: Sequence[Tensor]

    def copy(self) -> GraphModule:
        return graph_copy(self.gm)


def captured(entry: Entry, fragment: Fragment, dynamic: bool = False) -> Captured:
    """The only graph of a fragment, as the stage gets it."""
    names, inputs = list(entry.sizes), entry.inputs()
    function = fragment.function(names)
    if entry.exported:
        gm = torch.export.export(_Called(function), tuple(inputs)).module(check_guards=False)
        return Captured(gm, inputs, inputs)
    found: list[tuple[GraphModule, Sequence[Any]]] = []

    def keep(gm: GraphModule, given: Sequence[Any]) -> Callable[..., Any]:
        found.append((gm, given))
        return gm.forward

    torch._dynamo.reset()
    torch.compile(function, backend=keep, fullgraph=True, dynamic=dynamic or None)(*inputs)
    torch._dynamo.reset()
    ((gm, given),) = found
    return Captured(gm, given, [_input(node, names, inputs) for node in _placeholders(gm)])


class _Called(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def _placeholders(gm: GraphModule) -> Any:
    return gm.graph.find_nodes(op="placeholder")


def _input(node: Any, names: Sequence[str], inputs: Sequence[Tensor]) -> Any:
    """The input that a placeholder of Dynamo's stands for; a size is taken from its value."""
    name = node.name.removeprefix("l_").rstrip("_")
    if name in names:
        return inputs[names.index(name)]
    return node.meta["example_value"].node.hint


def _arguments(entry: Entry) -> tuple[dict[str, Any], str, str]:
    """Inductor's flags for a pass; what the stage is to add and to remove."""
    flags = registry.row(entry.name, "pre_grad").flag.split(", ")
    if "is_predispatch" in flags:
        others = [name for name in dict.fromkeys(DEFAULT) if name != entry.name]
        added = entry.name if "add_pre_grad_passes" in flags else ""
        return {"is_predispatch": True}, added, ",".join([*others, "remove_noop"])
    if "pre_grad_fusion_options" in flags:
        return {"pre_grad_fusion_options": {entry.name: dict(entry.options)}}, "", ""
    return {flag: True for flag in flags if flag}, "", ""


@contextmanager
def _ours(entry: Entry) -> Iterator[None]:
    now = settings.current().replace(numerics=entry.numerics, on_error="raise")
    with settings.use(now), watching(any_device=entry.alone):
        yield


def ours(entry: Entry, one: Captured, normalized: bool = False) -> tuple[int, GraphModule]:
    """How often our pass is applied where no other is on, and the graph after it.

    - `normalized`: after `normalization_pass`, which is on too.
    """
    gm = one.copy()
    if entry.alone:
        with _ours(entry):
            module = xductor.from_fx(gm, stage="pre_grad")
            count = registry.typed_class(entry.name)().rewrite(module)
        return count, xductor.to_fx(module)
    flags, added, removed = _arguments(entry)
    if normalized:
        flags["pre_grad_fusion_options"] = NORMALIZES | flags["pre_grad_fusion_options"]
    with _ours(entry), config.patch(flags), stage_records.record() as records:
        gm = pre_grad_passes(gm, one.given, added or None, removed or None)
    assert records[0].fallback is None
    return records[0].applications(entry.name), gm


def takes_normalized(entry: Entry) -> bool:
    """Whether a pass is one of the options that run after `normalization_pass`."""
    flags = registry.row(entry.name, "pre_grad").flag
    return flags == "pre_grad_fusion_options" and entry.name != "normalization_pass"


def stock_count(entry: Entry, one: Captured) -> int | None:
    """How often Inductor's pass is applied to the same graph, after its normalization.

    By its counter. A pass that has none counts as applied once where the graph is another one
    with it than without. None if it raises.
    """
    try:
        return _alone(entry, one) if entry.alone else _counted(entry, one)
    except (AssertionError, RuntimeError):
        return None


def _counted(entry: Entry, one: Captured) -> int:
    flags, added, removed = _arguments(entry)
    if takes_normalized(entry):
        flags["pre_grad_fusion_options"] = NORMALIZES | flags["pre_grad_fusion_options"]
    counter = registry.counter_of(registry.row(entry.name, "pre_grad"))
    counters.clear()
    after = _stock(one, flags, added, removed)
    if counter:
        return counters["inductor"][counter]
    without = {"is_predispatch": True} if "is_predispatch" in flags else {}
    rest = ",".join([*dict.fromkeys(DEFAULT), "remove_noop"]) if without else ""
    before = one.copy() if entry.name == "sink_cat_after_pointwise" else None
    before = before or _stock(one, without, "", rest)
    return int(_text(after) != _text(before))


def _stock(one: Captured, flags: dict[str, Any], added: str, removed: str) -> GraphModule:
    with config.patch(flags):
        return pre_grad.pre_grad_passes(one.copy(), one.given, added or None, removed or None)


def _alone(entry: Entry, one: Captured) -> int:
    """Of a pass that Inductor runs on other devices alone: whether its function changes a graph."""
    gm = one.copy()
    ShapeProp(gm).propagate(*[torch.zeros_like(real) for real in one.inputs])
    before = _text(gm)
    return int(_text(getattr(pre_grad, entry.name)(gm)) != before)


def _text(gm: GraphModule) -> str:
    gm.recompile()
    return gm.code


__all__ = ["Captured", "captured", "ours", "stock_count", "takes_normalized"]
