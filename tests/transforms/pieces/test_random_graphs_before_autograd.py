"""Every pass over pieces before autograd on random graphs of views, joins, writes and modes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

import pytest

import xductor
from tests.before_autograd.random_piece_graphs import PieceGraph, seen
from tests.before_autograd.type_soundness import has_sound_types
from xductor.transforms import TypedPass
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
from xductor.transforms.pieces.pre_grad.stack_to_unsqueeze_pass import StackToUnsqueezePass
from xductor.transforms.pieces.pre_grad.unbind_cat_to_view_pass import UnbindCatToViewPass
from xductor.transforms.pieces.pre_grad.unbind_stack_pass import UnbindStackPass
from xductor.transforms.pieces.pre_grad.unbind_stack_to_slices_pass import UnbindStackToSlicesPass
from xductor.transforms.pre_grad.normalize_node_kwargs_pass import NormalizeNodeKwargsPass
from xductor.transforms.pre_grad.remove_noop_pass import NOOPS
from xductor.transforms.pre_grad.remove_reshape_pass import REMOVE_RESHAPES
from xductor.transforms.rewriting.declared_pass import pass_of

PASSES: tuple[TypedPass, ...] = (
    MergeGetitemCatPass(),
    MutateCatPass(),
    SplitCatPass(),
    UnbindStackPass(),
    SplitCatToSlicesPass(threshold_to_cat=2),
    UnbindCatToViewPass(threshold_to_cat=2),
    SplitStackToCatsPass(threshold_to_cat=2),
    UnbindStackToSlicesPass(threshold_to_cat=2),
    MoveReshapeOutOfSplitStackPass(threshold_to_cat=2),
    FuseChunkReshapeConcatPass(),
    FuseChunkSqueezeCatPass(),
    FuseChunkReshapeUnsqueezeConcatPass(),
    FuseSplitGetitemSqueezeCat(),
    MergeConcatsPass(),
    MergeSplitsPass(),
    MergeStackTahnUnbindPass(),
    NormalizeNodeKwargsPass(),
    RemoveSplitOpsPass(),
    pass_of(*NOOPS)(),
    pass_of(*REMOVE_RESHAPES)(),
    pass_of(StackToUnsqueezePass)(),
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Fake kernels log what the graphs are not given."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def run(seed: int, passes: tuple[TypedPass, ...] = PASSES) -> Counter[str]:
    """One graph, by one pass alone and by all in a row; how often each was applied."""
    one = PieceGraph(seed)
    applied: Counter[str] = Counter()
    try:
        expected = seen(one.gm, one.inputs)
    except RuntimeError:  # what only real values show: a write to what overlaps itself
        return applied
    start = seed % len(passes)
    for chosen in (passes[start : start + 1], passes[start:] + passes[:start]):
        module = xductor.from_fx(one.gm, stage="pre_grad")
        is_sound = has_sound_types(module)
        for each in chosen:
            applied[each.name] += each.rewrite(module)
        assert not is_sound or has_sound_types(module), seed
        assert seen(xductor.to_fx(module), one.inputs) == expected, (seed, chosen)
    return applied


@pytest.mark.parametrize("part", range(3))
def test_nobody_can_tell(part: int) -> None:
    applied: Counter[str] = Counter()
    for seed in range(40 * part, 40 * part + 40):
        applied += run(seed)
    assert sum(applied.values()) > 20


@pytest.mark.parametrize("seed", [11, 22, 1662, 13296])
def test_graphs_that_gave_other_gradients_once(seed: int) -> None:
    """Pieces cut under `no_grad`, detached or copied, and a view of what is written later."""
    assert run(seed).total() > 0  # it asserts what a program sees


def test_pieces_without_elements() -> None:
    """What has no elements has other strides if it is a view of something else."""
    assert run(264).total() > 0


def test_a_view_from_before_a_write_does_not_stand_for_one_from_after_it() -> None:
    """Both were made under `no_grad`; autograd refuses the older one."""
    assert run(22447).total() > 0


@pytest.mark.parametrize("seed", [3500845, 5500228, 11500151])
def test_types_that_show_a_gradient_of_later(seed: int) -> None:
    """What is made under `no_grad` is written to later, and a call of it spelled otherwise."""
    assert run(seed).total() > 0


def test_a_view_under_no_grad_of_what_was_written_in_place_there() -> None:
    """The result of the write is the tensor that was made outside."""
    assert run(4500105).total() > 0
