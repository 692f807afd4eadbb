"""Every group fusion on random programs: nobody can tell."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.groups.random_programs import Program
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import verify
from xductor.transforms.groups.batch_linear_post_grad import BatchLinearPostGrad
from xductor.transforms.groups.post_grad_pointwise import (
    BatchAtenAdd,
    BatchAtenDiv,
    BatchAtenMul,
    BatchAtenRelu,
    BatchAtenSigmoid,
    BatchAtenSub,
    BatchAtenTanh,
)

FUSIONS = (
    BatchLinearPostGrad,
    BatchAtenTanh,
    BatchAtenSigmoid,
    BatchAtenRelu,
    BatchAtenAdd,
    BatchAtenSub,
    BatchAtenDiv,
    BatchAtenMul,
)


def _seen(function: Any, inputs: list[torch.Tensor]) -> tuple[list[torch.Tensor], Any]:
    """What a caller sees, inputs included: values, layouts, and what shares storage."""
    copies = [one.clone() for one in inputs]
    tensors = [*copies, *function(*copies)]
    storages = [one.untyped_storage().data_ptr() for one in tensors if one.numel()]
    told = [
        (
            one.dtype,
            tuple(one.shape),
            [step for size, step in zip(one.shape, one.stride(), strict=True) if size > 1],
            one.storage_offset(),
        )
        for one in tensors
    ]
    return tensors, (told, [storages.index(one) for one in storages])


def _run(seed: int, writes: bool) -> Counter[str]:
    program = Program(seed, writes)
    gm = make_fx(program, tracing_mode="fake")(*program.inputs)
    applied: Counter[str] = Counter()
    try:
        expected, told = _seen(gm, program.inputs)
    except RuntimeError as error:  # a write that eager refuses
        assert "unsupported operation" in str(error)  # noqa: PT017
        return applied
    chosen = FUSIONS if seed % 3 else (FUSIONS[seed % len(FUSIONS)],)
    options: dict[str, Any] = {"min_fuse_set_size": 2 + seed % 2, "max_fuse_search_depth": seed % 7}
    module = from_fx(gm, "post_grad")
    for cls in chosen:
        applied[cls.name] += cls(**options, max_fuse_set_size=(3, 300)[seed % 2]).rewrite(module)
    verify(module, "types")
    found, told_after = _seen(to_fx(module), program.inputs)
    assert told_after == told, seed
    for one, wanted in zip(found, expected, strict=True):
        slack = 3e-2 if wanted.dtype == torch.bfloat16 else 1e-4
        torch.testing.assert_close(one, wanted, rtol=slack, atol=slack, equal_nan=True)
    return applied


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("forty", range(3))
def test_nobody_can_tell(forty: int, writes: bool) -> None:
    applied: Counter[str] = Counter()
    for seed in range(40 * forty, 40 * forty + 40):
        applied += _run(seed, writes)
    assert len(applied) == len(FUSIONS)
    assert applied.total() > 50
