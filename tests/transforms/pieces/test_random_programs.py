"""Every pass over pieces on random programs of cuts and joins: nobody can tell."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.pieces.random_programs import Program
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import verify
from xductor.transforms.pieces.post_grad.cat_of_pieces import CatOfPieces
from xductor.transforms.pieces.post_grad.move_view_after_cat_aten_pass import (
    MoveViewAfterCatAtenPass,
)
from xductor.transforms.pieces.post_grad.normalization_aten_pass import NORMALIZATION
from xductor.transforms.pieces.post_grad.select_cat_aten_pass import SelectCatAtenPass
from xductor.transforms.pieces.post_grad.split_cat_aten_pass import SplitCatAtenPass
from xductor.transforms.pieces.post_grad.unbind_stack_aten_pass import UnbindStackAtenPass
from xductor.transforms.rewriting.rewrite_pass import RewritePass

PASSES = (
    RewritePass.of(NORMALIZATION),
    MoveViewAfterCatAtenPass(),
    SelectCatAtenPass(),
    UnbindStackAtenPass(),
    SplitCatAtenPass(threshold_to_cat=2),
    CatOfPieces(),
)


def _seen(function: Any, inputs: list[torch.Tensor]) -> Any:
    """What a caller sees, inputs included; a dim of size one may have any stride."""
    copies = [one.clone() for one in inputs]
    outputs = function(*copies)
    tensors = [*copies, *outputs]
    storages = [one.untyped_storage().data_ptr() for one in tensors if one.numel()]
    return [
        (
            one.dtype,
            tuple(one.shape),
            [step for size, step in zip(one.shape, one.stride(), strict=True) if size > 1],
            one.storage_offset(),
            # NaN is itself, and 0.0 is not -0.0.
            [str(value) for value in one.flatten().tolist()],
        )
        for one in tensors
    ], [storages.index(one) for one in storages]


def _run(seed: int) -> Counter[str]:
    """One program, by one pass alone and by all in a row."""
    program = Program(seed)
    gm = make_fx(program, tracing_mode="fake")(*program.inputs)
    expected = _seen(gm, program.inputs)
    applied: Counter[str] = Counter()
    for passes in (PASSES[seed % len(PASSES) :][:1], PASSES):
        module = from_fx(gm, "post_grad")
        for one in passes:
            applied[one.name] += one.rewrite(module)
        verify(module, "types")
        assert _seen(to_fx(module), program.inputs) == expected, (seed, passes)
    return applied


@pytest.mark.parametrize("hundred", range(3))
def test_nobody_can_tell(hundred: int) -> None:
    applied: Counter[str] = Counter()
    for seed in range(100 * hundred, 100 * hundred + 100):
        try:
            applied += _run(seed)
        except RuntimeError as error:  # a write that eager refuses
            assert "unsupported operation" in str(error)  # noqa: PT017
    assert len(applied) == len(PASSES)
    assert applied["cat_of_pieces"] > 20
