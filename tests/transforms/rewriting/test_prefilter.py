"""Where a pass applies, the look at the FX graph that decides on lowering it says that it may."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.ir import entry_graph, parse_ir
from xductor.transforms.rows import registry

aten = torch.ops.aten
CONTIGUOUS = torch.contiguous_format
FILES = Path(__file__).parents[2] / "filecheck" / "transforms"
ROWS = [row for row in registry.rows() if row.factory and (FILES / f"{row.name}.mlir").exists()]


def _graphs(name: str) -> Iterator[ModuleOp]:
    """The graphs of a pass's FileCheck file that text says all of, each by itself: they refer to no
    other graph, hold no constants, and need no ShapeEnv.
    """
    lines = (FILES / f"{name}.mlir").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.strip().startswith("//"))
    for part in re.split(r"^(?=fx\.graph)", text, flags=re.MULTILINE):
        alone = re.match(r"fx\.graph @(?!.*declared)", part) and part.count("@") == 1
        if alone and not re.search(r"fx\.get_attr|sym<|^}\s*}", part, flags=re.MULTILINE):
            yield parse_ir(part)


@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_no_graph_of_a_filecheck_file_is_missed(name: str) -> None:
    cls = registry.typed_class(name)
    stages = (cls.stage,) if isinstance(cls.stage, str) else cls.stage
    for module in _graphs(name):
        graph: Any = entry_graph(module)
        if graph.stage.data not in stages:
            continue
        before = module.clone()
        if cls().rewrite(module):
            assert cls().may_fire(to_fx(before).graph), graph.sym_name.data


int8, bfloat16 = torch.int8, torch.bfloat16


def _scaled(x: Any, dtype: torch.dtype) -> Any:
    weight = torch.ops.prims.convert_element_type(x.to(int8), dtype)
    rows = torch.ops.prims.convert_element_type(x, dtype)
    return torch.mm(rows, weight.permute(1, 0)) * rows[0, 0]


FIRES: dict[str, tuple[str, Callable[..., Any]]] = {
    "a permutation in a list": ("randperm_index", lambda x: x[torch.randperm(8)]),
    "a slice of one": ("randperm_index", lambda x: x[torch.randperm(8)[:3]]),
    "a cat in a list": (
        "cat_slice_cat",
        lambda x: torch.cat([c := torch.cat([x, x + 1], 1), c[:, :3]], 1),
    ),
    "two reductions of one tensor": ("reuse_partial", lambda x: (x.amax(1), x.amax())),
    "a product with what was widened": ("woq_lowerings", lambda x: _scaled(x, bfloat16)),
    "a full slice": ("remove_noop_ops", lambda x: aten.slice.Tensor(x, 0, 0, 8) + 1),
    "a cat of one": ("remove_noop_ops", lambda x: torch.cat([x]) + 1),
    "a power of one": ("remove_noop_ops", lambda x: aten.pow.Tensor_Scalar(x, 1) + 1),
    "rounded integers": ("remove_noop_ops", lambda x: x.long().floor() + 1),
    "all that is replaced": ("remove_noop_ops", lambda x: aten.slice_scatter(x, x + 1) + 1),
    "a view by name": ("remove_noop_ops", lambda x: aten.view(x, size=[8, 6]) + 1),
    "pieces": ("cat_of_pieces", lambda x: torch.cat([x[:2], x[2:5]]) + 1),
    "pieces that split gives": ("cat_of_pieces", lambda x: torch.cat(x.split(2)[:2]) + 1),
    "pieces of a view": ("cat_of_pieces", lambda x: torch.cat([x.view(-1)[:2], x[0, 2:3]]) + 1),
    "pieces behind copies": (
        "cat_of_pieces",
        lambda x: torch.cat([x[:2].clone(), x[2:5].clone()]) + 1,
    ),
}
STAYS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a product with another dtype": ("woq_lowerings", lambda x: _scaled(x, torch.float32)),
    "a product without a conversion": ("woq_lowerings", lambda x: torch.mm(x, x.t()) * x[0, 0]),
    "another index": ("randperm_index", lambda x: x[torch.arange(8).flip(0)]),
    "a cat of others": ("cat_slice_cat", lambda x: torch.cat([x + 1, x[:, :3]], 1)),
    "reductions of two tensors": ("reuse_partial", lambda x: (x.amax(1), (x + 1).amax())),
    "maximum and minimum": ("reuse_partial", lambda x: (x.amax(1), x.amin())),
    "a part": ("remove_noop_ops", lambda x: x[1:] + 1),
    "other strides": ("remove_noop_ops", lambda x: aten.clone(x.t(), memory_format=CONTIGUOUS)),
    "a square": ("remove_noop_ops", lambda x: x**2),
    "rounded numbers": ("remove_noop_ops", lambda x: x.floor() + 1),
    "a part that is replaced": ("remove_noop_ops", lambda x: aten.slice_scatter(x, x[:2], 0, 0, 2)),
    "a cat of two": ("remove_noop_ops", lambda x: torch.cat([x[:0], x])),
    "turned halves": ("cat_of_pieces", lambda x: torch.cat([-x[:, 2:], x[:, :2]], 1)),
}  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("what", FIRES)
def test_what_a_pass_may_change_is_seen(what: str, dynamic: bool) -> None:
    name, function = FIRES[what]
    mode = "symbolic" if dynamic else "fake"
    gm = make_fx(function, tracing_mode=mode)(torch.randn(8, 6))
    assert registry.typed_class(name).may_apply(gm.graph)


@pytest.mark.parametrize("what", STAYS)
def test_what_a_pass_would_leave_alone_is_not_lowered(what: str) -> None:
    name, function = STAYS[what]
    gm = make_fx(function, tracing_mode="fake")(torch.randn(8, 6))
    assert not registry.typed_class(name).may_apply(gm.graph)
