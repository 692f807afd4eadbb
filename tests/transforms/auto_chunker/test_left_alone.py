"""Graphs that stay as they are, and what the log says of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.config.settings import Settings, use
from xductor.backend.steps.runner import run_typed
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, verify
from xductor.transforms.auto_chunker import AutoChunker
from xductor.transforms.passes.debug_counters import counting, parse
from xductor.transforms.passes.numerics import Policy
from xductor.transforms.uniform_values.constant_fold_uniform_value import ConstantFoldUniformValue


def _mean(y: torch.Tensor, f: Any) -> torch.Tensor:
    return F.cross_entropy(y, f.labels)


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        (lambda y, f: F.cross_entropy(F.dropout(y, 0.1), f.labels), "aten.rand.default.*no rule"),
        (lambda y, f: F.cross_entropy(y.sort(1)[0], f.labels), "aten.sort.default.*no rule"),
        (lambda y, f: F.softmax(y, 0).square().sum(), "aten.amax.default.*all rows"),
        (lambda y, f: F.cross_entropy(y - y.mean(0), f.labels), "reads a sum over all rows"),
        (lambda y, f: F.cross_entropy(y[1:], f.labels[1:]), "aten.slice.Tensor.*all rows"),
        (lambda y, f: (y @ y.t()).square().sum(), "along dims|all rows|term"),
        (lambda y, f: F.cross_entropy(y, f.labels, reduction="none"), "tangent .* no number"),
        (lambda y, f: y, "returned whole"),
    ],
    ids=[
        "random", "sort", "softmax-of-rows", "mean-of-rows", "some-rows",
        "rows-by-rows", "no-reduction", "returned",
    ],
)  # fmt: skip
def test_refused(joint: Any, operands: Any, loss: Any, reason: str) -> None:
    case = joint(loss, *operands())
    assert case.chunk() == 0
    (said,) = case.reasons
    assert re.search(reason, said), said


def test_groups_of_rows(joint: Any, operands: Any) -> None:
    """What needs all rows of a group is fine: chunks are whole groups."""
    case = joint(lambda y, f: y.view(8, 8, 128).amax(1).sum(), *operands())
    assert case.chunk() == 1, case.reasons
    case.check_values()


def test_the_result_is_returned_too() -> None:
    """As models do that give the loss and the logits."""
    assert AutoChunker(64, 0.5, 4).rewrite(parse_ir(_text("%mm"))) == 0
    assert AutoChunker(64, 0.5, 4).rewrite(parse_ir(_text("none"))) == 1


def _text(returned: str) -> str:
    value, grad = "!fx.tensor<f32[64, 128], cpu>", "!fx.tensor<f32[16, 128], cpu>"
    return f"""fx.graph @g stage(joint) (%x : !fx.tensor<f32[64, 16], cpu>,
    %w : !fx.tensor<f32[16, 128], cpu>, %tangents_1 : !fx.tensor<f32[], cpu>) {{
  %mm = aten.mm.default %x, %w : {value}
  %exp = aten.exp.default %mm : {value}
  %sum = aten.sum.default %exp : !fx.tensor<f32[], cpu>
  %grad = aten.mul.Tensor %exp, %tangents_1 : {value}
  %t = aten.permute.default %x, [1, 0] : !fx.tensor<f32[16, 64][1, 16], cpu>
  %dw = aten.mm.default %t, %grad : {grad}
  fx.output (%sum, %dw, {returned})
}}"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("aten.mul.Tensor %exp, %tangents_1", "aten.pow.Tensor_Tensor %exp, %tangents_1", "linear"),
        ("aten.mul.Tensor %exp, %tangents_1", "aten.add.Tensor %exp, %tangents_1", "linear"),
        ("aten.mul.Tensor %exp, %tangents_1", "aten.div.Tensor %exp, %tangents_1", "linear"),
        ("aten.mul.Tensor %exp, %tangents_1", "aten.mul.Tensor %exp, %exp", "no tangent is used"),
        ("%tangents_1", "%other", "no tangent"),
        ("aten.exp.default %mm", "aten.digamma.default %mm", ""),
    ],
)
def test_what_is_not_linear_in_the_tangent(old: str, new: str, reason: str) -> None:
    """`add` of something that does not depend on the tangent is affine, not linear."""
    applied = AutoChunker(64, 0.5, 4).rewrite(parse_ir(_text("none").replace(old, new)))
    assert applied == (not reason)


def test_an_op_in_between_that_needs_all_chunks() -> None:
    """The mean of a result goes back into the rows, outside of what is large."""
    text = (
        _text("none")
        .replace(
            "  %grad =",
            "  %sin = aten.sin.default %sum : !fx.tensor<f32[], cpu>\n"
            "  %scaled = aten.mul.Tensor %exp, %sin : !fx.tensor<f32[64, 128], cpu>\n"
            "  %grad =",
        )
        .replace("aten.mul.Tensor %exp, %tangents_1", "aten.mul.Tensor %scaled, %tangents_1")
    )
    assert AutoChunker(64, 0.5, 4).rewrite(parse_ir(text)) == 0


