"""`pre_grad_fusion_options`: what a user may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xductor.backend.config.versions import inductor_version
from xductor.backend.options import fusion_keys, group_options
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock

OPTION = "pre_grad_fusion_options"

_NORMALIZATION = "normalization_pass"


def options_of(run: StageRun) -> dict[str, Any]:
    """The enabled fusions; since torch 2.14 without those for other devices.

    Raises TypeError if the option is no dict.
    """
    if OPTION not in run.kept:
        options = stock.flag(OPTION, {})
        fusion_keys.check_table(OPTION, options, _known(options))
        resolve = stock.lookup("pre_grad:_resolve_pre_grad_fusion_options")
        run.kept[OPTION] = resolve(options, run.example_inputs) if resolve else options
    return run.kept[OPTION]


def check(options: Mapping[str, Any]) -> None:
    """Check the options before anything is changed.

    Raises KeyError for an unknown name, TypeError for an option of another type, and ValueError for
    a negative counter and a minimum above the maximum.
    """
    if not options:
        return
    fusions, known = stock.lookup("pre_grad:PRE_GRAD_FUSIONS"), _known(options)
    for name, given in options.items():
        if name not in known and inductor_version().unknown_fusions != "skipped":
            raise KeyError(
                f"{OPTION}: there is no fusion {name!r}; there are {', '.join(sorted(known))}"
            )
        if not isinstance(given, Mapping):
            raise TypeError(f"{OPTION}[{name!r}]: expected a dict of options, found {given!r}")
        fusion_keys.check(OPTION, name, given)
        if name in fusions:
            group_options.check(OPTION, name, given)


def _known(options: object) -> set[str]:
    """The names that there are; none are looked for where nothing is asked for."""
    if options == {}:
        return set()
    fusions = stock.lookup("pre_grad:PRE_GRAD_FUSIONS")
    return {*stock.lookup("pre_grad:PRE_GRAD_PATTERNS"), *fusions, _NORMALIZATION}


__all__ = ["OPTION", "check", "options_of"]
