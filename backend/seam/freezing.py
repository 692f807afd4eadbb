"""Freezing: Inductor's functions that fold and pack constants, replaced by our steps."""

from __future__ import annotations

import functools
from typing import Any

from xductor.backend.config import compile_state, settings, versions
from xductor.ir.import_without_gc import load


def attach() -> None:
    """Let compiles of ours run `backend.stages.freezing_passes`.

    What Inductor folds behind them is what they left to it: packed and concatenated weights.
    """
    module = versions.freezing_module()
    if module is None:
        return
    stock = module.freezing_passes

    @functools.wraps(stock)
    def freezing_passes(gm: Any, aot_example_inputs: Any) -> None:
        chosen = compile_state.current().settings
        if chosen is None:
            stock(gm, aot_example_inputs)
            return
        with settings.use(chosen):
            load("xductor.backend.stages").freezing_passes(gm, aot_example_inputs)

    stock_fold = module.constant_fold

    @functools.wraps(stock_fold)
    def constant_fold(gm: Any, *args: Any, **kwargs: Any) -> None:
        if compile_state.current().settings is None or args or kwargs:
            stock_fold(gm, *args, **kwargs)
            return
        load("xductor.backend.steps.late_constants").fold(gm, stock_fold)

    setattr(module, "freezing_passes", freezing_passes)  # noqa: B010
    setattr(module, "constant_fold", constant_fold)  # noqa: B010