def test_a_write_in_between() -> None:
    text = _text("none").replace(
        "  %grad =",
        "  %copy = aten.copy_.default %w, %w : !fx.tensor<f32[16, 128], cpu>\n  %grad =",
    )
    assert AutoChunker(64, 0.5, 4).rewrite(parse_ir(text)) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"output_size_threshold": 64 * 128 * 4},
        {"amplify_ratio_threshold": 2.7},
        {"num_chunk": 1},
    ],
    ids=["size", "ratio", "one-chunk"],
)
def test_too_small(joint: Any, operands: Any, options: dict[str, Any]) -> None:
    case = joint(_mean, *operands()[:2])
    assert case.chunk(**options) == 0
    assert case.chunk() == 1


def test_the_amplifier_is_the_product_that_amplifies_most(joint: Any) -> None:
    """Of two products that are large enough, the other one stays whole."""
    x, v, w = torch.randn(64, 16), torch.randn(16, 32), torch.randn(512, 32)
    case = joint(lambda y, f: y.logsumexp(1).sum(), x, v, w, layer=lambda x, v, w: x @ v @ w.t())
    assert case.chunk(amplify_ratio_threshold=0.1) == 1
    body = case.bodies[0]
    (first, *_) = [op for op in body.block.ops if op.name == "aten.mm.default"]
    assert list(first.results[0].type.shape) == [16, 512]
    case.check_values()


def test_symbolic_sizes() -> None:
    def graph(x: torch.Tensor, w: torch.Tensor, tangents_1: torch.Tensor) -> torch.Tensor:
        return (x @ w).exp().mul(tangents_1).sum(0)

    inputs = torch.randn(64, 16), torch.randn(16, 128), torch.tensor(1.0)
    symbolic = make_fx(graph, tracing_mode="symbolic")(*inputs)
    static = make_fx(graph, tracing_mode="fake")(*inputs)
    for gm, applied in ((symbolic, 0), (static, 1)):
        assert AutoChunker(64, 0.5, 4).rewrite(from_fx(gm, "joint")) == applied


def test_inference_is_not_lowered() -> None:
    def graph(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ w).exp().sum(0)

    gm = make_fx(graph, tracing_mode="fake")(torch.randn(64, 16), torch.randn(16, 128))
    assert not AutoChunker.may_apply(gm.graph)


def test_strict_numerics(joint: Any, operands: Any) -> None:
    """A sum of terms is another order of the same sum: not under `strict`."""
    policies: tuple[Policy, ...] = ("strict", "default", "fast")
    for policy, applied in zip(policies, (0, 1, 1), strict=True):
        case = joint(_mean, *operands())
        one = AutoChunker(64, 0.5, 4, policy=policy)
        with use(Settings(numerics=policy, on_error="raise")):
            found = run_typed(case.gm, [ConstantFoldUniformValue(), one], "joint")
        assert found["auto_chunker"] == applied


def test_debug_counter(joint: Any, operands: Any) -> None:
    case = joint(_mean, *operands())
    with counting(parse("auto_chunker=1")):
        assert case.chunk() == 0
        assert case.chunk() == 1


def test_what_does_not_depend_on_the_product_stays() -> None:
    """A value that the chunks make anew, for somebody outside who uses it too."""
    text = (
        _text("%row")
        .replace(
            "  %exp =",
            "  %e = aten.expand.default %tangents_1, [64, 1] : !fx.tensor<f32[64, 1][0, 0], cpu>\n"
            "  %row = aten.neg.default %e : !fx.tensor<f32[64, 1], cpu>\n  %exp =",
        )
        .replace("%exp, %tangents_1", "%exp, %row")
    )
    module = parse_ir(text)
    assert AutoChunker(64, 0.5, 4).rewrite(module) == 1
    verify(module, "types")
    names = [op.name for op in entry_graph(module).block.ops]
    assert names.count("aten.expand.default") == names.count("aten.neg.default") == 1
    assert "aten.cat.default" not in names


def test_results_that_share_memory() -> None:
    """Two views of a result, both used outside: as pieces they would be two tensors."""
    column, row = "!fx.tensor<f32[64, 1], cpu>", "!fx.tensor<f32[1, 64], cpu>"
    lines = (
        "  %r = aten.sum.dim_IntList %grad, [1] : !fx.tensor<f32[64], cpu>\n"
        f"  %u = aten.unsqueeze.default %r, 1 : {column}\n"
        f"  %p = aten.unsqueeze.default %r, 0 : {row}\n"
        f"  %q = aten.unsqueeze.default %r, 0 : {row}\n"
        "  %other = aten.add.Tensor %grad, %u : !fx.tensor<f32[64, 128], cpu>\n"
    )
    text = _text("%p, %q").replace("  %t =", f"{lines}  %t =").replace("%t, %grad", "%t, %other")
    assert AutoChunker(64, 0.5, 4).rewrite(parse_ir(text)) == 0
    alone = parse_ir(text.replace("%p, %q)", "%p)"))
    assert AutoChunker(64, 0.5, 4).rewrite(alone) == 1
    verify(alone, "types")
