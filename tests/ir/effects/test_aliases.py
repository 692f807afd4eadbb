"""Alias facts against what the kernels return."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from xductor.ir.effects.aliases import AliasFact, needs_storage_check, schema_aliases

aten = torch.ops.aten
prims = torch.ops.prims


def _x() -> torch.Tensor:
    return torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)


def _m() -> torch.Tensor:
    return torch.ones(4, 4)


def _c() -> torch.Tensor:
    return torch.ones(2, 2, dtype=torch.complex64)


def _i() -> torch.Tensor:
    return torch.tensor([0, 1])


# (overload, arguments after it)
CALLS: list[tuple[Any, Callable[[], tuple[Any, ...]]]] = [
    (aten.view.default, lambda: (_x(), [6, 4])),
    (aten.view.dtype, lambda: (_x(), torch.int32)),
    (aten._unsafe_view.default, lambda: (_x(), [6, 4])),
    (aten._reshape_alias.default, lambda: (_x(), [6, 4], [4, 1])),
    (aten.reshape.default, lambda: (_x(), [6, 4])),
    (aten.reshape.default, lambda: (_x().permute(2, 1, 0), [6, 4])),
    (aten.permute.default, lambda: (_x(), [2, 0, 1])),
    (aten.transpose.int, lambda: (_x(), 0, 1)),
    (aten.t.default, lambda: (_m(),)),
    (aten.expand.default, lambda: (_m(), [3, 4, 4])),
    (aten.expand_as.default, lambda: (_m(), torch.ones(3, 4, 4))),
    (aten.broadcast_to.default, lambda: (_m(), [3, 4, 4])),
    (aten.squeeze.default, lambda: (_x(),)),
    (aten.squeeze.dim, lambda: (_x(), 0)),
    (aten.unsqueeze.default, lambda: (_x(), 0)),
    (aten.select.int, lambda: (_x(), 0, 1)),
    (aten.slice.Tensor, lambda: (_x(), 1, 0, 2)),
    (aten.as_strided.default, lambda: (_x(), [2, 2], [1, 1], 3)),
    (aten.diagonal.default, lambda: (_m(),)),
    (aten.unfold.default, lambda: (_m(), 0, 2, 1)),
    (aten.alias.default, lambda: (_x(),)),
    (aten.detach.default, lambda: (_x(),)),
    (aten.narrow.default, lambda: (_x(), 1, 0, 2)),
    (aten.movedim.int, lambda: (_x(), 0, 2)),
    (aten.view_as_real.default, lambda: (_c(),)),
    (aten.view_as_complex.default, lambda: (torch.ones(3, 2),)),
    (aten.real.default, lambda: (_c(),)),
    (aten.imag.default, lambda: (_c(),)),
    (aten._conj.default, lambda: (_c(),)),
    (aten.conj.default, lambda: (_x(),)),
    (aten.resolve_conj.default, lambda: (_x(),)),
    (aten.resolve_conj.default, lambda: (_c().conj(),)),
    (aten.positive.default, lambda: (_x(),)),
    (aten.lift.default, lambda: (_x(),)),
    (aten.lift_fresh.default, lambda: (_x(),)),
    (aten.lift_fresh_copy.default, lambda: (_x(),)),
    (aten.split.Tensor, lambda: (_x(), 1, 1)),
    (aten.split_with_sizes.default, lambda: (_x(), [1, 2], 1)),
    (aten.unsafe_split.Tensor, lambda: (_x(), 1, 1)),
    (aten.unsafe_split_with_sizes.default, lambda: (_x(), [1, 2], 1)),
    (aten.unsafe_chunk.default, lambda: (_x(), 2)),
    (aten.chunk.default, lambda: (_x(), 2)),
    (aten.tensor_split.sections, lambda: (_x(), 2)),
    (aten.unbind.int, lambda: (_x(),)),
    (aten.flatten.using_ints, lambda: (_x(),)),
    (aten.flatten.using_ints, lambda: (_x().transpose(0, 2),)),
    (aten.contiguous.default, lambda: (_x(),)),
    (aten.contiguous.default, lambda: (_x().transpose(0, 2),)),
    (aten.to.dtype, lambda: (_x(), torch.float32)),
    (aten.to.dtype, lambda: (_x(), torch.float64)),
    (aten._to_copy.default, lambda: (_x(),)),
    (aten.clone.default, lambda: (_x(),)),
    (aten.copy.default, lambda: (_x(), _x())),
    (aten.add.Tensor, lambda: (_x(), _x())),
    (aten.mul.Scalar, lambda: (_x(), 1)),
    (aten.mm.default, lambda: (_m(), _m())),
    (aten.cat.default, lambda: ([_x()],)),
    (aten.stack.default, lambda: ([_x()],)),
    (aten.index.Tensor, lambda: (_x(), [_i()])),
    (aten.index_select.default, lambda: (_x(), 0, _i())),
    (aten.constant_pad_nd.default, lambda: (_x(), [0, 0])),
    (aten.repeat.default, lambda: (_x(), [1, 1, 1])),
    (aten.sum.dim_IntList, lambda: (_x(), [0])),
    (aten.sum.dim_IntList, lambda: (torch.ones(1, 3), [0])),
    (aten.relu.default, lambda: (_x(),)),
    (aten._softmax.default, lambda: (_x(), 0, False)),
    (aten.native_layer_norm.default, lambda: (_x(), [4], None, None, 1e-5)),
    (aten.native_dropout.default, lambda: (_x(), 0.5, False)),
    (aten.topk.default, lambda: (_m(), 2)),
    (aten.sort.default, lambda: (_m(),)),
    (aten.max.dim, lambda: (_m(), 0)),
    (aten.slice_scatter.default, lambda: (_x(), _x())),
    (aten.view_copy.default, lambda: (_x(), [6, 4])),
    (aten.expand_copy.default, lambda: (_m(), [4, 4])),
    (aten.split_copy.Tensor, lambda: (_x(), 1)),
    (aten.add_.Tensor, lambda: (_x(), _x())),
    (aten.copy_.default, lambda: (_x(), _x())),
    (aten.relu_.default, lambda: (_x(),)),
    (aten.squeeze_.default, lambda: (_x(),)),
    (aten.index_put_.default, lambda: (_x(), [_i()], torch.zeros(()))),
    (aten._foreach_add.Scalar, lambda: ([_x(), _m()], 1)),
    (aten.matmul.default, lambda: (_m(), _m())),
    (aten.atleast_2d.default, lambda: (_m(),)),
    (aten.dropout.default, lambda: (_x(), 0.5, False)),
    (aten.sum_to_size.default, lambda: (_m(), [4, 4])),
    (aten.type_as.default, lambda: (_x(), _x())),
    (prims.transpose.default, lambda: (_x(), [2, 0, 1])),
    (prims.broadcast_in_dim.default, lambda: (_m(), [3, 4, 4], [1, 2])),
    (prims.collapse_view.default, lambda: (_x(), 0, 1)),
    (prims.split_dim.default, lambda: (_m(), 0, 2)),
    (prims.squeeze.default, lambda: (torch.ones(1, 3), [0])),
    (prims.view_of.default, lambda: (_x(),)),
    (prims.convert_element_type.default, lambda: (_x(), torch.float32)),
    (prims.device_put.default, lambda: (_x(), "cpu")),
    (prims.reshape.default, lambda: (_x(), [6, 4])),
]


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def named(value: object) -> str:
    """A test id that is the same in every process: no addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))[:40]


