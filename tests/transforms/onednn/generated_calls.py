"""What a frozen model calls of oneDNN after lowering, with Inductor and with ours.

Inductor's entries fuse while the graph is lowered, and ours before. So both are compared by the
kernels that generated code would call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed
from torch._functorch import config as functorch_config
from torch._inductor import config
from torch._inductor.graph import GraphLowering

from tests.corpus.capture import passes_only

#: A kernel, and the names and numbers that say what it computes with its product.
Call = tuple[Any, ...]

_NOTHING = ("none", "")
#: Kernels that say by their arguments what they compute with their product.
_FUSING = ("ConvolutionUnary", "ConvolutionTransposeUnary", "LinearUnary", "ConvolutionBinary",
           "ConvolutionBinaryInplace", "LinearBinary")  # fmt: skip
_WITH_NUMBERS = {"leaky_relu", "hardtanh"}
#: Kernels of 8 bits, by what their names begin with.
_NARROW = ("QConv", "QLinear")


class _Lowered(Exception):
    """The graph is lowered, and no code is wanted."""


@contextmanager
def _until_lowered(calls: Counter[Call]) -> Iterator[None]:
    """Count the kernels of the graph that is lowered inside the block, and end its compile."""
    lower = GraphLowering.run

    def run(self: Any, *given: Any) -> Any:
        result = lower(self, *given)
        if type(self) is not GraphLowering:  # a subgraph
            return result
        calls.update(call_of(one) for one in self.operations if hasattr(one, "constant_args"))
        raise _Lowered

    GraphLowering.run = run
    try:
        yield
    except BackendCompilerFailed as error:
        if not isinstance(error.inner_exception, _Lowered):
            raise
    finally:
        GraphLowering.run = lower


def call_of(kernel: Any) -> Call:
    """A kernel by its class, or by its name where the class is one for all, and what it fuses."""
    name = type(kernel).__name__
    if name.startswith(("ExternKernel", "FallbackKernel")):
        name = str(getattr(kernel, "python_kernel_name", None) or name)
    if name not in _FUSING and not name.startswith(_NARROW):
        return (name,)
    told = [one for one in kernel.constant_args if isinstance(one, str) and one not in _NOTHING]
    if name.startswith(_NARROW):  # a sum may be written to what is added, or not
        name = "QConv" if name.startswith("QConv") else "QLinear"
        dtype = next(one for one in kernel.constant_args if isinstance(one, torch.dtype))
        told = [str(dtype), *("sum" if one == "add" else one for one in told)]
    numbers = kernel.constant_args[-2] if set(told) & _WITH_NUMBERS else ()
    return (name, *told, *map(float, numbers))


def calls(
    model: nn.Module,
    *inputs: torch.Tensor,
    backend: str = "xductor",
    numerics: str = "default",
    dynamic: bool = False,
    **flags: Any,
) -> Counter[Call]:
    """How often the generated code of a frozen model would call which kernel."""
    found: Counter[Call] = Counter()
    options: dict[str, Any] = {}
    if backend == "xductor":
        options = {"xductor.on_error": "raise", "xductor.numerics": numerics}
    torch._dynamo.reset()
    asked = {"freezing": True, "fx_graph_cache": False, **flags}
    with (
        torch.no_grad(),
        config.patch(asked),
        functorch_config.patch(enable_autograd_cache=False),
        _until_lowered(found),
    ):
        torch.compile(model, backend=backend, dynamic=dynamic, options=options)(*inputs)
    return found


def values(
    model: nn.Module,
    *inputs: torch.Tensor,
    numerics: str = "default",
    dynamic: bool = False,
    **flags: Any,
) -> Any:
    """What a frozen model gives after all passes; the kernels are those that code would call."""
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.numerics": numerics}
    torch._dynamo.reset()
    with torch.no_grad(), config.patch({"freezing": True, **flags}), passes_only():
        return torch.compile(model, backend="xductor", dynamic=dynamic, options=options)(*inputs)


__all__ = ["Call", "call_of", "calls", "values"]
