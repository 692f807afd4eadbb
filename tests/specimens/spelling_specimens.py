"""Graphs of calls in torch's words that are to be written in other words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F

from xductor.backend.pass_validation.specimen import Specimen, captured
from xductor.transforms.pre_grad.normalize_node_kwargs_pass import NormalizeNodeKwargsPass

Tensor = torch.Tensor

CALLS: Mapping[str, Callable[[Tensor], Any]] = {
    "cat": lambda x: torch.cat([x, x], -1),
    "concat": lambda x: torch.concat((x, x), axis=-2),  # type: ignore[call-arg]
    "stack": lambda x: torch.stack([x, x], -1),
    "split": lambda x: x.split(2, -1),
    "split by sizes": lambda x: torch.split(x, [1, x.shape[-1] - 1], dim=-1),
    "chunk": lambda x: x.chunk(2, -1),
    "unbind": lambda x: torch.unbind(x, -2),
    "transpose": lambda x: x.transpose(-1, 0),
    "permute": lambda x: x.permute(2, -2, 0),
    "select": lambda x: x.select(-1, -1),
    "narrow": lambda x: torch.narrow(x, -1, 0, 2),
    "flatten": lambda x: x.flatten(-2),
    "squeeze": lambda x: torch.squeeze(x, -3),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "flip": lambda x: x.flip(-1, 0),
    "roll": lambda x: torch.roll(x, 1, -1),
    "diagonal": lambda x: x.diagonal(0, -2, -1),
    "sum": lambda x: x.sum(-1),
    "sum of all": lambda x: torch.sum(x),
    "mean": lambda x: torch.mean(x, (-1, 0), True),
    "max": lambda x: x.max(-1)[0],
    "amax": lambda x: x.amax((-1,)),
    "argmax": lambda x: torch.argmax(x, -1),
    "cumsum": lambda x: x.cumsum(-1),
    "sort": lambda x: torch.sort(x, -1)[0],
    "softmax": lambda x: F.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "relu": lambda x: torch.relu(x),
    "gelu": lambda x: F.gelu(x),
    "clamp": lambda x: torch.clamp(x, -1),
    "add": lambda x: torch.add(x, x, alpha=2),
    "dropout": lambda x: F.dropout(x, 0.5, False),
    "linear": lambda x: F.linear(x, x[0]),
    "layer_norm": lambda x: F.layer_norm(x, (x.shape[-1],)),
    "view": lambda x: x.view(-1, 2),
    "where": lambda x: torch.where(x > 0, x, 1.0),
}


def calls() -> Iterator[Specimen]:
    """Each call by functions and methods, and as an operator where that counts from the end."""
    one = NormalizeNodeKwargsPass()
    for what, call in CALLS.items():
        for dtype, asks in ((torch.float32, True), (torch.bfloat16, False)):
            x = torch.ones((1, 4, 4), dtype=dtype, requires_grad=asks)
            module = captured(lambda x, call=call: call(x), x)
            if module is not None:
                provable = dtype == torch.float32
                yield Specimen(f"{what}, {dtype}, {asks=}", module, one, provable=provable)


__all__ = ["CALLS", "calls"]