@pytest.mark.parametrize(("overload", "make"), CALLS, ids=named)
def test_facts_agree_with_the_storages_of_a_real_call(
    overload: Any, make: Callable[[], tuple[Any, ...]]
) -> None:
    arguments = make()
    schema = overload._schema
    names = [a.name for a in schema.arguments]
    by_name = dict(zip(names, arguments, strict=False))
    inputs = {
        name: {_storage(t) for t in tree_leaves(value) if isinstance(t, torch.Tensor)}
        for name, value in by_name.items()
    }
    results = overload(*arguments)
    if len(schema.returns) == 1:
        results = (results,)
    facts = schema_aliases(overload)
    assert len(facts) == len(schema.returns)
    for result, fact in zip(results, facts, strict=True):
        for tensor in tree_leaves(result):
            shared = {name for name, owned in inputs.items() if _storage(tensor) in owned}
            if fact is not None and fact.certain:
                assert fact.argument in shared
                if fact.in_place:
                    assert tensor is by_name[fact.argument]
            elif shared:  # only what is to be checked may share without a certain fact
                assert needs_storage_check(overload)
                assert fact is None or shared == {fact.argument}


def test_what_copies_for_some_inputs_is_only_possible() -> None:
    for overload in (aten.reshape.default, aten.contiguous.default, aten.to.dtype):
        assert schema_aliases(overload) == (AliasFact("self", certain=False),)
        assert needs_storage_check(overload)


def test_several_results_have_a_fact_each() -> None:
    out = schema_aliases(aten.max.dim_max)
    assert out == (AliasFact("max", True, True), AliasFact("max_values", True, True))
    assert schema_aliases(aten.native_layer_norm.default) == (None, None, None)


def test_every_view_and_every_write_of_aten_has_a_fact() -> None:
    for name in torch._C._dispatch_get_all_op_names():
        library, _, rest = name.partition("::")
        if library not in ("aten", "prims"):
            continue
        packet, _, overload_name = rest.partition(".")
        overload = getattr(getattr(getattr(torch.ops, library), packet), overload_name or "default")
        facts = schema_aliases(overload)
        annotated = [r.alias_info is not None for r in overload._schema.returns]
        for fact, has_info in zip(facts, annotated, strict=True):
            if has_info:
                assert fact is not None, name
                assert fact.argument in [a.name for a in overload._schema.arguments], name
        if overload.is_view and any("Tensor" in str(r.type) for r in overload._schema.returns):
            assert any(f is not None and not f.in_place for f in facts), name


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (aten.mm.default, False),
        (aten.view.default, False),
        (aten.matmul.default, True),
        (torch.ops.higher_order.cond, True),
        (torch.add, True),
        (torch.zeros, False),
        (torch.sym_max, False),
        (torch._C._set_grad_enabled, False),
        (lambda x: x, True),
        ("view", True),
        ("size", False),
        ("layers.0", True),
    ],
    ids=named,
)
def test_who_needs_the_values(target: object, expected: bool) -> None:
    assert needs_storage_check(target) is expected


def test_a_custom_op_is_believed() -> None:
    with torch.library._scoped_library("xductor_alias_test", "DEF") as library:
        library.define("fused(Tensor x) -> Tensor")
        library.define("peek(Tensor(a) x) -> Tensor(a)")
        ops = torch.ops.xductor_alias_test
        assert schema_aliases(ops.fused.default) == (None,)
        assert not needs_storage_check(ops.fused.default)
        assert schema_aliases(ops.peek.default) == (AliasFact("x"),)
