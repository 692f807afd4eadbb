"""Restores on a node the part of its metadata that text carries."""

from __future__ import annotations

import json
from typing import Any

import torch.fx as fx

from xductor.ir import NodeMeta


def restore_textual(meta: NodeMeta, node: fx.Node) -> None:
    """Restore what text carries of a node's place: tag, recompute policy, module, user's line."""
    items = meta.textual or {}
    if "tag" in items:
        node.meta["partitioner_tag"] = items["tag"]
    if "recompute" in items:
        node.meta["recompute"] = _recompute_policy(items["recompute"])
    if "module" in items:
        path = items["module"]
        node.meta["nn_module_stack"] = {path: (path, "")}
    restore_quantization(meta, node)
    clones = clones_of(meta)
    if clones is not None:
        node.meta["only_clone_these_tensors"] = clones
    location = meta.location()
    if location is not None:
        file, line = location
        node.meta["stack_trace"] = f'  File "{file}", line {line}, in forward\n'


def restore_quantization(meta: NodeMeta, node: fx.Node) -> None:
    """Restore the options of a quantized call, which code generation reads from the node."""
    text = (meta.textual or {}).get("quant_options")
    if text is not None:
        from torch._higher_order_ops import InvokeQuant

        node.meta["quant_options"] = InvokeQuant(**json.loads(text))


def clones_of(meta: NodeMeta) -> list[Any] | None:
    """What a functionalised call is to copy before it writes, where that is said."""
    text = (meta.textual or {}).get("only_clone")
    return None if text is None else json.loads(text)


def _recompute_policy(name: str) -> Any:
    from torch.utils.checkpoint import CheckpointPolicy

    return getattr(CheckpointPolicy, name, None) or int(name)
