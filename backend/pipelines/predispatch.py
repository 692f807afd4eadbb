"""The pre-grad passes over pre-dispatch ATen (`is_predispatch`)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

import torch

from xductor.backend.fx.missing_values import (
    lacks_values,
    lost_gradients,
    propagate_values,
    recorded_inputs,
)
from xductor.backend.options import group_batch_fusion
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import flush
from xductor.backend.steps.typed_steps import is_all_bridged, make, run_observed
from xductor.transforms.rows import registry

_log = logging.getLogger(__name__)

#: Inductor's default passes, in order; `remove_passes` leaves some out.
DEFAULT = (
    "normalization_pass_aten",
    "normalize_node_kwargs_pass",
    "remove_noop_pass",
    "relu_nan_to_num",
    "fuse_chunk_reshape_concat_pass",
    "group_batch_fusion_passes",
    "normalize_node_kwargs_pass",
    "fuse_chunk_squeeze_cat_pass",
    "merge_concats_pass",
    "fuse_split_linear_add_pass",
    "remove_reshape_pass",
    "fuse_parallel_linear_pass",
    "remove_split_ops_pass",
    "stack_to_unsqueeze_pass",
    "fuse_chunk_reshape_unsqueeze_concat_pass",
)

#: Passes that run only if `add_passes` names them; a default one that it names runs again.
OPTIONAL = (
    "fuse_split_getitem_squeeze_cat",
    "use_triton_dot_compress",
    "use_triton_lce_replace_simple_LCE",
    "use_triton_lce_replace_normal_LCE",
    "use_matmul_fuse_lce_replace_first_LCE",
    "use_matmul_lce_replace_normal_LCE",
)


#: The name under which `remove_passes` leaves out the last run of `remove_noop_pass`.
_LAST = "remove_noop"


def check(run: StageRun) -> None:
    """Check the names of passes that the stage is told to add and to leave out.

    Inductor passes over a name that it does not know. Raises KeyError for one, and TypeError for
    what is no text.
    """
    if not stock.flag("is_predispatch"):
        return
    for option, passes, known in (
        ("add_passes", run.add_passes, {*DEFAULT, *OPTIONAL}),
        ("remove_passes", run.remove_passes, {*DEFAULT, _LAST}),
    ):
        if passes is not None and not isinstance(passes, str):
            raise TypeError(
                f"{option}: expected names of passes with commas between them, as in "
                f"'{DEFAULT[0]},{DEFAULT[1]}', found {passes!r}"
            )
        for name in _names(passes):
            if name and name not in known:
                close = get_close_matches(name, known, n=1)
                guess = f" (did you mean {close[0]!r}?)" if close else ""
                raise KeyError(
                    f"{option}: there is no pass {name!r}{guess} in {passes!r}; there are "
                    f"{', '.join(sorted(known))}"
                )


def run_passes(run: StageRun) -> None:
    """Run the passes in Inductor's order.

    Typed passes replace functions of Inductor's that have an empty body; a function that a user put
    there runs instead. Inductor's own passes run between a shape propagation and a recompile.
    """
    if not (stock.flag("pattern_matcher", True) and stock.flag("is_predispatch")):
        return
    added = _names(run.add_passes)
    removed = _names(run.remove_passes)
    _log.info("pre_grad_passes: added %s, removed %s", added, removed)
    if run.example_inputs and lacks_values(run.gm):
        propagate_values(run.gm, run.example_inputs)
    elif torch.is_grad_enabled() and lost_gradients(run.gm):
        propagate_values(run.gm, recorded_inputs(run.gm))
    for name in DEFAULT:
        if name not in removed:
            _execute(run, name, f"[Pre grad(predispatch IR)] Apply {name} pass")
    for name in (*DEFAULT, *OPTIONAL):
        if name in added:
            _execute(run, name, f"[Pre grad(predispatch IR)] Apply {name} pass")
    if _LAST not in removed:
        _execute(run, "remove_noop_pass", "[Pre grad(predispatch IR)]Apply remove_noop pass")
    flush(run)
    if _has_inputs(run):
        _propagate_shapes(run)


@cache
def typed_names() -> tuple[str, ...]:
    """The passes of the lists that are ours."""
    ours = {row.name for row in registry.rows("pre_grad") if row.factory}
    return tuple([name for name in dict.fromkeys((*DEFAULT, *OPTIONAL)) if name in ours])


def _stands_for(name: str, function: Any) -> bool:
    """Whether a typed pass replaces a function of Inductor's, or a table without patterns."""
    if name not in typed_names() or is_all_bridged():
        return False
    return not function.patterns if hasattr(function, "patterns") else stock.is_stock(function)


def _names(passes: str | None) -> Sequence[str]:
    return passes.split(",") if passes else ()


def _execute(run: StageRun, name: str, message: str) -> None:
    function = stock.lookup(f"pre_grad:{name}")
    if function is None:
        return
    if name == "group_batch_fusion_passes":
        group_batch_fusion.run_pre_grad(run)
        return
    if _stands_for(name, function):
        run.count += run_observed([make(name, run)], run) or 0
        return
    flush(run)
    if run.degraded or run.untyped:
        return
    apply = getattr(function, "apply", function)
    if not _has_inputs(run):
        run.bridged(name, lambda: _apply_to_body(apply, run.gm))
        return
    execute = stock.lookup("torch._inductor.utils:pass_execution_and_save")
    run.bridged(name, lambda: execute(apply, run.gm, run.example_inputs, message))


def _apply_to_body(apply: Any, gm: torch.fx.GraphModule) -> None:
    """What Inductor does to run a pass, without the shapes that it propagates before."""
    apply(gm.graph)
    stock.lookup("torch._inductor.pattern_matcher:stable_topological_sort")(gm.graph)
    gm.graph.lint()
    gm.recompile()


def _has_inputs(run: StageRun) -> bool:
    """Whether the stage got inputs to run its graph on; the body of a checkpoint has none."""
    return len(run.example_inputs or ()) >= len(run.gm.graph.find_nodes(op="placeholder"))


def _propagate_shapes(run: StageRun) -> None:
    from torch._guards import detect_fake_mode
    from torch.fx.passes.shape_prop import ShapeProp

    inputs = tuple(run.example_inputs or ())
    ShapeProp(gm=run.gm, fake_mode=detect_fake_mode(inputs)).propagate(*inputs)
