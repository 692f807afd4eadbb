"""Programs that write, through the whole stage: results, inputs afterwards and aliases as eager.

The graphs run as FX, so that what is compared is what the passes made of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

# ruff: noqa: E501 - a program is a line of the table

Program = Callable[..., Any]


@torch.library.custom_op("in_place_programs::into", mutates_args=("out",))
def into(out: torch.Tensor, x: torch.Tensor) -> None:
    out.copy_(x * 2)


@torch.library.custom_op("in_place_programs::both", mutates_args=("a", "b"))
def both(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    total = c.sum()
    a.add_(total)
    b.mul_(2)
    return total.clone()


@both.register_fake
def _(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return c.new_empty(())


@torch.library.custom_op("in_place_programs::each", mutates_args=("tensors",))
def each(tensors: list[torch.Tensor], n: int = 3) -> None:
    for one in tensors:
        one.mul_(n)


@torch.library.custom_op("in_place_programs::maybe", mutates_args=("a", "b"))
def maybe(a: torch.Tensor, b: torch.Tensor | None) -> None:
    a.neg_()
    if b is not None:
        b.neg_()


OPS: Any = torch.ops.in_place_programs


def _after(function: Program, result: Program = lambda x, y, i, v: None) -> Program:
    """A program for what it writes, and something that is read afterwards."""

    def program(*inputs: torch.Tensor) -> Any:
        function(*inputs)
        return result(*inputs)

    return program


def _local(write: Program, result: Program = lambda z, *rest: z) -> Program:
    """A program that writes to a tensor of its own."""

    def program(x: Any, y: Any, i: Any, v: Any) -> Any:
        z = x.exp()
        write(z, y, i, v)
        return result(z, y, i, v)

    return program


def _set(key: Any, value: Program = lambda x, y, i, v: v) -> Program:
    def write(x: Any, y: Any, i: Any, v: Any) -> None:
        x[key] = value(x, y, i, v)

    return write


def _cache(x: Any, y: Any, i: Any, v: Any) -> Any:
    x[i] = v
    return (x @ y.t()).softmax(-1) @ x


def _cache_layers(x: Any, y: Any, i: Any, v: Any) -> Any:
    """Two layers of a cache in one tensor, written in turn."""
    layers = x.view(2, 3, 4)
    layers[0, i % 3] = v
    first = (layers[0] @ y[0]).sum()
    layers[1, i % 3] = v * first
    return layers[1] @ y[1]


def _cache_slots(x: Any, y: Any, i: Any, v: Any) -> Any:
    x.index_copy_(0, i, v)
    y.index_copy_(0, i, v + 1)
    return torch.nn.functional.scaled_dot_product_attention(
        v[None, None], x[None, None], y[None, None]
    )


def _cache_returned(x: Any, y: Any, i: Any, v: Any) -> Any:
    x.index_put_((i,), v)
    return x[:3], x


def _copy_then_write(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = torch.diagonal_scatter(x[:4], x[:4].diagonal())
    x.fill_(2)
    return z


def _scatter_then_write(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = torch.slice_scatter(x, v, 0, 1, 3)
    x.zero_()
    return z


def _bits_then_write(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = x.view(torch.int16) * 2
    z.sub_(-4)
    x[:, 1:3] = 2
    return z


def _complex_then_write(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = torch.view_as_complex(x.view(6, 2, 2)) * 2
    x.mul_(3)
    return torch.view_as_real(z)


def _flipped(x: Any, y: Any, i: Any, v: Any) -> Any:
    x.index_put_((i,), x[i] * 3)
    x.add_(x.flip(0))
    return x.sum()


def _two_copies(x: Any, y: Any, i: Any, v: Any) -> Any:
    x[i] = v
    z = x * 1
    x.copy_(y)
    return z


def _returns_both(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = x.index_put((i,), v)
    x.copy_(z)
    return z


def _swapped(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = x.clone()
    x.copy_(y)
    y.copy_(z)


def _old_and_new(z: Any, y: Any, i: Any, v: Any) -> Any:
    return z, z[0], z.t()


def _writes_copy(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = x.exp()
    w = z.clone()
    w[i] = v
    return z + w, z


def _parts(x: Any, y: Any, i: Any, v: Any) -> Any:
    top, rest = x[:2], x[2:]
    top.mul_(2)
    rest.add_(top.sum())
    return top + 1


def _cond(x: Any, y: Any, i: Any, v: Any) -> Any:
    def up(x: Any, v: Any) -> Any:
        z = x.exp()
        z[1:3] = v
        return z * 2

    def down(x: Any, v: Any) -> Any:
        return x.sin() + v.sum()

    z = torch.cond(x.sum() > 0, up, down, (x, v))
    z[i] = v
    return z


def _while(x: Any, y: Any, i: Any, v: Any) -> Any:
    from torch._higher_order_ops.while_loop import while_loop

    def body(n: Any, z: Any) -> Any:
        w = z.clone()
        w[1:3] = v
        return n + 1, w * 2

    n, z = while_loop(lambda n, z: n < 3, body, (i[0].clone(), x.exp()))
    z[0] = 1
    return n, z


def _unrolled(x: Any, y: Any, i: Any, v: Any) -> Any:
    return _while(x, y, torch.tensor([0]), v)


def _while_within(x: Any, y: Any, i: Any, v: Any) -> Any:
    from torch._higher_order_ops.while_loop import while_loop

    def inner(m: Any, w: Any) -> Any:
        u = w.clone()
        u[0] = w[1]
        return m + 1, u

    def body(n: Any, z: Any) -> Any:
        _, w = while_loop(lambda m, w: m < 2, inner, (i[0].clone(), z.sin()))
        u = w.clone()
        u[1:3] = v
        return n + 1, u

    _, z = while_loop(lambda n, z: n < 2, body, (i[0].clone(), x.exp()))
    x.index_put_((i,), z[:2])
    return z


def _scan(x: Any, y: Any, i: Any, v: Any) -> Any:
    from torch._higher_order_ops.scan import scan

    def step(total: Any, row: Any) -> Any:
        z = row.clone()
        z[1:3] = total[:2]
        return total + z, z * 2

    last, rows = scan(step, v[0].clone(), x.sin())
    x[i] = rows[:2]
    return last, rows


def _scan_of_cond(x: Any, y: Any, i: Any, v: Any) -> Any:
    from torch._higher_order_ops.scan import scan

    def up(total: Any, row: Any) -> Any:
        z = total.exp()
        z[:2] = row[:2]
        return z

    def step(total: Any, row: Any) -> Any:
        return torch.cond(row.sum() > 0, up, lambda t, r: t - r, (total, row)), row.clone()

    last, rows = scan(step, v[0].clone(), x.clone())
    x[0] = last
    return rows


def _map(x: Any, y: Any, i: Any, v: Any) -> Any:
    from torch._higher_order_ops.map import map as map_rows

    def of_row(row: Any, v: Any) -> Any:
        z = row.exp()
        z[1:3] = v[0, :2]
        return z

    rows = map_rows(of_row, x, v)
    y.copy_(rows)
    y[i] = v
    return rows


def _region_body(x: Any, v: Any) -> Any:
    z = x.sin()
    z[1:3] = v
    return z * 2


_nested: Any = torch.compiler.nested_compile_region(_region_body)


def _regions(x: Any, y: Any, i: Any, v: Any) -> Any:
    z = _nested(x, v) + _nested(y, v)
    x[i] = z[:2]
    return z


foreach_add_: Any = getattr(torch, "_foreach_add_")  # noqa: B009 - not among torch's names
foreach_mul_: Any = getattr(torch, "_foreach_mul_")  # noqa: B009

READ: Program = lambda x, y, i, v: (x * 2, y.sum())  # noqa: E731

PROGRAMS: dict[str, Program] = {
    "index put": _after(lambda x, y, i, v: x.index_put_((i,), v), READ),
    "index put, accumulated": _after(lambda x, y, i, v: x.index_put_((i,), v, True), READ),
    "index put of itself": _after(lambda x, y, i, v: x.index_put_((i,), x[i] * 3), READ),
    "index put, of a mask": _after(lambda x, y, i, v: x.masked_fill_(x > 0, 1.0), READ),
    "index put by a tensor of bools": _after(_set((slice(None), 1), lambda x, y, i, v: y[:, 0]), READ),
    "index put twice": _after(lambda x, y, i, v: (x.index_put_((i,), v), x.index_put_((i + 1,), v))),
    "index put into two": _after(lambda x, y, i, v: (x.index_put_((i,), v), y.index_put_((i,), v)), READ),
    "index put into a transposed input": _after(lambda x, y, i, v: x.t().index_put_((i,), y[:2, 0].view(2, 1))),
    "index put into a flat input": _after(lambda x, y, i, v: x.view(-1).index_put_((i,), v[0, :2]), READ),
    "index put into a row": _after(lambda x, y, i, v: x[1].index_put_((i,), v[0, :2]), READ),
    "index put of what was made": _local(lambda z, y, i, v: z.index_put_((i,), v)),
    "index put, the old is returned": lambda x, y, i, v: (z := x.exp(), z.index_put((i,), v)),
    "index put, a row of the old is returned": lambda x, y, i, v: ((z := x.exp())[0], z.index_put((i,), v)),
    "index put, the old is read later": lambda x, y, i, v: (
        (z := x.exp()).index_put((i,), v) * 2 + z.sin()
    ),
    "index add": _after(lambda x, y, i, v: x.index_add_(0, i, v), READ),
    "index copy": _after(lambda x, y, i, v: x.index_copy_(0, i, v), READ),
    "index fill": _after(lambda x, y, i, v: x.index_fill_(0, i, 7.0), READ),
    "scatter": _after(lambda x, y, i, v: x.scatter_(0, i[None].expand(2, 2), v[:, :2]), READ),
    "scatter add": _after(lambda x, y, i, v: x.scatter_add_(0, i[None].expand(2, 2), v[:, :2]), READ),
    "cache": _cache,
    "cache of two layers": _cache_layers,
    "cache of slots": _cache_slots,
    "cache that is returned": _cache_returned,
    "slice": _after(_set(slice(1, 3)), READ),
    "slice of columns": _after(_set((slice(None), slice(1, 3)), lambda x, y, i, v: y[:, :2]), READ),
    "slice with steps": _after(_set(slice(0, 4, 2)), READ),
    "slice of a slice": _after(lambda x, y, i, v: x[1:5][1:3].copy_(v), READ),
    "row of a slice": _after(lambda x, y, i, v: x[1:3][0].copy_(v[0]), READ),
    "row": _after(_set(2, lambda x, y, i, v: v[1]), READ),
    "last row": _after(_set(-1, lambda x, y, i, v: v[1]), READ),
    "element": _after(_set((1, 2), lambda x, y, i, v: v[0, 0]), READ),
    "two slices": _after(lambda x, y, i, v: (x[:2].copy_(v), x[2:4].copy_(v + 1)), READ),
    "slices that overlap": _after(lambda x, y, i, v: (x[:2].copy_(v), x[1:3].copy_(v + 1)), READ),
    "slice of itself, moved": _after(_set(slice(1, 6), lambda x, y, i, v: x[:5].clone()), READ),
    "slice that is added to": _after(lambda x, y, i, v: x[1:3].add_(v).mul_(x[3:5]), READ),
    "slice of what was made": _local(_set(slice(1, 3)), _old_and_new),
    "slice of what was made, in a product": _local(_set(slice(1, 3)), lambda z, y, i, v: z @ y.t()),
    "diagonal": _after(lambda x, y, i, v: x[:4].diagonal().copy_(y[0]), READ),
    "diagonal of what was made": _local(lambda z, y, i, v: z[:4].diagonal().mul_(2)),
    "as strided": _after(lambda x, y, i, v: x.as_strided((2, 4), (8, 1)).copy_(v), READ),
    "as strided of what was made": _local(lambda z, y, i, v: z.as_strided((2, 4), (8, 1), 4).copy_(v)),
    "transposed": _after(lambda x, y, i, v: x.t()[1].copy_(y[:, 0]), READ),
    "broadcast": _after(lambda x, y, i, v: x[1:3].copy_(v[0]), READ),
    "another dtype": _after(lambda x, y, i, v: x[1:3].copy_(v.double()), READ),
    "a copy, and then a write": _copy_then_write,
    "a scatter, and then a write": _scatter_then_write,
    "bits, and then a write": _bits_then_write,
    "complex, and then a write": _complex_then_write,
    "flipped between two writes": _flipped,
    "two copies back": _two_copies,
    "the new content is returned too": _returns_both,
    "swapped": _swapped,
    "a copy is written": _writes_copy,
    "parts in turn": _parts,
    "foreach": _after(lambda x, y, i, v: foreach_add_([x, y], 1), READ),
    "foreach of lists": _after(lambda x, y, i, v: foreach_mul_([x, y], [y.clone(), x.clone()]), READ),
    "foreach of one by another": _after(lambda x, y, i, v: foreach_add_([x, y], [y, y]), READ),
    "foreach of views": _after(lambda x, y, i, v: foreach_add_([x[:2], x[2:4]], 1), READ),
    "foreach of what was made": lambda x, y, i, v: (
        foreach_mul_(z := [x.exp(), y.exp()], 2), z[0] + z[1], z[0])[1:],
    "custom": _after(lambda x, y, i, v: OPS.into(x, y), READ),
    "custom, of what was made": _local(lambda z, y, i, v: OPS.into(z, y)),
    "custom, of a part": _after(lambda x, y, i, v: OPS.into(x[1:3], v), READ),
    "custom, of columns": _after(lambda x, y, i, v: OPS.into(x[:, 1:3], y[:, :2]), READ),
    "custom, of a transposed": _local(lambda z, y, i, v: OPS.into(z.t(), y.t())),
    "custom, of two": _after(lambda x, y, i, v: OPS.both(x, y, v), READ),
    "custom, of two parts": _local(lambda z, y, i, v: OPS.both(z[:2], z[2:4], v), _old_and_new),
    "custom, read later": lambda x, y, i, v: (
        (z := x.exp()), OPS.into(w := z.clone(), y), z + w)[::2],
    "custom, of what it reads": _after(lambda x, y, i, v: OPS.both(x, y, x.clone()), READ),
    "custom, twice": _local(lambda z, y, i, v: (OPS.into(z[:2], v), OPS.into(z[1:3], v + 1))),
    "custom, of a list": _after(lambda x, y, i, v: OPS.each([x, y, v]), READ),
    "custom, of a list of parts": _local(lambda z, y, i, v: OPS.each([z[:2], z[3:]], 5)),
    "custom, of none": _after(lambda x, y, i, v: OPS.maybe(x, None), READ),
    "custom, of one and none": _local(lambda z, y, i, v: (OPS.maybe(z, y), OPS.maybe(z, None))),
    "custom, of a bool view": _local(lambda z, y, i, v: OPS.maybe(z.view(torch.int32), None)),
    "custom, and index put": _after(lambda x, y, i, v: (OPS.into(x, y), x.index_put_((i,), v)), READ),
    "cond": _cond,
    "while loop": _while,
    "while loop, unrolled": _unrolled,
    "while loop within another": _while_within,
    "scan": _scan,
    "scan of cond": _scan_of_cond,
    "map": _map,
    "regions": _regions,
}  # fmt: skip


def _inputs() -> list[torch.Tensor]:
    x = torch.arange(24.0).view(6, 4) / 7 - 1
    return [x, x.sin() + 2, torch.tensor([0, 2]), x[:2] * 3 + 1]


def _sharing(inputs: list[torch.Tensor], found: Any) -> list[int]:
    leaves = tree_leaves((inputs, found))
    storages = [one.untyped_storage().data_ptr() for one in leaves if isinstance(one, torch.Tensor)]
    return [storages.index(one) for one in storages]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_eager(name: str, dynamic: bool) -> None:
    if dynamic and name == "regions":
        pytest.skip("Dynamo does not take a region twice with symbolic sizes")
    program, inputs = PROGRAMS[name], _inputs()
    copies = copy.deepcopy(inputs)
    with torch.no_grad():
        expected = program(*copies)
        with without_codegen():
            options: Any = {"xductor.on_error": "raise"}
            compiled = torch.compile(program, backend="xductor", dynamic=dynamic, options=options)
            found = compiled(*inputs)
    torch.testing.assert_close((found, inputs), (expected, copies))
    assert _sharing(inputs, found) == _sharing(copies, expected)


#: Where a write to an input needs no copy of it, and how often something is done in place.
IN_PLACE = ("index put", "index put into two", "cache", "cache that is returned", "slice",
            "row of a slice", "foreach", "custom", "custom, of a part")  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_written_in_place(name: str) -> None:
    with torch.no_grad(), stage_records.record() as records, without_codegen():
        torch.compile(PROGRAMS[name], backend="xductor")(*_inputs())
    assert sum(one.applications("reinplace_inplaceable_ops") for one in records) > 0


@pytest.mark.parametrize("level", ["types", "stage"])
@pytest.mark.parametrize("name", ["index put", "foreach", "custom, of a list of parts", "cond"])
def test_what_it_leaves_verifies(name: str, level: str) -> None:
    """The rules of a functional stage hold up to the first write, and types all the way."""
    options: Any = {"xductor.on_error": "raise", "xductor.verify": level}
    with torch.no_grad(), stage_records.record() as records, without_codegen():
        torch.compile(PROGRAMS[name], backend="xductor", options=options)(*_inputs())
    assert {(one.verify_level, one.fallback) for one in records} == {(level, None)}
    tail = ("reinplace_inplaceable_ops", "decompose_auto_functionalized")
    assert sum(one.applications(name) for one in records for name in tail) > 0


def test_a_tail_is_raised_once() -> None:
    """From the sort on nothing is bridged on such a graph, and it is lowered and raised once."""
    with torch.no_grad(), stage_records.record() as records, without_codegen():
        torch.compile(PROGRAMS["custom, and index put"], backend="xductor")(*_inputs())
    (record,) = [one for one in records if one.stage == "post_grad"]
    assert record.applications("reinplace_inplaceable_ops") == 2
    assert record.applications("decompose_auto_functionalized") == 1
    bridged = {one.name for one in record.passes if one.kind == "bridged"}
    assert bridged.isdisjoint(("reinplace_inplaceable_ops", "decompose_auto_functionalized"))
