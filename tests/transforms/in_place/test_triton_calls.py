"""Functional calls of Triton kernels: what is written in place, and what is copied.

No kernel runs: what the passes may do follows from what a kernel is given and writes.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch._higher_order_ops.triton_kernel_wrap
from torch._dynamo.utils import detect_fake_mode
from torch._inductor.fx_passes import post_grad
from torch._inductor.virtualized import V

from tests.specimens.kernel_specimens import (
    graph,
    kernel,
    op,
    pick,
    random_graph,
    run_with_kernel,
)
from xductor.backend import stages
from xductor.backend.fx.export import to_fx
from xductor.backend.records import stage_records
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.in_place.decompose_triton_kernel_wrapper_functional import (
    DecomposeTritonKernelWrapperFunctional,
)
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps

MADE = op("%s", "sin.default", "%x")
CALL = kernel("%t", {"a": "%x", "b": "%s"}, ["b"])
INPUT = kernel("%t", {"a": "%x", "b": "%y"}, ["b"])
PICK = pick("%o", "%t", "b")
BACK = op("%c", "copy_.default", "%y", "%o")
TWICE = kernel("%t", {"a": "%s", "b": "%s"}, ["a", "b"])


@pytest.mark.parametrize(
    ("lines", "outputs", "copies"),
    [
        ([MADE, CALL, PICK], ["%o"], 0),
        ([MADE, CALL], ["%x"], 0),
        ([MADE, CALL, PICK, op("%c", "cos.default", "%s")], ["%o", "%c"], 1),
        ([MADE, CALL, PICK], ["%o", "%s"], 1),
        ([INPUT, PICK], ["%o"], 1),
        ([INPUT, PICK, BACK], ["%x"], 0),
        ([INPUT, PICK, BACK], ["%o"], 1),
        ([INPUT, PICK, op("%d", "cos.default", "%y"), BACK], ["%d"], 1),
        ([MADE, op("%d", "cos.default", "%s"), CALL, PICK], ["%o", "%d"], 0),
        ([MADE, TWICE, PICK, pick("%p", "%t", "a")], ["%o", "%p"], 1),
        ([MADE, CALL, PICK, pick("%p", "%t", "b")], ["%o"], 0),
    ],
)  # fmt: skip
def test_copies(lines: list[str], outputs: list[str], copies: int) -> None:
    module = parse_ir(graph(lines, outputs))
    assert ReinplaceInplaceableOps().rewrite(module) >= 1
    verify(module, "types")
    assert same(parse_ir(print_ir(module)), module)
    assert DecomposeTritonKernelWrapperFunctional().rewrite(module) == 1
    verify(module, "types")
    assert same(parse_ir(print_ir(module)), module)
    names = [op.name for op in entry_graph(module).block.ops]
    assert names.count("aten.clone.default") == copies
    assert names.count("higher_order.triton_kernel_wrapper_mutation") == 1


def through_the_tail(seed: int) -> int:
    """How many copies are made in a graph, which computes what it did."""
    module = parse_ir(random_graph(seed))
    inputs = [torch.arange(8.0) / 9, torch.arange(8.0) - 3]
    expected = run_with_kernel(module, [one.clone() for one in inputs])
    for one in (ReinplaceInplaceableOps(), DecomposeTritonKernelWrapperFunctional()):
        one.rewrite(module)
        assert same(parse_ir(print_ir(module)), module)
    names = [op.name for op in entry_graph(module).block.ops]
    assert "higher_order.triton_kernel_wrapper_functional" not in names
    found = run_with_kernel(module, [one.clone() for one in inputs])
    torch.testing.assert_close(found, expected, equal_nan=True)
    storages = [one.untyped_storage().data_ptr() for one in found]
    kept = [one.untyped_storage().data_ptr() for one in expected]
    assert [storages.index(one) for one in storages] == [kept.index(one) for one in kept]
    return names.count("aten.clone.default")


@pytest.mark.parametrize("first", [0, 50, 100])
def test_random_graphs(first: int) -> None:
    copies = [through_the_tail(seed) for seed in range(first, first + 50)]
    assert 0 in copies
    assert sum(copies) > 10


def _live(lines: list[str], outputs: list[str]) -> torch.fx.GraphModule:
    """The graph in FX, in which calls of kernels have values as AOTAutograd gives them."""
    gm = to_fx(parse_ir(graph(lines, outputs)))
    target = torch.ops.higher_order.triton_kernel_wrapper_functional
    for node in gm.graph.find_nodes(op="call_function", target=target):
        node.meta["val"] = {pick.args[1]: pick.meta["val"] for pick in node.users}
    return gm


def test_in_the_stage() -> None:
    gm = _live([MADE, CALL, PICK], ["%o"])
    mode = detect_fake_mode([node.meta.get("val") for node in gm.graph.nodes])
    with V.set_fake_mode(mode), stage_records.record() as records:
        stages.post_grad_passes(gm, True)
    assert records[0].applications("decompose_triton_kernel_wrapper_functional") == 1
    assert not [one.name for one in records[0].passes if one.name == "reinplace_inplaceable_ops"
                and one.kind == "bridged"]  # fmt: skip
    hop = torch.ops.higher_order.triton_kernel_wrapper_mutation
    assert len(gm.graph.find_nodes(op="call_function", target=hop)) == 1
    assert not gm.graph.find_nodes(op="call_function", target=torch.ops.aten.clone.default)


def test_what_is_left_to_inductor_keeps_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """If ours cannot decompose, Inductor's copies no more than ours would."""
    own = "xductor.transforms.in_place.decompose_triton_kernel_wrapper_functional._decompose"
    monkeypatch.setattr(own, lambda *_: False)
    gm = _live([MADE, CALL, PICK], ["%o"])
    mode = detect_fake_mode([node.meta.get("val") for node in gm.graph.nodes])
    ran: list[Any] = []
    with V.set_fake_mode(mode), monkeypatch.context() as patch:
        patch.setattr(post_grad, "decompose_triton_kernel_wrapper_functional", _told(ran))
        stages.post_grad_passes(gm, True)
    assert ran == [[]]


def _told(ran: list[Any]) -> Any:
    def told(graph: Any) -> None:
        target = torch.ops.higher_order.triton_kernel_wrapper_functional
        ran.extend(
            node.kwargs["tensors_to_clone"]
            for node in graph.find_nodes(op="call_function", target=target)
        )

    told.__module__ = "torch.for_the_test"  # Inductor's, for who asks
    return told
