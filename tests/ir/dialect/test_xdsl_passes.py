# ruff: noqa: E501 - lines of IR text stay whole
"""xDSL's own cse, dce and canonicalize are right on our graphs: effects keep what they must."""

import re
from collections.abc import Sequence

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from xductor.ir import XductorContext, entry_graph, parse_ir, print_ir, same, verify

T = "!fx.tensor<f32[4], cpu>"


def graph(lines: Sequence[str], stage: str = "joint") -> str:
    head = f"fx.graph @f stage({stage}) (%x : {T}, %y : {T}) {{"
    return "\n".join([head, *(re.sub(r"(?<=[:,] )T\b", T, line) for line in lines), "}"])


def after(lines: Sequence[str], *passes: type[ModulePass], stage: str = "joint") -> list[str]:
    """The ops that stay, each as `name` of its node."""
    module: ModuleOp = parse_ir(graph(lines, stage))
    verify(module, "structure")
    context: Context = XductorContext()
    for made in passes:
        made().apply(context, module)
        verify(module, "structure")
    assert same(parse_ir(print_ir(module)), module)
    return [op.node.node for op in entry_graph(module).block.ops]  # type: ignore[attr-defined]


ALL_PASSES = (CommonSubexpressionElimination, DeadCodeElimination, CanonicalizePass)

