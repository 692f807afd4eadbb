"""Random graphs on two devices through `move_constructors_to_gpu`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from tests.specimens.moved_constructor_specimens import (
    random_graph,
    same_on_one_device,
)
from xductor.ir import (
    OutputOp,
    TensorType,
    TorchOp,
    entry_graph,
    parse_ir,
    print_ir,
    same,
    verify,
)
from xductor.transforms import EXACT
from xductor.transforms.devices.movable_sets import is_cpu_scalar
from xductor.transforms.devices.move_constructors_to_gpu import MoveConstructorsToGpu

#: They copy from the CPU, or are told apart by what they read there.
_READ_ON_CPU = ("prims.device_put.default", "aten.index.Tensor", "aten.index_put.default")


def _check_devices(module: ModuleOp) -> None:
    """Run PyTorch's rules for operands on several devices, with one that every torch has."""
    verify(parse_ir(print_ir(module).replace("cuda:0", "meta")), "types")


def moved(seed: int, scalars_too: bool) -> tuple[int, ModuleOp]:
    """How often the pass was applied to a graph, and what it left, which is checked."""
    before = random_graph(seed)
    _check_devices(before)
    after = before.clone()
    applied = MoveConstructorsToGpu(scalars_too=scalars_too).rewrite(after)
    if not applied:
        assert same(before, after)
        return 0, after
    _check_devices(after)
    assert same(parse_ir(print_ir(after)), after)
    assert MoveConstructorsToGpu(scalars_too=scalars_too).rewrite(after.clone()) == 0
    same_on_one_device(before, after, EXACT)
    if scalars_too:
        assert not list(_scalars_read_on_cpu(after))
    return applied, after


def _scalars_read_on_cpu(module: ModuleOp) -> Iterator[str]:
    """The ops on CUDA that read computed scalars on CPU, which a CUDA graph could not hold."""
    for op in entry_graph(module).block.ops:
        assert isinstance(op, TorchOp)
        if type(op) is OutputOp or op.name in _READ_ON_CPU or not _on_cuda(op):
            continue
        for operand in op.operands:
            if isinstance(operand, OpResult) and is_cpu_scalar(operand):
                yield op.name


def _on_cuda(op: TorchOp) -> bool:
    type_ = op.results[0].type
    return isinstance(type_, TensorType) and type_.device.type == "cuda"


@pytest.mark.parametrize("scalars_too", [False, True])
@pytest.mark.parametrize("first", range(1000, 1080, 40))
def test_nobody_can_tell(first: int, scalars_too: bool) -> None:
    applied = Counter(moved(seed, scalars_too)[0] > 0 for seed in range(first, first + 40))
    assert applied[True] > 3
    assert applied[False] > 3
