"""`xductor demo`: runs a small language model through the three stages and compares with eager."""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch._inductor.utils import fresh_cache

from xductor.backend.cli.command import Subparsers
from xductor.backend.cli.demo_models import SEQUENCE, VOCABULARY, build
from xductor.backend.records import stage_records

BATCH = 2
OPTIONS = {"xductor.on_error": "raise", "xductor.verify": "types"}
# Those of torch.testing.assert_close for float32.
RTOL, ATOL = 1.3e-6, 1e-5


@dataclass
class Run:
    """One way of using the model: what the stages did, and how far from eager it ended."""

    title: str
    seconds: float = 0.0
    records: list[stage_records.StageRecord] = field(
        default_factory=list[stage_records.StageRecord]
    )
    errors: dict[str, float] = field(default_factory=dict[str, float])
    complaints: list[str] = field(default_factory=list[str])

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Record the stages of compiles inside the block, with an empty cache so that they run."""
        start = time.perf_counter()
        with fresh_cache(), stage_records.record() as records:
            yield
        self.seconds = time.perf_counter() - start
        self.records = records

    def compare(self, what: str, actual: Iterable[Tensor], expected: Iterable[Tensor]) -> None:
        """Record the largest difference, and complain if it exceeds the tolerance."""
        largest, within = 0.0, True
        for ours, eager in zip(actual, expected, strict=True):
            difference = (ours - eager).abs().max().item()
            largest = max(largest, math.inf if math.isnan(difference) else difference)
            within = within and torch.allclose(ours, eager, rtol=RTOL, atol=ATOL)
        self.errors[what] = largest
        if not within:
            self.complaints.append(
                f"{self.title}: {what} differ from eager by up to {largest:.2e}, "
                f"more than rtol={RTOL:g} and atol={ATOL:g} allow"
            )

    def check_stages(self, post_grad: Iterable[str]) -> None:
        """Complain if a stage (or the post-grad stage of a direction) did not run or fell back."""
        ran = {record.stage for record in self.records}
        ran |= {f"{record.stage} ({record.direction})" for record in self.records}
        wanted = ["pre_grad", "joint", *(f"post_grad ({direction})" for direction in post_grad)]
        for stage in wanted:
            if stage not in ran:
                self.complaints.append(f"{self.title}: {stage} did not run")
        for record in self.records:
            if record.fallback:
                self.complaints.append(f"{self.title}: {record.title} fell back: {record.fallback}")


def compile_model(model: nn.Module) -> nn.Module:
    """`model` compiled by `torch.compile` with this backend, in its strictest setting."""
    compiled = torch.compile(model, backend="xductor", options=dict(OPTIONS))
    assert isinstance(compiled, nn.Module)
    return compiled


def run_inference(model: nn.Module, tokens: Tensor) -> Run:
    """Compare logits of the compiled model with eager's."""
    run = Run("inference")
    model.eval()
    with torch.no_grad():
        expected = model(tokens)
        with run.observed():
            actual = compile_model(model)(tokens)
    run.compare("outputs", [actual], [expected])
    return run


def run_training(model: nn.Module, tokens: Tensor) -> Run:
    """Compare one step of the compiled model with one of an eager copy."""
    run = Run("training")
    eager = copy.deepcopy(model.train())
    expected = training_step(eager, eager, tokens)
    with run.observed():
        actual = training_step(compile_model(model), model, tokens)
    run.compare("outputs", [actual.logits], [expected.logits])
    run.compare("gradients", actual.gradients, expected.gradients)
    run.compare("stepped weights", model.parameters(), eager.parameters())
    return run


@dataclass
class Step:
    logits: Tensor
    gradients: list[Tensor]


def training_step(call: nn.Module, model: nn.Module, tokens: Tensor) -> Step:
    """A step of next-token training: `call` computes, and the weights of `model` are updated."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    logits = call(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    optimizer.step()
    return Step(logits.detach(), gradients)


def stage_table(run: Run) -> Table:
    """What each stage of a run did, a row for each graph."""
    table = Table(title=run.title, title_justify="left", title_style="bold", show_lines=True)
    for heading in ("stage", "graph"):
        table.add_column(heading)
    for heading in ("nodes before", "after"):
        table.add_column(heading, justify="right")
    table.add_column("passes that fired", ratio=1)
    table.add_column("verified")
    table.add_column("pass time", justify="right")
    for record in run.records:
        table.add_row(
            record.stage,
            record.direction if record.direction != "unknown" else "",
            str(record.nodes_before),
            str(record.nodes_after),
            fired(record) or "-",
            record.fallback or record.verify_level,
            f"{record.cpu_ns / 1e6:.1f} ms",
        )
    return table


def fired(record: stage_records.StageRecord) -> str:
    """The passes that changed the graph: ours with counts, Inductor's own steps with a star."""
    return ", ".join(record.fired())


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "demo", description="Compile a small GPT-2-like model and compare it with eager."
    )
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1, ...")
    parser.add_argument(
        "--plain", action="store_true", help="a plain torch transformer, not transformers' GPT-2"
    )


def run(options: argparse.Namespace) -> int:
    """Print what the stages did; returns 1 if a number or a stage is not as it must be."""
    return demo(device=options.device, plain=options.plain)


def demo(*, device: str, plain: bool) -> int:
    """Run the demo and print it; returns 1 if a number or a stage is not as it must be."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    torch.manual_seed(0)
    name, model = build(plain)
    model.to(device)
    tokens = torch.randint(VOCABULARY, (BATCH, SEQUENCE), device=device)
    size = sum(p.numel() for p in model.parameters())
    console.print(
        f"{name}: {size:,} parameters on {device}, torch {torch.__version__}, "
        f'torch.compile(backend="xductor", options={OPTIONS})',
        highlight=False,
        soft_wrap=True,
    )

    inference = run_inference(model, tokens)
    inference.check_stages(post_grad=["inference"])
    training = run_training(model, tokens)
    training.check_stages(post_grad=["forward", "backward"])

    for one in (inference, training):
        console.print(stage_table(one))
        console.print(
            f"compiled and run in {one.seconds:.1f} s; max error against eager: "
            + ", ".join(f"{what} {error:.2e}" for what, error in one.errors.items()),
            highlight=False,
        )
    records = (*inference.records, *training.records)
    if any(name.endswith("*") for record in records for name in record.fired()):
        console.print("* Inductor's own step, run through the bridge", style="dim")

    complaints = inference.complaints + training.complaints
    for complaint in complaints:
        console.print(f"error: {complaint}", style="bold red", highlight=False, soft_wrap=True)
    if not complaints:
        console.print("same numbers as eager, no stage fell back", style="green")
    return 1 if complaints else 0
