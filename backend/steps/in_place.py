"""Steps at the end of the post-grad stage that let ops write: typed where we know all there is.

Inductor's own pass runs in the place of ours on graphs with something that ours leaves alone:
functionalised calls of graphs. It does where somebody registered an op with a form in place, since
his runs with Inductor's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import OpOverload

from xductor.backend.fx.overlapping_writes import separate_reads
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import step_targets, stock, typed_steps, value_updates
from xductor.backend.steps.bridge import BridgedStep, flush, stock_pass
from xductor.backend.steps.table_prefilter import calls_of
from xductor.backend.steps.typed_steps import TypedStep
from xductor.ir.effects.operator_effects import overwrites_without_reading
from xductor.transforms import graphs_of
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.analysis.functionalized_calls import FUNCTIONALIZED
from xductor.transforms.in_place.in_place_forms import COALESCED_FORM, IN_PLACE_FORM, LIST_FORM
from xductor.transforms.in_place.triton_calls import FUNCTIONAL as FUNCTIONAL_KERNEL
from xductor.transforms.in_place.views import SCATTERED
from xductor.transforms.rows import registry

if TYPE_CHECKING:
    from torch.fx import Graph

REINPLACE = "reinplace_inplaceable_ops"
DECOMPOSE = "decompose_auto_functionalized"
DECOMPOSE_TRITON = "decompose_triton_kernel_wrapper_functional"
_DECIDED = "in_place_decided"
_KNOWN = frozenset((*IN_PLACE_FORM, *COALESCED_FORM, *LIST_FORM, *SCATTERED))
_TRITON = ("triton_kernel_wrapper_functional",)
_FUNCTIONALIZED = ("auto_functionalized", "auto_functionalized_v2")
_REGISTRIES = ("inplaceable_ops", "inplaceable_foreach_ops", "_SCATTER_OP_TO_VIEW")


class ReinplaceStep(TypedStep):
    """Our pass, or Inductor's on a graph with what ours leaves alone."""

    def __call__(self, run: StageRun) -> None:
        if typed_steps.is_all_bridged() or not (self._is_stock() and _knows_all()):
            self.stock_step(run)
            return
        if value_updates.is_watched(run):
            flush(run)
            value_updates.update(run)  # Inductor's pass begins with it
        if not self.stock_step.wanted(run) or not _is_typed(run):
            self.stock_step(run)
            return
        one = registry.typed_class(REINPLACE)(regenerated=regenerated_results(run))  # type: ignore[call-arg]
        applied = typed_steps.run_observed([one], run, REINPLACE)
        run.kept[_DECIDED] = not run.degraded and applied is not None
        if not run.kept[_DECIDED]:
            self.stock_step(run)
        elif run.group is None or not run.group.changed:
            separate_reads(run.gm.graph)


def decided_by_stock(run: StageRun) -> bool:
    """Whether Inductor's own pass said what functionalised calls copy."""
    return not run.kept.get(_DECIDED, False)


class DecomposeStep(TypedStep):
    """Our pass; then Inductor's, where something is left for it."""

    def __call__(self, run: StageRun) -> None:
        if not typed_steps.is_all_bridged() and self._is_stock():
            typed_steps.run_observed([typed_steps.make(DECOMPOSE, run)], run)
        self.stock_step(run)


class DecomposeTritonStep(TypedStep):
    """Our pass; then Inductor's, where something is left for it."""

    def __call__(self, run: StageRun) -> None:
        if not typed_steps.is_all_bridged() and self._is_stock():
            typed_steps.run_observed([typed_steps.make(DECOMPOSE_TRITON, run)], run)
            if may_decompose_triton(run):
                flush(run)
                _say_as_inductor(run.gm.graph)
        self.stock_step(run)


def _say_as_inductor(graph: Graph) -> None:
    """Say of calls of kernels what is copied as Inductor does: what is not is no result."""
    for target in _higher_order(_TRITON):
        for node in graph.find_nodes(op="call_function", target=target):
            clones = node.meta.pop("only_clone_these_tensors", None)
            if clones is None:
                continue
            given: Any = node.kwargs["kwargs"]
            for pick in list(node.users):
                name = pick.args[1]
                if name not in clones:
                    pick.replace_all_uses_with(given[name])
                    graph.erase_node(pick)
            node.update_kwarg("tensors_to_clone", list(clones))


def _knows_all() -> bool:
    """Whether the ops that Inductor's pass knows are those that it came with."""
    return all(_is_known(stock.lookup(f"reinplace:{name}")) for name in _REGISTRIES)


