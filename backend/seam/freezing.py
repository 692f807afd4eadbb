"""Freezing: Inductor's function that folds and packs constants, replaced by our steps."""

from __future__ import annotations

import functools
from typing import Any

from xductor.backend.config import compile_state, settings, versions
from xductor.ir.import_without_gc import load


def attach() -> None:
    """Let compiles of ours run `backend.stages.freezing_passes`."""
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

    setattr(module, "freezing_passes", freezing_passes)  # noqa: B010
