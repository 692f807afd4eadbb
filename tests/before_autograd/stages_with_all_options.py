"""The two forms of the stage before autograd, with every option on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xductor.backend.pipelines.predispatch import DEFAULT, OPTIONAL
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

__all__ = ["OPTIONS", "STAGES"]
