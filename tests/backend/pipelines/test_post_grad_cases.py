"""Programs that passes of the post-grad stage get wrong, or miss, with variants of each kind.

Under `default` and `fast`, static and dynamic. The graphs run as FX; where only generated code goes
wrong, code is generated.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._inductor import config
from torch.utils._pytree import tree_leaves

from xductor.backend.run_as_fx.without_codegen import without_codegen

aten = torch.ops.aten
foreach: Any = torch  # its `_foreach_` functions are not among torch's names
NAN = float("nan")
Variant = tuple[Callable[..., Any], Callable[[], tuple[Tensor, ...]]]


def rows(*shape: int, dtype: torch.dtype = torch.float32, start: float = -3) -> Tensor:
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) / 5 + start).to(dtype).view(shape)


def _then(write: Callable[..., Any]) -> Callable[..., Any]:
    """The program that computes something, writes to its first input, and returns that."""

    def program(x: Any, *others: Any) -> Any:
        made = write(x, *others)
        x.fill_(2)
        return made

    return program


def _written(write: Callable[..., Any]) -> Callable[..., Any]:
    """The program that writes to its first input and returns its sum."""

    def program(x: Any, *others: Any) -> Any:
        write(x, *others)
        return x.sum()

    return program


def _matrices(count: int, size: int = 4, dtype: torch.dtype = torch.float32) -> Any:
    return lambda: tuple(rows(size, size, dtype=dtype, start=-place) for place in range(count))


@dataclass(frozen=True)
class Kind:
    """Variants of one kind, and how they are compiled.

    - `lacks`: a part of the names of calls that the graph for code generation must not have.
    """

    variants: Mapping[str, Variant]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    trains: bool = False
    lacks: str = ""
    generates: bool = False


def _options(**passes: Any) -> dict[str, Any]:
    return {"post_grad_fusion_options": {"normalization_aten_pass": {}, **passes}}


def _uneven(count: int, dim: int) -> Callable[..., Any]:
    return lambda x: [piece + place for place, piece in enumerate(x.chunk(count, dim))]


def _rows_of(dim: int, joined: int, count: int, *, also: bool = False) -> Callable[..., Any]:
    def program(x: Any) -> Any:
        made = torch.cat([x.select(dim, place) for place in range(count)], joined)
        return (made, x.sum(0), x.select(dim, 1) * 2) if also else made

    return program


def _pieces_of_two(x: Any, y: Any) -> Any:
    a, b = x.split([3, 3], 1), y.split([3, 3], 1)
    return torch.cat([b[0].reshape(2, 3, 1), a[0].reshape(2, 3, 1)], 1), a[1] + b[1]


def _pieces_in_another_order(x: Any, y: Any) -> Any:
    a = x.split([3, 3], 1)
    return torch.cat([a[1].reshape(2, 1, 3), a[0].reshape(2, 1, 3), y.view(2, 2, 3)], 1)


def _pieces_that_are_read(x: Any, y: Any) -> Any:
    a = x.split([2, 2, 2], 1)
    made = torch.cat([piece.reshape(2, 2, 1) for piece in a[:2]], 1)
    return made, a[0] * 2, a[2] + y[:, :2]


KINDS: dict[str, Kind] = {
    "running sums of a constant, of a dtype": Kind(
        {
            "bools as bfloat16": (
                lambda x: torch.ones(3, 2, dtype=torch.bool).cumsum(0, dtype=torch.bfloat16) + x,
                lambda: (torch.zeros(1, dtype=torch.bfloat16),),
            ),
            "bytes that wrap": (
                lambda x: (
                    torch.full((2, 4), 100, dtype=torch.uint8).cumsum(1, dtype=torch.uint8) + x
                ),
                lambda: (torch.zeros(1, dtype=torch.uint8),),
            ),
            "floats as int32": (
                lambda x: torch.full((3,), 2.0).cumsum(-1, dtype=torch.int32) - x,
                lambda: (torch.zeros(1, dtype=torch.int32),),
            ),
        }
    ),
    "running sums of no dims": Kind(
        {
            "negative dim": (lambda x: torch.full((), -2.5).cumsum(-1) * x, lambda: (rows(2),)),
            "bool": (
                lambda x: torch.ones((), dtype=torch.bool).cumsum(0) + x,
                lambda: (rows(2, dtype=torch.int64),),
            ),
            "of a dtype": (
                lambda x: torch.full((), 7).cumsum(0, dtype=torch.float16) + x,
                lambda: (rows(2, dtype=torch.float16),),
            ),
        }
    ),
    "a factor of a product that is added": Kind(
        {
            "negative": (lambda a, b, c: torch.add(c, a @ b, alpha=-3), _matrices(3)),
            "subtracted": (lambda a, b, c: torch.sub(c[0], torch.mm(a, b), alpha=2), _matrices(3)),
            "of what is added": (lambda a, b, c: torch.add(a @ b, c, alpha=0.5), _matrices(3)),
            "integers": (
                lambda a, b, c: torch.add(c, a @ b, alpha=2),
                _matrices(3, dtype=torch.int64),
            ),
        }
    ),
    "a factor of a product that is added, in training": Kind(
        {
            "of the product": (lambda a, b, c: torch.add(c, a @ b, alpha=-3), _matrices(3)),
            "of a row": (lambda a, b, c: torch.add(a @ b, c[0], alpha=0.25), _matrices(3)),
            "subtracted": (lambda a, b, c: torch.sub(a @ b, c, alpha=4), _matrices(3)),
        },
        trains=True,
    ),
    "a factor of a sum of two products": Kind(
        {
            "negative": (
                lambda a, b, c, d: torch.add(a @ b, c @ d, alpha=-1),
                _matrices(4),
            ),
            "subtracted": (lambda a, b, c, d: torch.sub(a @ b, c @ d, alpha=2), _matrices(4)),
            "of doubles": (
                lambda a, b, c, d: torch.add(torch.mm(a, b), torch.mm(c, d), alpha=0.5),
                _matrices(4, dtype=torch.float64),
            ),
        },
        {"max_autotune": True, "max_autotune_gemm_backends": "ATEN"},
    ),
    "pieces of a cat that promotes": Kind(
        {
            "bfloat16 and double": (
                lambda a, b: torch.split(torch.cat([a, b], 0), [2, 3], 0),
                lambda: (rows(2, 3, dtype=torch.bfloat16), rows(3, 3, dtype=torch.float64)),
            ),
            "bool and int64": (
                lambda a, b: torch.split(torch.cat([a, b], 1), [1, 2], 1),
                lambda: (rows(2, 1) > 0, rows(2, 2, dtype=torch.int64)),
            ),
            "float32 and float16, by chunks": (
                lambda a, b: [one * 2 for one in torch.cat([a, b], -1).chunk(2, -1)],
                lambda: (rows(2, 3), rows(2, 3, dtype=torch.float16)),
            ),
        }
    ),
    "a cat of pieces, whose tensor is written later": Kind(
        {
            "chunks": (_then(lambda x: torch.cat(x.chunk(2, 0), 0)), lambda: (rows(4, 3),)),
            "rows": (_then(lambda x: torch.stack(x.unbind(1), 1)), lambda: (rows(4, 3),)),
            "slices": (_then(lambda x: torch.cat([x[:1], x[1:]])), lambda: (rows(4, 3),)),
        }
    ),
    "what was there is put back, and the tensor is written later": Kind(
        {
            "select": (_then(lambda x: torch.select_scatter(x, x[1], 0, 1)), lambda: (rows(3, 3),)),
            "slice": (
                _then(lambda x: torch.slice_scatter(x, x[:, :2], 1, 0, 2)),
                lambda: (rows(3, 3),),
            ),
            "as strided": (
                _then(lambda x: torch.as_strided_scatter(x, x.as_strided((2,), (4,)), (2,), (4,))),
                lambda: (rows(3, 3),),
            ),
        }
    ),
    "a scatter, and the tensor is written later": Kind(
        {
            "select": (
                _then(lambda x, s: torch.select_scatter(x, s[0], 0, 2)),
                lambda: (rows(4, 6), rows(2, 6, start=7)),
            ),
            "with steps": (
                _then(lambda x, s: torch.slice_scatter(x, s, 0, 0, 4, 2)),
                lambda: (rows(4, 6, dtype=torch.int64), rows(2, 6, dtype=torch.int64, start=7)),
            ),
            "put by index": (
                _then(lambda x, s: x.index_put((torch.tensor([3, 1]),), s)),
                lambda: (rows(4, 6), rows(2, 6, start=7)),
            ),
        }
    ),
    "another dtype of the same bytes, read before a write": Kind(
        {
            "halves": (
                _then(lambda x: x.view(torch.int16) + 1),
                lambda: (rows(4, 6),),
            ),
            "wider": (_then(lambda x: x.view(torch.float64) * 2), lambda: (rows(4, 6),)),
            "of the same width": (_then(lambda x: x.view(torch.int32) ^ 5), lambda: (rows(4, 6),)),
        },
        generates=True,
    ),
    "uneven pieces of a dim from the end": Kind(
        {
            "the last": (_uneven(3, -1), lambda: (rows(2, 7),)),
            "more than there are": (_uneven(6, -2), lambda: (rows(4, 3),)),
            "by sizes": (
                lambda x: [one * 2 for one in x.split([1, 4, 2], -1)],
                lambda: (rows(2, 7),),
            ),
        },
        _options(),
    ),
    "pieces that are joined twice": Kind(
        {
            "reversed": (
                lambda x: torch.cat([*x.split(1, 1), *reversed(x.split(1, 1))], 1),
                lambda: (rows(2, 4),),
            ),
            "in two cats": (
                lambda x: (torch.cat((p := x.split(1, 0))[1:]), torch.cat([*p, p[0]])),
                lambda: (rows(5, 2),),
            ),
            "some of them": (
                lambda x: torch.cat([*(p := x.split([2, 1, 3], 1)), p[0], p[2]], 1),
                lambda: (rows(2, 6),),
            ),
        },
        _options(split_cat_aten_pass={"threshold_to_cat": 3}),
    ),
    "reshaped pieces of other tensors": Kind(
        {
            "two tensors": (_pieces_of_two, lambda: (rows(2, 6), rows(2, 6, start=20))),
            "another order": (_pieces_in_another_order, lambda: (rows(2, 6), rows(2, 6, start=20))),
            "read elsewhere": (_pieces_that_are_read, lambda: (rows(2, 6), rows(2, 6, start=20))),
        },
        _options(move_view_after_cat_aten_pass={}),
    ),
    "a cat of rows of a tensor that has other readers": Kind(
        {
            "of the middle dim": (_rows_of(1, 1, 3, also=True), lambda: (rows(2, 3, 4),)),
            "of the first dim": (_rows_of(0, 0, 2, also=True), lambda: (rows(2, 3, 4),)),
            "of some rows": (_rows_of(1, 1, 2, also=True), lambda: (rows(2, 3, 4),)),
        },
        _options(select_cat_aten_pass={}),
    ),
    "a cat of rows of a tensor that cannot be viewed": Kind(
        {
            "transposed": (
                lambda x: _rows_of(1, 1, 3)(x.transpose(0, 2)),
                lambda: (rows(4, 3, 2),),
            ),
            "expanded": (
                lambda x: _rows_of(1, 1, 3)(x.expand(2, 3, 4)),
                lambda: (rows(2, 1, 4),),
            ),
            "every second": (lambda x: _rows_of(1, 1, 3)(x[:, ::2]), lambda: (rows(2, 6, 4),)),
        },
        _options(select_cat_aten_pass={}),
    ),
    "factors of a small product": Kind(
        {
            "a bias that is not read": (
                lambda b, x, w: torch.addmm(b, x, w, beta=0, alpha=2),
                lambda: (torch.full((70,), NAN), rows(1, 80), rows(80, 70) / 100),
            ),
            "a matrix": (
                lambda b, x, w: torch.addmm(b, x, w, beta=-2, alpha=0.5),
                lambda: (rows(1, 70), rows(1, 80), rows(80, 70) / 100),
            ),
            "products": (
                lambda b, x, w: torch.baddbmm(b, x, w, beta=3, alpha=0.25),
                lambda: (rows(20, 2, 2), rows(20, 2, 3), rows(20, 3, 2)),
            ),
        },
        {"post_grad_fusion_options": {"decompose_mm_pass": {}}},
    ),
    "other elements are read between two writes": Kind(
        {
            "rolled": (
                _written(lambda x, i: (x.index_put_((i,), x[i] + 1), x.add_(x.roll(1, 0)))),
                lambda: (rows(5, 4), torch.tensor([0, 3])),
            ),
            "transposed": (
                _written(lambda x, i: (x.index_put_((i,), x[i] * 2), x.mul_(x.t().clone()))),
                lambda: (rows(4, 4), torch.tensor([2, 1])),
            ),
            "a slice": (
                _written(lambda x, i: (x[1:3].mul_(2), x.sub_(x.flip(0, 1)))),
                lambda: (rows(5, 4), torch.tensor([0, 3])),
            ),
        },
        generates=True,
    ),
    "a call on lists reads other elements": Kind(
        {
            "flipped": (
                _written(lambda x, y: foreach._foreach_mul_([x, y], [x.flip(0), y.flip(1)])),
                lambda: (rows(5, 4), rows(3, 4)),
            ),
            "rolled": (
                _written(lambda x, y: foreach._foreach_addcmul_([x], [x.roll(1, 1)], [x])),
                lambda: (rows(5, 4), rows(3, 4)),
            ),
            "by index": (
                _written(lambda x, y: foreach._foreach_copy_([x, y], [x[[4, 0, 1, 2, 3]], y])),
                lambda: (rows(5, 4), rows(3, 4)),
            ),
        },
        generates=True,
    ),
    "all pieces are joined again": Kind(
        {
            "by sizes": (
                lambda x: torch.cat(x.split([2, 5, 1], 1), 1) + 1,
                lambda: (rows(2, 8),),
            ),
            "chunks from the end": (
                lambda x: torch.cat(x.chunk(4, -2), -2) * 2,
                lambda: (rows(8, 2),),
            ),
            "slices": (
                lambda x: torch.cat([x[:1], x[1:3], x[3:]]) - 1,
                lambda: (rows(7, 2),),
            ),
        },
        lacks="cat",
    ),
    "all rows are stacked again": Kind(
        {
            "of the first dim": (lambda x: torch.stack(x.unbind(0)) + 1, lambda: (rows(3, 4),)),
            "of the last dim": (lambda x: torch.stack(x.unbind(-1), -1) * 2, lambda: (rows(3, 4),)),
            "of the middle dim": (
                lambda x: torch.stack(x.unbind(1), 1) - 1,
                lambda: (rows(2, 3, 4),),
            ),
        },
        lacks="cat",
    ),
}


@contextmanager
def _left(names: list[str]) -> Iterator[None]:
    """Note what the graphs call from which code is to be generated."""
    from torch._inductor import compile_fx

    passes = compile_fx._recursive_post_grad_passes

    def noted(gm: Any, *args: Any, **kwargs: Any) -> None:
        passes(gm, *args, **kwargs)
        names.extend(str(node.target) for node in gm.graph.nodes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile_fx, "_recursive_post_grad_passes", noted)
        yield


def _function(kind: Kind) -> Callable[..., Any]:
    """All variants in one graph, each with inputs of its own."""
    variants = list(kind.variants.values())
    counts = [len(make()) for _, make in variants]

    def function(*inputs: Tensor) -> list[Any]:
        results, place = [], 0
        for (program, _), count in zip(variants, counts, strict=True):
            results.append(program(*inputs[place : place + count]))
            place += count
        return results

    return function


def _run(function: Callable[..., Any], kind: Kind, inputs: list[Tensor]) -> tuple[Any, ...]:
    """Results, inputs afterwards, gradients, and which tensors share storage."""
    if not kind.trains:
        with torch.no_grad():
            results = function(*inputs)
    else:
        for one in inputs:
            one.requires_grad_()
        results = function(*inputs)
        torch.stack([one.sum() for one in results]).sum().backward()
    leaves = [one for one in tree_leaves((inputs, results)) if isinstance(one, Tensor)]
    storages = [one.untyped_storage().data_ptr() for one in leaves]
    sharing = [storages.index(one) for one in storages]
    return results, inputs, [one.grad for one in inputs], sharing


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("numerics", ["default", "fast"])
@pytest.mark.parametrize("name", KINDS)
def test_as_eager(name: str, numerics: str, dynamic: bool) -> None:
    torch._dynamo.reset()
    kind = KINDS[name]
    function = _function(kind)
    given = [one for _, make in kind.variants.values() for one in make()]
    wanted = _run(function, kind, copy.deepcopy(given))
    options: Any = {"xductor.on_error": "raise", "xductor.numerics": numerics}
    names: list[str] = []
    built = kind.generates and dynamic == (numerics == "fast")
    with (
        config.patch({"fx_graph_cache": False, **kind.options}),
        _left(names),
        nullcontext() if built else without_codegen(),
    ):
        compiled = torch.compile(function, backend="xductor", dynamic=dynamic, options=options)
        found = _run(compiled, kind, copy.deepcopy(given))
    for ours, eager in zip(found[:3], wanted[:3], strict=True):
        torch.testing.assert_close(ours, eager, equal_nan=True)
    assert found[3] == wanted[3]
    assert names
    assert not kind.lacks or not any(kind.lacks in one for one in names)
