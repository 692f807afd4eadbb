"""A fused call is made where it is faster, by what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
import sympy
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.ir import parse_ir, print_ir
from xductor.ir.dialect.types import TensorFields
from xductor.transforms.attention.costs import (
    Group,
    estimated,
    group_of,
    measured,
    refusal_by_cost,
)
from xductor.transforms.attention.kernels import Request
from xductor.transforms.attention.replacement import Replacement
from xductor.transforms.pre_grad.fuse_attention import FuseAttention
from xductor.transforms.rewriting.driver import watching

_CUDA = torch.device("cuda")
_ROWS = {
    device: [(group, row) for group, rows in measured(device).items() for row in rows]
    for device in ("cuda", "cpu")
}
#: How many rows may be decided wrongly by the others; on CPUs few sizes were measured.
_WRONG = {"cuda": 0.06, "cpu": 0.2}
_DEVICES = pytest.mark.parametrize("device", _ROWS)


def _loss(chosen: float, ratio: float) -> float:
    """How many times longer the form that was chosen takes than the other."""
    return ratio if chosen <= 1 else 1 / ratio


def test_the_table_is_of_every_kind_in_both_directions() -> None:
    kinds = {"plain", "causal", "padding", "bias", "scores"}
    assert {group for group, _ in _ROWS["cuda"]} == {
        Group("cuda", kind, bool(grad)) for kind in kinds for grad in (0, 1)
    }
    assert len(_ROWS["cuda"]) >= 200
    assert {group for group, _ in _ROWS["cpu"]} == {
        Group("cpu", kind, bool(grad), dtype)
        for kind in ("plain", "padding")
        for grad in (0, 1)
        for dtype in (torch.float32, torch.bfloat16)
    }


@_DEVICES
def test_what_was_measured_is_decided_right(device: str) -> None:
    wrong = [
        row
        for group, row in _ROWS[device]
        if _loss(estimated(row.shape, measured(device)[group]), row.ratio) > 1.05
    ]
    assert len(wrong) <= 0.03 * len(_ROWS[device]), wrong


@_DEVICES
def test_what_was_not_measured_is_mostly_decided_right(device: str) -> None:
    """Each row by the others alone: the loss is a third of what fusing all of them loses."""
    lost = always = wrong = 0.0
    for group, row in _ROWS[device]:
        others = [one for one in measured(device)[group] if one is not row]
        loss = _loss(estimated(row.shape, others), row.ratio)
        wrong += loss > 1.05
        lost += max(0.0, loss - 1)
        always += max(0.0, row.ratio - 1)
    assert wrong <= _WRONG[device] * len(_ROWS[device])
    assert lost < always / 3


def _request(
    batch: int, heads: int, tokens: int, head: int, mask: tuple[int, ...] = (), **given: Any
) -> Request:
    """A request of one kind of token; sizes of the mask that are 1 are spread over their dim."""
    one = _fields(batch, heads, tokens, head)
    return Request(
        _CUDA, torch.bfloat16, one, one, one, mask=_fields(*mask) if mask else None, **given
    )


def _fields(*sizes: int) -> TensorFields:
    tensor = torch.empty(sizes, device="meta")
    return TensorFields(torch.bfloat16, sizes, tensor.stride(), _CUDA, 0, (), "strided", "")


@pytest.mark.parametrize(
    ("mask", "kind"),
    [
        ((), "plain"),
        ((1, 4, 64, 64), "bias"),
        ((1, 1, 64, 64), "bias"),
        ((8, 1, 1, 64), "padding"),
        ((8, 1, 64, 64), "padding"),
        ((8, 4, 64, 64), "scores"),
    ],
)
def test_kinds_of_masks(mask: tuple[int, ...], kind: str) -> None:
    assert group_of(_request(8, 4, 64, 32, mask)) == Group("cuda", kind, False)
    trained = _request(8, 4, 64, 32, mask, grad=True)
    assert group_of(trained) == Group("cuda", "padding" if mask else "plain", True)


def test_causal() -> None:
    request = _request(8, 4, 64, 32, causal=True, grad=True)
    assert group_of(request) == Group("cuda", "causal", True)


def test_windows_are_not_fused() -> None:
    reason = refusal_by_cost(_request(512, 6, 49, 32, (512, 6, 49, 49)))
    assert reason is not None
    assert "times as long as what it replaces" in reason
    assert refusal_by_cost(_request(512, 6, 49, 32)) is None
    assert refusal_by_cost(_request(8, 16, 1024, 64, (1, 16, 1024, 1024))) is None


def test_nothing_is_known_of_unknown_sizes_or_of_other_devices() -> None:
    windows = _request(512, 6, 49, 32, (512, 6, 49, 49))
    query = windows.query._replace(shape=(sympy.Symbol("s0"), 6, 49, 32))
    assert refusal_by_cost(replace(windows, query=query)) is None
    assert refusal_by_cost(replace(windows, query=query), seen=_seen(None)) is None
    assert refusal_by_cost(replace(windows, device=torch.device("xpu"))) is None


def _seen(value: int | None) -> Callable[[Any], int | None]:
    """What a symbol was."""
    return lambda size: size if isinstance(size, int) else value


@pytest.mark.parametrize(("batch", "head"), [(512, 32), (8, 64)])
def test_sizes_that_were_seen_are_judged_as_static_ones(batch: int, head: int) -> None:
    for mask in ((), (1, 6, 49, 49), (batch, 1, 49, 49), (batch, 6, 49, 49)):
        request = _request(batch, 6, 49, head, mask)
        query = request.query._replace(shape=(sympy.Symbol("s0"), 6, 49, head))
        found = refusal_by_cost(replace(request, query=query), seen=_seen(batch))
        assert found == refusal_by_cost(request)


@pytest.mark.parametrize(
    ("dtype", "amx", "slow"),
    [
        (torch.bfloat16, False, True),
        (torch.bfloat16, True, False),
        (torch.float32, False, False),
        (torch.float32, True, False),
        (torch.float16, False, False),
        (torch.float64, False, False),
    ],
)
def test_on_a_cpu(dtype: torch.dtype, amx: bool, slow: bool) -> None:
    request = replace(_request(8, 4, 256, 32), device=torch.device("cpu"), dtype=dtype)
    with mock.patch.object(torch.cpu, "_is_amx_tile_supported", return_value=amx):
        assert (refusal_by_cost(request) is not None) is slow


def _windows(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> Any:
    return torch.softmax(q @ k.transpose(-2, -1) * 0.125 + bias, dim=-1) @ v


def _module(function: Callable[..., Any], tokens: int, *, dynamic: bool = False) -> Any:
    """A graph of bfloat16, on CUDA, which need not be there, if sizes are static."""
    tensors = [torch.zeros(512, 6, tokens, 32, dtype=torch.bfloat16, device="meta") for _ in "qkv"]
    bias = torch.zeros(6, tokens, tokens, dtype=torch.bfloat16, device="meta")
    gm = make_fx(_of_heads(function), tracing_mode="symbolic" if dynamic else "real")(
        *tensors, bias
    )
    device = "cpu" if dynamic else "cuda:0"
    return parse_ir(print_ir(from_fx(gm, "pre_grad")).replace(", meta", f", {device}"))


@pytest.fixture
def as_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are judged as on CUDA: a call of symbolic sizes has no type there without a GPU."""
    asked: Any = Replacement._request
    monkeypatch.setattr(
        Replacement, "_request", lambda *given: replace(asked(*given), device=_CUDA)
    )


