"""Losses over the result of a linear layer, chunked, against the graph as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from xductor.ir import entry_graph

ROWS, CLASSES = 64, 128
LOSSES: dict[str, Callable[[torch.Tensor, Any], torch.Tensor]] = {
    "mean": lambda y, f: F.cross_entropy(y, f.labels),
    "sum": lambda y, f: F.cross_entropy(y, f.labels, reduction="sum"),
    "ignored": lambda y, f: F.cross_entropy(y, f.ignored),
    "mean of rows": lambda y, f: F.cross_entropy(y, f.ignored, reduction="none").mean(),
    "smoothing": lambda y, f: F.cross_entropy(y, f.ignored, label_smoothing=0.1),
    "weights": lambda y, f: F.cross_entropy(y, f.labels, weight=f.weight),
    "probabilities": lambda y, f: F.cross_entropy(y, f.soft),
    "nll": lambda y, f: F.nll_loss(F.log_softmax(y, -1), f.labels),
    "steps of accumulation": lambda y, f: F.cross_entropy(y, f.labels) / 7,
    "temperature": lambda y, f: F.cross_entropy(y / 2.5, f.labels),
    "soft cap": lambda y, f: F.cross_entropy(torch.tanh(y / 30) * 30, f.labels),
    "z loss": lambda y, f: F.cross_entropy(y, f.labels) + 1e-4 * y.logsumexp(-1).square().mean(),
    "kl": lambda y, f: F.kl_div(F.log_softmax(y, -1), f.soft, reduction="batchmean"),
    "binary": lambda y, f: F.binary_cross_entropy_with_logits(y, f.soft),
    "mse": lambda y, f: F.mse_loss(y, f.soft),
    "relu": lambda y, f: y.relu().sum(),
    "two losses": lambda y, f: (
        F.cross_entropy(y, f.labels) + 0.5 * F.cross_entropy(y, f.labels.flip(0))
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss(joint: Any, operands: Any, name: str) -> None:
    case = joint(LOSSES[name], *operands())
    assert case.chunk() == 1, case.reasons
    assert case.calls == 4
    assert len(case.bodies) == 1
    assert not case.large(ROWS * CLASSES)
    case.check_values()


@pytest.mark.parametrize("name", ["mean", "smoothing"])
def test_without_bias(joint: Any, operands: Any, name: str) -> None:
    case = joint(LOSSES[name], *operands()[:2])
    assert case.chunk() == 1, case.reasons
    assert case.calls == 4
    case.check_values()


@pytest.mark.parametrize("name", ["mean", "sum", "smoothing"])
def test_bfloat16(joint: Any, operands: Any, name: str) -> None:
    """The logits of a bfloat16 layer are float32 in the loss; sums of terms are too."""
    case = joint(lambda y, f: LOSSES[name](y.float(), f), *operands(torch.bfloat16))
    assert case.chunk() == 1, case.reasons
    case.check_values(tolerance=2e-2)
    body = case.bodies[0]
    sums = [one.type for one in body.arguments][-2:]
    assert [one.dtype for one in sums] == [torch.float32] * 2


def test_sums_as_inductor_has_them(joint: Any, operands: Any) -> None:
    case = joint(lambda y, f: LOSSES["sum"](y.float(), f), *operands(torch.bfloat16))
    assert case.chunk(policy="fast") == 1
    assert [one.type.dtype for one in case.bodies[0].arguments][-2:] == [torch.bfloat16] * 2
    case.check_values(tolerance=2e-2)


def _error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found.double() - expected).norm() / expected.norm())


def test_many_sums_are_as_exact_as_few(joint: Any, operands: Any) -> None:
    """Of 32 chunks: a sum in float32 does not lose what one in bfloat16 does."""
    x, w, _ = operands(torch.bfloat16)
    exact = [one.double().requires_grad_() for one in (x, w)]
    F.cross_entropy(F.linear(*exact), torch.arange(ROWS) * 7 % CLASSES).backward()
    errors = {}
    for policy in ("default", "fast"):
        case = joint(lambda y, f: F.cross_entropy(y.float(), f.labels), x, w)
        assert case.chunk(32, policy=policy) == 1
        errors[policy] = _error(case.run(case.inputs)[2], exact[1].grad)
    assert errors["default"] < errors["fast"] / 1.2


def _shifted(y: torch.Tensor, f: Any) -> torch.Tensor:
    """As models that predict the next token have it: the last position has no label."""
    labels = f.labels.view(4, 16)[:, 1:].reshape(-1)
    return F.cross_entropy(y[:, :-1].contiguous().float().view(-1, CLASSES), labels)


@pytest.mark.parametrize(
    "loss",
    [
        lambda y, f: F.cross_entropy(y.view(-1, CLASSES), f.labels),
        lambda y, f: F.cross_entropy(y.float().view(-1, CLASSES), f.labels),
        lambda y, f: F.cross_entropy(y.permute(0, 2, 1), f.labels.view(4, 16)),
        lambda y, f: -y.float().log_softmax(-1).gather(-1, f.labels.view(4, 16, 1)).mean(),
        _shifted,
    ],
    ids=["flat", "float-flat", "classes-second", "gather", "shifted"],
)
@pytest.mark.parametrize("num_chunk", [3, 4])
def test_batch_of_sequences(joint: Any, operands: Any, loss: Any, num_chunk: int) -> None:
    """Rows are positions of sequences: chunks are whole sequences where a dim of them is seen."""
    x, w, b = operands(torch.bfloat16, rows=(4, 16))
    case = joint(loss, x, w, b)
    assert case.chunk(num_chunk) == 1, case.reasons
    assert case.calls == num_chunk or (num_chunk, case.calls) == (3, 2)
    case.check_values(tolerance=2e-2)


@pytest.mark.parametrize("num_chunk", [2, 5, 63])
def test_uneven_chunks(joint: Any, operands: Any, num_chunk: int) -> None:
    """The last chunk has what is left, and a body of its own."""
    x, w, b = operands()
    case = joint(LOSSES["mean"], x, w, b)
    assert case.chunk(num_chunk) == 1
    step = -(-ROWS // num_chunk)
    assert case.calls == -(-ROWS // step)
    assert len(case.bodies) == (1 if ROWS % step == 0 else 2)
    case.check_values()


def test_hidden_states_from_other_layers(joint: Any, operands: Any) -> None:
    """What is before and behind the product stays where it is."""
    x, w, _ = operands()
    v = torch.randn(16, 16)
    case = joint(LOSSES["mean"], x, w, v, layer=lambda x, w, v: torch.tanh(x @ v) @ w.t())
    assert case.chunk() == 1
    names = [op.name for op in entry_graph(case.module).block.ops]
    assert names.count("aten.mm.default") == 3
    assert names.count("aten.tanh.default") == 1
    case.check_values()


def test_a_weight_as_large_as_the_result(joint: Any) -> None:
    """As many elements as the logits: still the weight stays whole."""
    torch.manual_seed(0)
    x, w = torch.randn(ROWS, ROWS), torch.randn(1024, ROWS)
    case = joint(LOSSES["mean"], x, w)
    assert case.chunk() == 1, case.reasons
    case.check_values()


@pytest.mark.parametrize("tangent", [0.0, -2.0, 1e-6, 1024.0])
def test_the_gradient_of_the_loss(joint: Any, operands: Any, tangent: float) -> None:
    case = joint(LOSSES["smoothing"], *operands())
    assert case.chunk() == 1
    case.check_values(tangent)


def test_the_peak_of_live_bytes(joint: Any, operands: Any) -> None:
    """Of the large values, which make up the peak, there is a chunk at a time."""
    peaks = {}
    for num_chunk in (1, 4, 16):
        case = joint(LOSSES["mean"], *operands())
        assert case.chunk(num_chunk) == (num_chunk > 1)
        peaks[num_chunk] = case.peak
    large = ROWS * CLASSES * 4
    assert peaks[1] >= 3 * large
    assert peaks[4] < peaks[1] / 2
    assert peaks[16] < peaks[1] / 3


def test_float16_under_fast_only(joint: Any, operands: Any) -> None:
    """A loss scaled up against underflow is not scaled before the gradients are rounded."""
    x, w, _ = operands(torch.float16)
    case = joint(lambda y, f: F.cross_entropy(y.float(), f.labels), x, w)
    assert case.chunk() == 0
    assert "a float16 gradient would be scaled too late" in case.reasons[-1]
    assert case.chunk(policy="fast") == 1
    case.check_values(tolerance=2e-2)
