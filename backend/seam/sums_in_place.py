"""Keeps Inductor's int8 linears and convolutions from adding into what belongs to the caller.

A sum behind one of them is added into its operand, if nothing reads that later. An input of the
graph, and a constant, are read by nobody later, but in the next run: linears then have a result of
their own, and convolutions, which know no other sum, add into a copy.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from xductor.backend.config import compile_state


def attach() -> None:
    """Let both ask where the operand lies, in compiles of ours."""
    from torch._inductor import mkldnn_ir
    from torch._inductor.fx_passes import mkldnn_fusion

    _attach_to_linears(mkldnn_fusion, "_qlinear_binary_can_be_inplace")
    convolution = getattr(mkldnn_ir, "QConvPointWiseBinaryPT2E", None)
    if convolution is not None:
        _attach_to_convolutions(convolution)


def _attach_to_linears(module: Any, name: str) -> None:
    stock = getattr(module, name, None)
    if stock is None:
        return

    @functools.wraps(stock)
    def can_be_in_place(other: Any) -> bool:
        if _is_ours() and is_of_the_caller(other):
            return False
        return stock(other)

    setattr(module, name, can_be_in_place)


def _attach_to_convolutions(convolution: Any) -> None:
    stock = convolution.create.__func__
    signature = inspect.signature(stock)

    @functools.wraps(stock)
    def create(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        if _is_ours():
            given.arguments["qaccum"] = _own(given.arguments["qaccum"])
        return stock(*given.args, **given.kwargs)

    convolution.create = classmethod(create)


def _is_ours() -> bool:
    return compile_state.current().settings is not None


def _own(value: Any) -> Any:
    """The value, or a copy of it if it is the caller's."""
    if not is_of_the_caller(value):
        return value
    import torch
    from torch._inductor.lowering import clone

    copied: Any = clone(value, memory_format=torch.preserve_format)
    copied.realize()
    return copied


def is_of_the_caller(value: Any) -> bool:
    """Whether a value of Inductor's IR lies in an input of the graph or in a constant."""
    from torch._inductor import ir

    data = value
    while isinstance(data, ir.TensorBox | ir.StorageBox | ir.BaseView):
        data = data.unwrap_view() if isinstance(data, ir.BaseView) else data.data
    return isinstance(data, ir.InputBuffer | ir.ConstantBuffer) or (
        isinstance(data, ir.Buffer) and bool(data.get_inputs_that_alias_output())
    )


__all__ = ["attach", "is_of_the_caller"]
