"""What models cost on a GPU, compiled by stock and by us: time of a step, and memory.

    python -m tests.benchmarks.gpu_corpus --models-file models.py

Both compile the same model of a file, in bfloat16, in one process; they take turns. A row for each
model in inference and in training, as soon as it is measured: median milliseconds, the ratio, the
peak of memory, and the losses of both and of eager (in training with what dropout drew). Then the
geomeans of the ratios. `models.py` has `names()`, `META`, `loss_of(name, output)`, and
`build(name, layers=..., dtype=..., ...)`, which gives a model with its arguments. With `--jobs N`,
N rows compile at a time, each in a process of its own, and then they are measured in turns.
"""

from __future__ import annotations

import argparse
import gc
import math
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch._inductor.config

from tests.benchmarks.compiled_apart import measured, say, tuning_alone, wait_for_turn
from tests.benchmarks.gpu_timing import BACKENDS, alternating, on_device, peak
from tests.benchmarks.pre_grad_options import options as pre_grad_options
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
_COMPILE_MINUTES = 30.0
_FLAGS = {
    "cudagraphs": "kernels without launches",
    "small": "models in the sizes of their file",
    "dynamic": "symbolic sizes",
    "pre-grad-options": "every option before autograd on, for both",
    "stock-twice": "stock in our place too: how far ratios of equal code scatter",
}
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
    """What was measured of a model in one mode, by who compiled it.

    - `times`: of a step, milliseconds.
    - `in_a_row`: of one of several steps between which nobody waits for the device.
    """

    times: dict[str, float]
    in_a_row: dict[str, float]
    memory: dict[str, float]
    losses: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.times["ours"] / self.times["stock"]

    @property
    def ratio_in_a_row(self) -> float:
        return self.in_a_row["ours"] / self.in_a_row["stock"]

    def __str__(self) -> str:
        mib, loss = self.memory, self.losses
        cells = [f"{self.times[who]:9.3f}" for who in BACKENDS] + [f"{self.ratio:.3f}"]
        cells += [f"{self.in_a_row[who]:9.3f}" for who in BACKENDS]
        cells += [f"{self.ratio_in_a_row:.3f}", *(f"{mib[who]:.0f}" for who in BACKENDS)]
        return " | ".join([*cells, *(f"{loss[who]:.6g}" for who in (*BACKENDS, "eager"))])


#: What is done in a step, by who does it.
Works = dict[str, Callable[[], torch.Tensor]]


def prepared(
    models: Any, name: str, mode: str, sizes: dict[str, Any], device: str
) -> tuple[torch.nn.Module, Callable[[Any], Callable[[], torch.Tensor]]]:
    """A model on a device, and what makes a step in a mode of what is called in its place."""
    _start_anew(device)
    model, args, kwargs = build(models, name, sizes)
    model = model.to(device).train(mode == "training")
    args, kwargs = on_device(args, device), on_device(kwargs, device)

    def step(call: Any) -> Callable[[], torch.Tensor]:
        def infer() -> torch.Tensor:
            torch.compiler.cudagraph_mark_step_begin()
            with torch.no_grad():
                return models.loss_of(name, call(*args, **kwargs))

        def train() -> torch.Tensor:
            torch.compiler.cudagraph_mark_step_begin()
            model.zero_grad(set_to_none=True)
            loss = models.loss_of(name, call(*args, **kwargs))
            loss.backward()
            return loss

        return train if mode == "training" else infer

    return model, step


def first_loss(work: Callable[[], torch.Tensor]) -> float:
    """The loss of a first step, in which it is compiled; dropout draws the same each time."""
    torch.manual_seed(0)
    return work().item()


def compiled(
    models: Any,
    name: str,
    mode: str,
    sizes: dict[str, Any],
    device: str,
    graphs: bool,
    dynamic: bool = False,
    backends: Mapping[str, str] = BACKENDS,
) -> tuple[Works, dict[str, float]]:
    """The steps of a model in a mode, by both compilers and eager, and their first losses."""
    model, step = prepared(models, name, mode, sizes, device)
    asked: dict[str, Any] = {"options": {"triton.cudagraphs": graphs}, "dynamic": dynamic or None}
    works = {
        who: step(torch.compile(model, backend=backend, **asked))
        for who, backend in backends.items()
    }
    works["eager"] = step(model)
    return works, {who: first_loss(work) for who, work in works.items()}


def in_turns(
    works: Works, losses: dict[str, float], rounds: int, device: str, in_a_row: int
) -> Row:
    """What both compilers' steps cost."""
    works = {who: works[who] for who in BACKENDS}
    times = alternating(works, rounds, device)
    row = times if in_a_row == 1 else alternating(works, rounds, device, in_a_row)
    memory = {who: peak(work, device) for who, work in works.items()}
    return Row(times, row, memory, losses)


def _start_anew(device: str) -> None:
    torch._dynamo.reset()
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()


