"""Calls that are of no overload, higher-order ops with their keywords, and names."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.triton_kernel_wrap import (
    kernel_side_table,
    triton_kernel_wrapper_mutation,
)

from tests.corpus.small_programs.handmade import GraphBuilder
from tests.corpus.small_programs.program import program

aten = torch.ops.aten


@program(
    "lowering",
    "mm_plus_mm",
    after=True,
    ends_early="post_grad",
    inductor={"max_autotune_gemm": True},
    not_run="get_dtype",
)
def two_products_added() -> Any:
    return lambda a, b, c, d: a @ b + c @ d, [torch.randn(4, 4) for _ in range(4)]


@program("inductor_prims", "prims.inductor_seeds", after=True)
def seeds_of_the_compiler() -> Any:
    return lambda x: torch.rand_like(x) + torch.randn(4), (torch.randn(4),)


@program("inductor_prims", "inductor", after=True, train=True)
def a_dropout_with_seeds() -> Any:
    return lambda x: torch.nn.functional.dropout(x, 0.5), (torch.randn(4, 3, requires_grad=True),)


@program("overload packet", "pyfn.torch.ops.aten.add ")
def packets_of_aten() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 4)
    total = build.call(aten.add, x, 1)
    return build.module((build.call(aten.mul, total, x),)), [torch.randn(4)]


@program("overload packet", "pyfn.torch.ops.aten")
def a_packet_in_a_function() -> Any:
    return lambda x: torch.ops.aten.relu(x) + torch.ops.aten.sum.dim_IntList(x, [0]), (
        torch.randn(4, 3),
    )


@program("torch.sym", "pyfn.torch.sym_max", "pyfn.torch.sym_min", dynamic=True)
def greater_and_smaller_sizes() -> Any:
    def function(x: Tensor, y: Tensor) -> Tensor:
        longer = torch.sym_max(x.shape[0], y.shape[0])
        shorter = torch.sym_min(x.shape[0], y.shape[0])
        return torch.zeros(longer).sum() + x[:shorter].sum() + y[:shorter].sum()

    return function, (torch.randn(4), torch.randn(7))


@program("torch.sym", "torch.sym_", dynamic=True)
def a_size_as_a_float() -> Any:
    return lambda x: x * torch.sym_float(x.shape[0]) + torch.sym_not(x.shape[1] == 3), (
        torch.randn(4, 3),
    )


@program("math", "_sym_sqrt", dynamic=True)
def scaled_by_a_root() -> Any:
    return lambda x: x / math.sqrt(x.shape[-1]), (torch.randn(4, 6),)


@program("math", "math.", dynamic=True)
def rounded_sizes() -> Any:
    return lambda x: torch.zeros(math.ceil(x.shape[0] / 3)) + math.floor(x.shape[1] * 0.5), (
        torch.randn(7, 5),
    )


class _Doubling:
    """Stands for a Triton kernel, which needs a package of its own to be made."""

    arg_names = ("in_ptr", "out_ptr")


@program(
    "triton side table",
    "kernel_idx = ",
    'kwargs = {"in_ptr": %',
    not_run="not subscriptable",
    ends_early="post_grad",
)
def a_kernel_by_its_place() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 8)
    out = build.call(torch.empty_like, x)
    build.call(
        triton_kernel_wrapper_mutation,
        kernel_idx=kernel_side_table.add_kernel(_Doubling()),
        constant_args_idx=kernel_side_table.add_constant_args({}),
        grid=[(8, 1, 1)],
        tma_descriptor_metadata={},
        kwargs={"in_ptr": x, "out_ptr": out},
        value=None,
    )
    return build.module((build.call(torch.add, out, 1),)), [torch.randn(8)]


@program("higher-order keywords", 'hints = {"level": 1')
def hints_for_a_region() -> Any:
    from torch._higher_order_ops.hints_wrap import hints_wrapper

    def inner(x: Tensor) -> Tensor:
        return x.sin() * 2

    def function(x: Tensor) -> Tensor:
        return hints_wrapper(inner, (x,), {}, hints={"level": 1, "where": "inner"}) + 1

    return function, (torch.randn(4),)


@program("higher-order keywords", "higher_order.cond")
def a_branch() -> Any:
    def function(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))

    return function, (torch.randn(4),)


@program("higher-order keywords", "higher_order.while_loop")
def a_loop() -> Any:
    from torch._higher_order_ops import while_loop

    def function(n: Tensor, x: Tensor) -> Any:
        return while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (n, x))

    return function, (torch.tensor(0), torch.randn(4))


@program("higher-order keywords", "higher_order.invoke_subgraph", train=True)
def a_region_called_twice() -> Any:
    @torch.compiler.nested_compile_region
    def region(x: Tensor) -> Tensor:
        return x.sin() * x

    return lambda x: region(region(x)), (torch.randn(4, requires_grad=True),)


@program("higher-order keywords", "higher_order.tag_activation_checkpoint", train=True)
def a_checkpoint() -> Any:
    from torch.utils.checkpoint import checkpoint

    return lambda x: checkpoint(lambda y: y.sin().exp(), x, use_reentrant=False), (
        torch.randn(4, requires_grad=True),
    )


@program("node.type", "pyfn.torch.relu")
def annotated_nodes() -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 2)
    x.type = torch.Tensor
    result = build.call(torch.relu, x)
    result.type = list[int]
    return build.module((result,)), [torch.randn(2)]


def _named(names: list[str]) -> Any:
    build = GraphBuilder()
    x = build.tensor("x", 2)
    nodes = [build.call(torch.neg, x) for _ in names]
    gm = build.module(tuple(nodes))
    for node, name in zip(nodes, names, strict=True):
        node.name = name
    return gm, [torch.randn(2)]


@program("keyword name", "%class = ", "%lambda = ")
def named_like_keywords() -> Any:
    return _named(["class", "lambda", "none", "true", "loc", "dense", "slice", "nan", "inf"])


@program("odd name", "pyfn.torch.neg")
def named_as_one_may_not() -> Any:
    return _named(["a.b", "a b", "a#0", "%x", "1", "é", 'quote"', "back\\slash", "new\nline"])


@program("odd name", "pyfn.torch.neg")
def an_output_named_like_a_value() -> Any:
    build = GraphBuilder()
    x = build.tensor("output", 2)
    return build.module((build.call(torch.neg, x),)), [torch.randn(2)]
