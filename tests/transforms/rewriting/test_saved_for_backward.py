"""Declared rewrites before autograd: what they make autograd keep, or not keep any more.

`clamp` keeps its operand for the backward, `relu` its result. One may stand for the other where
neither is written later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from xductor import Rewrite
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import InferenceEnv, ops, parse_ir
from xductor.ir.inference.saved_for_backward import saved_for_backward
from xductor.transforms import Tensor, graphs_of
from xductor.transforms.rewriting import legality
from xductor.transforms.rewriting.driver import Driver, RewriteIndex, watching


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contract on aliases refuses an output that is written later, whatever autograd keeps."""
    monkeypatch.setattr(legality, "check_aliases", lambda *_: None)


Function = Callable[[torch.Tensor], torch.Tensor]


class ToRelu(Rewrite):
    """Keeps the result, where the operand was kept."""

    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return ops.pyfn.torch.clamp(x, min=0)

    def replacement(self, x: Tensor) -> Any:
        return ops.pyfn.torch.relu(x)


class FromRelu(Rewrite):
    """Keeps the operand, where the result was kept."""

    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return ops.pyfn.torch.relu(x)

    def replacement(self, x: Tensor) -> Any:
        return ops.pyfn.torch.clamp(x, min=0)


class ThroughViews(Rewrite):
    """Keeps the result through a view of it."""

    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return ops.pyfn.torch.clamp(x, min=0)

    def replacement(self, x: Tensor) -> Any:
        return ops.method.t(ops.pyfn.torch.relu(ops.method.t(x)))


def _rewritten(
    rewrite: type[Rewrite], function: Function, dynamic: bool = False
) -> tuple[Function, list[int], list[str]]:
    """The function with a rewrite applied, to be run eagerly; how often, and what refused it."""
    counts: list[int] = []
    reasons: list[str] = []

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        module = from_fx(gm, "pre_grad", example_inputs=inputs)
        with watching(report=lambda _, __, error: reasons.append(str(error))):
            counts.append(Driver(RewriteIndex([rewrite()])).rewrite(module))
        to_fx(module, into=gm)
        return gm

    torch._dynamo.reset()
    return torch.compile(function, backend=backend, dynamic=dynamic), counts, reasons


def _outcome(function: Function) -> tuple[torch.Tensor, torch.Tensor] | str:
    """Result and gradient, or what was raised."""
    torch.manual_seed(0)
    x = torch.randn(4, 4, requires_grad=True)
    y = function(x)
    try:
        (gradient,) = torch.autograd.grad(y.square().sum(), x)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "raises"
    return y, gradient


def _check(rewrite: type[Rewrite], function: Function, *, applied: int, raises: bool) -> None:
    run, counts, reasons = _rewritten(rewrite, function)
    found, expected = _outcome(run), _outcome(function)
    assert (expected == "raises") == raises
    assert sum(counts) == applied
    assert applied or any("for its backward" in reason for reason in reasons)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def _result_written(act: Function) -> Function:
    return lambda x: act(x * 2).mul_(3)


def _view_written(act: Function) -> Function:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = act(x * 2)
        y[1:].zero_()
        return y

    return function


def _under_no_grad(act: Function) -> Function:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = act(x * 2)
        with torch.no_grad():
            y.add_(1)
        return y

    return function


def _operand_written(act: Function) -> Function:
    def function(x: torch.Tensor) -> torch.Tensor:
        x = x * 2
        y = act(x)
        x.add_(1)
        return y + x

    return function


def _written_by_out(act: Function) -> Function:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = act(x * 2)
        with torch.no_grad():
            torch.sin(torch.ones(4, 4), out=y)
        return y

    return function


def _written_before(act: Function) -> Function:
    return lambda x: act((x * 2).add_(1)).sin()


def _other_written(act: Function) -> Function:
    return lambda x: act(x * 2).sin().mul_(3)


def _clamp(x: torch.Tensor) -> torch.Tensor:
    return torch.clamp(x, min=0)