MERGED = [
    ("the same call", "%a = aten.sin.default %x : T", "%b = aten.sin.default %x : T"),
    ("a default spelled out", "%a = aten.sum.default %x : T", "%b = aten.sum.default %x, dtype = none : T"),
    ("equal lists", "%a = aten.permute.default %x, [0] : T", "%b = aten.permute.default %x, [0] : T"),
    ("a known function", "%a = pyfn._operator.add %x, %y : T", "%b = pyfn._operator.add %x, %y : T"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"), [case[1:] for case in MERGED], ids=[case[0] for case in MERGED]
)
def test_equal_calls_become_one(first: str, second: str) -> None:
    lines = [first, second, "%c = aten.add.Tensor %a, %b : T", "fx.output (%c,)"]
    assert after(lines, CommonSubexpressionElimination) == ["a", "c", "output"]


KEPT = [
    ("two draws", "%a = aten.rand_like.default %x : T", "%b = aten.rand_like.default %x : T"),
    ("two dropouts", "%a, %m = aten.native_dropout.default %x, 0.5, true : T, T", "%b, %n = aten.native_dropout.default %x, 0.5, true : T, T"),
    ("uninitialised memory", "%a = aten.empty_like.default %x : T", "%b = aten.empty_like.default %x : T"),
    ("a constant of another kind", "%a = aten.add.Tensor %x, 1 : T", "%b = aten.add.Tensor %x, 1.0 : T"),
    ("a boolean constant", "%a = aten.add.Tensor %x, 1 : T", "%b = aten.add.Tensor %x, true : T"),
    ("zeros of both signs", "%a = aten.full_like.default %x, 0.0 : T", "%b = aten.full_like.default %x, -0.0 : T"),
    ("an op nobody knows", "%a = pyfn.builtins.print %x : T", "%b = pyfn.builtins.print %x : T"),
    ("an argument at another place", "%a = aten.sub.Tensor %x, %y : T", "%b = aten.sub.Tensor %y, %x : T"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT]
)
def test_calls_that_only_look_equal_stay(first: str, second: str) -> None:
    lines = [first, second, "%c = aten.add.Tensor %a, %b : T", "fx.output (%c,)"]
    assert len(after(lines, *ALL_PASSES)) == 4


def test_a_value_is_not_carried_over_a_write() -> None:
    lines = [
        "%a = aten.sin.default %x : T",
        "%w = aten.add_.Tensor %x, 1 : T",
        "%b = aten.sin.default %x : T",
        "%c = aten.add.Tensor %a, %b : T",
        "fx.output (%c,)",
    ]
    assert after(lines, *ALL_PASSES) == ["a", "w", "b", "c", "output"]


def test_a_view_is_not_carried_over_a_write_to_its_base() -> None:
    lines = [
        "%v = aten.view.default %x, [4] : T",
        "%a = aten.sin.default %v : T",
        "%w = aten.copy_.default %x, %y : T",
        "%b = aten.sin.default %v : T",
        "%c = aten.add.Tensor %a, %b : T",
        "fx.output (%c,)",
    ]
    assert after(lines, *ALL_PASSES) == ["v", "a", "w", "b", "c", "output"]


@pytest.mark.parametrize("through", ["%a", "%v"])
def test_two_results_that_one_write_tells_apart(through: str) -> None:
    lines = [
        "%a = aten.clone.default %x : T",
        "%b = aten.clone.default %x : T",
        "%v = aten.view.default %a, [4] : T",
        f"%w = aten.add_.Tensor {through}, 1 : T",
        "%c = aten.add.Tensor %w, %b : T",
        "fx.output (%c,)",
    ]
    assert {"a", "b", "w"} <= set(after(lines, *ALL_PASSES))


@pytest.mark.parametrize(
    "line",
    [
        "%w = aten.copy_.default %x, %y : T",
        'aten._assert_async.msg %x, "no" {node = "w"}',
        '%w = higher_order.print "{}", %x : !fx.none',
        '%w = _c10d_functional.all_reduce.default %x, "sum", "0" : T',
        "%w = pyfn.torch._C._set_grad_enabled false : !fx.none",
        "%w = method.add_ %x, 1 : T",
        '%w = "module.block" %x : T',
        "%w = module.relu %x : T",
        "%w = pyfn.torch.add %x, %y, out = %y : T",
    ],
)
def test_dead_code_with_effects_stays(line: str) -> None:
    import torch.distributed._functional_collectives  # noqa: F401  registers the collectives

    assert after([line, "fx.output (%x,)"], *ALL_PASSES) == ["w", "output"]


def test_dead_code_without_effects_goes() -> None:
    lines = [
        "%a = aten.sin.default %x : T",
        "%b = aten.cos.default %a : T",
        '%s, %t = aten.split.Tensor %x, 2 : T, T {node = "st"}',
        "%e = aten.empty_like.default %x : T",
        "fx.output (%x,)",
    ]
    assert after(lines, DeadCodeElimination) == ["output"]


def test_a_tuple_with_one_live_element_stays() -> None:
    lines = ['%s, %st#1 = aten.split.Tensor %x, 2 : T, T {node = "st"}', "fx.output (%s,)"]
    assert after(lines, *ALL_PASSES) == ["st", "output"]


def test_mode_regions_are_kept_apart() -> None:
    enter = '%e = pyfn.torch.amp.autocast_mode._enter_autocast "cpu", bf16, true, none : !fx.object<"mode">'
    lines = [
        "%a = pyfn.torch.matmul %x, %y : T",
        enter,
        "%b = pyfn.torch.matmul %x, %y : T",
        "%q = pyfn.torch.amp.autocast_mode._exit_autocast %e : !fx.none",
        "%c = aten.add.Tensor %a, %b : T",
        "fx.output (%c,)",
    ]
    assert after(lines, *ALL_PASSES, stage="pre_grad") == ["a", "e", "b", "q", "c", "output"]


def body(line: str) -> str:
    return f"fx.graph @body stage(joint) (%z : {T}) {{\n{line}\nfx.output (%r,)\n}}"


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (f"%r = aten.sin.default %z : {T}", 1),
        (f"%r = aten.rand_like.default %z : {T}", 2),
        (f"%r = aten.add_.Tensor %z, 1 : {T}", 2),
    ],
    ids=["pure", "draws", "writes"],
)
def test_a_subgraphs_effects_are_those_of_its_call(line: str, left: int) -> None:
    call = '= higher_order.invoke_subgraph @body, "b", %x : T'
    text = graph([f"%a {call}", f"%b {call}", "%c = aten.add.Tensor %a, %b : T", "fx.output (%c,)"])
    module = parse_ir(f"{text}\n{body(line)}")
    CommonSubexpressionElimination().apply(XductorContext(), module)
    names = [op.name for op in entry_graph(module).block.ops]
    assert names.count("higher_order.invoke_subgraph") == left
