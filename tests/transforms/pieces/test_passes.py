"""The passes over pieces: what they find, in which spelling ever, and what they leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.ir import parse_ir, print_ir, run, verify
from xductor.transforms import TypedPass
from xductor.transforms.passes.debug_counters import counting, parse
from xductor.transforms.pieces.post_grad.cat_of_pieces import CatOfPieces
from xductor.transforms.pieces.post_grad.move_view_after_cat_aten_pass import (
    MoveViewAfterCatAtenPass,
)
from xductor.transforms.pieces.post_grad.normalization_aten_pass import NORMALIZATION
from xductor.transforms.pieces.post_grad.select_cat_aten_pass import SelectCatAtenPass
from xductor.transforms.pieces.post_grad.split_cat_aten_pass import SplitCatAtenPass
from xductor.transforms.pieces.post_grad.unbind_stack_aten_pass import UnbindStackAtenPass
from xductor.transforms.rewriting.rewrite_pass import RewritePass

aten = torch.ops.aten
Function = Callable[..., Any]


def _joins(case: Any) -> int:
    return sum(name in ("aten.cat.default", "aten.stack.default") for name in case.ops)


def _copies(case: Any) -> int:
    """How many calls put one tensor, or several, in memory of their own."""
    return _joins(case) + sum(name == "aten.clone.default" for name in case.ops)


WHOLE: dict[str, Function] = {
    "split": lambda x: torch.cat(x.split(2, 1), 1) + 1,
    "split with sizes": lambda x: torch.cat(aten.split_with_sizes(x, [1, 3, 2], -1), -1) + 1,
    "chunk": lambda x: torch.cat(torch.chunk(x, 4, 1), 1) + 1,
    "slices": lambda x: torch.cat([x[:, :1], x[:, 1:4], x[:, 4:]], 1) + 1,
    "narrow": lambda x: torch.cat([x.narrow(1, 0, 4), x.narrow(1, 4, 2)], 1) + 1,
    "unbind and stack": lambda x: torch.stack(x.unbind(1), 1) + 1,
    "select and stack": lambda x: torch.stack([x[0], x[1]]) + 1,
    "select, unsqueeze, cat": lambda x: torch.cat([x[0][None], x[1][None]]) + 1,
    "rows and cols": lambda x: torch.cat(
        [torch.cat([x[i : i + 1, :3], x[i : i + 1, 3:]], 1) for i in (0, 1)]
    ) + 1,
    "an empty piece": lambda x: torch.cat(aten.split_with_sizes(x, [2, 0, 4], 1), 1) + 1,
    "copies of pieces": lambda x: torch.cat([p.clone() for p in x.split(2, 1)], 1) + 1,
    "reshaped pieces": lambda x: torch.cat([p.reshape(-1) for p in x.split(1)]) + 1,
    "of a permutation": lambda x: torch.cat(x.t().contiguous().split(2)).t() + 1,
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_all_of_one_tensor(name: str, trace: Any, special: Any) -> None:
    x = special(2, 6)
    case = trace(WHOLE[name], x, stage="post_grad")
    assert case.run(CatOfPieces()) > 0
    assert _joins(case) == 0
    verify(case.module, "types")
    case.check_values(x)


FEWER: dict[str, tuple[Function, int]] = {
    "a part": (lambda x, y: torch.cat([x[:, 1:3], x[:, 3:5]], 1) + 1, 0),
    "every other": (lambda x, y: torch.cat([x[:, i : i + 1] for i in (0, 2, 4)], 1).sum(1), 0),
    "of two tensors": (lambda x, y: torch.cat([*x.split(2, 1), *y.split(3, 1)], 1) + 1, 1),
    "twice": (lambda x, y: torch.cat([*x.split(2, 1), *x.split(2, 1)], 1) + 1, 1),
    "one missing": (lambda x, y: torch.cat([*x.split(2, 1)[:2], y], 1) + 1, 1),
    "beside an empty vector": (lambda x, y: torch.cat([*x.split(2, 1), torch.ones(0)], 1) + 1, 1),
    "an output": (lambda x, y: torch.cat(x.split(2, 1), 1), 1),
}


@pytest.mark.parametrize("name", FEWER)
def test_fewer_pieces(name: str, trace: Any, special: Any) -> None:
    function, joins = FEWER[name]
    x, y = special(2, 6), special(2, 6) * 2
    case = trace(function, x, y, stage="post_grad")
    assert case.run(CatOfPieces()) == 1
    assert _copies(case) == joins
    verify(case.module, "types")
    case.check_values(x, y)


STAYS: dict[str, Function] = {
    "another order": lambda x, y: torch.cat([x[:, 3:], x[:, :3]], 1) + 1,
    "another dim": lambda x, y: torch.cat(x.split(2, 1), 0) + 1,
    "the same twice": lambda x, y: torch.cat([x, x], 1) + 1,
    "one piece each": lambda x, y: torch.cat([x[:, :3], y[:, 3:]], 1) + 1,
    "a step that changes": lambda x, y: torch.cat([x[:, :2], x[:, 2::2]], 1) + 1,
    "other strides are seen": lambda x, y: torch.stack(x.unbind(1), 0),
    "another dtype": lambda x, y: torch.cat([x[:, :3].half(), x[:, 3:]], 1) + 1,
    "conjugate bits": lambda x, y: torch.cat(torch.complex(x, y).conj().split(3, 1), 1) * 2,
    "sparse": lambda x, y: torch.cat([x.to_sparse(), y.to_sparse()]).to_dense(),
    "written to": lambda x, y: torch.cat(x.split(3, 1), 1).add_(1) + x,
    "what was cut is written": lambda x, y: (torch.cat(x.split(3, 1), 1), x.add_(1))[0] + 1,
    "a piece is written": lambda x, y: (
        p := x.split(3, 1),
        torch.cat(p, 1),
        p[0].mul_(3),
    )[1] + 1,
    "no elements": lambda x, y: torch.cat(x[:0].split(3, 1), 1) + 1,
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name: str, trace: Any, special: Any) -> None:
    x, y = special(2, 6), special(2, 6) * 2
    case = trace(STAYS[name], x.clone(), y.clone(), stage="post_grad")
    before = _copies(case)
    case.run(CatOfPieces())
    assert _copies(case) == before
    if name not in ("conjugate bits", "sparse"):
        case.check_values(x, y)


@pytest.mark.parametrize(
    ("one", "function", "applied"),
    [
        (SplitCatAtenPass(), lambda x: torch.cat(x.split(1, 1), 1) + 1, 0),
        (SplitCatAtenPass(6), lambda x: torch.cat(x.split(1, 1), 1) + 1, 1),
        (SplitCatAtenPass(6), lambda x: torch.stack(x.unbind(1), 1) + 1, 0),
        (SplitCatAtenPass(3), lambda x: torch.cat([x[:, :1], x[:, 1:2], x[:, 3:]], 1) + 1, 0),
        (SelectCatAtenPass(), lambda x: torch.cat([x[0], x[1]]) + 1, 1),
        (SelectCatAtenPass(), lambda x: torch.cat(x.unbind(1)) + 1, 1),
        (SelectCatAtenPass(), lambda x: torch.cat([x[0], x[0]]) + 1, 0),
        (SelectCatAtenPass(), lambda x: torch.cat(x.split(1)) + 1, 0),
        (UnbindStackAtenPass(), lambda x: torch.stack([x[0], x[1]]) + 1, 1),
        (UnbindStackAtenPass(), lambda x: torch.stack([x[1], x[0]]) + 1, 0),
        (UnbindStackAtenPass(), lambda x: torch.cat(x.split(1)) + 1, 0),
        (
            MoveViewAfterCatAtenPass(),
            lambda x: torch.cat([p.reshape(-1) for p in x.split(2, 1)]) + 1,
            1,
        ),
        (MoveViewAfterCatAtenPass(), lambda x: torch.cat([p.view(6) for p in x.split(1)]) + 1, 1),
        (MoveViewAfterCatAtenPass(), lambda x: torch.cat(x.split(1)) + 1, 0),
    ],
)  # fmt: skip
def test_what_each_option_takes(
    one: TypedPass, function: Function, applied: int, trace: Any, special: Any
) -> None:
    x = special(2, 6)
    case = trace(function, x, stage="post_grad")
    assert case.run(one) == applied
    verify(case.module, "types")
    case.check_values(x)


@pytest.mark.parametrize(
    ("function", "joins"),
    [
        (lambda x: torch.cat([x[:, :2], x[:, 2:]], 1) + 1, 0),
        (lambda x: torch.cat([x[:, :2], x[:, 2:4]], 1) + 1, 0),
        (lambda x: torch.cat([x[:2], x[2:]]) + 1, 0),
        (lambda x: torch.stack([x[0], x[1]]) + 1, 0),
        (lambda x: torch.cat([x[:, : x.shape[0]], x[:, x.shape[0] :]], 1) + 1, 0),
        (lambda x: torch.cat([x[:, 2:], x[:, :2]], 1) + 1, 1),
    ],
)
def test_symbolic_sizes(function: Function, joins: int, trace: Any, special: Any) -> None:
    x = special(5, 6)
    case = trace(function, x, dynamic=True, stage="post_grad")
    case.run(CatOfPieces())
    assert _joins(case) == joins
    verify(case.module, "types")
    for one in (x, special(3, 6)):
        found = run(case.module, one)
        torch.testing.assert_close(found, function(one), rtol=0, atol=0, equal_nan=True)


def test_normalization(trace: Any, special: Any) -> None:
    x = special(10, 3)

    def function(x: Any) -> Any:
        pieces = x.chunk(4, -2)
        return [piece + i for i, piece in enumerate(pieces)], torch.cat(pieces[1:], -2)

    case = trace(function, x, stage="post_grad")
    assert case.run(RewritePass.of(NORMALIZATION)) == 2
    assert "aten.split.Tensor" not in case.ops
    gm_outputs = case.gm(x)
    torch.testing.assert_close(gm_outputs, function(x), rtol=0, atol=0, equal_nan=True)


STALE = """
fx.graph @forward stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %p0 = aten.slice.Tensor %x, 0, 0, 2 : !fx.tensor<f32[2], cpu>
  %p1 = aten.slice.Tensor %x, 0, 1, 3 : !fx.tensor<f32[2], cpu, offset 2>
  %y = aten.cat.default [%p0, %p1] : !fx.tensor<f32[4], cpu>
  %z = aten.relu.default %y : !fx.tensor<f32[4], cpu>
  fx.output (%z,)
}
"""


def test_types_that_are_not_true_are_not_believed() -> None:
    module = parse_ir(STALE)
    told: list[str] = []
    CatOfPieces().explained(module, lambda op, reason: told.append(reason))
    assert CatOfPieces().rewrite(parse_ir(STALE)) == 0
    assert "aten.cat.default" in print_ir(module)
    assert told
    assert all("not what it gives" in one for one in told)


def test_a_debug_counter_stops_it(trace: Any, special: Any) -> None:
    case = trace(WHOLE["split"], special(2, 6), stage="post_grad")
    with counting(parse("cat_of_pieces=0:0")):
        assert case.run(CatOfPieces()) == 0


def test_a_view_that_would_have_to_copy_keeps_its_operand(trace: Any, special: Any) -> None:
    """PyTorch's fake kernel takes this view for possible, of a slice by every other row too."""

    def function(x: Any) -> Any:
        return torch.stack([x[0:1].clone(), x[2:3].clone()]).view(-1) + 1

    x = special(4, 4, 3)
    case = trace(function, x, stage="post_grad")
    case.run(CatOfPieces())
    case.check_values(x)
