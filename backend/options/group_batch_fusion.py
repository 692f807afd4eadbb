"""The group and batch fusions that a user enabled, in Inductor's order.

Passes of ours replace Inductor's. A class that a user registered, also in place of one of
Inductor's, runs bridged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from xductor.backend.options.pre_grad_fusion_options import options_of
from xductor.backend.stage_runs.ir_logging import is_traced
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import flush, observed
from xductor.backend.steps.typed_steps import CONFIG_OPTIONS, is_all_bridged, make, run_observed
from xductor.transforms import Stage, TypedPass
from xductor.transforms.rows import registry

_FUSION = "group_batch_fusion:"


def run_post_grad(run: StageRun) -> None:
    """Run those of the post-grad stage; those that require fbgemm come last, if it is installed."""
    options = stock.flag("post_grad_fusion_options", {})
    if not options:
        return
    excluded = set(stock.lookup("post_grad:OPTIMUS_EXCLUDE_POST_GRAD"))
    asking = {
        name: given
        for name, given in options.items()
        if name not in excluded and given.get("require_fbgemm", False)
    }
    others = {name: given for name, given in options.items() if name not in asking}
    chosen = {**others, **(asking if stock.lookup(_FUSION + "has_fbgemm") else {})}
    registered = stock.lookup(_FUSION + "POST_GRAD_FUSIONS")
    names = (name for name in chosen if name in registered)
    for number, name in enumerate(names):
        _run(run, f"group_batch_fusion_{number}", name, chosen[name], registered[name])


def run_pre_grad(run: StageRun) -> None:
    """Run those of the pre-grad stage under Inductor's observer, or a user's replacement.

    Raises KeyError for a fusion of the post-grad stage.
    """
    name = "group_batch_fusion_passes"
    function, options = stock.lookup(f"pre_grad:{name}"), options_of(run)
    if stock.is_stock(function):
        if not run.untyped:
            observed(run, name, lambda _: _run_each(run, options), "graph")
        return
    own = partial(function, pre_grad=True)
    if stock.lookup("pre_grad:_resolve_pre_grad_fusion_options") is not None:
        own = partial(own, fusion_options=options)
    flush(run)
    run.bridged(name, lambda: observed(run, name, own, "graph"))


def _run_each(run: StageRun, options: Mapping[str, Any]) -> None:
    """Run the fusions in the user's order."""
    registered = stock.lookup(_FUSION + "PRE_GRAD_FUSIONS")
    others = stock.lookup(_FUSION + "POST_GRAD_FUSIONS")
    names = (name for name in options if name in registered or name in others)
    for number, name in enumerate(names):
        _run(run, f"group_batch_fusion_{number}", name, options[name], registered[name])


def _run(
    run: StageRun, observed_as: str, name: str, given: Mapping[str, Any], cls: type[Any]
) -> None:
    if is_all_bridged() or not _is_ours(name, cls):
        flush(run)
        if not run.degraded:
            _run_bridged(run, observed_as, given, cls)
        return
    applied = run_observed([_with_options(make(name, run), given)], run, observed_as)
    if applied and is_traced():
        _trace(run, cls.__name__)


def _is_ours(name: str, cls: type[Any]) -> bool:
    """Whether a registered class is the one of Inductor's that a pass of ours replaces."""
    return stock.is_stock(cls) and (cls.__module__, cls.__qualname__) == registry.home(name)


def _with_options(one: TypedPass, given: Mapping[str, Any]) -> TypedPass:
    known = {field.name for field in fields(one)} - CONFIG_OPTIONS.keys()
    return replace(one, **{key: value for key, value in given.items() if key in known})


def _run_bridged(run: StageRun, observed_as: str, given: Mapping[str, Any], cls: type[Any]) -> None:
    options = {**stock.lookup(_FUSION + "graph_search_options"), **given}
    rule = cls(graph_search_options=options)
    fuse = stock.lookup(_FUSION + "apply_group_batch_fusion")
    run.bridged(
        observed_as,
        lambda: observed(run, observed_as, lambda graph: fuse(graph, rule), "graph"),
    )


def _trace(run: StageRun, name: str) -> None:
    """Write Inductor's trace artifact of the graph after a fusion."""
    flush(run)
    stock.lookup("torch._logging:trace_structured")(
        "artifact",
        metadata_fn=lambda: {"name": f"optimus_{name}", "encoding": "string"},
        payload_fn=lambda: run.gm.print_readable(
            print_output=False, include_stride=True, include_device=True
        ),
    )


def fusion_names(stage: Stage) -> tuple[str, ...]:
    """The fusions of a stage that passes of ours replace; this imports none of them."""
    return tuple([row.name for row in registry.rows(stage) if ".groups." in row.factory])


__all__ = ["fusion_names", "run_post_grad", "run_pre_grad"]
