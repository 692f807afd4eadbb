"""Graphs for the passes over pieces: tensors that are cut and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, traced
from xductor.transforms.pieces.pieces_pass import PiecesPass
from xductor.transforms.pieces.post_grad.cat_of_pieces import CatOfPieces
from xductor.transforms.pieces.post_grad.move_view_after_cat_aten_pass import (
    MoveViewAfterCatAtenPass,
)
from xductor.transforms.pieces.post_grad.select_cat_aten_pass import SelectCatAtenPass
from xductor.transforms.pieces.post_grad.split_cat_aten_pass import SplitCatAtenPass
from xductor.transforms.pieces.post_grad.unbind_stack_aten_pass import UnbindStackAtenPass

aten = torch.ops.aten

Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
SHAPES: tuple[tuple[int, ...], ...] = ((4, 6), (2, 4, 6), (3, 4))

SPLIT_CATS: Mapping[str, Program] = {
    "all": lambda x, y: torch.cat(x.split(1, -1), -1),
    "all, by sizes": lambda x, y: torch.cat(aten.split_with_sizes(x, [1, 2, x.shape[1] - 3], 1), 1),
    "all but one": lambda x, y: torch.cat(x.split(1, -1)[1:], -1),
    "of two": lambda x, y: torch.cat([*x.split(1, -1), *y.split(1, -1)], -1),
    "twice": lambda x, y: torch.cat([*x.split(1, -1), *x.split(1, -1)], -1),
    "beside another": lambda x, y: torch.cat([y, *x.split(1, -1)], -1),
}
SELECT_CATS: Mapping[str, Program] = {
    "rows": lambda x, y: torch.cat([x[i] for i in range(len(x))]),
    "unbound": lambda x, y: torch.cat(x.unbind(0)),
    "of a permutation": lambda x, y: torch.cat(x.transpose(0, 1).unbind(1)),
    "along another dim": lambda x, y: torch.cat(x.unbind(0), -1),
    "cols": lambda x, y: torch.cat(x.unbind(1)),
    "some": lambda x, y: torch.cat([x[0], x[1]]),
}
STACKS: Mapping[str, Program] = {
    "rows": lambda x, y: torch.stack([x[i] for i in range(len(x))]),
    "unbound": lambda x, y: torch.stack(x.unbind(1), 1),
    "unsqueezed": lambda x, y: torch.cat([one.unsqueeze(0) for one in x.unbind(0)]),
    "some": lambda x, y: torch.stack([x[1], x[2 % len(x)], x[-1]][: len(x) - 1]),
    "of the last dim": lambda x, y: torch.stack(x.unbind(-1), -1),
}
VIEWS: Mapping[str, Program] = {
    "flat": lambda x, y: torch.cat([one.reshape(-1) for one in x.split(1)]),
    "flat, of cols": lambda x, y: torch.cat([one.reshape(-1) for one in x.split(2, 1)]),
    "with a unit": lambda x, y: torch.cat([one.reshape(*one.shape, 1) for one in x.split(2, 1)], 1),
    "side by side": lambda x, y: torch.cat([one.reshape(-1, 1) for one in x.split(2, 1)], 1),
    "by rows": lambda x, y: torch.cat([one.reshape(1, -1) for one in x.split(1)]),
}


def _of(one: PiecesPass, programs: Mapping[str, Program]) -> Iterator[Specimen]:
    """Graphs of inputs and of computed values, contiguous and transposed, static and symbolic."""
    for what, program in programs.items():
        for dtype in DTYPES:
            for shape in SHAPES:
                for turned in (False, True):
                    dynamic = shape == SHAPES[0] and not turned and dtype == torch.float32
                    x = torch.ones(shape, dtype=dtype)
                    x = x.transpose(0, -1).contiguous().transpose(0, -1) if turned else x
                    for symbolic in (False, True) if dynamic else (False,):
                        module = traced(_used(program), x, x, dynamic=symbolic, stage="post_grad")
                        if module is not None:
                            sizes = "symbolic" if symbolic else str(list(shape))
                            title = f"{what}, {dtype}, {sizes}{', turned' * turned}"
                            yield Specimen(title, module, one, provable=dynamic)


def _used(program: Program) -> Callable[..., Any]:
    """A graph in which a view and an op read what `program` makes, and another op its input."""

    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        made = program(x, y)
        return aten.logical_not(made), made.unsqueeze(0).transpose(0, -1).clone(), x.clone()

    return run


def split_cats() -> Iterator[Specimen]:
    return _of(SplitCatAtenPass(threshold_to_cat=2), SPLIT_CATS)


def select_cats() -> Iterator[Specimen]:
    return _of(SelectCatAtenPass(), SELECT_CATS)


def stacks() -> Iterator[Specimen]:
    return _of(UnbindStackAtenPass(), STACKS)


def moved_views() -> Iterator[Specimen]:
    return _of(MoveViewAfterCatAtenPass(), VIEWS)


def pieces() -> Iterator[Specimen]:
    return _of(CatOfPieces(), {**SPLIT_CATS, **STACKS})


__all__ = ["moved_views", "pieces", "select_cats", "split_cats", "stacks"]
