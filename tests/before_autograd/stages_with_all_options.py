"""The two forms of the stage before autograd, with every option on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from torch._inductor import config
from torch.fx import GraphModule

from xductor.backend.config import settings
from xductor.backend.pipelines.predispatch import DEFAULT, OPTIONAL
from xductor.backend.records import stage_records
from xductor.backend.stages import pre_grad_passes
from xductor.transforms.rows import registry

_LONG = {"threshold_to_cat": 2, "min_fuse_set_size": 2}
OPTIONS: Mapping[str, Any] = {
    row.name: {key: _LONG[key] for key in _LONG if (key[0] == "m") is (".groups." in row.factory)}
    for row in registry.rows("pre_grad")
    if row.flag == "pre_grad_fusion_options" and not row.covered_by
    if row.name != "batch_dropout"
}
"""Every option that draws nothing, with thresholds at which small graphs are taken."""

STAGES: Mapping[str, tuple[dict[str, Any], str | None]] = {
    "torch level": (
        {
            "pre_grad_fusion_options": OPTIONS,
            "efficient_conv_bn_eval_fx_passes": True,
            "apply_gumbel_max_trick": True,
        },
        None,
    ),
    "pre-dispatch": (
        {"is_predispatch": True, "pre_grad_fusion_options": OPTIONS},
        ",".join((*OPTIONAL, *DEFAULT)),
    ),
}


def staged(
    gm: GraphModule,
    inputs: Sequence[Any],
    flags: Mapping[str, Any],
    added: str | None,
    applied: Counter[str],
) -> GraphModule:
    """A graph after the stage with these flags, under `fast`; adds to how often passes applied.

    Raises what the stage raises: a fallback is an error.
    """
    now = settings.current().replace(numerics="fast", on_error="raise")
    with settings.use(now), config.patch(dict(flags)), stage_records.record() as records:
        gm = pre_grad_passes(gm, inputs, added)
    for record in records:
        applied.update({name: count for name, count in record.counts().items() if count})
    return gm


__all__ = ["OPTIONS", "STAGES", "staged"]
