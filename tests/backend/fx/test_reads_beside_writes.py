"""What an op reads is what was there before it writes, in generated code too."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

from xductor.backend.fx.overlapping_writes import separate_reads
from xductor.backend.run_as_fx.without_codegen import without_codegen

aten = torch.ops.aten
Function = Callable[..., Any]


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Copies of the graphs that code would be generated from, in the order of compiles."""
    from torch._inductor import compile_fx

    found: list[Any] = []
    passes = compile_fx._recursive_post_grad_passes

    def recorded(gm: Any, *args: Any) -> None:
        passes(gm, *args)
        found.extend(
            copy.deepcopy(one.graph)
            for one in gm.modules()
            if isinstance(one, torch.fx.GraphModule)
        )

    monkeypatch.setattr(compile_fx, "_recursive_post_grad_passes", recorded)
    return found


def _rows(x: Any) -> Any:
    x[2:] = x[:-2].clone()
    return x * 1.5


def _columns(x: Any) -> Any:
    x[:, 1:] = x[:, :-1].clone()
    return x * 2


def _times_ones(x: Any) -> Any:
    x[1:] = x[:-1] * torch.ones_like(x[:-1])
    return x.sum()


def _less_zeros(x: Any) -> Any:
    x[1:] = x[:-1] - torch.zeros_like(x[:-1])
    return x.sum(0)


def _cast(x: Any) -> Any:
    x[1:] = x[:-1].to(torch.float32).clone()
    return x + 1


def _put(x: Any) -> Any:
    x.index_put_((torch.tensor([1, 2, 3]),), x[:3].clone())
    return x * 2


def _put_sums(x: Any) -> Any:
    x.index_put_((torch.tensor([1, 2, 3]),), x[:3].clone(), accumulate=True)
    return x * 2


def _flat(x: Any) -> Any:
    x.select(0, 1).copy_(x.view(-1)[3:8].clone())
    return x * 1


def _functional(x: Any) -> Any:
    """No copy in the program: the op itself is functional."""
    x.copy_(torch.slice_scatter(x, x[:-2], 0, 2))
    return x * 1.5


def _foreach(x: Any) -> Any:
    foreach_add_: Any = getattr(torch, "_foreach_add_")  # noqa: B009 - not among torch's names
    foreach_add_([x[1:]], [x[:-1].clone()])
    return x.sum(1)


def _twice(x: Any) -> Any:
    x[1:] = x[:-1].clone()
    x[2:] = x[:-2].clone()
    return x.sum(0)


def _in_a_branch(x: Any) -> Any:
    def up(x: Any) -> Any:
        y = x.sin()
        y[1:] = y[:-1].clone()
        return y * 2

    def down(x: Any) -> Any:
        y = x.cos()
        y[2:] = y[:-2] * torch.ones_like(y[:-2])
        return y * 3

    return torch.cond(x.sum() > 0, up, down, (x,))


def _region_body(x: Any) -> Any:
    y = x.sin()
    y[1:] = y[:-1].clone()
    return y * 2


_region: Any = torch.compiler.nested_compile_region(_region_body)


def _in_a_region(x: Any) -> Any:
    return _region(x) + _region(x + 1)


def _in_a_checkpoint(x: Any) -> Any:
    def body(x: Any) -> Any:
        y = x.sin()
        y[1:] = y[:-1].clone()
        return y.exp()

    return checkpoint(body, x, use_reentrant=False)


PROGRAMS: list[Function] = [
    _rows, _columns, _times_ones, _less_zeros, _cast, _put, _put_sums, _flat, _functional,
    _foreach, _twice, _in_a_branch, _in_a_region, _in_a_checkpoint,
]  # fmt: skip


def _all(programs: list[Function]) -> Function:
    """All in one graph, each of an input of its own: code is generated once."""
    return lambda *inputs: [program(x) for program, x in zip(programs, inputs, strict=True)]


def _ints(x: Any) -> Any:
    x[1:] = x[:-1] * torch.ones_like(x[:-1])
    return x.sum()


def test_generated_code() -> None:
    function = _all([_rows, _times_ones, _put, _functional])
    inputs = [torch.arange(30.0).view(6, 5) + i for i in range(4)]
    copies = [one.clone() for one in inputs]
    found = torch.compile(function, backend="xductor")(*inputs)
    torch.testing.assert_close((found, inputs), (function(*copies), copies))


def test_generated_code_of_symbolic_sizes_and_integers() -> None:
    function = _all([_columns, _ints])
    inputs = [torch.arange(42.0).view(6, 7), torch.arange(30).view(6, 5)]
    copies = [one.clone() for one in inputs]
    found = torch.compile(function, backend="xductor", dynamic=True)(*inputs)
    torch.testing.assert_close((found, inputs), (function(*copies), copies))


def _trained(programs: list[Function], compiled: bool) -> Any:
    """The loss and the gradients; the tensors that are written to are computed."""

    def f(*leaves: Any) -> Any:
        tensors = [leaf * 1.0 for leaf in leaves]
        results = _all(programs)(*tensors)
        return sum((one * one.detach().cos()).sum() for one in (*results, *tensors))

    leaves = [
        (torch.arange(30.0).view(6, 5) / 40 + i).requires_grad_() for i in range(len(programs))
    ]
    loss = (torch.compile(f, backend="xductor") if compiled else f)(*leaves)
    loss.backward()
    return loss, [leaf.grad for leaf in leaves]


