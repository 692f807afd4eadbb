"""`post_grad_fusion_options`: what a user may set, and the pattern tables that it enables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

from xductor.backend.options import fusion_keys, group_options
from xductor.backend.options.fusion_options import fusion_option_passes
from xductor.backend.options.realized_operands import realizing_operands
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import flush
from xductor.backend.steps.typed_steps import TableStep

OPTION = "post_grad_fusion_options"

DECOMPOSITIONS = ("decompose_mm", "decompose_bmm", "decompose_addmm")

#: The passes of ours that replace entries of the tables, by option.
TYPED: Mapping[str, tuple[str, ...]] = {
    **{
        name: (name,)
        for name in (
            "normalization_aten_pass",
            "unbind_stack_aten_pass",
            "split_cat_aten_pass",
            "select_cat_aten_pass",
            "move_view_after_cat_aten_pass",
        )
    },
    "decompose_mm_pass": DECOMPOSITIONS,
}


def check() -> None:
    """Check the options before anything is changed.

    Raises KeyError for an unknown name, TypeError for what is no dict and for an option of another
    type, and ValueError for a negative counter and a minimum above the maximum.
    """
    options = stock.flag(OPTION, {})
    if options == {}:
        return
    excluded, fusions = _excluded(), set(stock.lookup("post_grad:POST_GRAD_FUSIONS"))
    known = {*fusions, *excluded, *stock.lookup("post_grad:POST_GRAD_PATTERNS")}
    fusion_keys.check_table(OPTION, options, known)
    for name, given in options.items():
        if name not in known:
            raise KeyError(
                f"{OPTION}: there is no fusion {name!r}; there are {', '.join(sorted(known))}"
            )
        if name in excluded:
            continue
        if not isinstance(given, Mapping):
            raise TypeError(f"{OPTION}[{name!r}]: expected a dict of options, found {given!r}")
        fusion_keys.check(OPTION, name, given)
        if name in fusions:
            group_options.check(OPTION, name, given)


def check_first(_: StageRun) -> None:
    """Check the options before a stage that reads them changes anything, as `check` does."""
    if stock.flag("pattern_matcher", True):
        check()


def _excluded() -> set[str]:
    return set(stock.lookup("post_grad:OPTIMUS_EXCLUDE_POST_GRAD"))


def run_tables(run: StageRun) -> None:
    """Run the tables that the user enabled, in the user's order."""
    options = stock.flag(OPTION, {})
    tables = stock.lookup("post_grad:POST_GRAD_PATTERNS")
    others = {*stock.lookup("post_grad:POST_GRAD_FUSIONS"), *_excluded()}
    for name in options:
        if name in others:
            continue
        table = tables[name]
        step = TableStep(name, lambda table=table: table, TYPED.get(name, ()), name)
        with fusion_option_passes(run, table), _around(name, run):
            step(run)
            flush(run)  # changes of typed passes are counted and visible once raised


def _around(name: str, run: StageRun) -> AbstractContextManager[None]:
    return realizing_operands(run) if name == "decompose_mm_pass" else nullcontext()


__all__ = ["DECOMPOSITIONS", "OPTION", "TYPED", "check", "check_first", "run_tables"]
