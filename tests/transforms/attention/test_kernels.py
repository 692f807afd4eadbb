"""What the gate says of kernels is what PyTorch chooses for real tensors."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from xductor.ir.dialect.types import TensorFields
from xductor.transforms.attention.kernels import Request, refusal

_MATH = 0


def _fields(tensor: torch.Tensor) -> TensorFields:
    flags = ("requires_grad",) if tensor.requires_grad else ()
    return TensorFields(
        tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.device, 0, flags, "strided", ""
    )


def _agrees(q: Any, k: Any, v: Any, mask: Any = None, p: float = 0.0, causal: bool = False) -> None:
    grouped = k.shape[1] != q.shape[1]
    choose: Any = getattr(torch, "_fused_sdp_choice")  # noqa: B009  (unknown to type checkers)
    chosen = choose(q, k, v, mask, p, causal, enable_gqa=grouped)
    said = refusal(
        Request(
            q.device,
            q.dtype,
            _fields(q),
            _fields(k),
            _fields(v),
            None if mask is None else _fields(mask),
            p,
            causal,
            q.requires_grad,
        )
    )
    assert (chosen == _MATH) == (said is not None), (chosen, said)


def _tensor(device: str, dtype: torch.dtype, *shape: int, grad: bool = False) -> torch.Tensor:
    return torch.randn(*shape, device=device, dtype=dtype).requires_grad_(grad)


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Any:
    name: str = request.param
    if name == "cuda":
        if not torch.cuda.is_available():
            pytest.skip("needs a GPU")
        before = torch.backends.cuda.matmul.fp32_precision
        cudnn = torch.backends.cuda.cudnn_sdp_enabled()
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        torch.backends.cuda.enable_cudnn_sdp(False)  # takes more than the others; not counted on
        yield name
        torch.backends.cuda.matmul.fp32_precision = before
        torch.backends.cuda.enable_cudnn_sdp(cudnn)
    else:
        yield name


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_plain(device: str, dtype: torch.dtype) -> None:
    sizes = (1, 7, 8, 16, 64, 128, 192, 256, 320)
    for size, grad, causal, p in itertools.product(sizes, (False, True), (False, True), (0.0, 0.1)):
        q, k, v = (_tensor(device, dtype, 2, 4, 8, size, grad=grad) for _ in "qkv")
        _agrees(q, k, v, p=p, causal=causal)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(device: str, dtype: torch.dtype) -> None:
    q, k, v = (_tensor(device, dtype, 2, 4, 8, 16) for _ in "qkv")
    for shape in ((1, 1, 8, 8), (2, 1, 1, 8), (2, 4, 8, 8), (2, 1, 8, 8)):
        _agrees(q, k, v, _tensor(device, dtype, *shape))
        _agrees(q, k, v, _tensor(device, dtype, *shape) > 0)
        _agrees(q, k, v, _tensor(device, dtype, *shape), p=0.1)
    _agrees(q, k, v, _tensor(device, dtype, 2, 4, 8, 8, grad=True))


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_groups_and_layouts(device: str, dtype: torch.dtype) -> None:
    q = _tensor(device, dtype, 2, 4, 8, 16)
    for heads, p in itertools.product((1, 2), (0.0, 0.1)):
        k, v = (_tensor(device, dtype, 2, heads, 8, 16) for _ in "kv")
        _agrees(q, k, v, p=p)
        _agrees(q, k, v, _tensor(device, dtype, 1, 1, 8, 8))
    longer = _tensor(device, dtype, 2, 4, 12, 16)
    _agrees(q, longer, longer)
    rows_first = _tensor(device, dtype, 2, 8, 4, 16).transpose(1, 2)
    _agrees(rows_first, rows_first, rows_first)
    sizes_first = _tensor(device, dtype, 2, 4, 16, 8).mT
    _agrees(q, sizes_first, q)
    shared = _tensor(device, dtype, 2, 1, 8, 16).expand(2, 4, 8, 16)
    _agrees(q, shared, shared)
    _agrees(q, q, _tensor(device, dtype, 2, 4, 8, 32))


def test_switched_off() -> None:
    q = _tensor("cpu", torch.float32, 2, 4, 8, 16)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        _agrees(q, q, q)


def test_devices_without_a_kernel() -> None:
    fields = _fields(_tensor("cpu", torch.float32, 2, 4, 8, 16))
    request = Request(torch.device("mps"), torch.float32, fields, fields, fields)
    assert refusal(request) == "no fused attention is known for mps"


def test_float32_on_cuda_needs_tf32() -> None:
    fields = _fields(_tensor("cpu", torch.float32, 2, 4, 8, 16))
    request = Request(torch.device("cuda"), torch.float32, fields, fields, fields)
    before = torch.backends.cuda.matmul.fp32_precision
    try:
        torch.backends.cuda.matmul.fp32_precision = "ieee"
        assert "tf32" in str(refusal(request))
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        assert refusal(request) is None
    finally:
        torch.backends.cuda.matmul.fp32_precision = before
