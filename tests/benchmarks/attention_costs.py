"""What attention costs, fused and spelled out: the measurements behind `attention.costs`.

    python -m tests.benchmarks.attention_costs --out attention_costs.csv --processes 12
    python -m tests.benchmarks.attention_costs --out attention_costs_on_cpu.csv --device cpu

Each row is one attention between the projections of a layer: kind of mask, sizes, dtype, with or
without a backward. Both forms are compiled by us, one with `fuse_attention` left out, and take
turns: on a GPU captured in CUDA graphs, median microseconds of each; on a CPU the least of each, by
the clock. With several processes these compile first, into the cache that the measuring one reads.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

import xductor
from tests.benchmarks.gpu_timing import alternating
from xductor.transforms.rewriting.driver import watching

_ROUNDS = 15
_ROUNDS_ON_CPU = 100
_LEFT_OUT = {"xductor.disabled_passes": ["fuse_attention"]}


class Case(NamedTuple):
    """One attention: `[batch, heads, rows, head]` by `[batch, heads, columns, head]`.

    - `kind`: `plain`; `causal`; `padding`, a boolean for each column; `bias`, a number for each
      score of a head; `window`, a bias and a mask for each of the windows of an image; `scores`, a
      number for each score of each batch entry.
    """

    kind: str
    batch: int
    heads: int
    rows: int
    columns: int
    head: int
    dtype: str = "bfloat16"
    grad: bool = False


def cases() -> Iterator[Case]:
    """Sizes as models have them, from windows and short rows to long ones, and decoding."""
    square = [
        *((batch, heads, tokens, 32) for tokens in (49, 64) for batch, heads in _WINDOWS),
        *((128, 8, tokens, 64) for tokens in (16, 32, 50, 77)),
        *((batch, 16, 128, 64) for batch in (1, 8, 64)),
        *((32, 12, tokens, 64) for tokens in (197, 257)),
        *((8, 16, tokens, 64) for tokens in (256, 512, 1024)),
        *((8, 8, tokens, 128) for tokens in (64, 256, 1024)),
        (2, 16, 2048, 64),
    ]
    for grad in (False, True):
        for kind in KINDS:
            for batch, heads, tokens, head in square:
                case = Case(kind, batch, heads, tokens, tokens, head, grad=grad)
                if _is_usual(case):
                    yield case
    for kind in ("plain", "padding", "bias"):
        for batch, rows, columns in ((8, 1, 512), (64, 1, 2048), (8, 64, 1024), (8, 1024, 77)):
            yield Case(kind, batch, 16, rows, columns, 64)
    for kind in ("plain", "bias"):
        for batch, heads, tokens, head in ((256, 4, 49, 32), (8, 16, 512, 64)):
            yield Case(kind, batch, heads, tokens, tokens, head, "float16")


def cases_on_cpu() -> Iterator[Case]:
    """Sizes as models have them on a CPU, in the dtypes of which it has fast products."""
    sizes = [
        *((8, 4, tokens, 32) for tokens in (16, 64, 128, 256)),
        *((batch, 4, 64, 32) for batch in (1, 2, 64)),
        *((1, 12, tokens, 64) for tokens in (16, 64, 128, 256, 512)),
        *((4, 8, tokens, 128) for tokens in (64, 256)),
    ]
    for dtype in ("float32", "bfloat16"):
        for grad in (False, True):
            for kind in ("plain", "padding"):
                for batch, heads, tokens, head in sizes:
                    yield Case(kind, batch, heads, tokens, tokens, head, dtype, grad)


def _is_usual(case: Case) -> bool:
    """Windows are many, and a number for each score of each batch entry is of longer rows."""
    if case.kind == "window":
        return case.batch % 16 == 0
    return case.kind != "scores" or case.rows >= 128


KINDS = ("plain", "causal", "padding", "bias", "window", "scores")
_WINDOWS = ((64, 3), (64, 12), (512, 6), (2048, 4))


def inputs(case: Case, device: str) -> list[torch.Tensor]:
    """Query, key and value as projections give them, and what masks the scores."""
    generator = torch.Generator(device).manual_seed(0)
    dtype = getattr(torch, case.dtype)

    def drawn(*sizes: int, grad: bool = case.grad) -> torch.Tensor:
        tensor = torch.randn(sizes, device=device, generator=generator).to(dtype)
        return tensor.requires_grad_(grad)

    width = case.heads * case.head
    made = [
        drawn(case.batch, case.rows, width),
        *(drawn(case.batch, case.columns, width) for _ in "kv"),
    ]
    if case.kind == "padding":
        made.append(
            torch.arange(case.columns, device=device).expand(case.batch, -1) < case.columns - 3
        )
    if case.kind in ("bias", "window"):
        made.append(drawn(case.heads, case.rows, case.columns))
    if case.kind == "scores":
        made.append(drawn(case.batch, case.heads, case.rows, case.columns))
    if case.kind == "window":
        outside = drawn(16, case.rows, case.columns, grad=False) > 1
        made.append(torch.zeros_like(outside, dtype=dtype).masked_fill_(outside, -100.0))
    return made


def attention(case: Case) -> Callable[..., torch.Tensor]:
    """The attention as a model spells it out, from projections to the projection behind it."""

    def split(x: torch.Tensor, tokens: int) -> torch.Tensor:
        return x.view(case.batch, tokens, case.heads, case.head).transpose(1, 2)

    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *masks: torch.Tensor) -> Any:
        query, key, value = split(q, case.rows), split(k, case.columns), split(v, case.columns)
        scores = query @ key.transpose(-2, -1) * case.head**-0.5
        if case.kind == "causal":
            keep = torch.ones(case.rows, case.columns, dtype=torch.bool, device=q.device).tril()
            scores = scores.masked_fill(~keep, -torch.inf)
        if case.kind == "padding":
            scores = scores.masked_fill(~masks[0][:, None, None], torch.finfo(scores.dtype).min)
        if case.kind in ("bias", "window", "scores"):
            scores = scores + masks[0]
        if case.kind == "window":
            windows = (case.batch // 16, 16, *scores.shape[1:])
            scores = (scores.view(windows) + masks[1][:, None]).view(scores.shape)
        out = torch.softmax(scores, dim=-1) @ value
        return out.transpose(1, 2).reshape(case.batch, case.rows, -1)

    return function


def _work(case: Case, given: list[torch.Tensor], options: dict[str, Any]) -> Callable[[], object]:
    compiled = torch.compile(attention(case), backend="xductor", options=options, dynamic=False)
    if not case.grad:

        def infer() -> object:
            with torch.no_grad():
                return compiled(*given)

        return infer
    wanted = [one for one in given if one.requires_grad]
    seed = torch.randn_like(given[0])

    def train() -> object:
        return torch.autograd.grad(compiled(*given), wanted, seed)

    return train


def _captured(work: Callable[[], object]) -> torch.cuda.CUDAGraph:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def _microseconds(graph: torch.cuda.CUDAGraph, times: int) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(times):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3 / times


def measure(case: Case, device: str) -> tuple[float, float, int]:
    """Microseconds fused and spelled out, and how many attentions were fused."""
    torch._dynamo.reset()
    given = inputs(case, device)
    fused = _work(case, given, {})
    with watching(even_unprofitable=True):
        fused()
    count = sum(stage.applications("fuse_attention") for stage in xductor.last_compile().stages)
    spelled_out = _work(case, given, _LEFT_OUT)
    found = _on_cpu(fused, spelled_out) if device == "cpu" else _on_gpu(fused, spelled_out)
    return *found, count


def _on_cpu(fused: Callable[[], object], spelled_out: Callable[[], object]) -> tuple[float, float]:
    times = alternating({True: fused, False: spelled_out}, _ROUNDS_ON_CPU, "cpu")
    return times[True] * 1e3, times[False] * 1e3


def _on_gpu(fused: Callable[[], object], spelled_out: Callable[[], object]) -> tuple[float, float]:
    graphs = [_captured(fused), _captured(spelled_out)]
    times = max(3, min(50, int(2000 / max(1.0, _microseconds(graphs[1], 3)))))
    found: list[list[float]] = [[], []]
    for _ in range(_ROUNDS):
        for graph, each in zip(graphs, found, strict=True):
            each.append(_microseconds(graph, times))
    return statistics.median(found[0]), statistics.median(found[1])


def warm(share: int, shares: int, kinds: Collection[str], device: str) -> None:
    """Compile every case of a share, so that its code is in the cache."""
    for number, case in enumerate(_CASES[device]()):
        if number % shares == share and case.kind in kinds:
            torch._dynamo.reset()
            given = inputs(case, device)
            with watching(even_unprofitable=True):
                for options in ({}, _LEFT_OUT):
                    _work(case, given, options)()


_CASES = {"cuda": cases, "cpu": cases_on_cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description="What attention costs, fused and spelled out.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", choices=_CASES, default="cuda")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--warm", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    given = parser.parse_args()
    if given.warm is not None:
        warm(given.warm, given.processes, given.kinds, given.device)
        return
    began = time.monotonic()
    own = [sys.executable, "-m", "tests.benchmarks.attention_costs", "--out", str(given.out)]
    own += ["--kinds", *given.kinds, "--device", given.device]
    if given.processes > 1:
        shares = [
            subprocess.Popen([*own, "--processes", str(given.processes), "--warm", str(share)])
            for share in range(given.processes)
        ]
        for share in shares:
            share.wait()
    print(f"compiled in {time.monotonic() - began:.0f} s", flush=True)
    with given.out.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*Case._fields, "fused_us", "spelled_out_us", "fusions"])
        for case in _CASES[given.device]():
            if case.kind not in given.kinds:
                continue
            if time.monotonic() - began > given.seconds:
                print("out of time", flush=True)
                break
            try:
                fused, spelled, count = measure(case, given.device)
            except Exception as error:  # the others are measured all the same
                print(case, f"{type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
            table.writerow([*case, f"{fused:.2f}", f"{spelled:.2f}", count])
            file.flush()


if __name__ == "__main__":
    main()
