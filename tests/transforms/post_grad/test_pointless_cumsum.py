"""`pointless_cumsum_replacement`: multiples of a constant, in the dtype that eager gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.transforms.post_grad.pointless_cumsum import PointlessCumsum
from xductor.transforms.validation.validate import validate
from xductor.transforms.validation.values import validating

aten = torch.ops.aten


def _sum(size: Any, value: Any, dim: int, dtype: Any, out: Any = None) -> Any:
    def function(x: Any) -> Any:
        full = aten.full.default(size, value, dtype=dtype, device="cpu", pin_memory=False)
        return aten.cumsum.default(full, dim, dtype=out)

    return function


@pytest.mark.parametrize(
    ("size", "value", "dim", "dtype", "out"),
    [
        ([5], 1, 0, torch.int64, None),
        ([3, 5], 7, 1, torch.int32, None),
        ([3, 5], 7, -2, torch.uint8, None),
        ([3, 5], 100, 0, torch.int8, None),
        ([4], True, 0, torch.bool, None),
        ([4], 3, 0, torch.bool, None),
        ([4], 2**62, 0, torch.int64, None),
        ([300], 3, 0, torch.int64, torch.int8),
        ([5], -3, 0, torch.int64, torch.int32),
        ([4], 2, 0, torch.int64, torch.float32),
        ([], 5, 0, torch.int32, None),
        ([], 2.5, -1, torch.float32, None),
        ([0, 3], 5, 0, torch.int64, None),
        ([600], 1.0, 0, torch.bfloat16, None),
        ([70], 0.1, 0, torch.float16, None),
        ([3000], 30.0, 0, torch.float16, None),
        ([70], 0.1, 0, torch.float32, None),
        ([70], float("inf"), 0, torch.float32, None),
        ([70], float("nan"), 0, torch.float64, None),
        ([70], 0.0, 0, torch.float64, None),
    ],
)
def test_values_and_dtypes(
    trace: Any, size: Any, value: Any, dim: int, dtype: Any, out: Any
) -> None:
    from xductor.backend.fx.export import to_fx

    function, x = _sum(size, value, dim, dtype, out), torch.ones(1)
    case = trace(function, x)
    with validating():
        assert case.run(PointlessCumsum) == 1
    assert "aten.cumsum.default" not in case.ops
    found, wanted = to_fx(case.module)(x), function(x)
    found = found[0] if isinstance(found, tuple) else found
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.stride() == wanted.stride()
    if not wanted.is_floating_point():
        assert torch.equal(found, wanted)
    slack = torch.finfo(wanted.dtype).eps * 32 if wanted.is_floating_point() else 0
    torch.testing.assert_close(found, wanted, rtol=slack, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("value", "dtype", "out"),
    [(-0.0, torch.float32, None), (2 + 1j, torch.complex64, None), (1, torch.bool, torch.bool)],
)
def test_what_stays(trace: Any, value: Any, dtype: Any, out: Any) -> None:
    case = trace(_sum([4], value, 0, dtype, out), torch.ones(1))
    assert case.run(PointlessCumsum) == 0


def test_of_a_full_that_others_read(trace: Any) -> None:
    def function(x: Any) -> Any:
        full = aten.full.default([4], 2, dtype=torch.int64, device="cpu", pin_memory=False)
        return full + 1, aten.cumsum.default(full, 0)

    case = trace(function, torch.ones(1))
    assert case.run(PointlessCumsum) == 1
    case.check_values(torch.ones(1))


def test_it_is_validated() -> None:
    found = validate(PointlessCumsum, instances=20, rounds=2)
    assert found.status == "validated", str(found)
