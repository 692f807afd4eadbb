"""Graphs of views: for `remove_redundant_views` and `view_to_reshape`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.joint_graph.remove_redundant_views import RemoveRedundantViews
from xductor.transforms.post_grad.view_to_reshape import ViewToReshape

aten = torch.ops.aten

#: A dtype, one of the same width, and one of another width.
DTYPES = (
    (torch.float32, torch.int32, torch.float16),
    (torch.float64, torch.int64, torch.float32),
    (torch.float16, torch.bfloat16, torch.int8),
    (torch.bfloat16, torch.int16, torch.uint8),
    (torch.int64, torch.float64, torch.int32),
    (torch.int32, torch.float32, torch.uint8),
    (torch.int8, torch.uint8, torch.uint8),
)
SHAPES: tuple[tuple[int, ...], ...] = ((3, 4), (1, 8), (0, 4), (2, 3, 4))

View = Callable[[torch.Tensor, torch.dtype], torch.Tensor]
Function = Callable[[torch.Tensor, torch.dtype, torch.dtype, View], Any]

PROGRAMS: Mapping[str, Function] = {
    "there and back": lambda x, same, other, view: view(view(x, same), x.dtype) * 2,
    "the same view twice": lambda x, same, other, view: (view(x, same) + 1, view(x, same) - 1),
    "through a third": lambda x, same, other, view: (
        view(view(view(x, other), same), x.dtype) + 1,
        view(x, other) + 1,
    ),
    "two ways to one": lambda x, same, other, view: (
        view(view(x, other), same) + 1,
        view(x, same) * 2,
    ),
    "under an alias": lambda x, same, other, view: view(aten.alias(view(x, same)), x.dtype) + 1,
    "to its own dtype": lambda x, same, other, view: view(x, x.dtype) + 1,
    "one written to": lambda x, same, other, view: (
        view(x.clone(), same).fill_(1) + 1,
        view(x, same) + 1,
        view(x, same) - 1,
    ),
    "the view returned": lambda x, same, other, view: (
        view(x, same),
        view(view(x, same), x.dtype) + 1,
    ),
}


def views() -> Iterator[Specimen]:
    """Views of a value and of an input, of several widths and sizes, static and symbolic."""
    one = RemoveRedundantViews()
    for what, program in PROGRAMS.items():
        for dtype, same, other in DTYPES:
            for shape in SHAPES:
                for dynamic in (False, True) if shape == (3, 4) else (False,):
                    for computed in (False, True):
                        module = traced(
                            _program(program, same, other, computed=computed),
                            torch.ones(shape, dtype=dtype),
                            dynamic=dynamic,
                        )
                        if module is not None:
                            sizes = "symbolic" if dynamic else str(list(shape))
                            title = f"{what}, {dtype}, {same}, {other}, {sizes}"
                            provable = dynamic and dtype == torch.float32
                            yield Specimen(title, module, one, provable=provable)


def _program(
    program: Function, same: torch.dtype, other: torch.dtype, *, computed: bool
) -> Callable[..., Any]:
    def run(x: torch.Tensor) -> Any:
        source = x + 1 if computed else x
        return source * 1, program(source, same, other, aten.view.dtype)

    return run


#: Views of `x`, whose sizes are 2, 4 and 6, or symbolic.
SIZES: Mapping[str, Callable[[torch.Tensor], Any]] = {
    "flat": lambda x: x.view(-1),
    "two dims": lambda x: x.view(x.shape[0], -1),
    "as it was": lambda x: x.view(x.shape),
    "a dim of one": lambda x: x.view(1, x.shape[0], x.shape[1], x.shape[2]),
    "there and back": lambda x: x.view(-1).view(x.shape),
    "of a slice": lambda x: x[:, :2].view(x.shape[0], 2, 2, 3) if x.shape[2] == 6 else x.view(-1),
    "of a transpose": lambda x: x.transpose(0, 1).view(x.shape[1], x.shape[0], x.shape[2], 1),
    "of an expanded dim": lambda x: x[:1].expand(3, -1, -1).view(3, 1, x.shape[1], x.shape[2]),
    "of a result": lambda x: (x * 2).view(-1) + 1,
    "written to": lambda x: (y := x * 2, y.view(-1).add_(1))[0],
    "returned twice": lambda x: (x.view(-1), x.view(-1)),
}


def reshapes() -> Iterator[Specimen]:
    """For `view_to_reshape`: views of an input and of a value, static and symbolic, empty too."""
    for what, program in SIZES.items():
        for dtype in (torch.float32, torch.int64, torch.bfloat16):
            for shape, dynamic in (((2, 4, 6), False), ((2, 4, 6), True), ((1, 4, 1), False)):
                module = traced(
                    lambda x, program=program: (x + 1, program(x)),
                    torch.ones(shape, dtype=dtype),
                    dynamic=dynamic,
                )
                if module is not None:
                    sizes = "symbolic" if dynamic else str(list(shape))
                    provable = dynamic and dtype == torch.float32 and what != "written to"
                    title = f"{what}, {dtype}, {sizes}"
                    yield Specimen(title, module, ViewToReshape(), provable=provable)


__all__ = ["reshapes", "views"]
