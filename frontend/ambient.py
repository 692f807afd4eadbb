"""The modes that are active while Dynamo hands over a pre-grad graph."""

from __future__ import annotations

import torch

from xductor.ir.dialect.dtypes import TEXT_OF_DTYPE
from xductor.ir.dialect.symbol_attr import Ambient
from xductor.ir.inference.ambient_modes import autocast_on


def capture_defaults() -> Ambient:
    """The modes that matter after autograd: the default dtype and deterministic kernels."""
    dtype = torch.get_default_dtype()
    return Ambient(
        deterministic=True if torch.are_deterministic_algorithms_enabled() else None,
        default_dtype=None if dtype is torch.float32 else TEXT_OF_DTYPE[dtype],
    )


_DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia")


def capture_ambient() -> Ambient:
    """The current modes, without those at PyTorch's defaults."""
    autocast = tuple(
        (device, TEXT_OF_DTYPE[torch.get_autocast_dtype(device)])
        for device in _DEVICES
        if autocast_on(device)
    )
    dtype = torch.get_default_dtype()
    device = torch.get_default_device() if torch._C._len_torch_function_stack() else None
    return Ambient(
        autocast=autocast,
        grad=None if torch.is_grad_enabled() else False,
        inference=True if torch.is_inference_mode_enabled() else None,
        deterministic=True if torch.are_deterministic_algorithms_enabled() else None,
        default_dtype=None if dtype is torch.float32 else TEXT_OF_DTYPE[dtype],
        default_device=None if device is None or device.type == "cpu" else str(device),
    )
