"""Calls that are alike are read once; those that differ in anything that counts are not alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from xdsl.ir import SSAValue

from tests.transforms.attention.fused import fused
from xductor.frontend import from_fx
from xductor.ir import InferenceEnv, TorchOp, entry_graph
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.attention import reading
from xductor.transforms.attention.reading import Reader
from xductor.transforms.attention.versions import WrittenVersions
from xductor.transforms.rewriting.graph_state import GraphState

Program = Callable[..., Any]
#: A term: its kind, and its arguments with the places of values in the graph.
Told = tuple[str, dict[str, Any]] | None


def told(program: Program, *inputs: Any) -> list[Told]:
    """The terms of all calls of a program, as a reader of its graph tells them."""
    seen: list[Any] = []

    def backend(gm: torch.fx.GraphModule, given: list[Any]) -> Any:
        seen.extend((gm, given))
        return gm

    torch._dynamo.reset()
    torch.compile(program, backend=backend, dynamic=False, fullgraph=True)(*inputs)
    module = from_fx(seen[0], "pre_grad", example_inputs=seen[1])
    graph = entry_graph(module)
    with InferenceEnv.of(graph) as env:
        state = GraphState(graph, Bodies(module), env)
        versions = WrittenVersions(graph, state.writes, state.bodies)
    reader = Reader(versions if versions else None)
    ops = [op for op in graph.block.ops if isinstance(op, TorchOp) and len(op.results) == 1]
    values: list[SSAValue] = [*graph.block.args, *(op.results[0] for op in ops)]
    places = {id(value): f"%{place}" for place, value in enumerate(values)}
    terms = [reader.term(op.results[0]) for op in ops]
    assert all(one is None or one.op is op for one, op in zip(terms, ops, strict=True))
    return [None if one is None else (one.kind, _placed(one.args, places)) for one in terms]


def _placed(args: Any, places: dict[int, str]) -> dict[str, Any]:
    return {name: places.get(id(item), repr(item)) for name, item in args.items()}


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Told]]:
    """Tells the terms of a program as if no call had been read before."""

    def tell(program: Program, *inputs: Any) -> list[Told]:
        with monkeypatch.context() as patch:
            patch.setattr(reading, "_LIMIT", -1)
            return told(program, *inputs)

    return tell


def layer(x: Tensor, mask: Tensor, scale: float = 0.25, p: float = 0.0) -> Tensor:
    query, key = x.view(2, 3, 2, 4).transpose(1, 2), x.reshape(2, 3, 2, 4).permute(0, 2, 1, 3)
    scores = torch.matmul(query, key.mT) * scale + mask[:, None]
    scores = scores.masked_fill(mask[:, None] < -1, float("-inf")).float()
    weights = F.dropout(F.softmax(scores, dim=-1), p, training=True).to(x.dtype)
    return torch.matmul(weights, key).transpose(1, 2).contiguous().flatten(2)


def test_a_second_layer_is_read_as_the_first_and_as_anew(
    anew: Callable[..., list[Told]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def program(x: Tensor, mask: Tensor) -> Tensor:
        return layer(layer(x.sin(), mask), mask)

    x, mask = torch.randn(2, 3, 8), torch.zeros(2, 3, 3)
    wanted = anew(program, x, mask)
    assert sum(one is not None for one in wanted) > 20
    assert told(program, x, mask) == wanted
    read = Reader._read_now
    calls: list[TorchOp] = []

    def counted(self: Reader, op: TorchOp) -> Any:
        calls.append(op)
        return read(self, op)

    monkeypatch.setattr(Reader, "_read_now", counted)
    assert told(program, x, mask) == wanted
    assert not calls


def _constant(number: Any) -> Program:
    return lambda x, y: (x * number, x + number, torch.where(x > 0, x, number))


def _dims(one: int, other: int) -> Program:
    return lambda x, y: (x.transpose(one, other), torch.softmax(x, one), x.permute(0, other, one))


def _cast(dtype: torch.dtype) -> Program:
    return lambda x, y: (x.to(dtype), x.type(dtype), x.float(), x.sin().detach())


def _operands(first: str, second: str) -> Program:
    def program(x: Tensor, y: Tensor) -> Any:
        one, other = {"x": x, "y": y}[first], {"x": x, "y": y}[second]
        return one @ other, one / other, one.bmm(other), torch.where(one > 0, one, other)

    return program


def _written(where: str) -> Program:
    def program(x: Tensor, y: Tensor) -> Any:
        one, other = x.sin(), y.sin()
        if where == "in place":
            one.mul_(2)
        elif where == "through a view":
            one[0].mul_(2)
        elif where == "as detached":
            one.detach().mul_(2)
        return one @ other, one.softmax(-1), one.mT.contiguous()

    return program


PAIRS: dict[str, tuple[Program, Program]] = {
    "another number": (_constant(2.0), _constant(3.0)),
    "an integer": (_constant(2.0), _constant(2)),
    "a truth": (_constant(1), _constant(True)),
    "a sign of zero": (_constant(0.0), _constant(-0.0)),
    "not a number": (_constant(0.0), _constant(float("nan"))),
    "other dims": (_dims(1, 2), _dims(2, 1)),
    "dims from behind": (_dims(1, 2), _dims(-1, -2)),
    "another dtype": (_cast(torch.float32), _cast(torch.float16)),
    "operands that are one": (_operands("x", "x"), _operands("x", "y")),
    "operands in another order": (_operands("x", "y"), _operands("y", "x")),
    "a write": (_written(""), _written("in place")),
    "a write to a part": (_written(""), _written("through a view")),
    "a write that autograd does not see": (_written(""), _written("as detached")),
    "dropout": (lambda x, y: F.dropout(x, 0.0), lambda x, y: F.dropout(x, 0.5)),
    "an index": (lambda x, y: (x[:, None], x[0]), lambda x, y: (x[:, :, None], x[1])),
}


@pytest.mark.parametrize("which", PAIRS)
def test_what_differs_in_the_program_is_read_anew(
    which: str, anew: Callable[..., list[Told]]
) -> None:
    inputs = torch.randn(2, 4, 4), torch.randn(2, 4, 4)
    for one, other in (PAIRS[which], PAIRS[which][::-1]):
        wanted = anew(other, *inputs)
        assert any(wanted)
        told(one, *inputs)
        assert told(other, *inputs) == wanted


def test_what_differs_in_the_inputs_is_read_anew(anew: Callable[..., list[Told]]) -> None:
    def program(x: Tensor) -> Any:
        half = x.sin()
        return half.float(), half.detach(), half.view(2, 8), half.squeeze(0), half.T, half[None]

    inputs = [
        torch.randn(4, 4),
        torch.randn(4, 4, dtype=torch.float16),
        torch.randn(4, 4, requires_grad=True),
        torch.randn(1, 16),
    ]
    wanted = [anew(program, x) for x in inputs]
    assert [told(program, x) for x in inputs] == wanted
    assert [told(program, x) for x in reversed(inputs)] == wanted[::-1]
    assert len({repr(one) for one in wanted}) >= 3


def attention(q: Tensor, k: Tensor, v: Tensor, scale: float = 0.5) -> Tensor:
    return torch.softmax(q @ k.mT * scale, -1) @ v


def _scaled_apart(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attention(attention(q, k, v, 0.5), k, v, 2.0)


def _of_half_precision(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = attention(q, k, v), k.bfloat16(), v.bfloat16()
    return attention(q.bfloat16(), k, v).float()


def _written_between(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    k = k.cos()
    first = attention(q, k, v)
    k.mul_(3)
    return first + attention(q, k, v)


def _aliased(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    k = k.cos()
    first = attention(q, k, v)
    k[0].mul_(3)
    return first + attention(q, k, v)


def _other_modes(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    first = attention(q, k, v)
    with torch.autocast("cpu", torch.bfloat16):
        second = attention(q, k, v)
    with torch.no_grad():
        third = attention(q, k, v)
    return first + second.float() + third + attention(q, k, v)


def _inputs(grad: bool) -> list[Tensor]:
    made = torch.Generator().manual_seed(3)
    return [torch.randn(2, 2, 6, 8, generator=made).requires_grad_(grad) for _ in range(3)]


@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize(
    ("program", "count", "error"),
    [(_scaled_apart, 2, 2e-6), (_of_half_precision, 2, 3e-2), (_other_modes, 4, 3e-2)],
    ids=["scaled apart", "of half precision", "other modes"],
)
def test_layers_that_are_nearly_alike(
    program: Program, count: int, error: float, grad: bool
) -> None:
    ours, eager = _inputs(grad), _inputs(grad)
    run, outcome = fused(program)
    result, expected = run(*ours), program(*eager)
    assert outcome.count == count, outcome.reasons
    torch.testing.assert_close(result, expected, rtol=error, atol=error)
    if not grad:
        return
    result.square().mean().backward()
    expected.square().mean().backward()
    for one, other in zip(ours, eager, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=error, atol=error)


@pytest.mark.parametrize("program", [_written_between, _aliased])
def test_a_layer_behind_a_write(program: Program) -> None:
    run, outcome = fused(program)
    torch.testing.assert_close(run(*_inputs(False)), program(*_inputs(False)))
    assert outcome.count == 2, outcome.reasons


@pytest.mark.parametrize("program", [_written_between, _aliased])
def test_a_write_to_what_the_backward_needs_is_refused_as_in_eager(program: Program) -> None:
    run, outcome = fused(program)
    result = run(*_inputs(True))
    assert outcome.count == 1
    for one in (result, program(*_inputs(True))):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            one.sum().backward()
