"""The passes over pieces before autograd: every spelling, values, gradients, what they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor import config as inductor_config

import xductor
from tests.before_autograd.captured import captured, graph_module
from xductor.ir import entry_graph
from xductor.ir.functions.torch_calls import aten_name
from xductor.transforms import TypedPass
from xductor.transforms.pieces.pre_grad.merge_getitem_cat_pass import MergeGetitemCatPass
from xductor.transforms.pieces.pre_grad.move_reshape_out_of_split_stack_pass import (
    MoveReshapeOutOfSplitStackPass,
)
from xductor.transforms.pieces.pre_grad.mutate_cat_pass import MutateCatPass
from xductor.transforms.pieces.pre_grad.split_cat_pass import SplitCatPass
from xductor.transforms.pieces.pre_grad.split_cat_to_slices_pass import SplitCatToSlicesPass
from xductor.transforms.pieces.pre_grad.split_stack_to_cats_pass import SplitStackToCatsPass
from xductor.transforms.pieces.pre_grad.unbind_cat_to_view_pass import UnbindCatToViewPass
from xductor.transforms.pieces.pre_grad.unbind_stack_pass import UnbindStackPass
from xductor.transforms.pieces.pre_grad.unbind_stack_to_slices_pass import UnbindStackToSlicesPass
from xductor.transforms.proving.module_pairs import prove_modules

Function = Callable[..., Any]


def joins(module: Any) -> list[int]:
    """How many parts each cat or stack of a module has."""
    names = ("aten.cat.default", "aten.stack.default")
    return [len(op.operands) for op in entry_graph(module).block.ops if aten_name(op) in names]


def tensor(*shape: int) -> torch.Tensor:
    count = int(torch.Size(shape).numel())
    return torch.arange(1.0, count + 1).reshape(shape).requires_grad_()


def check(one: TypedPass, function: Function, left: list[int], *inputs: torch.Tensor) -> None:
    """Apply a pass; the joins that are left, values and gradients as eager, and a proof."""
    gm = graph_module(function, *inputs)
    module = xductor.from_fx(gm, stage="pre_grad")
    before = module.clone()
    assert one.rewrite(module) > 0
    xductor.verify(module, level="types")
    assert joins(module) == left
    names = [op.name for op in entry_graph(module).block.ops]
    assert not [name for name in names if name.startswith("aten.")]
    found = _run(xductor.to_fx(module), inputs)
    expected = _run(gm, inputs)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    assert prove_modules(before, module).status in ("proved", "bounded", "undecided")


def _run(gm: Any, inputs: Any) -> list[torch.Tensor]:
    copies = [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]
    (result,) = gm(*copies)
    weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape)
    wanted = [one for one in copies if one.requires_grad]
    return [result.detach(), *torch.autograd.grad((result * weights).sum(), wanted)]


WHOLE: list[Function] = [
    lambda x: torch.cat(torch.split(x, [1, 3, 2], 1), 1) * 2,
    lambda x: torch.concat(x.split(2, dim=-1), axis=-1) * 2,
    lambda x: torch.concatenate(x.chunk(3, 1), dim=1) * 2,
    lambda x: torch.cat([x[:, :1], x[:, 1:4], x[..., 4:]], dim=-1) * 2,
    lambda x: torch.cat((x.narrow(1, 0, 4), torch.narrow(x, 1, 4, 2)), 1) * 2,
    lambda x: torch.cat([torch.select(x, 1, i)[:, None] for i in range(6)], 1) * 2,
    lambda x: torch.cat(torch.ops.aten.split_with_sizes(x, [4, 2], 1), 1) * 2,
]


@pytest.mark.parametrize("one", [MergeGetitemCatPass(), MutateCatPass(), SplitCatPass()])
@pytest.mark.parametrize("function", WHOLE)
def test_a_cat_of_all(one: TypedPass, function: Function) -> None:
    check(one, function, [], tensor(3, 6))


@pytest.mark.parametrize("one", [MergeGetitemCatPass(), MutateCatPass(), SplitCatPass()])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.cat(torch.split(x, [1, 3, 2], 1)[1:], 1) * 2,
        lambda x: torch.cat(x.split(2, dim=-1)[:2], axis=-1) * 2,
        lambda x: torch.concat([x[:, 1:2], x[:, 2:5]], dim=1) * 2,
        lambda x: torch.cat([x.narrow(1, 1, 2), x[:, 3:4]], 1) * 2,
    ],
)
def test_a_cat_of_neighbours(one: TypedPass, function: Function) -> None:
    check(one, function, [], tensor(3, 6))


ROWS: list[Function] = [
    lambda x: torch.stack(x.unbind(1), 1) * 2,
    lambda x: torch.stack(torch.unbind(x, dim=1), dim=-1) * 2,
    lambda x: torch.stack([x[:, i] for i in range(6)], dim=1) * 2,
    lambda x: torch.stack([x.select(1, i) for i in range(6)], axis=1) * 2,
    lambda x: torch.cat([p.unsqueeze(1) for p in x.unbind(1)], 1) * 2,
    lambda x: torch.stack([p.squeeze(1) for p in x.split(1, 1)], 1) * 2,
    lambda x: torch.column_stack(x.unbind(1)) * 2,
    lambda x: torch.vstack(x.unbind(0)) * 2,
    lambda x: torch.row_stack([x[i] for i in range(3)]) * 2,
    lambda x: torch.column_stack(x.unbind(0)) * 2,
]


@pytest.mark.parametrize("one", [UnbindStackPass(), SplitCatPass()])
@pytest.mark.parametrize("function", ROWS)
def test_rows_that_are_stacked(one: TypedPass, function: Function) -> None:
    check(one, function, [], tensor(3, 6))


@pytest.mark.parametrize("one", [UnbindStackPass(), SplitCatPass()])
def test_matrices_that_are_stacked_in_depth(one: TypedPass) -> None:
    check(one, lambda x: torch.dstack(x.unbind(2)) * 2, [], tensor(3, 4, 5))
    check(one, lambda x: torch.dstack([x[:, :, i] for i in range(5)]) * 2, [], tensor(3, 4, 5))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.dstack(x.unbind(0)) * 2,  # vectors get two dims
        lambda x: torch.vstack([x[0], x[1:]]) * 2,  # one gets a dim, the other has it
        lambda x: torch.column_stack([x[:, 0], x[:, 1:]]) * 2,
    ],
)
def test_what_is_no_stack_stays(function: Function) -> None:
    module = captured(function, tensor(3, 6))
    assert UnbindStackPass().rewrite(module) == 0


@pytest.mark.parametrize(
    ("one", "function", "left"),
    [
        # pieces beside others
        (SplitCatPass(), lambda x, y: torch.cat([*x.split(2, 1), y], 1), [2]),
        (SplitCatPass(), lambda x, y: torch.cat([y, *x.chunk(3, 1), *y.split(2, 1)], 1), [3]),
        (SplitCatPass(), lambda x, y: torch.stack([*x.unbind(1), y[:, 0]], 1), [2]),
        # equal pieces along another dim: one permutation
        (SplitCatPass(), lambda x, y: torch.cat(x.split(2, 1), 0) * y.sum(), []),
        (SplitCatPass(), lambda x, y: torch.cat(x.chunk(3, dim=1), axis=0) * y.sum(), []),
        (SplitCatToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.cat([*x.split(1, 1)[:3], y, *x.split(1, 1)[4:]], 1), [3]),
        (SplitCatToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.concat((*x.chunk(6, 1)[:3], y), axis=1), [2]),
        (SplitCatToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.cat([x[:, 0:1], x[:, 1:2], y], -1), [2]),
        (SplitCatToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.cat([x.narrow(1, 0, 1), x.narrow(1, 1, 1), y], 1), [2]),
        (UnbindCatToViewPass(threshold_to_cat=2),
         lambda x, y: torch.cat(x.unbind(0)) * y.sum(), []),
        (UnbindCatToViewPass(threshold_to_cat=2),
         lambda x, y: torch.cat(torch.unbind(x), dim=0) * y.sum(), []),
        (UnbindCatToViewPass(threshold_to_cat=2),
         lambda x, y: torch.concat([x[0], x[1], y[2]]) * 2, [2]),
        (UnbindCatToViewPass(threshold_to_cat=2),
         lambda x, y: torch.concat([x.select(0, 0), x.select(0, 1), y[2]], axis=0) * 2, [2]),
        (SplitStackToCatsPass(threshold_to_cat=2),
         lambda x, y: torch.stack([*x.split(2, 1), y[:, :2]], 0), [2]),
        (SplitStackToCatsPass(threshold_to_cat=2),
         lambda x, y: torch.stack([*x.chunk(3, dim=1), y[:, 1:3]], dim=1), [2]),
        (SplitStackToCatsPass(threshold_to_cat=2),
         lambda x, y: torch.stack([x[:, :3], x[:, 3:], y[:, 1:4]], axis=0), [2]),
        (SplitStackToCatsPass(threshold_to_cat=2),
         lambda x, y: torch.stack([x.narrow(1, 0, 3), x.narrow(1, 3, 3), y[:, 1:4]], -2), [2]),
        (UnbindStackToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.stack([*x.unbind(1)[:3], y[:, 0]], 1), [2]),
        (UnbindStackToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.stack([x[:, 0], x[:, 1], y[:, 0]], dim=-1), [2]),
        (UnbindStackToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.stack([*torch.unbind(x, dim=0), y[0]], axis=0), [2]),
        (UnbindStackToSlicesPass(threshold_to_cat=2),
         lambda x, y: torch.stack([x.select(0, 1), x.select(0, 2), y[0]]), [2]),
        (MoveReshapeOutOfSplitStackPass(threshold_to_cat=2),
         lambda x, y: torch.stack([p.reshape(3, 1, 2) for p in x.split(2, 1)], 0), []),
        (MoveReshapeOutOfSplitStackPass(threshold_to_cat=2),
         lambda x, y: torch.stack([p.reshape(6) for p in x.chunk(3, 1)], dim=0) * y.sum(), []),
        (MoveReshapeOutOfSplitStackPass(threshold_to_cat=2),
         lambda x, y: torch.stack([torch.reshape(p, (1, 6)) for p in x.split(1)], 0), []),
        (MoveReshapeOutOfSplitStackPass(threshold_to_cat=2),
         lambda x, y: torch.stack([p.view(6, 1) for p in x.split(1, dim=0)], axis=1), []),
    ],
)  # fmt: skip
def test_less_work(one: TypedPass, function: Function, left: list[int]) -> None:
    check(one, lambda x, y: function(x, y) + 0 * y.sum(), left, tensor(3, 6), tensor(3, 6))


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_strides_in_generated_code(dynamic: bool) -> None:
    """A cat of one part would have the strides of that part there."""
    programs: list[tuple[Function, torch.Tensor]] = [
        (lambda x: torch.stack(x.unbind(1)[1:4], 0), torch.randn(4, 5, 3)),
        (lambda x: torch.stack([p.squeeze() for p in x.split(1, 1)]), torch.randn(4, 3, 1)),
        (
            lambda x: torch.stack([p.reshape(4, 2, 4) for p in x.split(8, 1)]),
            torch.randn(4, 24),
        ),
    ]

    def function(*given: torch.Tensor) -> list[torch.Tensor]:
        return [one(x) for (one, _), x in zip(programs, given, strict=True)]

    names = (
        "normalization_pass", "unbind_stack_pass", "split_cat_pass",
        "move_reshape_out_of_split_stack_pass",
    )  # fmt: skip
    inputs = [x for _, x in programs]
    torch._dynamo.reset()
    with inductor_config.patch(pre_grad_fusion_options={name: {} for name in names}):
        found = torch.compile(function, backend="xductor", dynamic=dynamic)(*inputs)
    for mine, wanted in zip(found, function(*inputs), strict=True):
        torch.testing.assert_close(mine, wanted, rtol=0, atol=0)
        assert mine.stride() == wanted.stride()


ALL = [
    MergeGetitemCatPass(),
    MutateCatPass(),
    SplitCatPass(),
    UnbindStackPass(),
    SplitCatToSlicesPass(2),
    UnbindCatToViewPass(2),
    SplitStackToCatsPass(2),
    UnbindStackToSlicesPass(2),
    MoveReshapeOutOfSplitStackPass(2),
]


def _written(x: torch.Tensor) -> Any:
    y = torch.cat(x.split(2, 1), 1)
    y.add_(1)
    return y


def _source_written(x: torch.Tensor) -> Any:
    y = torch.cat(x.chunk(3, 1), axis=1)
    x.mul_(2)
    return y + 1


def _piece_written(x: torch.Tensor) -> Any:
    a, b, c = (x * 1).split(2, 1)
    y = torch.cat([a, b, c], 1)
    b += 1
    return y + 1


def _written_between(x: torch.Tensor) -> Any:
    x = x * 1
    a, b = x[:, :3], x[:, 3:]
    c = a.clone()
    x.add_(1)
    return torch.cat([c, b], 1) + 1


def _under_no_grad(x: torch.Tensor) -> Any:
    with torch.no_grad():
        parts = x.split(2, 1)
    return torch.cat(parts, 1) * 2


def _detached(x: torch.Tensor) -> Any:
    return torch.cat([one.detach() for one in x.unbind(1)], 0)[:3] * x.sum()


def _returned(x: torch.Tensor) -> Any:
    return torch.stack(x.unbind(0))


def _returned_twice(x: torch.Tensor) -> Any:
    y = x * 1
    return torch.cat(y.split(2, 1), 1), torch.cat(y.split(3, 1), 1)


def _out(x: torch.Tensor) -> Any:
    y = torch.empty(3, 6)
    torch.cat(x.split(2, 1), 1, out=y)
    return y


def seen(gm: Any, x: torch.Tensor) -> list[Any]:
    """What a caller sees of results and input: values, layout, and which of them share storage."""
    copy = x.clone()
    tensors = [copy, *gm(copy)]
    storages = [one.untyped_storage().data_ptr() for one in tensors]
    return [
        (one.tolist(), one.stride(), storages.index(one.untyped_storage().data_ptr()))
        for one in tensors
    ]


WATCHED = [_written, _source_written, _piece_written, _written_between, _returned, _out]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
@pytest.mark.parametrize("function", [*WATCHED, _returned_twice])
def test_nobody_comes_to_share(one: TypedPass, function: Function) -> None:
    x = tensor(3, 6).detach()
    gm = graph_module(function, x)
    module = xductor.from_fx(gm, stage="pre_grad")
    one.rewrite(module)
    xductor.verify(module, level="types")
    assert seen(xductor.to_fx(module), x) == seen(gm, x)


@pytest.mark.parametrize("one", [MergeGetitemCatPass(), MutateCatPass()])
@pytest.mark.parametrize("function", WATCHED)
def test_what_may_not_become_a_view(one: TypedPass, function: Function) -> None:
    assert one.rewrite(captured(function, tensor(3, 6).detach())) == 0


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_modes_are_not_crossed(one: TypedPass) -> None:
    module = captured(_under_no_grad, tensor(3, 6))
    assert one.rewrite(module) == 0


def test_symbolic_sizes() -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.cat(x.chunk(2, 1), 1) * 2, torch.stack(x.unbind(1), dim=1) * 2

    module = captured(function, torch.randn(5, 6), dynamic=True)
    found = SplitCatPass().rewrite(module)
    assert found > 0
    xductor.verify(module, level="types")


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_a_graph_without_pieces_is_not_lowered(one: TypedPass) -> None:
    gm = graph_module(lambda x: torch.cat([x + 1, x * 2], 1), tensor(3, 6))
    assert not one.may_fire(gm.graph)
    gm = graph_module(lambda x: torch.cat(x.split(2, 1), 1), tensor(3, 6))
    assert one.may_fire(gm.graph)
