"""Tuples and their slots; sizes, checks, numbers from data."""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.corpus.small_programs.handmade import GraphBuilder
from tests.corpus.small_programs.program import program

FROM_DATA = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}


@program("unused slots", "%split#0, %getitem_1, %split#2 = aten.split.Tensor")
def middle_of_a_split() -> Any:
    return lambda x: x.split(2)[1].sin(), (torch.randn(6, 3),)


@program("unused slots", "%max_1#1 = aten.max.dim")
def values_of_a_max() -> Any:
    return lambda x: x.max(1)[0] + 1, (torch.randn(4, 3),)


@program("unused slots", "%getitem, %getitem_1 = aten.var_mean.correction", train=True)
def statistics_of_a_norm() -> Any:
    return lambda x, w: F.layer_norm(x, (3,), w), (
        torch.randn(4, 3, requires_grad=True),
        torch.ones(3, requires_grad=True),
    )


@program("one slot twice", "aten.add.Tensor %getitem, %getitem")
def a_slot_added_to_itself() -> Any:
    def function(x: Tensor) -> Tensor:
        parts = x.chunk(2)
        return parts[0] + parts[0]

    return function, (torch.randn(4, 3),)


@program("whole tuple", "pyfn.torch.cat pack(")
def a_split_concatenated() -> Any:
    build = GraphBuilder()
    parts = build.call(torch.split, build.tensor("x", 4, 3), 2)
    return build.module((build.call(torch.cat, parts, 1),)), [torch.randn(4, 3)]


@program("whole tuple", "fx.output (%getitem, %getitem_1)")
def a_sort_returned() -> Any:
    return lambda x: torch.sort(x, 0), (torch.randn(4, 3),)


@program("nested tuple", "as (*, (*, *))")
def states_of_an_lstm() -> Any:
    build = GraphBuilder()
    build.root.add_module("lstm", torch.nn.LSTM(2, 3).requires_grad_(False))
    call = build.graph.call_module("lstm", (build.tensor("x", 5, 1, 2),))
    state = build.fake(1, 1, 3), build.fake(1, 1, 3)
    call.meta["example_value"] = (build.fake(5, 1, 3), state)
    cell = build.call(operator.getitem, build.call(operator.getitem, call, 1), 1)
    return build.module((build.call(operator.getitem, call, 0), cell)), [torch.randn(5, 1, 2)]


@program("nested tuple", "higher_order.scan")
def carries_of_a_scan() -> Any:
    from torch._higher_order_ops.scan import scan

    def step(carry: tuple[Tensor, Tensor], x: Tensor) -> Any:
        total, last = carry
        return (total + x, x.clone()), (total * 2, last + 1)

    def function(x: Tensor) -> Any:
        return scan(step, (torch.zeros(3), torch.ones(3)), x, dim=0)

    return function, (torch.randn(4, 3),)


@program("size", "method.size", "as (*, *)")
def sizes_asked_for() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 4, 3)
    rows, columns = (build.call(operator.getitem, build.method("size", x), i) for i in (0, 1))
    turned = build.method("view", x, columns, rows)
    return build.module((turned, build.method("size", x, 0))), [torch.randn(4, 3)]


@program("size", "method.numel", dynamic=True)
def sizes_of_a_tensor() -> Any:
    def function(x: Tensor) -> Tensor:
        rows, columns = x.size()
        return x.reshape(columns, rows) * x.numel()

    return function, (torch.randn(4, 3),)


@program("size", "!fx.symint<s", dynamic=True, train=True)
def mean_by_hand() -> Any:
    def function(x: Tensor) -> Tensor:
        return x.sum(0) / x.shape[0]

    return function, (torch.randn(4, 3, requires_grad=True),)


@program("sym_size", "!fx.symint<s17 + s77>", dynamic=True)
def a_size_in_a_view() -> Any:
    def function(x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, y]).view(x.shape[0] + y.shape[0], -1, 1).expand(-1, -1, x.shape[1])

    return function, (torch.randn(4, 3), torch.randn(5, 3))


@program("sym_size", "aten.sym_size.int", dynamo=FROM_DATA)
def sizes_from_data() -> Any:
    def function(x: Tensor) -> Tensor:
        found = x.nonzero()
        return found.new_ones(found.size(0) * 2)

    return function, (torch.tensor([1.0, 0.0, 2.0]),)


@program("assert_scalar", "aten._assert_scalar.default", dynamo=FROM_DATA)
def a_number_in_bounds() -> Any:
    def function(x: Tensor, n: Tensor) -> Tensor:
        rows = n.item()
        torch._check(rows >= 1, lambda: 'too few "rows"\nof all')
        torch._check(rows <= 4)
        return x[:rows] * 2

    return function, (torch.randn(4, 3), torch.tensor(2))


@program("assert_scalar", "aten._assert_async", dynamo=FROM_DATA)
def a_tensor_that_must_hold() -> Any:
    def function(x: Tensor) -> Tensor:
        torch._assert_async((x == x).all(), "there is a NaN")
        return x + 1

    return function, (torch.randn(4),)


@program(
    "check", "pyfn.torch._check", "pyfn.torch.sym_constrain_range_for_size", ends_early="pre_grad"
)
def checks_as_dynamo_once_wrote_them() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 4)
    n = build.method("item", build.tensor("n", dtype=torch.int64))
    build.call(torch.sym_constrain_range_for_size, n, min=2, max=4, value=None)
    build.call(torch._check, build.call(operator.le, n, 4), value=None)
    return build.module((build.method("narrow", x, 0, 0, n),)), [torch.randn(4), torch.tensor(3)]


@program("check", "eq(", dynamo=FROM_DATA, not_run="Runtime assertion failed")
def a_product_of_numbers_from_data() -> Any:
    def function(n: Tensor, m: Tensor) -> Tensor:
        rows, columns = n.item(), m.item()
        torch._check(rows * columns == 6)
        torch._check(rows > 0)
        torch._check(columns > 0)
        return torch.zeros(rows, columns).reshape(6)

    return function, (torch.tensor(2), torch.tensor(3))


@program("check", "unbacked", dynamo=FROM_DATA)
def a_repeat_by_data() -> Any:
    def function(x: Tensor, times: Tensor) -> Tensor:
        return torch.repeat_interleave(x, times)

    return function, (torch.tensor([1.0, 2.0]), torch.tensor([2, 1]))
