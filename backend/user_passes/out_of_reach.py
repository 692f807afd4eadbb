"""Why a rewrite cannot run where it was asked for: warned of once, and shown by `explain`.

Its numerics are not admitted, it does not pay on the device, or its pattern names ops that graphs
of its stage do not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule

from xductor.backend.config import coverage_warnings, registered_rewrites
from xductor.backend.config.placement import Placed
from xductor.ir import GraphOp, TensorType
from xductor.transforms import Rewrite, Stage, graphs_of
from xductor.transforms.matching.absent_ops import PYTHON, absent_op
from xductor.transforms.passes.numerics import ADMITTED, Policy, admits, numerics_text
from xductor.transforms.rewriting.driver import RewriteIndex, watching
from xductor.transforms.rewriting.prefilter import may_match
from xductor.transforms.rewriting.rewrite import stages_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xductor.backend.stage_runs.stage_run import StageRun


def say(run: StageRun, rewrites: Iterable[Any]) -> None:
    """Warn of each of a user's rewrites that cannot run in this stage call, once for each reason.

    Rewrites that a library registered for every compile are left out: nobody named them.
    """
    registered = [
        item.rewrite if isinstance(item, Placed) else item
        for item in registered_rewrites.registered()
    ]
    for one in rewrites:
        if one in registered or type(one) in registered:
            continue
        for reason in _reasons(one, run):
            coverage_warnings.say(
                f"{type(one).__module__}.{type(one).__qualname__}: {reason}",
                f"{one.name} does not run in the {run.stage} stage: {reason}",
            )


def _reasons(one: Any, run: StageRun) -> Iterator[str]:
    numerics = of_numerics(one, run.settings.numerics)
    if numerics:
        yield numerics
    if not isinstance(one, Rewrite):
        return
    absent = of_stage(one, run.stage)
    if absent is not None and not _holds(run.gm, absent[0]):
        yield absent[1]
    if one.devices:
        with watching(any_device=True):
            wanted = may_match(RewriteIndex([one]), run.gm.graph)
        reason = of_devices(one, _devices_of_nodes(run.gm)) if wanted else None
        if reason is not None:
            yield reason


def of_numerics(one: Any, policy: Policy) -> str | None:
    """Why a rewrite or pass does not run under a policy; None if it does."""
    if admits(policy, one.numerics):
        return None
    policies = [name for name in ADMITTED if admits(name, one.numerics)]
    return (
        f"its numerics are {numerics_text(one.numerics)!r}: it runs only with xductor.numerics = "
        + " or ".join(map(repr, policies))
    )


def of_devices(one: Rewrite, found: set[str]) -> str | None:
    """Why a rewrite does not run on a graph whose tensors are on these types of device."""
    if not one.devices or not found or not found.isdisjoint(one.devices):
        return None
    return f"it runs on {' and '.join(one.devices)} only; this graph is on {', '.join(found)}"


@lru_cache(maxsize=256)
def of_stage(one: Rewrite, stage: Stage) -> tuple[Any, str] | None:
    """An op that a rewrite needs to match and that graphs of a stage do not have, and why not.

    None if the pattern may be found there.
    """
    return absent_op(one.compiled.outputs, stage)


def notes(one: Any, module: ModuleOp, policy: Policy) -> list[str]:
    """What keeps a rewrite or pass from running on a module at all, a sentence each."""
    graphs = list(graphs_of(module))
    stage: Any = graphs[0].stage.data if graphs else stages_of(one)[0]
    found: list[str | None] = [of_numerics(one, policy)]
    if stage not in stages_of(one):
        found.append(
            f"it is for {' and '.join(stages_of(one))} graphs; this graph is of the {stage} stage"
        )
    else:
        found.append(_of_level(graphs, stage))
    if isinstance(one, Rewrite):
        found.append(of_devices(one, {kind for graph in graphs for kind in _devices(graph)}))
        found += [reason for _, reason in filter(None, (of_stage(one, s) for s in stages_of(one)))]
    return [reason for reason in found if reason is not None]


def _of_level(graphs: list[GraphOp], stage: Stage) -> str | None:
    """Why a graph cannot belong to the stage that was assumed for it."""
    names = {op.name for graph in graphs for op in graph.block.ops}
    python = any(name.startswith(PYTHON) for name in names)
    aten = any(name.startswith(("aten.", "prims.")) for name in names)
    if stage == "pre_grad" and aten and not python:
        return (
            "this graph is taken for one of the pre_grad stage, and holds ATen ops alone, as "
            "graphs of the joint and post_grad stages do"
        )
    if stage != "pre_grad" and python:
        return (
            f"this graph is taken for one of the {stage} stage, and holds calls as Dynamo records "
            "them (pyfn.torch..., method...), as graphs of the pre_grad stage do"
        )
    return None


def _holds(gm: GraphModule, target: Any) -> bool:
    """Whether a graph calls an operator, by the overload or by its packet."""
    if isinstance(target, str):
        return bool(gm.graph.find_nodes(op="call_method", target=target))
    targets = [target, getattr(target, "overloadpacket", target)]
    return any(gm.graph.find_nodes(op="call_function", target=one) for one in targets)


def _devices_of_nodes(gm: GraphModule) -> set[str]:
    values = (node.meta.get("val", node.meta.get("example_value")) for node in gm.graph.nodes)
    return {value.device.type for value in values if isinstance(value, torch.Tensor)}


def _devices(graph: GraphOp) -> set[str]:
    values = [*graph.block.args, *(result for op in graph.block.ops for result in op.results)]
    types = [value.type for value in values]
    return {one.device.type for one in types if isinstance(one, TensorType)}


__all__ = ["notes", "of_devices", "of_numerics", "of_stage", "say"]
