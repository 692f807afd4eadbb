"""Graphs of calls in torch's words that are to be written in other words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F

from xductor.backend.pass_validation.specimen import Specimen, captured
from xductor.transforms import TypedPass
from xductor.transforms.pre_grad.normalization_pass import NormalizationPass
from xductor.transforms.pre_grad.normalize_node_kwargs_pass import NormalizeNodeKwargsPass
from xductor.transforms.pre_grad.numpy_compat_normalization import NumpyCompatNormalization

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


#: Calls with arguments of numpy's names. The stubs of torch do not know them.
NUMPY_CALLS: Mapping[str, Callable[[Any], Any]] = {
    "sum": lambda x: torch.sum(x, axis=-1),
    "sum, kept": lambda x: torch.sum(x, axis=1, keepdims=True),
    "sum of several": lambda x: torch.sum(x, axis=(0, -1)),
    "mean": lambda x: torch.mean(x, axis=-2, keepdims=True),
    "prod": lambda x: torch.prod(x, axis=0),
    "amax": lambda x: torch.amax(x, axis=-1),
    "amin": lambda x: torch.amin(x, axis=(0, 1), keepdims=True),
    "argmax": lambda x: torch.argmax(x, axis=-1, keepdims=True),
    "argmin": lambda x: torch.argmin(x, axis=1),
    "max": lambda x: torch.max(x, axis=-1)[0],
    "min": lambda x: torch.min(x, axis=1, keepdims=True)[1],
    "any": lambda x: torch.any(x > 0, axis=0),
    "all": lambda x: torch.all(x > 0, axis=-1, keepdims=True),
    "cumsum": lambda x: torch.cumsum(x, axis=-1),
    "cumprod": lambda x: torch.cumprod(x, axis=0),
    "logsumexp": lambda x: torch.logsumexp(x, axis=-1),
    "var": lambda x: torch.var(x, axis=-1),
    "std": lambda x: torch.std(x, axis=0, keepdims=True),
    "cat": lambda x: torch.cat([x, x], axis=-1),
    "stack": lambda x: torch.stack([x, x], axis=1),
    "unsqueeze": lambda x: torch.unsqueeze(x, axis=-1),
    "squeeze": lambda x: torch.squeeze(x, axis=0),
    "unbind": lambda x: torch.unbind(x, axis=-1),
    "narrow": lambda x: torch.narrow(x, axis=-1, start=1, length=2),
    "index_select": lambda x: torch.index_select(x, axis=1, index=torch.arange(2)),
    "sort": lambda x: torch.sort(x, axis=-1)[0],
    "softmax": lambda x: torch.softmax(x, axis=-1),
    "flip": lambda x: torch.flip(x, axis=(0, -1)),
    "relu of x": lambda x: torch.relu(x=x),
    "sin of a": lambda x: torch.sin(a=x),
    "sum of a": lambda x: torch.sum(a=x, axis=0),
    "add": lambda x: torch.add(x1=x, x2=x),
    "mul": lambda x: torch.mul(x, x2=x),
    "maximum": lambda x: torch.maximum(x1=x, x2=x),
}

#: Calls of methods and functions that `normalization_pass` writes as calls of functions.
NORMALIZED: Mapping[str, Callable[[Tensor], Any]] = {
    "split": lambda x: x.split(2, -1),
    "uneven split": lambda x: torch.split(x, 3, -2),
    "split by sizes": lambda x: x.split([1, 3], dim=-1),
    "unbind": lambda x: x.unbind(-1),
    "unbind of the first": lambda x: torch.unbind(x),
    "cat": lambda x: torch.cat((x, x), -1),
    "cat by keyword": lambda x: torch.cat(tensors=[x, x * 2], dim=0),
    "concat": lambda x: torch.concat([x, x], -2),
    "stack": lambda x: torch.stack((x, x), -1),
    "stack in front": lambda x: torch.stack([x, x]),
    "squeeze": lambda x: x.squeeze(),
    "squeeze of a dim": lambda x: x.squeeze(0),
    "squeeze from the end": lambda x: torch.squeeze(x, -3),
    "squeeze of dims": lambda x: x.squeeze((0, -1)),
    "reshape": lambda x: x.reshape(-1, 2),
    "reshape by numbers": lambda x: torch.reshape(x, (2, -1)),
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp from below": lambda x: torch.clamp(x, min=0),
    "clamp from above": lambda x: x.clamp(max=0.5),
    "clamp by tensors": lambda x: x.clamp(x * 0, x * 0 + 1),
    "detach": lambda x: x.detach() + x,
    "two of them": lambda x: torch.cat(x.split(2, -1), -1),
    "a result of one": lambda x: torch.stack([one.squeeze(0) for one in x.split(1, -1)], -1),
}


def calls() -> Iterator[Specimen]:
    """For `normalize_node_kwargs_pass`: functions, methods, and operators counting from the end."""
    return _each(CALLS, NormalizeNodeKwargsPass())


def numpy_calls() -> Iterator[Specimen]:
    """For `numpy_compat_normalization`."""
    return _each(NUMPY_CALLS, NumpyCompatNormalization())


def normalized() -> Iterator[Specimen]:
    """For `normalization_pass`, with symbolic sizes too."""
    yield from _each(NORMALIZED, NormalizationPass())
    yield from _each(NORMALIZED, NormalizationPass(), dynamic=True)


def _each(
    calls: Mapping[str, Callable[[Any], Any]], one: TypedPass, *, dynamic: bool = False
) -> Iterator[Specimen]:
    for what, call in calls.items():
        for dtype, asks in ((torch.float32, True), (torch.bfloat16, False)):
            x = torch.ones((1, 4, 4), dtype=dtype, requires_grad=asks)
            module = captured(lambda x, call=call: call(x), x, dynamic=dynamic)
            if module is not None:
                title = f"{what}, {dtype}, {asks=}{', symbolic' if dynamic else ''}"
                yield Specimen(title, module, one, provable=dtype == torch.float32)


__all__ = ["CALLS", "NORMALIZED", "NUMPY_CALLS", "calls", "normalized", "numpy_calls"]
