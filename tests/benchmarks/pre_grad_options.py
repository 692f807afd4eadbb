"""Models with every option before autograd on: `python -m tests.benchmarks.pre_grad_options`.

Each is compiled up to code generation, with static sizes and with symbolic ones, runs forward and
backward as eager does, and shows which passes fired; then the stage is timed beside Inductor's with
the same options, as `stage_ratios` does it. With `--pre-dispatch` the other list of passes runs;
with `--times` models are timed alone, with static sizes, and summed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._inductor import config

from tests.benchmarks.stage_ratios import load, measure, step_of
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.transforms.rows import registry

MODELS = ("dlrm", "split_cat", "bert", "gpt2", "resnet18")
_AT_LEAST = {"threshold_to_cat": 2, "min_fuse_set_size": 2}


def options() -> dict[str, Any]:
    """Inductor's flags with every option on: tables, fusions of two and more, and both switches."""
    fusions: dict[str, Any] = {"normalization_pass": {}}
    for row in registry.rows("pre_grad"):
        if row.flag == "pre_grad_fusion_options" and not row.covered_by:
            key = "min_fuse_set_size" if ".groups." in row.factory else "threshold_to_cat"
            fusions[row.name] = {key: _AT_LEAST[key]}
    return {
        "pre_grad_fusion_options": fusions,
        "efficient_conv_bn_eval_fx_passes": True,
        "apply_gumbel_max_trick": True,
    }


def run(
    model: torch.nn.Module,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    *,
    dynamic: bool = False,
    flags: Mapping[str, Any] | None = None,
) -> dict[str, int]:
    """Compile a model in evaluation, forward and backward; which passes were applied, how often.

    Raises AssertionError where results or gradients are not those of eager.
    """
    model.eval()
    torch._dynamo.reset()
    ours: dict[str, Any] = {"xductor.on_error": "raise"}
    with (
        without_codegen(),
        config.patch(force_disable_caches=True, **(options() if flags is None else flags)),
        stage_records.record() as records,
    ):
        compiled = torch.compile(model, backend="xductor", options=ours, dynamic=dynamic or None)
        found = _results(compiled, model, inputs, named)
    expected = _results(model, model, inputs, named)
    for one, other in zip(found, expected, strict=True):
        scale = max(1.0, float(other.abs().max())) if other.numel() else 1.0
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4 * scale)
    stages = [one for one in records if one.stage == "pre_grad"]
    counts: dict[str, int] = {}
    for stage in stages:
        for name, count in stage.counts().items():
            counts[name] = counts.get(name, 0) + count
    return {name: count for name, count in counts.items() if count}


def _results(
    function: Any, model: torch.nn.Module, inputs: Sequence[Any], named: Mapping[str, Any]
) -> list[torch.Tensor]:
    """The result, and gradients of all parameters that get one."""
    model.zero_grad(set_to_none=True)
    result = function(*inputs, **named)
    result.float().square().mean().backward()
    return [result.detach(), *[one.grad for one in model.parameters() if one.grad is not None]]


def _fired(
    models: ModuleType, name: str, layers: int, dynamic: bool, flags: Mapping[str, Any]
) -> str:
    model, inputs, named = models.build(name, layers=layers)
    counts = run(model, inputs, named, dynamic=dynamic, flags=flags)
    return ", ".join(f"{one} {count}" for one, count in counts.items()) or "none"


def _time(
    models: ModuleType, name: str, args: argparse.Namespace, dynamic: bool, flags: dict[str, Any]
) -> tuple[float, float]:
    """The milliseconds of Inductor's stage, and of ours."""
    with (
        config.patch(flags),
        torch._dynamo.config.patch(assume_static_by_default=not dynamic),
    ):
        calls = measure(step_of(models, name, False, args.layers), args.runs, "pre_grad")[
            "pre_grad"
        ]
    stock, own = (sum(each) * 1e3 for each in zip(*calls, strict=True))
    return stock, own


def _row(stock: float, own: float) -> str:
    return f"{stock:.1f} | {own:.1f} | {own / stock:.2f}"


def _print_times(models: ModuleType, args: argparse.Namespace, flags: dict[str, Any]) -> None:
    """A row for each model that compiles, and their sum."""
    print("| model | stock ms | ours ms | ratio |")
    print("| --- | --- | --- | --- |")
    found: list[tuple[float, float]] = []
    for name in args.only.split(",") if args.only else models.names():
        try:
            found.append(_time(models, name, args, False, flags))
        except Exception as error:
            print(f"| {name} | {type(error).__name__}: {str(error).splitlines()[0][:80]} | | |")
            continue
        print(f"| {name} | {_row(*found[-1])} |", flush=True)
    stock, own = (sum(each) for each in zip(*found, strict=True))
    print(f"| **all** | {_row(stock, own)} |")


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each model and kind of sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpus = Path(__file__).parents[1] / "corpus" / "models.py"
    parser.add_argument("--models-file", type=Path, default=corpus)
    parser.add_argument("--only", default="")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pre-dispatch", action="store_true")
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args(argv)
    flags = options() | {"is_predispatch": args.pre_dispatch}
    models = load(args.models_file)
    if args.times:
        _print_times(models, args, flags)
        return 0
    print("| model | sizes | stock ms | ours ms | ratio | passes applied |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in args.only.split(",") if args.only else MODELS:
        for dynamic in (False, True):
            fired = ""
            try:
                fired = _fired(models, name, args.layers, dynamic, flags)
                times = _row(*_time(models, name, args, dynamic, flags))
            except Exception as error:
                times = f"{type(error).__name__}: {str(error).splitlines()[0][:80]} | | "
            kind = "symbolic" if dynamic else "static"
            print(f"| {name} | {kind} | {times} | {fired} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
