"""`stable_topological_sort`: Inductor's order, found the same way for any shuffle."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
import torch
from torch._inductor.pattern_matcher import stable_topological_sort
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException, VerifyException

from xductor.backend.stage_runs.stack_room import with_stack_room
from xductor.ir import entry_graph, parse_ir, verify
from xductor.transforms.post_grad.stable_topological_sort import StableTopologicalSort


def _names(module: ModuleOp) -> list[str]:
    return [op.node.names[0] for op in entry_graph(module).block.ops if op.node.names]  # type: ignore[attr-defined]


def _reorder(module: ModuleOp, order: list[int]) -> None:
    """Put the ops but the output into an order, definitions and uses aside."""
    block = entry_graph(module).block
    *ops, output = block.ops
    for op in ops:
        block.detach_op(op)
    for index in order:
        block.insert_op_before(ops[index], output)


DIAMOND = """
    fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
      %a = aten.sin.default %x : !fx.tensor<f32[4], cpu>
      %b = aten.cos.default %a : !fx.tensor<f32[4], cpu>
      %c = aten.neg.default %a : !fx.tensor<f32[4], cpu>
      %d = aten.add.Tensor %b, %c : !fx.tensor<f32[4], cpu>
      %e = aten.exp.default %x : !fx.tensor<f32[4], cpu>
      fx.output (%d, %e)
    }"""


def test_sorted_graph_stays(parse: Any) -> None:
    assert parse(DIAMOND).run(StableTopologicalSort()) == 0


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([1, 0, 2, 3, 4], "a b c d e"),
        ([3, 0, 1, 2, 4], "a b c d e"),
        ([4, 3, 2, 1, 0], "e a c b d"),
        ([2, 1, 0, 4, 3], "a c b e d"),
    ],
)
def test_uses_wait_for_definitions(order: list[int], expected: str) -> None:
    module = parse_ir(DIAMOND)
    _reorder(module, order)
    with pytest.raises(VerifyException):
        verify(module, "structure")
    assert StableTopologicalSort().has_work(module)
    assert StableTopologicalSort().rewrite(module) == 1
    verify(module, "structure")
    assert _names(module) == expected.split()
    assert not StableTopologicalSort().has_work(module)
    assert StableTopologicalSort().rewrite(module) == 0


def _model(x: Any, y: Any) -> Any:
    a, b = torch.split(x, 2)
    z = torch.cat([y.sin(), a * b, b + 1, (a @ y).t().sin()])
    for _ in range(3):
        z = torch.softmax(z + z.sum() * a.sum(), -1)
    return z, (y.exp() - b).max(0)


@pytest.mark.parametrize("seed", range(10))
def test_same_order_as_inductor(seed: int, trace: Any) -> None:
    x, y = torch.randn(4, 2), torch.randn(2, 2)
    case = trace(_model, x, y)
    ops = list(entry_graph(case.module).block.ops)[:-1]
    order = list(range(len(ops)))
    random.Random(seed).shuffle(order)
    _reorder(case.module, order)

    gm = make_fx(_model, tracing_mode="fake")(x, y)
    nodes = {node.name: node for node in gm.graph.nodes}
    output = next(iter(reversed(gm.graph.nodes)))
    for index in order:
        node = nodes[ops[index].node.node]  # type: ignore[attr-defined]
        output.prepend(node)
        for item in list(node.users):
            if "getitem" in item.name:
                output.prepend(item)
    assert StableTopologicalSort.may_apply(gm.graph)
    stable_topological_sort(gm.graph)
    gm.graph.lint()

    assert StableTopologicalSort().rewrite(case.module) == 1
    verify(case.module, "structure")
    found = [op.node.node for op in list(entry_graph(case.module).block.ops)[:-1]]  # type: ignore[attr-defined]
    assert found == [
        node.name
        for node in gm.graph.nodes
        if node.op == "call_function" and "getitem" not in node.name
    ]
    case.check_values(x, y)


def test_cycle_is_named() -> None:
    module = parse_ir(DIAMOND)
    ops = {op.node.names[0]: op for op in entry_graph(module).block.ops if op.node.names}  # type: ignore[attr-defined]
    ops["a"].operands[0] = ops["d"].results[0]
    before = _names(module)
    with pytest.raises(PassFailedException, match=r"@g has no order: a, b, c, d"):
        StableTopologicalSort().rewrite(module)
    assert _names(module) == before


def test_prefilter() -> None:
    gm = make_fx(lambda x: (x + 1).sin())(torch.ones(2))
    assert not StableTopologicalSort.may_apply(gm.graph)
    _, add, sin, _ = gm.graph.nodes
    sin.append(add)
    assert StableTopologicalSort.may_apply(gm.graph)


def _reversed_chain(length: int) -> ModuleOp:
    lines = ["%v0 = aten.sin.default %x : !fx.tensor<f32[4], cpu>"]
    lines += [
        f"%v{index} = aten.sin.default %v{index - 1} : !fx.tensor<f32[4], cpu>"
        for index in range(1, length)
    ]
    body = "\n".join(lines)
    module = parse_ir(
        "fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {"
        f"{body}\nfx.output (%v{length - 1})\n}}"
    )
    _reorder(module, list(reversed(range(length))))
    return module


def test_linear() -> None:
    """Ten thousand ops in the worst order; a quadratic sort would take a hundred times as long."""
    times = [min(_seconds_of_sorting(length) for _ in range(3)) for length in (1000, 10000)]
    assert times[1] < 40 * times[0]


@with_stack_room
def _seconds_of_sorting(length: int) -> float:
    module = _reversed_chain(length)
    start = time.thread_time()
    assert StableTopologicalSort().rewrite(module) == 1
    seconds = time.thread_time() - start
    verify(module, "structure")
    return seconds