def _is_known(registry: Any) -> bool:
    if registry is None:
        return False
    return all(not isinstance(op, OpOverload) or _name_of(op) in _KNOWN for op in registry)


@cache
def _name_of(op: OpOverload) -> str:
    return str(op)


def _is_typed(run: StageRun) -> bool:
    """Whether a graph holds no call that our pass would leave and Inductor's would not."""
    calls = calls_of(run)
    if not any(calls.making(("call_function", one)) for one in _higher_order(_FUNCTIONALIZED)):
        return True
    flush(run)
    nodes = [
        node
        for target in _higher_order(_FUNCTIONALIZED)
        for node in run.gm.graph.find_nodes(op="call_function", target=target, sort=False)
    ]
    return all(
        isinstance(node.args[0], OpOverload) and not overwrites_without_reading(node.args[0])
        for node in nodes
    )


@cache
def _higher_order(names: tuple[str, ...]) -> tuple[Any, ...]:
    found = [getattr(torch.ops.higher_order, name, None) for name in names]
    return tuple([one for one in found if one is not None])


def regenerated_results(run: StageRun) -> tuple[int, ...]:
    """The places of results in whose stead AOTAutograd gives the caller views of its own inputs.

    Of a whole graph in inference; what it returns there is looked at for its sizes and strides.
    """
    from torch._guards import TracingContext

    context = TracingContext.try_get()
    metadata: Any = getattr(context, "fw_metadata", None)
    if metadata is None or not run.is_inference:
        return ()
    results: Any = run.gm.graph.output_node().args[0]
    if not isinstance(results, list | tuple):
        return ()
    first = metadata.num_mutated_inp_runtime_indices
    given = run.gm.graph.find_nodes(op="placeholder")
    if (len(given), len(results)) != (len(metadata.input_info), first + len(metadata.output_info)):
        return ()  # a body of a call, or a graph with tokens
    return tuple(
        first + place
        for place, info in enumerate(metadata.output_info)
        if info.output_type.name in ("alias_of_input", "is_input")
    )


def reinplace_step(call: Callable[[StageRun], None]) -> TypedStep:
    """The step of reinplacing; `call` runs Inductor's own."""
    step = BridgedStep(REINPLACE, call, required=True)
    return ReinplaceStep(REINPLACE, step, f"post_grad:{REINPLACE}", REINPLACE)


def decompose_step() -> TypedStep:
    """The step of the functionalised calls of operators that write."""
    function = f"post_grad:{DECOMPOSE}"
    step = stock_pass(DECOMPOSE, function, required=True, acts=may_decompose, reads=may_decompose)
    return DecomposeStep(DECOMPOSE, step, function, DECOMPOSE)


def decompose_triton_step() -> TypedStep:
    """The step of the functional calls of Triton kernels."""
    function = f"post_grad:{DECOMPOSE_TRITON}"
    step = stock_pass(
        DECOMPOSE_TRITON,
        function,
        required=True,
        acts=may_decompose_triton,
        reads=may_decompose_triton,
    )
    return DecomposeTritonStep(DECOMPOSE_TRITON, step, function, DECOMPOSE_TRITON)


def may_decompose_triton(run: StageRun) -> bool:
    """Whether functional calls of Triton kernels are left."""
    group = run.group
    if group is None or not group.changed:
        return step_targets.decompose_triton(run)
    return _calls(group.module, frozenset((FUNCTIONAL_KERNEL,))) or _bodies_call(run, _TRITON)


def may_decompose(run: StageRun) -> bool:
    """Whether Inductor's decomposition has something to do, as far as the typed graph knows too."""
    group = run.group
    if group is None or not group.changed:
        return step_targets.may_decompose_auto_functionalized(run)
    if _calls(group.module, FUNCTIONALIZED):
        return True
    return step_targets.has_unused_attributes(run.gm) or _bodies_call(run, _FUNCTIONALIZED)


def _calls(module: Any, names: frozenset[str]) -> bool:
    return any(analyses_of(graph).has_one_of(names) for graph in graphs_of(module))


def _bodies_call(run: StageRun, names: tuple[str, ...]) -> bool:
    """Whether the graph of another module inside that of a stage calls one of some operators."""
    return any(
        step_targets.calls_one_of(child.graph, _higher_order(names))
        for child in run.gm.modules()
        if isinstance(child, torch.fx.GraphModule) and child is not run.gm
    )


__all__ = [
    "decided_by_stock",
    "decompose_step",
    "decompose_triton_step",
    "regenerated_results",
    "reinplace_step",
]
