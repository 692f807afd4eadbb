"""`scan` and `map` as loops: on IR, in compiles, nested, and where they stay."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan

from tests.specimens.loop_specimens import random_loop
from xductor.backend.pass_validation.comparison import same_results_as_fx
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import parse_ir, print_ir, same, verify
from xductor.transforms import EXACT
from xductor.transforms.loops.decompose_map_to_while_loop import DecomposeMapToWhileLoop
from xductor.transforms.loops.decompose_scan_to_while_loop import DecomposeScanToWhileLoop


@pytest.mark.parametrize("carries", [True, False])
@pytest.mark.parametrize("first", [1000, 1010])
def test_random_programs(first: int, carries: bool) -> None:
    one = DecomposeScanToWhileLoop() if carries else DecomposeMapToWhileLoop()
    for seed in range(first, first + 10):
        before = random_loop(seed, carries=carries)
        after = before.clone()
        assert one.rewrite(after) == 1
        verify(after, "types")
        assert same(parse_ir(print_ir(after)), after)
        assert same_results_as_fx(before, after, EXACT)


def _scanned(c: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
    def step(c: torch.Tensor, x: torch.Tensor) -> Any:
        following = c * w + x
        return following, following.sin()

    return scan(step, c, x)


def _backwards(c: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
    return scan(lambda c, x: (c + x, c * x), c, x.t().contiguous(), dim=1, reverse=True)


def _tree(c: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
    def step(carried: Any, row: Any) -> Any:
        return (carried[0] + row[0], carried[1] * row[1]), (carried[0] * w, row[0][:2] * 1.0)

    return scan(step, (c, c + 1), (x, x.cos()))


def _mapped(c: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
    return map_rows(lambda row: (row * w).sin(), x)


def _nested(c: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
    def step(c: torch.Tensor, x: torch.Tensor) -> Any:
        mapped = map_rows(lambda row: row * w + c.sum(), x)
        return c + mapped.sum(0), mapped

    return scan(step, c, torch.stack([x, x + 1]))


def _in_a_branch(c: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
    return torch.cond(
        c.sum() > 0,
        lambda x, w: map_rows(lambda row: row * w, x),
        lambda x, w: map_rows(lambda row: row + w, x),
        (x, w),
    )


_PROGRAMS = [_scanned, _backwards, _tree, _mapped, _nested, _in_a_branch]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", _PROGRAMS)
def test_compiles_without_capturing_scalars(function: Any, dynamic: bool) -> None:
    """Inductor's own passes need `capture_scalar_outputs`."""
    torch._dynamo.reset()
    inputs = (torch.randn(3), torch.randn(5, 3), torch.randn(3))
    options = {"xductor.on_error": "raise", "xductor.verify": "types"}
    compiled = torch.compile(function, backend="xductor", dynamic=dynamic, options=options)
    with torch.no_grad(), without_codegen(), stage_records.record() as records:
        torch.testing.assert_close(compiled(*inputs), function(*inputs))
    names = ("decompose_scan_to_while_loop", "decompose_map_to_while_loop")
    assert sum(record.applications(name) for record in records for name in names) >= 1
    assert not torch._dynamo.config.capture_scalar_outputs


_CALL = """builtin.module {{
fx.graph @forward stage(post_grad) symbols() (
    %c : !fx.tensor<f32[3], cpu>, %x : !fx.tensor<f32[5, 3], cpu>) {{
  %a, %b = higher_order.scan @step, [%c], {rows}, () : !fx.tensor<f32[3], cpu>,
    !fx.tensor<f32[5, 3], cpu> as (*, *) {{node = "scan"}}
  fx.output (%a, %b)
}}
{step}
}}"""
_STEP = """fx.graph @step stage(post_grad) symbols() (
    %c : !fx.tensor<f32[3], cpu>, %x : !fx.tensor<f32[{size}], cpu>) {{
  {line}
  fx.output [%n, {second}]
}}"""
_ADD = "%n = aten.add.Tensor %c, %c : !fx.tensor<f32[3], cpu>"


def _flat(text: str) -> str:
    return text.replace("(\n    ", "(").replace(",\n    !fx", ", !fx")


@pytest.mark.parametrize(
    ("rows", "step", "reason"),
    [
        ("[]", _STEP.format(size=3, line=_ADD, second="%n"), "has no rows"),
        ("[%x]", _STEP.format(size=4, line=_ADD, second="%n"), "sizes that a step was written for"),
        ("[%x]", _STEP.format(size=3, line=_ADD, second="none"), "something that is no value"),
        ("[%x, %x]", _STEP.format(size=3, line=_ADD, second="%n"), "another number of arguments"),
    ],
)
def test_stays(rows: str, step: str, reason: str) -> None:
    module = parse_ir(_flat(_CALL.format(rows=rows, step=step)))
    before = print_ir(module)
    reasons: list[str] = []
    DecomposeScanToWhileLoop().explained(module, lambda op, why: reasons.append(why))
    assert print_ir(module) == before
    assert [reason in why for why in reasons] == [True]