def test_generated_code_in_training() -> None:
    programs = [_columns, _less_zeros, _put_sums, _in_a_checkpoint]
    found, expected = (_trained(programs, compiled) for compiled in (True, False))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", PROGRAMS)
def test_inference(graphs: list[Any], program: Function) -> None:
    x = torch.arange(30.0).view(6, 5)
    y = x.clone()
    with without_codegen():
        found = torch.compile(program, backend="xductor")(x)
    torch.testing.assert_close((found, x), (program(y), y))
    assert graphs
    assert [separate_reads(graph) for graph in graphs] == [0] * len(graphs)


# `slice_scatter` of a tensor into itself, copied back, has no gradient in eager.
@pytest.mark.parametrize("program", [one for one in PROGRAMS if one is not _functional])
def test_training(graphs: list[Any], program: Function) -> None:
    with without_codegen():
        found = _trained([program], compiled=True)
    torch.testing.assert_close(found, _trained([program], compiled=False))
    assert graphs
    assert [separate_reads(graph) for graph in graphs] == [0] * len(graphs)


# ------------------------------------------------------------------------- how many copies


def _x() -> torch.Tensor:
    return torch.arange(30.0).view(6, 5)


def _apart(x: Any) -> Any:
    x[:2] = x[2:4].clone()
    return x * 2


def _in_place(x: Any) -> Any:
    x[1:3] = x[1:3].clone()
    return x * 2


def _swapped(x: Any) -> Any:
    top = x[:3].clone()
    x[:3] = x[3:]
    x[3:] = top
    return x * 1


def _to_another(x: Any) -> Any:
    y = x.sin()
    z = torch.zeros(6, 5)
    z[1:] = y[:-1].clone()
    return y, z


def _arithmetic(x: Any) -> Any:
    x[1:] = x[:-1].clone() + 1
    return x * 2


def _clones(graphs: list[Any], function: Function, dynamic: bool) -> int:
    """How many copies are in the graph of a function that code would be generated from."""
    x, y = _x(), _x()
    with without_codegen():
        found = torch.compile(function, backend="xductor", dynamic=dynamic)(x)
    torch.testing.assert_close((found, x), (function(y), y))
    (graph,) = graphs
    return len(graph.find_nodes(op="call_function", target=aten.clone.default))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", [_apart, _in_place, _swapped, _to_another, _arithmetic])
def test_no_copy_stays_for_nothing(graphs: list[Any], function: Function, dynamic: bool) -> None:
    assert _clones(graphs, function, dynamic) == 0


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", [_rows, _times_ones, _put, _functional])
def test_one_copy_stays(graphs: list[Any], function: Function, dynamic: bool) -> None:
    assert _clones(graphs, function, dynamic) == 1


# --------------------------------------------------------------------------- one op at a time


def _separated(function: Function, *inputs: Any) -> int:
    gm = make_fx(function, tracing_mode="fake")(*inputs)
    copied = separate_reads(gm.graph)
    gm.recompile()
    assert separate_reads(gm.graph) == 0
    gm.graph.lint()
    return copied


CLASHES: dict[str, Function] = {
    "a copy": lambda x: aten.copy_(x[1:], x[:-1]),
    "a broadcast": lambda x: aten.copy_(x[:2], x[1]),
    "a transposed copy": lambda x: aten.copy_(x[:5], x[:5].t()),
    "pieces": lambda x: aten.copy_(aten.split(x, 4)[0], x[1:5]),
    "arithmetic": lambda x: aten.add_(x[1:], x[:-1]),
    "indices": lambda x: aten.index_put_(x, [x[0, :1].view(torch.int32)], x.new_zeros(1, 5)),
    "the same, put elsewhere": lambda x: aten.index_put_(x, [torch.arange(6).flip(0)], x),
    "another of a list": lambda x: aten._foreach_add_([x[:2], x[2:4]], [x[2:4], x[:2]]),
}


@pytest.mark.parametrize("what", CLASHES)
def test_clash(what: str) -> None:
    assert _separated(CLASHES[what], _x()) >= 1


QUIET: dict[str, Function] = {
    "rows apart": lambda x: aten.copy_(x[:2], x[2:4]),
    "columns apart": lambda x: aten.copy_(x[:, :2], x[:, 2:4]),
    "the same elements": lambda x: aten.copy_(x[1:3], aten.slice(x, 0, 1, 3)),
    "pieces": lambda x: (p := aten.split(x, 3), aten.copy_(p[0], p[1]))[1],
    "arithmetic": lambda x: aten.mul_(x[1:], x[1:]),
    "another tensor": lambda x: aten.index_put_(x, [torch.arange(2)], x[:2] * 2),
    "each of a list": lambda x: aten._foreach_mul_([x[:2], x[2:4]], [x[:2], x[2:4]]),
}


@pytest.mark.parametrize("what", QUIET)
def test_quiet(what: str) -> None:
    assert _separated(QUIET[what], _x()) == 0
