"""Patterns in ATen before autograd: every spelling is found, and torch's own stands there."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import ModuleOp

import xductor
from tests.before_autograd.captured import captured, graph_module
from xductor import Rewrite, Tensor
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import aten, entry_graph, ops
from xductor.transforms.matching.spellings import PERMUTE_OR_TRANSPOSE
from xductor.transforms.proving.module_pairs import prove_modules
from xductor.transforms.rewriting.declared_pass import pass_of


class CatOfSigns(Rewrite):
    """Of a cat of two negations the negation is taken once."""

    stage = "pre_grad"

    def pattern(self, x: Tensor, y: Tensor, dim: int) -> Any:
        return aten.cat([aten.neg(x), aten.neg(y)], dim)

    def where(self, x: Tensor, y: Tensor) -> Any:
        return x.dtype == y.dtype

    def replacement(self, x: Tensor, y: Tensor, dim: int) -> Any:
        return aten.neg(aten.cat([x, y], dim))


class DoubleRelu(Rewrite):
    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return aten.relu(aten.relu(x))

    def replacement(self, x: Tensor) -> Any:
        return aten.relu(x)


class DoubleTranspose(Rewrite):
    stage = "pre_grad"
    through = (PERMUTE_OR_TRANSPOSE,)

    def pattern(self, x: Tensor) -> Any:
        return aten.tanh(aten.permute(x, [1, 0]))

    def replacement(self, x: Tensor) -> Any:
        return aten.permute(aten.tanh(x), [1, 0])


class PlusItself(Rewrite):
    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return aten.add(x, x)

    def replacement(self, x: Tensor) -> Any:
        return aten.mul(x, 2)


def applied(rewrite: type[Rewrite], module: ModuleOp) -> int:
    return pass_of(rewrite)().rewrite(module)


x, y = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)

CASES = [
    (CatOfSigns, lambda x, y: torch.cat([-x, -y], 1)),
    (CatOfSigns, lambda x, y: torch.cat((x.neg(), torch.neg(y)), dim=-1)),
    (CatOfSigns, lambda x, y: torch.concat([torch.negative(x), -y], axis=0)),
    (CatOfSigns, lambda x, y: torch.concatenate((x.negative(), operator.neg(y)), axis=1)),
    (CatOfSigns, lambda x, y: torch.ops.aten.cat([torch.ops.aten.neg(x), -y])),
    (DoubleRelu, lambda x, y: F.relu(x.relu())),
    (DoubleRelu, lambda x, y: torch.relu(F.relu(x, inplace=False))),
    (DoubleRelu, lambda x, y: x.relu().relu()),
    (DoubleRelu, lambda x, y: torch.relu(input=torch.ops.aten.relu(x))),
    (DoubleTranspose, lambda x, y: x.t().tanh()),
    (DoubleTranspose, lambda x, y: torch.tanh(x.transpose(0, 1))),
    (DoubleTranspose, lambda x, y: torch.swapaxes(x, axis0=0, axis1=1).tanh()),
    (DoubleTranspose, lambda x, y: torch.permute(x, (1, 0)).tanh()),
    (PlusItself, lambda x, y: x + x),
    (PlusItself, lambda x, y: x.add(x)),
    (PlusItself, lambda x, y: torch.add(x, other=x)),
    (PlusItself, lambda x, y: torch.add(x1=x, x2=x)),
]


@pytest.mark.parametrize(("rewrite", "function"), CASES)
def test_every_spelling(rewrite: type[Rewrite], function: Any) -> None:
    module = captured(function, x, y)
    before = module.clone()
    assert applied(rewrite, module) == 1
    xductor.verify(module, level="types")
    names = [op.name for op in entry_graph(module).block.ops]
    assert not [name for name in names if name.startswith("aten.")]
    assert prove_modules(before, module).status in ("proved", "bounded")


NOT = [
    (DoubleRelu, lambda x, y: F.relu(torch.relu(x), inplace=True)),
    (DoubleRelu, lambda x, y: torch.relu(y.relu_())),
    (PlusItself, lambda x, y: x.add(x, alpha=2)),
    (PlusItself, lambda x, y: torch.add(x.detach(), y, out=torch.empty(3, 4))),
    (PlusItself, lambda x, y: y.add_(y)),
    (CatOfSigns, lambda x, y: torch.cat([x.neg(), y.neg_()], 1)),
    (CatOfSigns, lambda x, y: torch.stack([x.neg(), y.neg()], 1)),
]


@pytest.mark.parametrize(("rewrite", "function"), NOT)
def test_what_is_no_spelling(rewrite: type[Rewrite], function: Any) -> None:
    assert applied(rewrite, captured(function, x, y)) == 0


def test_calls_are_written_as_torch_has_them() -> None:
    gm = graph_module(lambda x, y: torch.concat([torch.negative(x), -y], axis=-1), x, y)
    module = xductor.from_fx(gm, stage="pre_grad")
    applied(CatOfSigns, module)
    again = xductor.to_fx(module)
    targets = [node.target for node in again.graph.nodes if node.op == "call_function"]
    assert targets == [torch.cat, torch.neg]


@pytest.mark.parametrize(("rewrite", "function"), CASES[:3])
def test_in_a_compile(rewrite: type[Rewrite], function: Any) -> None:
    torch._dynamo.reset()
    ours = x.detach().clone().requires_grad_()
    theirs = x.detach().clone().requires_grad_()
    with without_codegen():
        found = torch.compile(
            function,
            backend="xductor",
            options={"xductor.rewrites": [rewrite], "xductor.on_error": "raise"},
        )(ours, y)
    expected = function(theirs, y)
    torch.testing.assert_close(found, expected)
    found.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


class WithoutATable(Rewrite):
    """The same, in torch's own words: found in these alone."""

    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return ops.pyfn.torch.neg(ops.pyfn.torch.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return ops.method.clone(x)


@pytest.mark.parametrize("rewrite", [CatOfSigns, DoubleRelu, DoubleTranspose, WithoutATable])
def test_is_proved(rewrite: type[Rewrite]) -> None:
    proof = xductor.prove(rewrite)
    assert proof.status in ("proved", "bounded")