@pytest.mark.parametrize("rewrite", [ToRelu, ThroughViews])
@pytest.mark.parametrize("written", [_result_written, _view_written, _under_no_grad])
def test_the_result_comes_to_be_kept(
    rewrite: type[Rewrite], written: Callable[[Function], Function]
) -> None:
    _check(rewrite, written(_clamp), applied=0, raises=False)


def test_the_operand_comes_to_be_kept() -> None:
    _check(FromRelu, _operand_written(torch.relu), applied=0, raises=False)


@pytest.mark.parametrize("rewrite", [ToRelu, ThroughViews])
def test_the_operand_was_kept_and_the_error_stays(rewrite: type[Rewrite]) -> None:
    _check(rewrite, _operand_written(_clamp), applied=0, raises=True)


@pytest.mark.parametrize(
    "written", [_result_written, _view_written, _under_no_grad, _written_by_out]
)
def test_the_result_was_kept_and_the_error_stays(
    written: Callable[[Function], Function],
) -> None:
    _check(FromRelu, written(torch.relu), applied=0, raises=True)


@pytest.mark.parametrize("written", [_written_before, _other_written])
@pytest.mark.parametrize(
    ("rewrite", "act"), [(ToRelu, _clamp), (ThroughViews, _clamp), (FromRelu, torch.relu)]
)
def test_what_is_written_is_not_kept(
    rewrite: type[Rewrite], act: Function, written: Callable[[Function], Function]
) -> None:
    _check(rewrite, written(act), applied=1, raises=False)


@pytest.mark.parametrize(("applied", "writes"), [(1, False), (0, True)])
def test_the_body_of_a_checkpoint_is_asked_whether_it_writes(applied: int, writes: bool) -> None:
    """A body that is only declared, as in a stage, may write; one that is there is looked into."""
    from xductor.frontend.fx_importer import from_fx as lower

    def body(y: torch.Tensor) -> torch.Tensor:
        y = y.sin()
        return y.mul_(2) if writes else y * 2

    def function(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(body, torch.clamp(x * 2, min=0), use_reentrant=False)

    counts: list[int] = []

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        module = lower(gm, "pre_grad", example_inputs=inputs, subgraphs="declare")
        counts.append(Driver(RewriteIndex([ToRelu()])).rewrite(module))
        return gm

    torch._dynamo.reset()
    torch.compile(function, backend=backend)(torch.randn(4, 4, requires_grad=True))
    assert counts == [applied]


# What a run tells.

_F = "!fx.tensor<f32[4, 4], cpu, requires_grad>"
_G = "!fx.tensor<f32[4, 4], cpu>"


@pytest.mark.parametrize(
    ("call", "operands", "results", "shares"),
    [
        (f"pyfn.torch.exp %x : {_F}", (), (0,), (None,)),
        (f"pyfn.torch.sin %x : {_F}", (0,), (), (None,)),
        (f"pyfn.torch.add %x, %x : {_F}", (), (), (None,)),
        (f"pyfn.torch.mul %x, %c : {_F}", (1,), (), (None,)),
        (f"pyfn.torch.mul %c, %c : {_G}", (), (), (None,)),
        (f"pyfn._operator.matmul %c, %x : {_F}", (0,), (), (None,)),
        (f"method.t %x : {_F}", (), (), (0,)),
        (f"method.sigmoid_ %y : {_F}", (0,), (0,), (0,)),
        (f"aten.tanh.default %x : {_F}", (), (0,), (None,)),
    ],
)
def test_what_a_call_keeps(
    call: str, operands: tuple[int, ...], results: tuple[int, ...], shares: tuple[int | None, ...]
) -> None:
    module = parse_ir(f"""
fx.graph @forward stage(pre_grad) symbols() (%x : {_F}, %c : {_G}) {{
  %y = pyfn.torch.neg %x : {_F}
  %z = {call}
  fx.output (%z)
}}
""")
    (graph,) = graphs_of(module)
    op: Any = list(graph.block.ops)[1]
    with InferenceEnv.of(graph) as env:
        found = saved_for_backward(op, env)
        assert saved_for_backward(op, env) is found
    assert (tuple(found.operands), tuple(found.results)) == (operands, results)
    assert found.shares == shares
