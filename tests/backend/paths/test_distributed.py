"""Models that are parallel over processes, through the backend: two processes on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch.distributed

WORLD = 2
PAIRS = 4  # in the forward and the backward of each of two blocks
ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="no torch.distributed"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each process found; they run once for all tests."""
    folder = tmp_path_factory.mktemp("distributed")
    program = [sys.executable, "-m", "tests.backend.paths.distributed_program"]
    results = [folder / f"{rank}.json" for rank in range(WORLD)]
    processes = [
        subprocess.Popen(
            [*program, str(rank), str(WORLD), str(folder / "store"), str(results[rank])],
            cwd=ROOT,
            env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "CUDA_VISIBLE_DEVICES": ""},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(WORLD)
    ]
    try:
        errors = [one.communicate(timeout=300)[1] for one in processes]
    finally:
        for one in processes:
            one.kill()  # one that waits for another that failed
    for one, text in zip(processes, errors, strict=True):
        assert one.returncode == 0, text[-4000:]
    return [json.loads(path.read_text()) for path in results]


def _as_in_eager(found: list[dict[str, Any]], way: str) -> None:
    for one in found:
        assert one[way]["fallbacks"] == []
        assert one[way]["difference"] <= 1e-6 * max(1.0, one[way]["size"])


def test_data_parallel(found: list[dict[str, Any]]) -> None:
    """The graph is cut at the buckets, and each piece goes through all stages."""
    _as_in_eager(found, "DistributedDataParallel")
    for one in found:
        stages = one["DistributedDataParallel"]["stages"]
        assert stages["joint joint"] > 1
        assert stages["post_grad backward"] == stages["post_grad forward"] == stages["joint joint"]
        assert one["DistributedDataParallel"]["counts"]["neg_neg"] == PAIRS


def test_fully_sharded(found: list[dict[str, Any]]) -> None:
    _as_in_eager(found, "fully_shard")
    for one in found:
        stages = one["fully_shard"]["stages"]
        assert stages["post_grad backward"] == stages["post_grad forward"] == 2
        assert one["fully_shard"]["counts"]["neg_neg"] == PAIRS


def test_tensor_parallel(found: list[dict[str, Any]]) -> None:
    _as_in_eager(found, "parallelize_module")
    for one in found:
        stages = one["parallelize_module"]["stages"]
        assert (stages["joint joint"], stages["post_grad backward"]) == (1, 1)
        assert one["parallelize_module"]["counts"]["neg_neg"] == PAIRS


def test_collectives_with_code(found: list[dict[str, Any]]) -> None:
    _as_in_eager(found, "functional collectives")
    for one in found:
        assert one["functional collectives"]["counts"]["pointless_permute_pair"] == 1
