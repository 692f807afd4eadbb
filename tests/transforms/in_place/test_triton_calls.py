"""Functional calls of Triton kernels: what is written in place, and what is copied.

No kernel runs: what the passes may do follows from what a kernel is given and writes.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
import torch._higher_order_ops.triton_kernel_wrap
from torch._dynamo.utils import detect_fake_mode
from torch._inductor.fx_passes import post_grad
from torch._inductor.virtualized import V

from xductor.backend import stages
from xductor.backend.fx.export import to_fx
from xductor.backend.records import stage_records
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.in_place.decompose_triton_kernel_wrapper_functional import (
    DecomposeTritonKernelWrapperFunctional,
)
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps

TENSOR = "!fx.tensor<f32[8], cpu>"


def _kernel(name: str, given: dict[str, str], written: list[str]) -> str:
    arguments = ", ".join(f'"{key}": {value}' for key, value in given.items())
    clones = ", ".join(f'"{key}"' for key in written)
    return (
        f"  {name} = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, "
        "constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, "
        f"kwargs = {{{arguments}}}, tensors_to_clone = [{clones}] "
        ': !fx.object<"builtins.dict">'
    )


def _pick(name: str, call: str, key: str) -> str:
    return f'  {name} = pyfn._operator.getitem {call}, "{key}" : {TENSOR}'


def _op(name: str, op: str, *operands: str) -> str:
    return f"  {name} = aten.{op} {', '.join(operands)} : {TENSOR}"


def _graph(lines: list[str], outputs: list[str]) -> str:
    head = f"fx.graph @f stage(post_grad) symbols() (%x : {TENSOR}, %y : {TENSOR}) {{"
    return "\n".join([head, *lines, f"  fx.output ({', '.join(outputs)},)", "}"])


MADE = _op("%s", "sin.default", "%x")
CALL = _kernel("%t", {"a": "%x", "b": "%s"}, ["b"])
INPUT = _kernel("%t", {"a": "%x", "b": "%y"}, ["b"])
PICK = _pick("%o", "%t", "b")
BACK = _op("%c", "copy_.default", "%y", "%o")
TWICE = _kernel("%t", {"a": "%s", "b": "%s"}, ["a", "b"])


@pytest.mark.parametrize(
    ("lines", "outputs", "copies"),
    [
        ([MADE, CALL, PICK], ["%o"], 0),
        ([MADE, CALL], ["%x"], 0),
        ([MADE, CALL, PICK, _op("%c", "cos.default", "%s")], ["%o", "%c"], 1),
        ([MADE, CALL, PICK], ["%o", "%s"], 1),
        ([INPUT, PICK], ["%o"], 1),
        ([INPUT, PICK, BACK], ["%x"], 0),
        ([INPUT, PICK, BACK], ["%o"], 1),
        ([INPUT, PICK, _op("%d", "cos.default", "%y"), BACK], ["%d"], 1),
        ([MADE, _op("%d", "cos.default", "%s"), CALL, PICK], ["%o", "%d"], 0),
        ([MADE, TWICE, PICK, _pick("%p", "%t", "a")], ["%o", "%p"], 1),
        ([MADE, CALL, PICK, _pick("%p", "%t", "b")], ["%o"], 0),
    ],
)  # fmt: skip
def test_copies(lines: list[str], outputs: list[str], copies: int) -> None:
    module = parse_ir(_graph(lines, outputs))
    assert ReinplaceInplaceableOps().rewrite(module) >= 1
    verify(module, "types")
    assert same(parse_ir(print_ir(module)), module)
    assert DecomposeTritonKernelWrapperFunctional().rewrite(module) == 1
    verify(module, "types")
    assert same(parse_ir(print_ir(module)), module)
    names = [op.name for op in entry_graph(module).block.ops]
    assert names.count("aten.clone.default") == copies
    assert names.count("higher_order.triton_kernel_wrapper_mutation") == 1


def random_graph(seed: int) -> str:
    """Kernels and other calls over a few tensors, with an epilogue."""
    chance = random.Random(seed)
    values, lines = ["%x", "%y"], list[str]()
    for place in range(chance.randint(2, 7)):
        if chance.random() < 0.4:
            lines.append(_op(f"%v{place}", "sin.default", chance.choice(values)))
            values.append(f"%v{place}")
            continue
        given = {key: chance.choice(values) for key in "abc"}
        written = chance.sample("abc", chance.randint(1, 2))
        lines.append(_kernel(f"%t{place}", given, written))
        for key in written:
            for again in range(chance.choice((0, 1, 1, 1, 2))):
                name = f"%p{place}{key}{again}"
                lines.append(_pick(name, f"%t{place}", key))
                values.append(name)
    if chance.random() < 0.5:
        lines.append(_op("%e", "copy_.default", "%y", chance.choice(values)))
    outputs = chance.sample(values, min(len(values), chance.randint(1, 3)))
    return _graph(lines, outputs)


def run_with_kernel(text: Any, inputs: list[torch.Tensor]) -> Any:
    """Run a graph in which a kernel sets what it writes to a mix of all that it is given."""
    values = dict(zip(entry_graph(text).arguments, inputs, strict=True))

    def mixed(given: dict[str, torch.Tensor], names: list[str], clones: list[str]) -> Any:
        given = {key: value.clone() if key in clones else value for key, value in given.items()}
        total = sum((one + 1) * given[key].clone() for one, key in enumerate(sorted(given)))
        for place, name in enumerate(sorted(names)):
            given[name].copy_(total * (place + 2))
        return {name: given[name] for name in names}

    for op in entry_graph(text).block.ops:
        operands = [values[one] for one in op.operands]
        if op.name.startswith("higher_order.triton"):
            given = {key: values[value] for key, value in op.keywords["kwargs"]}  # type: ignore[attr-defined]
            names = op.node.text_items().get("writes")  # type: ignore[attr-defined]
            functional = names is None
            written = list(op.keywords["tensors_to_clone"]) if functional else eval_names(names)  # type: ignore[attr-defined]
            made = mixed(given, written, written if functional else [])
            values[op.results[0]] = made
        elif op.name == "pyfn._operator.getitem":
            values[op.results[0]] = operands[0][op.positional[1]]  # type: ignore[attr-defined]
        elif op.name == "fx.output":
            return [*operands, *inputs]
        else:
            call = op.name.split(".")[1]
            made = (
                operands[0].copy_(operands[1]) if call == "copy_" else getattr(operands[0], call)()
            )
            values[op.results[0]] = made
    return None


def eval_names(text: str) -> list[str]:
    return [part.strip('" ') for part in text.strip("[]").split(",") if part.strip()]


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
    gm = to_fx(parse_ir(_graph(lines, outputs)))
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
