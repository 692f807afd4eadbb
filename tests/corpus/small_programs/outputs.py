"""What a graph returns, and the indices that it is written with."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tests.corpus.small_programs.handmade import GraphBuilder
from tests.corpus.small_programs.program import program


@program("output int", ", 3, true, 2.5,")
def numbers_returned() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 2)
    return build.module((build.call(torch.sin, x), 3, True, 2.5, 1 << 40)), [torch.randn(2)]


@program("output symint", "fx.output (%", dynamic=True)
def a_size_returned() -> Any:
    return lambda x: (x.sin(), x.shape[0] * 2 + 1), (torch.randn(4, 3),)


@program("output symint", "!fx.symfloat", dynamo={"capture_scalar_outputs": True})
def a_float_returned() -> Any:
    return lambda x: (x.item() * 2.0, x + 1), (torch.tensor(1.5),)


@program("output none", "none", train=True)
def gradients_that_are_missing() -> Any:
    return lambda x, n: (x * n).sum(), (torch.randn(4, requires_grad=True), torch.arange(4))


@program("output none", "none, ")
def none_returned() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 2)
    return build.module((None, build.call(torch.cos, x), None)), [torch.randn(2)]


@program("output nested", '{"key": ', ends_early="pre_grad")
def outputs_in_a_dict() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 2)
    sine, cosine = build.call(torch.sin, x), build.call(torch.cos, x)
    return build.module(([sine, (cosine, None)], {"key": sine})), [torch.randn(2)]


@program("output nested", "fx.output (")
def outputs_in_a_tree() -> Any:
    return lambda x: {"a": [x + 1, (x * 2,)], "b": {"c": x.sum()}}, (torch.randn(4),)


@program("output twice", "fx.output (%sin, %sin)")
def one_value_twice() -> Any:
    build = GraphBuilder()
    sine = build.call(torch.sin, build.tensor("x", 2))
    return build.module((sine, sine)), [torch.randn(2)]


@program("output twice", "aliases(")
def an_input_and_a_view_of_it() -> Any:
    return lambda x: (x, x.t(), x + 1), (torch.randn(4, 3),)


@program("symint slice", "aten.slice.Tensor", dynamic=True)
def a_slice_by_half() -> Any:
    return lambda x: x[x.shape[0] // 2 :] + x[: -(x.shape[0] // 2)], (torch.randn(4, 3),)


@program("symint slice", "slice(", dynamic=True)
def a_slice_by_a_number() -> Any:
    return lambda x, n: x[n : n + 3, ::2] * 2, (torch.randn(12, 5), 4)


@program("ellipsis", "...")
def the_last_column() -> Any:
    return lambda x: x[..., -1] + x[0, ..., 1], (torch.randn(4, 4, 4),)


@program("none in index", "[none, ")
def an_index_of_columns() -> Any:
    return lambda x, i: x[:, i], (torch.randn(4, 3), torch.tensor([2, 0]))


@program("none in index", "aten.index_put", train=True)
def a_write_at_columns() -> Any:
    def function(x: Tensor, i: Tensor) -> Tensor:
        y = x.clone()
        y[:, None, i] = 1.0
        return y * x

    return function, (torch.randn(4, 5, 3, requires_grad=True), torch.tensor([2, 0]))


@program("none in index", "none")
def new_dims() -> Any:
    return lambda x: x[None, :, None] * 2, (torch.randn(4, 3),)
