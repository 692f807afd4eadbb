"""What fused attention is worth on a GPU: models written with eager attention, compiled by us,
against the same models compiled by stock, as they are and written with SDPA.

    python -m tests.benchmarks.gpu_attention --models-file models.py --only gpt2 llama

The three take turns in one process, in bfloat16: median milliseconds of a forward, of a training
step, and the peak of memory of each. `models.py` has `build(name, layers=..., dtype=...,
attn_impl=..., ...)`, which gives a model with its arguments, and `loss_of(name, output)`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from tests.benchmarks.gpu_timing import BACKENDS, Work, alternating, on_device, peak
from tests.benchmarks.stage_ratios import load

VARIANTS = (("stock", "eager"), ("ours", "eager"), ("stock", "sdpa"))


def compare(models: Any, name: str, sizes: dict[str, int], rounds: int) -> None:
    """Print the table of one model."""
    forward: dict[Any, Work] = {}
    training: dict[Any, Work] = {}
    outputs: dict[Any, Any] = {}
    for backend, written in VARIANTS:
        torch._dynamo.reset()
        model, args, kwargs = models.build(name, dtype="bf16", attn_impl=written, **sizes)
        model, args, kwargs = (
            model.cuda().eval(),
            on_device(args, "cuda"),
            on_device(kwargs, "cuda"),
        )
        compiled = torch.compile(model, backend=BACKENDS[backend])

        def infer(call: Any = compiled, args: Any = args, kwargs: Any = kwargs) -> Any:
            with torch.no_grad():
                return call(*args, **kwargs)

        def train(call: Any = compiled, args: Any = args, kwargs: Any = kwargs) -> None:
            models.loss_of(name, call(*args, **kwargs)).backward()

        outputs[backend, written] = models.loss_of(name, infer()).item()
        train()
        forward[backend, written], training[backend, written] = infer, train
    show(name, "forward", alternating(forward, rounds, "cuda"), forward)
    show(name, "training", alternating(training, rounds, "cuda"), training)
    print(f"{name:10} loss      " + "  ".join(f"{one:.6g}" for one in outputs.values()), flush=True)


def show(name: str, what: str, times: dict[Any, float], works: dict[Any, Any]) -> None:
    ours, sdpa, eager = (times[key] for key in (VARIANTS[1], VARIANTS[2], VARIANTS[0]))
    memory = {key: peak(work, "cuda") for key, work in works.items()}
    print(
        f"{name:10} {what:9} stock {eager:8.3f} ms  ours {ours:8.3f} ms  stock of SDPA "
        f"{sdpa:8.3f} ms  ours/stock {ours / eager:.3f}  ours/SDPA {ours / sdpa:.3f}  MiB "
        + " ".join(f"{memory[key]:.0f}" for key in VARIANTS),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Fused attention on a GPU.")
    parser.add_argument("--models-file", type=Path, required=True)
    parser.add_argument("--only", nargs="+", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    for name, size in (("hidden", 1024), ("heads", 16), ("seq", 1024), ("batch", 8), ("layers", 4)):
        parser.add_argument(f"--{name}", type=int, default=size)
    options = vars(parser.parse_args())
    models, only = load(options.pop("models_file")), options.pop("only")
    rounds = options.pop("rounds")
    for name in only:
        try:
            compare(models, name, options, rounds)
        except Exception as error:  # the other models are measured all the same
            print(f"{name:10} failed: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
