"""What models cost on a GPU, compiled by stock and by us: time of a step, and memory.

    python -m tests.benchmarks.gpu_corpus --models-file models.py

Both compile the same model of a file, in bfloat16, in one process; they take turns. A row for each
model in inference and in training, as soon as it is measured: median milliseconds, the ratio, the
peak of memory, and the losses of both (in training with what dropout drew). Then the geomeans of
the ratios. `models.py` has `names()`, `META`, `loss_of(name, output)`, and
`build(name, layers=..., dtype=..., ...)`, which gives a model with its arguments.
"""

from __future__ import annotations

import argparse
import gc
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.benchmarks.gpu_timing import BACKENDS, alternating, on_device, peak
from tests.benchmarks.stage_ratios import load

_TEXT = {"hidden": 1024, "heads": 16, "seq": 512, "batch": 16}
_IMAGES = {"batch": 32, "image": 128}

#: How each model is built. What is not named here is as its builder has it.
SIZES: dict[str, dict[str, Any]] = {
    "bert": _TEXT,
    "gpt2": _TEXT,
    "llama": _TEXT,
    "mistral": _TEXT,
    "gemma2": _TEXT,
    "opt": _TEXT,
    "mixtral": {"hidden": 512, "heads": 8, "seq": 128, "batch": 2},  # gathers weights by token
    "deberta_v2": {**_TEXT, "batch": 8},
    "mamba": {"hidden": 512, "heads": 8, "seq": 16, "batch": 16},  # a scan, unrolled
    "t5": {**_TEXT, "batch": 8},
    "bart": {**_TEXT, "batch": 8},
    "vit": {"hidden": 1024, "heads": 16, "batch": 32, "image": 128},
    "whisper_enc": {"hidden": 1024, "heads": 16, "batch": 8, "frames": 1024},
    "clip_text": _TEXT,
    "resnet18": {**_IMAGES, "width": 64},
    "unet": _IMAGES,
    "dlrm": {"batch": 4096, "rows": 10_000},
    "split_cat": {"batch": 8192},
    "lstm": {"batch": 256, "seq": 16, "d": 512, "layers": 1},
    "while_loop": {"batch": 1024, "d": 512},
    "mlp_mixer": {**_IMAGES, "batch": 64},
    "amp_block": {"batch": 16, "seq": 512, "d": 512, "dtype": "fp32"},  # casts by itself
    "dup_work": {"batch": 4096, "d": 512},
}

MODES = ("inference", "training")
_REFUSED = re.compile(r"unexpected keyword argument '(\w+)'")


def build(models: Any, name: str, wanted: dict[str, Any]) -> tuple[Any, Any, Any]:
    """A model with its arguments, built with those of the wanted settings that it takes."""
    wanted = dict(wanted)
    while True:
        try:
            model, args, kwargs = models.build(name, **wanted)
        except TypeError as error:
            refused = _REFUSED.search(str(error))
            if refused is None or refused[1] not in wanted:
                raise
            del wanted[refused[1]]
        else:
            return model, args, kwargs


@dataclass
class Row:
    """What was measured of a model in one mode, by who compiled it."""

    times: dict[str, float]
    memory: dict[str, float]
    losses: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.times["ours"] / self.times["stock"]

    def __str__(self) -> str:
        stock, ours = self.times["stock"], self.times["ours"]
        mib, loss = self.memory, self.losses
        return (
            f"{stock:9.3f} | {ours:9.3f} | {self.ratio:.3f} | {mib['stock']:.0f} | "
            f"{mib['ours']:.0f} | {loss['stock']:.6g} | {loss['ours']:.6g}"
        )


def measure(
    models: Any,
    name: str,
    mode: str,
    sizes: dict[str, Any],
    rounds: int,
    device: str,
    graphs: bool = False,
) -> Row:
    """One model in one mode: both compile it, with CUDA graphs or not; then they take turns."""
    _start_anew(device)
    model, args, kwargs = build(models, name, sizes)
    model = model.to(device).train(mode == "training")
    args, kwargs = on_device(args, device), on_device(kwargs, device)
    losses: dict[str, float] = {}
    works: dict[str, Callable[[], torch.Tensor]] = {}
    for who, backend in BACKENDS.items():
        compiled = torch.compile(model, backend=backend, options={"triton.cudagraphs": graphs})

        def infer(call: Any = compiled) -> Any:
            torch.compiler.cudagraph_mark_step_begin()
            with torch.no_grad():
                return models.loss_of(name, call(*args, **kwargs))

        def train(call: Any = compiled) -> Any:
            torch.compiler.cudagraph_mark_step_begin()
            model.zero_grad(set_to_none=True)
            loss = models.loss_of(name, call(*args, **kwargs))
            loss.backward()
            return loss

        works[who] = train if mode == "training" else infer
        torch.manual_seed(0)
        losses[who] = works[who]().item()
    times = alternating(works, rounds, device)
    memory = {who: peak(work, device) for who, work in works.items()}
    return Row(times, memory, losses)


def _start_anew(device: str) -> None:
    torch._dynamo.reset()
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()


def geomean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def compare(models: Any, options: argparse.Namespace) -> dict[str, list[float]]:
    """Print a row for each model and mode; the ratios by mode."""
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    began = time.monotonic()
    common = {"layers": options.layers, "dtype": "bf16"}
    for name in options.only or models.names():
        meta = models.META.get(name, {})
        sizes = {**common, **({} if options.small else SIZES.get(name, {}))}
        for mode in options.modes:
            if mode == "training" and not meta.get("train", True):
                continue
            start = time.monotonic()
            if options.minutes is not None and start - began > 60 * options.minutes:
                print(f"| {name} | {mode} | no time left |", flush=True)
                continue
            try:
                with torch._dynamo.config.patch(meta.get("dynamo") or {}):
                    row = measure(
                        models,
                        name,
                        mode,
                        sizes,
                        options.rounds,
                        options.device,
                        options.cudagraphs,
                    )
            except Exception as error:  # the other models are measured all the same
                lines = str(error).splitlines() or [""]
                print(f"| {name} | {mode} | {type(error).__name__}: {lines[0]} |", flush=True)
                continue
            ratios[mode].append(row.ratio)
            print(f"| {name} | {mode} | {row} | {time.monotonic() - start:.0f} |", flush=True)
    return ratios


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models-file", type=Path, required=True)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--minutes", type=float, help="begin no row after so many")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--cudagraphs", action="store_true", help="kernels without launches")
    parser.add_argument("--small", action="store_true", help="models in the sizes of their file")
    options = parser.parse_args(argv)
    print("| model | mode | stock ms | ours ms | ratio | stock MiB | ours MiB | loss | ours | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    ratios = compare(load(options.models_file), options)
    ratios["all"] = [ratio for mode in MODES for ratio in ratios[mode]]
    for what, found in ratios.items():
        print(f"geomean of {what}: {geomean(found):.3f} of {len(found)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
