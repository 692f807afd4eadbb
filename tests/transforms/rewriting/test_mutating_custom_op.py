"""A custom op that writes to an argument: functional in the graph, matched and built as such."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor import Rewrite, Tensor
from xductor.ir import aten, ops


@torch.library.custom_op("mutlib::scale_into", mutates_args=("out",))
def scale_into(out: torch.Tensor, x: torch.Tensor, s: float) -> None:
    out.copy_(x * s)


@torch.library.custom_op("mutlib::add_scale_into", mutates_args=("out",))
def add_scale_into(out: torch.Tensor, x: torch.Tensor, y: torch.Tensor, s: float) -> None:
    calls.append(s)
    out.copy_((x + y) * s)


calls: list[float] = []


class FuseAdd(Rewrite):
    """An add before `scale_into` is done by the op, in `out`'s memory as before."""

    stage = "post_grad"

    def pattern(self, out: Tensor, x: Tensor, y: Tensor, s: float):
        return ops.higher_order.auto_functionalized_v2(
            ops.mutlib.scale_into.default,
            x=aten.add(x, y),
            s=s,
            _out_base_index=0,
            _all_bases=[out],
        )[1]

    def replacement(self, out: Tensor, x: Tensor, y: Tensor, s: float):
        return ops.higher_order.auto_functionalized_v2(
            ops.mutlib.add_scale_into.default,
            x=x,
            y=y,
            s=s,
            _out_base_index=0,
            _all_bases=[out],
        )[1]


def fresh(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.ops.mutlib.scale_into(out, x + y, 2.0)
    return out.mm(y)


def into_input(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    torch.ops.mutlib.scale_into(x, x + y, 2.0)
    return x.mm(y)


def another_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.ops.mutlib.add_scale_into(out, x + y, y, 2.0)
    return out.mm(y)


@pytest.mark.parametrize(
    ("function", "times"),
    [(fresh, 1), (into_input, 1), (another_op, 0)],
    ids=["fresh", "into_input", "another_op"],
)
def test_it_is_matched_and_built(
    function: Any, times: int, xductor_capture: Any, xductor_fired: Any
) -> None:
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    expected_x, expected = x.clone(), None
    expected = function(expected_x, y)
    calls.clear()
    stages = xductor_capture(
        function, x, y, rewrites=[FuseAdd], options={"xductor.on_error": "raise"}
    )
    xductor_fired(FuseAdd, times)
    torch.testing.assert_close(stages.output, expected)
    torch.testing.assert_close(x, expected_x)
    assert calls == [2.0]
    after = stages.one("post_grad").after_text
    assert ("mutlib.scale_into" in after) is False
