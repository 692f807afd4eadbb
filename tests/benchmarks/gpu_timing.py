"""Time and memory of pieces of work on a device, the pieces taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

Work = Callable[[], object]

#: What is compiled by whom: the names of backends of `torch.compile`.
BACKENDS = {"stock": "inductor", "ours": "xductor"}
_WARM_UP = 3


def on_device(tree: Any, device: str) -> Any:
    """The tensors of nested arguments, moved to a device."""
    return tree_map_only(torch.Tensor, lambda tensor: tensor.to(device), tree)


def milliseconds(work: Work, device: str, in_a_row: int = 1) -> float:
    """How long some work takes: by the events of a GPU, else by the clock.

    With more than one `in_a_row` nobody waits for the GPU between them: what Python does for the
    next one is done while the GPU is busy with the one before.
    """
    if device != "cuda":
        began = time.perf_counter()
        for _ in range(in_a_row):
            work()
        return (time.perf_counter() - began) * 1e3 / in_a_row
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(in_a_row):
        work()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / in_a_row


def peak(work: Work, device: str) -> float:
    """The most memory allocated during some work, in MiB; NaN where the device does not count."""
    if device != "cuda":
        return float("nan")
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() / 2**20


def alternating(
    works: Mapping[Any, Work], rounds: int, device: str, in_a_row: int = 1
) -> dict[Any, float]:
    """The median time of each piece of work; they take turns, with so many `in_a_row`.

    On a CPU, where whatever else runs takes its share, it is the least time.
    """
    for work in works.values():
        for _ in range(_WARM_UP):
            work()
    times: dict[Any, list[float]] = {key: [] for key in works}
    for _ in range(rounds):
        for key, work in works.items():
            times[key].append(milliseconds(work, device, in_a_row))
    typical = statistics.median if device == "cuda" else min
    return {key: typical(each) for key, each in times.items()}


__all__ = ["BACKENDS", "Work", "alternating", "milliseconds", "on_device", "peak"]
