"""Graphs for `canonicalize_quant_mapping`: calls of the wrapper that marks quantized functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.joint_graph.canonicalize_quant_mapping import CanonicalizeQuantMapping

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64)
SHAPES: tuple[tuple[int, ...], ...] = ((3, 3), (1, 1), (0, 0), (4, 4))


def _single(x: Any, y: Any) -> Any:
    return (torch.mul(x, y) + y,)


def _two(x: Any, y: Any) -> Any:
    return torch.mul(x, y) + y, y * 2


def _call(body: Callable[..., Any], *arguments: Any, low: bool = True, **keywords: Any) -> Any:
    from torch._higher_order_ops import InvokeQuant, invoke_quant_packed

    options = InvokeQuant(codegen_low_precision=low)
    return invoke_quant_packed(body, *arguments, quant_options=options, **keywords)


PROGRAMS: Mapping[str, Callable[[Any], Any]] = {
    "one result": lambda x: (_call(_single, x, x + 1, scheme="nf4")[0] @ x,),
    "options": lambda x: (_call(_single, x, x + 1, low=False, scheme="nf4")[0] @ x,),
    "no scheme": lambda x: (_call(_single, x, x)[0] - x,),
    "two results": lambda x: tuple(_call(_two, x, x + 1, scheme="nf4")),
    "one of two results": lambda x: (_call(_two, x, x + 1, scheme="nf4")[1] @ x,),
    "calls in a row": lambda x: (
        _call(_single, x, _call(_single, x, x + 1, scheme="nf4")[0], scheme="int4")[0] @ x,
    ),
}


def quantised() -> Iterator[Specimen]:
    """Each program in each dtype and size, one of the sizes symbolic."""
    one = CanonicalizeQuantMapping()
    for what, program in PROGRAMS.items():
        for dtype in DTYPES:
            for shape in SHAPES:
                for dynamic in (False, True) if shape == (3, 3) else (False,):
                    module = traced(program, torch.ones(shape, dtype=dtype), dynamic=dynamic)
                    if module is not None:
                        sizes = "symbolic" if dynamic else str(list(shape))
                        yield Specimen(f"{what}, {dtype}, {sizes}", module, one)


__all__ = ["quantised"]