def _of_heads(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for one number of heads and one size of a head."""

    def of_heads(q: torch.Tensor, *others: torch.Tensor) -> Any:
        assert int(q.shape[1]) == 6
        assert int(q.shape[3]) == 32
        return function(q, *others)

    return of_heads


_UNSEEN = re.compile(r" hint \d+| source \"[^\"]*\"| positive")


@pytest.mark.parametrize(("tokens", "count"), [(49, 0), (256, 1)])
@pytest.mark.usefixtures("as_on_cuda")
def test_on_a_graph_of_symbolic_sizes(tokens: int, count: int) -> None:
    module = _module(_windows, tokens, dynamic=True)
    text = print_ir(module)
    assert f"hint {tokens}" in text
    assert FuseAttention().rewrite(module) == count
    with watching(even_unprofitable=True):
        assert FuseAttention().rewrite(_module(_windows, tokens, dynamic=True)) == 1


@pytest.mark.usefixtures("as_on_cuda")
def test_of_sizes_that_depend_on_data_nothing_is_known() -> None:
    text = print_ir(_module(_windows, 49, dynamic=True))
    head, _, rest = text.partition(") (")
    unseen = _UNSEEN.sub("", head).replace(" : int", " : int unbacked size_like")
    assert FuseAttention().rewrite(parse_ir(f"{unseen}) ({rest}")) == 1


def _gathered(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> Any:
    """Attention whose bias is computed for each score, as DeBERTa's is."""
    places = torch.zeros_like(bias, dtype=torch.int64).expand(q.shape[0], *bias.shape)
    scores = q @ k.transpose(-2, -1)
    return torch.softmax(scores + torch.gather(q @ q.transpose(-2, -1), -1, places), dim=-1) @ v


def _gathered_for_two(*given: torch.Tensor) -> Any:
    q, k, v, bias = given
    own = torch.gather(q @ q.transpose(-2, -1), -1, bias.long().expand(q.shape[0], *bias.shape))
    one = torch.softmax(q @ k.transpose(-2, -1) + own, dim=-1) @ v
    return one + torch.softmax(k @ q.transpose(-2, -1) + own, dim=-1) @ v


def _of_a_product(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> Any:
    return torch.softmax(q @ k.transpose(-2, -1) + k @ k.transpose(-2, -1), dim=-1) @ v


@pytest.mark.usefixtures("as_on_cuda")
def test_a_bias_for_each_score_is_dear_in_symbolic_sizes() -> None:
    """Where another reads it too, or where a library makes it, it is in memory anyway."""
    for function, static, symbolic in (
        (_gathered, 1, 0),
        (_gathered_for_two, 2, 2),
        (_of_a_product, 1, 1),
        (_windows, 1, 1),
    ):
        assert FuseAttention().rewrite(_module(function, 384)) == static
        assert FuseAttention().rewrite(_module(function, 384, dynamic=True)) == symbolic


@pytest.mark.usefixtures("as_on_cuda")
def test_a_dear_bias_is_told() -> None:
    reasons: list[str] = []
    FuseAttention().explained(
        _module(_gathered, 384, dynamic=True), lambda _, reason, **more: reasons.append(reason)
    )
    assert any("a bias as large as the scores" in reason for reason in reasons), reasons


@pytest.mark.parametrize(("tokens", "count"), [(49, 0), (256, 1)])
def test_on_a_graph(tokens: int, count: int) -> None:
    assert FuseAttention().rewrite(_module(_windows, tokens)) == count
    with watching(even_unprofitable=True):
        assert FuseAttention().rewrite(_module(_windows, tokens)) == 1


def test_the_reason_is_told() -> None:
    reasons: list[str] = []
    FuseAttention().explained(
        _module(_windows, 49), lambda _, reason, **more: reasons.append(reason)
    )
    assert any("times as long" in reason for reason in reasons), reasons
