"""`b2b_gemm_pass`: where two products become one call, and what that computes."""

from __future__ import annotations

import pytest
from torch._dynamo.utils import counters, detect_fake_mode
from torch._inductor import config
from torch._inductor.virtualized import V

from tests.specimens.b2b_gemm_specimens import random_products, same_on_cpu, text
from xductor.backend import stages
from xductor.backend.fx.export import to_fx
from xductor.backend.lowerings import tunes_b2b_gemm
from xductor.backend.records import stage_records
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms import EXACT
from xductor.transforms.matmul.b2b_gemm_operator import b2b_gemm
from xductor.transforms.matmul.b2b_gemm_pass import B2bGemmPass

RELU = "  %v = aten.relu.default %p : TYPE"
OTHER = "  %v = aten.add.Tensor %p, %q : TYPE"


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lines", [[], [RELU], [RELU, "  %w = aten.mul.Tensor %v, %p : TYPE"]])
def test_fires(left: bool, lines: list[str]) -> None:
    middle = lines[-1].split()[0] if lines else "%p"
    before = parse_ir(text(left, lines, middle))
    after = before.clone()
    assert B2bGemmPass().rewrite(after) == 1
    verify(after, "types")
    assert same(parse_ir(print_ir(after)), after)
    assert [op.name for op in entry_graph(after).block.ops] == [
        "higher_order.b2b_gemm",
        "fx.output",
    ]
    assert same_on_cpu(before, after, EXACT)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (text(True, [RELU], "%v", " %v"), "no second product"),
        (text(True, [RELU], "%p"), "no second product"),
        (text(True, ["  %q = aten.sin.default %p : TYPE", RELU], "%v"), "no second product"),
        (text(True, ["  %v = aten.cumsum.default %p, 0 : TYPE"], "%v"), "no second product"),
        (text(True, [RELU], "%v", dtype="f64"), "not for torch.float64"),
        (text(True, [RELU], "%v").replace("cuda:0", "cpu"), "no kernel for cpu"),
        (text(True, [RELU], "%v").replace("128", "64"), "more would be loaded"),
    ],
)
def test_stays(module: str, reason: str) -> None:
    parsed = parse_ir(module)
    before = print_ir(parsed)
    reasons: list[str] = []
    B2bGemmPass().explained(parsed, lambda op, why: reasons.append(why))
    assert print_ir(parsed) == before
    assert reason in reasons[0]


@pytest.mark.parametrize("first", [100, 130])
def test_random_products(first: int) -> None:
    fired = 0
    for seed in range(first, first + 30):
        before = parse_ir(random_products(seed))
        after = before.clone()
        fired += B2bGemmPass().rewrite(after)
        assert same_on_cpu(before, after, EXACT)
    assert fired > 20


@pytest.mark.skipif(not tunes_b2b_gemm(), reason="Inductor's own call of the kernel raises")
def test_in_the_stage() -> None:
    gm = to_fx(parse_ir(text(False, [RELU], "%v")))
    mode = detect_fake_mode([node.meta.get("val") for node in gm.graph.nodes])
    counters.clear()
    with (
        config.patch(b2b_gemm_pass=True),
        V.set_fake_mode(mode),
        stage_records.record() as records,
    ):
        stages.post_grad_passes(gm, True)
    assert records[0].applications("b2b_gemm_pass") == 1
    assert counters["inductor"]["b2b_gemm"] == 1
    (call,) = gm.graph.find_nodes(op="call_function", target=b2b_gemm)
    assert call.meta["val"].shape == (16, 128)
