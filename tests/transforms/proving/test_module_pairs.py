"""One application of a procedural pass: the graph before and after, for all sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor.transforms.proving.module_pairs import prove_modules
from xductor.transforms.rows.registry import typed_class

aten = torch.ops.aten


def module_of(function: Any, *inputs: torch.Tensor) -> Any:
    return xductor.from_fx(make_fx(function, tracing_mode="symbolic")(*inputs), "joint")


def before_and_after(name: str, function: Any, *inputs: torch.Tensor) -> tuple[Any, Any]:
    """A graph with symbolic sizes, and what a pass makes of it."""
    before = module_of(function, *inputs)
    after = before.clone()
    assert typed_class(name)().rewrite(after)
    return before, after


def test_an_application_of_remove_no_ops_is_proved() -> None:
    def product(x: torch.Tensor) -> torch.Tensor:
        return aten.sin(aten.mul(x, aten.full(x.shape, 1.0, dtype=x.dtype)))

    pair = before_and_after("remove_no_ops", product, torch.randn(3, 5))
    proof = prove_modules(*pair, name="remove_no_ops")
    assert proof.status == "proved", proof
    assert proof.needed == "exact"


def test_an_application_of_remove_noop_ops_is_proved() -> None:
    def sliced(x: torch.Tensor) -> torch.Tensor:
        return aten.relu(aten.slice(x, 0, 0, 2**63 - 1))

    pair = before_and_after("remove_noop_ops", sliced, torch.randn(3, 5))
    assert prove_modules(*pair, name="remove_noop_ops").status == "proved"


def test_a_wrong_application_is_refuted() -> None:
    x = torch.randn(3, 5)
    before = module_of(lambda x: aten.add(x, aten.full(x.shape, 0.0, dtype=x.dtype)), x)
    after = module_of(lambda x: aten.clone(x), x)
    proof = prove_modules(before, after)
    assert proof.status == "refuted", proof
    assert proof.counter_example is not None
    assert "expected 0.0, found -0.0" in proof.counter_example.problem


def test_sizes_for_which_a_split_gives_other_pieces_are_none_of_the_graph() -> None:
    """The graph has three pieces, so it does not stand for inputs that are cut into two."""

    def joined(x: torch.Tensor) -> torch.Tensor:
        return aten.relu(torch.cat(torch.ops.aten.split(x, 2, 1), 1))

    module = module_of(joined, torch.randn(3, 6))
    proof = prove_modules(module, module.clone())
    assert proof.ok, proof


class _Reading(torch.nn.Module):
    """`(x + first) * second`, of tensors that the module holds."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self.v, self.w = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
        self.names = first, second

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = (getattr(self, name) for name in self.names)
        return (x + first) * second


def _reading(first: str, second: str) -> Any:
    gm = torch.fx.symbolic_trace(_Reading(first, second))
    return xductor.from_fx(gm, "joint", example_inputs=(torch.ones(2),))


def test_what_a_module_holds_is_anything_and_the_same_in_both_graphs() -> None:
    assert prove_modules(_reading("v", "w"), _reading("v", "w")).status == "proved"
    assert not prove_modules(_reading("v", "w"), _reading("w", "v")).ok
    assert not prove_modules(_reading("v", "w"), _reading("v", "v")).ok
