"""A copy reads what was there before it writes, though its source is computed in its loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.fx.copied_sources import realize_sources
from xductor.backend.fx.views_and_writes import viewed

aten = torch.ops.aten
prims = torch.ops.prims
Function = Callable[[Any], Any]

#: What is written of a tensor of six rows and six columns.
WRITTEN: dict[str, Function] = {
    "all": lambda x: x,
    "the transpose": lambda x: aten.permute(x, [1, 0]),
    "rows": lambda x: aten.slice(x, 0, 1),
    "columns": lambda x: aten.slice(x, 1, 1),
    "every other row": lambda x: aten.slice(x, 0, 0, 6, 2),
    "a row": lambda x: aten.select(x, 0, 2),
    "a column": lambda x: aten.select(x, 1, 1),
    "the diagonal": lambda x: aten.diagonal(x),
    "one dim": lambda x: aten.view(x, [36]),
    "three dims": lambda x: aten.view(x, [2, 3, 6]),
    "by strides": lambda x: aten.as_strided(x, [5, 4], [1, 6], 3),
    "the transpose of a part": lambda x: aten.permute(aten.slice(x, 1, 1)[:4], [1, 0]),
    "with a dim of one": lambda x: aten.unsqueeze(aten.permute(x, [1, 0]), 1),
}

#: What is computed, to be cut to the size of what is written.
COMPUTED: dict[str, Function] = {
    "the same": lambda x: x * 2,
    "the transpose of a sum": lambda x: aten.permute(x + 1, [1, 0]),
    "a sum of the transpose": lambda x: aten.permute(x, [1, 0]) + 1,
    "there and back": lambda x: aten.permute(aten.permute(x, [1, 0]).exp(), [1, 0]) * 2,
    "a row of a sum": lambda x: (x + 1)[1],
    "a column and a number": lambda x: x[:, 0] + 1,
    "a row and a number": lambda x: x[2] + 1,
    "sines in reverse": lambda x: prims.rev(x.sin(), [0]),
    "sines of the reverse": lambda x: prims.rev(x, [1]).sin(),
    "times the transpose": lambda x: x * x.t(),
    "a row broadcast": lambda x: x * 2 + x[3],
    "columns of exponentials": lambda x: x.exp()[:, 2:],
    "from the second row": lambda x: x[1:] * 2,
    "a sum of three": lambda x: x[:, :3].sum(1, True) * 2,
    "rows by index": lambda x: (x + 1)[torch.tensor([3, 1, 0, 4, 2, 5])],
    "gathered": lambda x: (x * 2).gather(1, (x > 0.3).long()),
    "joined": lambda x: torch.cat([x[3:] * 2, x[:3] + 1]),
    "an element": lambda x: (x[2, 3] * 2).expand(6, 6),
    "in 64 bits": lambda x: x.t().double() * 3,
    "in 64 bits, in step": lambda x: x.double() * 3,
    "whole numbers": lambda x: (x.t() * 10).int(),
    "cut from one dim": lambda x: (x + 1).view(-1)[1:31].view(6, 5),
    "of one dim": lambda x: (x.view(-1) * 3).view(6, 6),
    "of three dims": lambda x: (x.view(2, 3, 6) * 3 + 1).view(6, 6),
    "padded": lambda x: torch.nn.functional.pad(x * 2, (1, 0, 2, 0)),
    "chosen": lambda x: torch.where(x > 0.5, x.t(), x).t(),
    "with dims of one": lambda x: (x.unsqueeze(1) * x.unsqueeze(1).cos()).squeeze(1),
    "repeated": lambda x: (x[:2] * 2).repeat(3, 1),
    "a diagonal": lambda x: (x * 2).diagonal(),
    "of the diagonal": lambda x: x.diagonal() * 2,
    "in one row": lambda x: x[0].expand(6, 6) * torch.ones(6, 6),
    "nothing of it": lambda x: torch.ones(6, 6).t() * 3,
}


def _cut(value: Any, to: Any) -> Any:
    """A view of a value that can be expanded to a size."""
    while value.dim() > to.dim():
        value = value.select(0, 0)
    for dim in range(-1, -value.dim() - 1, -1):
        size = to.shape[dim]
        if value.shape[dim] != 1 and value.shape[dim] != size:
            fits = value.shape[dim] > size
            value = value.narrow(dim, 0, size if fits else 1)
    return value


def _program(written: str, computed: str) -> Function:
    def program(x: Any) -> Any:
        into = WRITTEN[written](x)
        return aten.copy_(into, _cut(COMPUTED[computed](x), into))

    return program


def _x() -> torch.Tensor:
    return (torch.arange(36.0).view(6, 6) * 7).remainder(11.3) / 5 + 0.1


def _run_in_loops(gm: Any, x: torch.Tensor, order: random.Random) -> None:
    """Run a graph as generated code would: a source that is a view is computed in the loop.

    Its elements are computed one by one, in any order, of what is in memory then.
    """
    (copy,) = gm.graph.find_nodes(op="call_function", target=aten.copy_.default)
    into, source = copy.args[:2]
    in_loop = viewed(source) is not None or source.meta["val"].shape != into.meta["val"].shape
    in_loop = in_loop or source.meta["val"].dtype is not into.meta["val"].dtype
    place = _value(gm, into, x)
    if not in_loop:
        place.copy_(_value(gm, source, x))
        return
    elements = list(torch.ones(place.shape).nonzero().tolist())
    order.shuffle(elements)
    for element in elements:
        place[tuple(element)] = _value(gm, source, x).expand(place.shape)[tuple(element)]


def _value(gm: Any, node: Any, x: torch.Tensor) -> Any:
    """What a node is, computed of `x` as it is now."""
    known: dict[Any, Any] = {}

    def of(one: Any) -> Any:
        if one.op == "placeholder":
            return x
        if one.op == "get_attr":
            return getattr(gm, one.target)
        if one not in known:
            args, kwargs = torch.fx.map_arg((one.args, one.kwargs), of)
            known[one] = one.target(*args, **kwargs)
        return known[one]

    return of(node)


def _graph(program: Function) -> Any:
    return make_fx(program, tracing_mode="fake")(_x())


#: Parts that have few elements in common with what they are not, by chance of their places.
SPARSE = ("a row", "a column", "the diagonal", "every other row")
#: What reads elements in an order that only their values tell, or writes what was there.
BY_CHANCE = ("chosen", "padded", "in one row")


@pytest.mark.parametrize("written", WRITTEN)
def test_loops_in_any_order(written: str) -> None:
    """Nothing is copied for nothing either: without the copy some order gives something else."""
    order = random.Random(written)
    for_nothing = []
    for computed in COMPUTED:
        program = _program(written, computed)
        gm, expected = _graph(program), _x()
        program(expected)
        before = [_x() for _ in range(2)]
        for x in before:
            _run_in_loops(gm, x, order)
        copied = realize_sources(gm.graph)
        gm.graph.lint()
        x = _x()
        _run_in_loops(gm, x, order)
        torch.testing.assert_close(x, expected, msg=lambda text, name=computed: f"{name}: {text}")
        if copied and all(torch.equal(x, expected) for x in before):
            for_nothing.append(computed)
    assert written in SPARSE or set(for_nothing) <= set(BY_CHANCE)


#: Some of each kind, since building code takes long.
BUILT = [
    ("the transpose", "a column and a number"), ("the transpose", "a row of a sum"),
    ("the transpose", "the transpose of a sum"), ("rows", "sines in reverse"),
    ("columns", "rows by index"), ("the transpose of a part", "in 64 bits"),
    ("the transpose of a part", "an element"), ("the transpose", "a diagonal"),
    ("three dims", "a row and a number"), ("with a dim of one", "the same"),
    ("the transpose", "columns of exponentials"), ("by strides", "the transpose of a sum"),
    ("the transpose", "repeated"), ("all", "times the transpose"),
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_generated_code(dynamic: bool) -> None:
    programs = [_program(*one) for one in BUILT if not (dynamic and one[0] == "three dims")]
    inputs = [_x() + place / 100 for place in range(len(programs))]
    wanted = [one.clone() for one in inputs]

    def function(*inputs: Any) -> None:
        for program, x in zip(programs, inputs, strict=True):
            program(x)

    function(*wanted)
    torch._dynamo.reset()
    options: Any = {"xductor.on_error": "raise", "fx_graph_cache": False, "cpp.simdlen": 1}
    with torch.no_grad():
        compiled = torch.compile(function, backend="xductor", dynamic=dynamic, options=options)
        compiled(*inputs)
    for one, found, expected in zip(BUILT, inputs, wanted, strict=False):
        torch.testing.assert_close(found, expected, msg=lambda text, one=one: f"{one}: {text}")


def _copied(program: Callable[..., Any], *inputs: Any) -> int:
    gm = make_fx(program, tracing_mode="symbolic")(*inputs)
    return realize_sources(gm.graph)


#: Epilogues of models, which their loops read in step or not at all.
QUIET: dict[str, Callable[..., Any]] = {
    "a cache": lambda x, y: aten.copy_(x[:, 2:4], (y.t()[:6] * 2)[:, :2]),
    "a cache, moved on": lambda x, y: aten.copy_(x, torch.roll(x, 1, 0)),
    "a parameter": lambda x, y: aten.copy_(x, x - y * 0.1),
    "the transpose of a parameter": lambda x, y: aten.copy_(x, ((x.t() - y.t()) * 0.1).t()),
    "a parameter in one dim": lambda x, y: aten.copy_(x.view(-1), (x * 0.9 + y).view(-1)),
    "statistics": lambda x, y: aten.copy_(x[0], x[0] * 0.9 + y.mean(0) * 0.1),
    "statistics of a batch": lambda x, y: aten.copy_(
        x.select(0, 0), (x[:1] * 0.9 + y.mean(0, True) * 0.1).squeeze(0)
    ),
    "a product": lambda x, y: aten.copy_(x, (x @ y).t()),
    "a count": lambda x, y: aten.copy_(x[0, 0], x[0, 0] + 1),
    "another tensor": lambda x, y: aten.copy_(x.t(), y[0] + 1),
    "another row": lambda x, y: aten.copy_(x[2], (x[3:4] + 1).squeeze(0)),
}  # fmt: skip


@pytest.mark.parametrize("name", QUIET)
def test_quiet(name: str) -> None:
    assert _copied(QUIET[name], _x(), _x() + 1) == 0


def test_symbolic_sizes() -> None:
    assert _copied(lambda x: aten.copy_(x.t(), x[:, 0] + 1), _x()) == 1
    assert _copied(lambda x: aten.copy_(x, (x + 1).t()), _x()) == 1
    assert _copied(lambda x: aten.copy_(x, x[0] * 2), _x()) == 1


def test_each_write_has_its_copy() -> None:
    def twice(x: Any) -> None:
        aten.copy_(x.t(), x[0] + 1)
        aten.copy_(x, x[0] * 2)
        aten.copy_(x, x * 2)

    assert _copied(twice, _x()) == 2


def test_what_the_graph_makes_becomes_another_buffer() -> None:
    assert _copied(lambda x: aten.copy_(y := x.exp(), (y + 1).t()), _x()) == 0
    assert _copied(lambda x: aten.copy_((y := x.exp())[1:], (y + 1).t()[1:]), _x()) == 1
