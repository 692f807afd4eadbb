"""Where the time of a step goes on a GPU, by kind of kernel, beside the limit of its products.

    python -m tests.benchmarks.gpu_kernels --models-file models.py --jobs 12

A row for each model, mode and compiler: milliseconds of kernels in matrix products and
convolutions, in attention, in generated kernels that reduce and that do not, in copies, and in
others. Beside them the least that the products and the attention of eager could take: their FLOPs
at the speed that the device reached for a large product of bfloat16. Nothing overlaps here: kernels
are counted one by one, as the profiler saw them. With `--top N` the longest N kernels as well.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from tests.benchmarks.compiled_apart import say, tuning_alone, wait_for_turn
from tests.benchmarks.gpu_corpus import (
    Works,
    apart,
    arguments,
    cases,
    command_of,
    compiled,
    flags_of,
    sizes_of,
)
from tests.benchmarks.gpu_timing import milliseconds
from tests.benchmarks.stage_ratios import load

#: The kinds, told by the names of kernels; the first that is found counts.
KINDS = {
    "attention": r"flash|fmha|sdpa|attention|cudnn_generated",
    "products": r"gemm|nvjet|cutlass|xmma|wgrad|dgrad|conv|splitK|gemv|triton_tem|tem_fused|cublas",
    "reductions": r"triton_(red|per)",
    "pointwise": r"triton_(poi|for)",
    "copies": r"memcpy|memset|copy|CatArray|elementwise",
}
_STEPS = 5
_PRODUCT = 8192
_COMPILE_MINUTES = 8.0
_JOBS = 8


def kind(kernel: str) -> str:
    """The kind of a kernel, by its name."""
    found = (name for name, words in KINDS.items() if re.search(words, kernel, re.IGNORECASE))
    return next(found, "others")


def kernels(works: Works, who: str) -> Counter[str]:
    """Milliseconds of a step by kernel."""
    work = works[who]
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(_STEPS):
            work()
        torch.cuda.synchronize()
    return Counter(
        {
            event.key: event.self_device_time_total / 1e3 / _STEPS
            for event in seen.key_averages()
            if event.self_device_time_total
        }
    )


def flops_in_a_millisecond(device: str = "cuda") -> float:
    """What a large product of bfloat16 reaches."""
    left, right = (
        torch.randn(_PRODUCT, _PRODUCT, device=device, dtype=torch.bfloat16) for _ in range(2)
    )
    times = [milliseconds(lambda: left @ right, device) for _ in range(10)]
    return 2 * _PRODUCT**3 / sorted(times)[len(times) // 2]


def one(models: Any, name: str, mode: str, options: argparse.Namespace) -> dict[str, Any]:
    """What a model's step takes in one mode, by compiler and kernel, and the least of its FLOPs."""
    sizes = sizes_of(name, options)
    with flags_of(models, name, options):
        with tuning_alone():
            works, _ = compiled(models, name, mode, sizes, "cuda", graphs=False)
        if options.child:
            wait_for_turn()
        with FlopCounterMode(display=False) as counted:
            works["eager"]()
        speed = flops_in_a_millisecond()
        taken = {who: kernels(works, who) for who in ("stock", "ours")}
    return {"least": counted.get_total_flops() / speed, **taken}


def _print(name: str, mode: str, found: dict[str, Any], top: int) -> None:
    for who in ("stock", "ours"):
        by_kind: Counter[str] = Counter()
        for kernel, time in found[who].items():
            by_kind[kind(kernel)] += time
        parts = " | ".join(f"{by_kind[each]:.3f}" for each in (*KINDS, "others"))
        total = sum(by_kind.values())
        print(f"| {name} | {mode} | {who} | {total:.3f} | {found['least']:.3f} | {parts} |")
        for kernel, time in Counter(found[who]).most_common(top):
            print(f"    {time:7.3f} {kernel[:110]}")
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--top", type=int, default=0, help="show so many kernels of each")
    options = parser.parse_args(argv)
    if options.device != "cuda" or options.cudagraphs or options.dynamic:
        parser.error("the kernels of a GPU are profiled, launched one by one, with static sizes")
    options.jobs = options.jobs or _JOBS
    models = load(options.models_file)
    if options.child:
        say(one(models, *next(cases(models, options)), options))
        return 0
    print(f"| model | mode | by | kernels ms | least | {' | '.join((*KINDS, 'others'))} |")
    print("| --- " * (6 + len(KINDS)) + "|", flush=True)
    command = command_of("tests.benchmarks.gpu_kernels", options)
    for (name, mode), found in apart(models, options, command, options.minutes or _COMPILE_MINUTES):
        if isinstance(found, str):
            print(f"| {name} | {mode} | {found} |", flush=True)
        else:
            _print(name, mode, found, options.top)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
