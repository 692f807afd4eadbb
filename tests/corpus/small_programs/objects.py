"""Things that a graph holds or is given: constants, attributes, objects, tokens, hooks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch._library.opaque_object import get_opaque_type_name, register_opaque_type
from torch._opaque_base import OpaqueBase

from tests.corpus.small_programs.handmade import GraphBuilder
from tests.corpus.small_programs.program import program


@program("effect tokens", "higher_order.with_effects", "prims._make_token.default")
def two_effects_in_order() -> Any:
    def function(x: Tensor) -> Tensor:
        torch.ops.aten._print("")
        y = x + 1
        torch.ops.aten._print("")
        return y

    return function, (torch.randn(4),)


class Scale(OpaqueBase):
    """An object that only operators look into."""

    def __init__(self, factor: float) -> None:
        self.factor = factor


register_opaque_type(Scale, typ="reference")
_library = torch.library.Library("xductor_small", "DEF")
_library.define(f"scaled({get_opaque_type_name(Scale)} scale, Tensor x) -> Tensor")


@torch.library.impl("xductor_small::scaled", "CompositeExplicitAutograd", lib=_library)
def _scaled(scale: Scale, x: Tensor) -> Tensor:
    return x * scale.factor


@torch.library.register_fake("xductor_small::scaled", lib=_library)
def _(scale: Any, x: Tensor) -> Tensor:
    return torch.empty_like(x)


@program("script object", "xductor_small.scaled.default", not_run="cannot be made up")
def an_object_given() -> Any:
    return lambda scale, x: torch.ops.xductor_small.scaled(scale, x) + 1, (
        Scale(2.0),
        torch.randn(4),
    )


@program("script object", "xductor_small.scaled.default", not_run="cannot be made up")
def an_object_of_a_module() -> Any:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = Scale(3.0)

        def forward(self, x: Tensor) -> Tensor:
            return torch.ops.xductor_small.scaled(self.scale, x)

    return Scaled(), (torch.randn(4),)


@program(
    "backward state",
    '!fx.object<"torch.fx.experimental._backward_state.BackwardState">',
    not_run="cannot be made up",
    dynamo={"compiled_autograd": True},
)
def a_hook_on_a_value() -> Any:
    def function(x: Tensor, w: Tensor) -> Tensor:
        y = x * w
        y.register_hook(lambda gradient: gradient * 2)
        return y.sin()

    return function, (torch.randn(3, requires_grad=True), torch.randn(3))


@program("live object", "opaque<", not_run="cannot be made up", dynamo={"compiled_autograd": True})
def a_hook_that_holds_a_tensor() -> Any:
    seen: list[Tensor] = []

    def function(x: Tensor) -> Tensor:
        y = x.exp()
        y.register_hook(lambda gradient: seen.append(gradient))
        return y + 1

    return function, (torch.randn(3, requires_grad=True),)


@program("dotted get_attr", 'fx.get_attr "block.0.weight"')
def a_weight_by_its_path() -> Any:
    build = GraphBuilder()
    build.root.add_module("block", nn.Sequential(nn.Linear(3, 2)))
    weight = build.attribute("block.0.weight", build.fake(2, 3))
    x = build.tensor("x", 4, 3)
    return build.module((build.call(nn.functional.linear, x, weight),)), [torch.randn(4, 3)]


@program("tensor constant", "fx.get_attr", inductor={"freezing": False})
def a_table_of_the_graph() -> Any:
    build = GraphBuilder()
    build.root.register_buffer("table", torch.tensor([1.0, 2.0, 4.0]))
    table = build.attribute("table", build.fake(3))
    return build.module((build.call(torch.mul, build.tensor("x", 3), table),)), [torch.randn(3)]


@program("tensor constant", "_tensor_constant0")
def a_tensor_made_inside() -> Any:
    return lambda x: x + torch.tensor([1, 2, 3]), (torch.randn(3),)


@program("lift_fresh_copy", "aten.lift_fresh_copy.default", train=True)
def a_constant_written_to() -> Any:
    def function(x: Tensor) -> Tensor:
        base = torch.tensor([1.0, 2.0, 3.0])
        again = torch.tensor([1.0, 2.0, 3.0])
        base.add_(x.detach())
        return (base + again) * x

    return function, (torch.randn(3, requires_grad=True),)


@program("resource", "dialect_resources", 'forward._tensor_constant1: "0x0400000000002040"')
def constants_in_the_text() -> Any:
    return lambda x: x[torch.tensor([[0, 2], [1, 1]])] * torch.tensor(2.5), (torch.randn(3, 3),)
