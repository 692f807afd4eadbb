"""Graphs for the passes over pieces before autograd, in torch's words, most with gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any

import torch

from xductor.backend.pass_validation.specimen import Specimen, captured
from xductor.transforms import TypedPass
from xductor.transforms.passes.numerics import weakest
from xductor.transforms.pieces.pre_grad.fuse_chunk_reshape_concat_pass import (
    FuseChunkReshapeConcatPass,
)
from xductor.transforms.pieces.pre_grad.fuse_chunk_reshape_unsqueeze_concat_pass import (
    FuseChunkReshapeUnsqueezeConcatPass,
)
from xductor.transforms.pieces.pre_grad.fuse_chunk_squeeze_cat_pass import FuseChunkSqueezeCatPass
from xductor.transforms.pieces.pre_grad.fuse_split_getitem_squeeze_cat import (
    FuseSplitGetitemSqueezeCat,
)
from xductor.transforms.pieces.pre_grad.merge_concats_pass import MergeConcatsPass
from xductor.transforms.pieces.pre_grad.merge_getitem_cat_pass import MergeGetitemCatPass
from xductor.transforms.pieces.pre_grad.merge_splits_pass import MergeSplitsPass
from xductor.transforms.pieces.pre_grad.merge_stack_tahn_unbind_pass import MergeStackTahnUnbindPass
from xductor.transforms.pieces.pre_grad.move_reshape_out_of_split_stack_pass import (
    MoveReshapeOutOfSplitStackPass,
)
from xductor.transforms.pieces.pre_grad.mutate_cat_pass import MutateCatPass
from xductor.transforms.pieces.pre_grad.remove_split_ops_pass import RemoveSplitOpsPass
from xductor.transforms.pieces.pre_grad.split_cat_pass import SplitCatPass
from xductor.transforms.pieces.pre_grad.split_cat_to_slices_pass import SplitCatToSlicesPass
from xductor.transforms.pieces.pre_grad.split_stack_to_cats_pass import SplitStackToCatsPass
from xductor.transforms.pieces.pre_grad.unbind_cat_to_view_pass import UnbindCatToViewPass
from xductor.transforms.pieces.pre_grad.unbind_stack_pass import UnbindStackPass
from xductor.transforms.pieces.pre_grad.unbind_stack_to_slices_pass import UnbindStackToSlicesPass

Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64)
SHAPES: tuple[tuple[int, ...], ...] = ((4, 6), (4, 6, 2))

NEIGHBOURS: Mapping[str, Program] = {
    "all, by sizes": lambda x, y: torch.cat(torch.split(x, [1, 3, 2], 1), 1),
    "all, by a size": lambda x, y: torch.concat(x.split(2, dim=1), dim=1),
    "chunks": lambda x, y: torch.concatenate(x.chunk(3, 1), dim=1),
    "slices": lambda x, y: torch.cat([x[:, :1], x[:, 1:4], x[:, 4:]], dim=1),
    "narrowed": lambda x, y: torch.cat((x.narrow(1, 0, 4), torch.narrow(x, 1, 4, 2)), 1),
    "all but one": lambda x, y: torch.cat(torch.split(x, [1, 3, 2], 1)[1:], 1),
    "the first two": lambda x, y: torch.cat(x.split(2, dim=1)[:2], dim=1),
    "of rows": lambda x, y: torch.cat([x[1:2], x[2:4]]),
}
ROWS: Mapping[str, Program] = {
    "unbound": lambda x, y: torch.stack(x.unbind(1), 1),
    "unbound, by function": lambda x, y: torch.stack(torch.unbind(x, dim=0)),
    "indexed": lambda x, y: torch.stack([x[:, i] for i in range(6)], dim=1),
    "selected": lambda x, y: torch.stack([x.select(1, i) for i in range(6)], dim=1),
    "unsqueezed": lambda x, y: torch.cat([one.unsqueeze(1) for one in x.unbind(1)], 1),
    "squeezed": lambda x, y: torch.stack([one.squeeze(1) for one in x.split(1, 1)], 1),
    "elsewhere": lambda x, y: torch.stack(x.unbind(1), 0),
    "flat": lambda x, y: torch.cat(x.unbind(0)),
}
MIXED: Mapping[str, Program] = {
    "beside another": lambda x, y: torch.cat([*x.split(2, 1), y], 1),
    "behind another": lambda x, y: torch.cat([y, *x.chunk(3, 1)], 1),
    "of two": lambda x, y: torch.cat([*x.split(2, 1), *y.split(2, 1)], 1),
    "twice": lambda x, y: torch.cat([*x.split(2, 1), *x.split(2, 1)], 1),
    "along another dim": lambda x, y: torch.cat(x.split(2, 1), 0),
    "some of each": lambda x, y: torch.cat([*x.split(1, 1)[:3], y, *x.split(1, 1)[4:]], 1),
    "slices": lambda x, y: torch.cat([x[:, 0:1], x[:, 1:2], y], 1),
    "narrowed": lambda x, y: torch.cat([x.narrow(1, 0, 1), x.narrow(1, 1, 1), y], 1),
}
FLAT: Mapping[str, Program] = {
    "all": lambda x, y: torch.cat(x.unbind(0)),
    "by keyword": lambda x, y: torch.cat(torch.unbind(x), dim=0),
    "indexed": lambda x, y: torch.concat([x[0], x[1], y[2]]),
    "selected": lambda x, y: torch.concat([x.select(0, 0), x.select(0, 1), y[2]], dim=0),
    "beside another": lambda x, y: torch.cat([*x.unbind(0), y[0]]),
    "of two": lambda x, y: torch.cat([*x.unbind(0), *y.unbind(0)]),
    "columns": lambda x, y: torch.cat(x.unbind(1)),
    "some": lambda x, y: torch.cat([x[1], x[2], x[3]]),
}
STACKED: Mapping[str, Program] = {
    "beside another": lambda x, y: torch.stack([*x.split(2, 1), y[:, :2]], 0),
    "chunks": lambda x, y: torch.stack([*x.chunk(3, dim=1), y[:, 1:3]], dim=1),
    "slices": lambda x, y: torch.stack([x[:, :3], x[:, 3:], y[:, 1:4]], dim=0),
    "narrowed": lambda x, y: torch.stack([x.narrow(1, 0, 3), x.narrow(1, 3, 3), y[:, 1:4]], 1),
    "all": lambda x, y: torch.stack(x.split(2, 1), 0),
    "all, side by side": lambda x, y: torch.stack(x.split(3, 1), 1),
    "of two": lambda x, y: torch.stack([*x.split(3, 1), *y.split(3, 1)]),
    "rows": lambda x, y: torch.stack(x.split(2, 0), 0),
}
STACKED_ROWS: Mapping[str, Program] = {
    "beside another": lambda x, y: torch.stack([*x.unbind(1)[:3], y[:, 0]], 1),
    "indexed": lambda x, y: torch.stack([x[:, 0], x[:, 1], y[:, 0]], dim=1),
    "unbound": lambda x, y: torch.stack([*torch.unbind(x, dim=0), y[0]], dim=0),
    "selected": lambda x, y: torch.stack([x.select(0, 1), x.select(0, 2), y[0]]),
    "all": lambda x, y: torch.stack(x.unbind(0)),
    "all, of columns": lambda x, y: torch.stack(x.unbind(1), 1),
    "of two": lambda x, y: torch.stack([*x.unbind(0), *y.unbind(0)]),
    "some": lambda x, y: torch.stack([x[1], x[2], x[3]]),
}
RESHAPED: Mapping[str, Program] = {
    "flat": lambda x, y: torch.stack([one.reshape(-1) for one in x.split(1)]),
    "flat, of columns": lambda x, y: torch.stack([one.reshape(-1) for one in x.chunk(3, 1)]),
    "by function": lambda x, y: torch.stack([torch.reshape(one, (-1,)) for one in x.split(2)]),
    "viewed": lambda x, y: torch.stack([one.view(-1, 2) for one in x.split(1)]),
    "side by side": lambda x, y: torch.stack([one.reshape(-1) for one in x.split(1)], 1),
    "in front": lambda x, y: torch.stack([one.reshape(1, -1) for one in x.split(2)], 0),
    "in pairs": lambda x, y: torch.stack([one.reshape(-1, 2) for one in x.split(2, 1)]),
    "in threes": lambda x, y: torch.stack([one.reshape(3, -1) for one in x.split(3, 1)]),
}

RESHAPED_AND_JOINED: Mapping[str, Program] = {
    "flat": lambda x, y: torch.cat([one.reshape(-1) for one in x.split(1)]),
    "by chunks": lambda x, y: torch.cat([one.reshape(-1) for one in x.chunk(2)]),
    "by function": lambda x, y: torch.cat([torch.reshape(one, (-1,)) for one in x.split(2)]),
    "viewed": lambda x, y: torch.cat([one.view(-1, 2) for one in x.split(1)]),
    "side by side": lambda x, y: torch.cat([one.reshape(1, -1) for one in x.split(1)], 1),
    "in front": lambda x, y: torch.cat([one.reshape(1, -1) for one in x.split(2)]),
    "in pairs": lambda x, y: torch.cat([one.reshape(-1, 2) for one in x.split(2)]),
    "in threes": lambda x, y: torch.concat([one.reshape(3, -1) for one in x.split(1)], dim=1),
}
SQUEEZED: Mapping[str, Program] = {
    "rows": lambda x, y: torch.cat([one.squeeze(0) for one in x.split(1)]),
    "by chunks": lambda x, y: torch.cat([one.squeeze(0) for one in x.chunk(4)]),
    "by function": lambda x, y: torch.cat([torch.squeeze(one, 0) for one in x.split(1)]),
    "by sizes": lambda x, y: torch.cat([one.squeeze(0) for one in x.split([1, 1, 1, 1])]),
    "narrowed": lambda x, y: torch.cat([x.narrow(0, i, 1).squeeze(0) for i in range(4)]),
    "sliced": lambda x, y: torch.cat([x[i : i + 1].squeeze(0) for i in range(4)]),
    "columns": lambda x, y: torch.cat([one.squeeze(1) for one in x.split(1, 1)]),
    "some": lambda x, y: torch.cat([one.squeeze(0) for one in x.split(1)[:2]]),
}
UNSQUEEZED: Mapping[str, Program] = {
    "pieces": lambda x, y: torch.cat([one.unsqueeze(0) for one in x.split(2)]),
    "by chunks": lambda x, y: torch.cat([one.unsqueeze(0) for one in x.chunk(2)]),
    "reshaped": lambda x, y: torch.cat([one.reshape(-1).unsqueeze(0) for one in x.split(2)]),
    "of columns": lambda x, y: torch.cat([one.unsqueeze(1) for one in x.split(2, 1)], 1),
    "by index": lambda x, y: torch.cat([one[None] for one in x.split(2)]),
    "in front": lambda x, y: torch.cat([one.unsqueeze(0) for one in x.split(2, 1)]),
    "rows": lambda x, y: torch.cat([one.unsqueeze(0) for one in x.unbind()]),
    "flat": lambda x, y: torch.cat([one.reshape(-1).unsqueeze(1) for one in x.chunk(2)]),
}
NESTED: Mapping[str, Program] = {
    "first": lambda x, y: torch.cat([torch.cat([x, y], 1), x], 1),
    "last": lambda x, y: torch.cat([x, torch.cat([x, y], 1)], dim=1),
    "rows": lambda x, y: torch.concat([torch.cat([x, y]), y]),
    "both": lambda x, y: torch.cat([torch.cat([x, y], 1), torch.cat([y, x], 1)], 1),
    "deep": lambda x, y: torch.cat([torch.cat([torch.cat([x, y], 1), y], 1), x], 1),
    "from the end": lambda x, y: torch.cat([torch.cat([x, y], -2), x], 0 if x.ndim == 2 else 1),
    "of three": lambda x, y: torch.cat([torch.cat([x, y, x]), y]),
    "of one": lambda x, y: torch.cat([torch.cat([x]), y]),
}
SPLIT: Mapping[str, Program] = {
    **NEIGHBOURS,
    "one piece": lambda x, y: x.split([1, 3, 2], 1)[1] * y[:, :3],
    "the last one": lambda x, y: x.split(4, 1)[1] + 1,
    "a chunk": lambda x, y: x.chunk(3, 1)[0] * y[:, :2],
    "a row": lambda x, y: torch.split(x, 1)[2] + y[:1],
}

SPLIT_AGAIN: Mapping[str, Program] = {
    "by sizes": lambda x, y: _last(torch.split(x, [2, 4], 1)[1].split([1, 3], 1)),
    "by a size": lambda x, y: _last([one for part in x.split(3, 1) for one in part.split(1, 1)]),
    "chunks": lambda x, y: _last([*x.chunk(2, 1)[0].chunk(3, 1)]) * y.sum(),
    "from the end": lambda x, y: _last(x.chunk(2, -x.ndim)[1].split(1, dim=0)),
    "beside others": lambda x, y: _last(
        [(parts := x.split([1, 3, 2], 1))[0], *parts[1].split([1, 2], 1), parts[2]]
    ),
    "deep": lambda x, y: _last(x.split([5, 1], 1)[0].split([1, 4], 1)[1].split(2, 1)),
    "rows": lambda x, y: _last(torch.split(x.split([1, 3])[1], [2, 1])),
    "one piece": lambda x, y: x.split([2, 4], 1)[1].split([3, 1], 1)[0] * y[:, :3],
}
TANH: Mapping[str, Program] = {
    "of all": lambda x, y: _last(torch.stack(x.split(2, 1)).tanh().unbind()),
    "of chunks": lambda x, y: _last(torch.tanh(torch.stack(x.chunk(3, 1), dim=0)).unbind(0)),
    "of some": lambda x, y: _last(torch.stack(x.split(1, 1)[1:4], 1).tanh().unbind(1)),
    "of rows": lambda x, y: _last(torch.unbind(torch.stack(x.split(2)).tanh())),
    "at the end": lambda x, y: _last(torch.stack(x.split(2, 1), -1).tanh().unbind(-1)),
    "of slices": lambda x, y: _last(torch.stack([x[:, :3], x[:, 3:]], 0).tanh().unbind(0)),
    "narrowed": lambda x, y: _last(
        torch.stack([x.narrow(1, n, 1) for n in (2, 3)]).tanh().unbind()
    ),
    "a function": lambda x, y: _last(torch.nn.functional.tanh(torch.stack(x.split(3, 1))).unbind()),
}


def _last(pieces: Any) -> torch.Tensor:
    """All pieces, each read by something else than a join."""
    return torch.cat([one.sin().reshape(-1) for one in pieces])


PASSES: Mapping[str, tuple[TypedPass, Mapping[str, Program]]] = {
    "fuse_chunk_reshape_concat_pass": (FuseChunkReshapeConcatPass(), RESHAPED_AND_JOINED),
    "fuse_chunk_squeeze_cat_pass": (FuseChunkSqueezeCatPass(), SQUEEZED),
    "fuse_split_getitem_squeeze_cat": (FuseSplitGetitemSqueezeCat(), SQUEEZED),
    "fuse_chunk_reshape_unsqueeze_concat_pass": (
        FuseChunkReshapeUnsqueezeConcatPass(),
        UNSQUEEZED,
    ),
    "merge_concats_pass": (MergeConcatsPass(), NESTED),
    "merge_splits_pass": (MergeSplitsPass(), SPLIT_AGAIN),
    "merge_stack_tahn_unbind_pass": (MergeStackTahnUnbindPass(), TANH),
    "remove_split_ops_pass": (RemoveSplitOpsPass(), SPLIT),
    "merge_getitem_cat_pass": (MergeGetitemCatPass(), NEIGHBOURS),
    "mutate_cat_pass": (MutateCatPass(), NEIGHBOURS),
    "split_cat_pass": (SplitCatPass(), MIXED),
    "unbind_stack_pass": (UnbindStackPass(), ROWS),
    "split_cat_to_slices_pass": (SplitCatToSlicesPass(threshold_to_cat=2), MIXED),
    "unbind_cat_to_view_pass": (UnbindCatToViewPass(threshold_to_cat=2), FLAT),
    "split_stack_to_cats_pass": (SplitStackToCatsPass(threshold_to_cat=2), STACKED),
    "unbind_stack_to_slices_pass": (UnbindStackToSlicesPass(threshold_to_cat=2), STACKED_ROWS),
    "move_reshape_out_of_split_stack_pass": (
        MoveReshapeOutOfSplitStackPass(threshold_to_cat=2),
        RESHAPED,
    ),
}


def pieces(name: str) -> Iterator[Specimen]:
    one, programs = PASSES[name]
    grad = cycle((True, True, False))
    for what, program in programs.items():
        for dtype in DTYPES:
            for shape in SHAPES:
                provable = dtype == torch.float32 and shape == SHAPES[0]
                asks = (provable or next(grad)) and dtype != torch.int64
                x, y = (torch.ones(shape, dtype=dtype, requires_grad=asks) for _ in range(2))
                for symbolic in (False, True) if provable else (False,):
                    module = captured(_read(program), x, y, dynamic=symbolic)
                    if module is not None:
                        sizes = "symbolic" if symbolic else str(list(shape))
                        title = f"{what}, {dtype}, {sizes}{', with gradients' * asks}"
                        numerics = weakest(one.numerics)
                        yield Specimen(title, module, one, numerics, provable=provable)


def _read(program: Program) -> Callable[..., Any]:
    """A graph in which two ops read what `program` makes of computed values."""

    def run(x: torch.Tensor, y: torch.Tensor) -> Any:
        made = program(x + 1, y)
        return made.neg(), made + 1, x.clone()

    return run


__all__ = ["PASSES", "pieces"]