def geomean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def cases(models: Any, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The models and modes that are wanted and can be had."""
    for name in options.only or models.names():
        for mode in options.modes:
            if mode == "inference" or models.META.get(name, {}).get("train", True):
                yield name, mode


def sizes_of(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """How a model is built: in the sizes of `SIZES`, or small ones, those of its file."""
    sizes = {} if options.small else SIZES.get(name, {})
    batch = {} if options.batch is None else {"batch": options.batch}
    return {"layers": options.layers, "dtype": options.dtype, **sizes, **batch}


@contextmanager
def flags_of(models: Any, name: str, options: argparse.Namespace) -> Iterator[None]:
    """What a model needs of Dynamo, and the options before autograd if they are asked for."""
    flags = pre_grad_options() if options.pre_grad_options else {}
    with (
        torch._dynamo.config.patch(models.META.get(name, {}).get("dynamo") or {}),
        torch._inductor.config.patch(flags),
    ):
        yield


def one(models: Any, name: str, mode: str, options: argparse.Namespace) -> Row:
    """Compile one model in one mode, wait for the turn if there are others, and measure."""
    sizes = sizes_of(name, options)
    graphs, dynamic = options.cudagraphs, options.dynamic
    backends = dict.fromkeys(BACKENDS, "inductor") if options.stock_twice else BACKENDS
    with flags_of(models, name, options):
        with tuning_alone():
            works, losses = compiled(
                models, name, mode, sizes, options.device, graphs, dynamic, backends
            )
        if options.child:
            wait_for_turn()
        return in_turns(works, losses, options.rounds, options.device, options.in_a_row)


Measured = TypeVar("Measured")


def here(
    models: Any,
    options: argparse.Namespace,
    measure: Callable[[Any, str, str, argparse.Namespace], Measured],
) -> Iterator[tuple[tuple[str, str], Measured | str]]:
    """What is measured of each case, or what went wrong, one after the other in this process."""
    began = time.monotonic()
    for case in cases(models, options):
        if options.minutes is not None and time.monotonic() - began > 60 * options.minutes:
            yield case, "no time left"
            continue
        try:
            yield case, measure(models, *case, options)
        except Exception as error:  # the other models are measured all the same
            yield case, f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def apart(
    models: Any, options: argparse.Namespace, command: Sequence[str], minutes: float | None = None
) -> Iterator[tuple[tuple[str, str], dict[str, Any] | str]]:
    """The same by a command for a child, which compiles in a process of its own, `--jobs` at a
    time; a child that compiles for more than so many minutes is stopped.
    """
    commands = {
        (name, mode): [*command, "--only", name, "--modes", mode]
        for name, mode in cases(models, options)
    }
    yield from measured(commands, options.jobs, 60 * (minutes or _COMPILE_MINUTES))


def command_of(module: str, options: argparse.Namespace) -> list[str]:
    """How a child is started that measures one case under the same options."""
    command = [sys.executable, "-m", module, "--child"]
    command += ["--models-file", str(options.models_file), "--layers", str(options.layers)]
    command += ["--rounds", str(options.rounds), "--device", options.device]
    command += ["--in-a-row", str(options.in_a_row), "--dtype", options.dtype]
    command += [] if options.batch is None else ["--batch", str(options.batch)]
    return command + [f"--{flag}" for flag in _FLAGS if getattr(options, flag.replace("-", "_"))]


def rows(models: Any, options: argparse.Namespace) -> Iterator[tuple[tuple[str, str], Row | str]]:
    """A row for each case, or what went wrong."""
    if not options.jobs:
        yield from here(models, options, one)
        return
    command = command_of("tests.benchmarks.gpu_corpus", options)
    for case, found in apart(models, options, command, options.minutes):
        yield case, found if isinstance(found, str) else Row(**found)


def compare(models: Any, options: argparse.Namespace) -> dict[str, list[float]]:
    """Print a row for each model and mode; the ratios by mode, of one step and of many."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for (name, mode), row in rows(models, options):
        if isinstance(row, Row):
            ratios[mode].append(row.ratio)
            if options.in_a_row > 1:
                ratios[f"{mode}, in a row"].append(row.ratio_in_a_row)
        print(f"| {name} | {mode} | {row} |", flush=True)
    return ratios


def arguments(text: str | None) -> argparse.ArgumentParser:
    """The options of a command that measures models; `text` is its module's."""
    parser = argparse.ArgumentParser(description=(text or "").splitlines()[0])
    parser.add_argument("--models-file", type=Path, required=True)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--dtype", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--batch", type=int, help="another batch than each model's own")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument(
        "--in-a-row", type=int, default=1, help="steps between two looks at the clock"
    )
    parser.add_argument("--minutes", type=float, help="begin no row after so many; for a compile")
    parser.add_argument("--jobs", type=int, help="compile so many rows at a time, then measure")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    for flag, meaning in _FLAGS.items():
        parser.add_argument(f"--{flag}", action="store_true", help=meaning)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = arguments(__doc__).parse_args(argv)
    models = load(options.models_file)
    if options.child:
        say(asdict(one(models, *next(cases(models, options)), options)))
        return 0
    columns = (
        *("model", "mode", "stock ms", "ours ms", "ratio", "in a row ms", "ours", "ratio"),
        *("MiB", "ours", "loss", "ours", "eager"),
    )
    print(f"| {' | '.join(columns)} |")
    print(f"|{' --- |' * len(columns)}", flush=True)
    ratios = compare(models, options)
    ratios["all"] = [ratio for mode in MODES for ratio in ratios[mode]]
    for what, found in ratios.items():
        print(f"geomean of {what}: {geomean(found):.3f} of {len(found)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
