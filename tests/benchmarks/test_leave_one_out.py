"""What is left out of a compile, what is known of it, and what is printed."""

from __future__ import annotations

import argparse
import time
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.benchmarks import leave_one_out
from tests.benchmarks.gpu_corpus import command_of
from tests.benchmarks.leave_one_out import (
    Shares,
    applied,
    compiled,
    left_out,
    one,
    options_of,
    show,
)
from xductor.backend.records.stage_records import StageRecord
from xductor.backend.run_as_fx.without_codegen import without_codegen


class Attention(torch.nn.Module):
    """Attention spelled out, of what the same sum is added to twice."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scores = torch.matmul(x, y.transpose(-1, -2)) * 0.5
        out = torch.matmul(torch.softmax(scores, dim=-1), y)
        return (out + x.sum(-1, keepdim=True)) * x.sum(-1, keepdim=True)


def build(name: str, layers: int, dtype: str) -> Any:
    generator = torch.Generator().manual_seed(0)
    return Attention(), tuple(torch.randn(2, 4, 64, 32, generator=generator) for _ in "xy"), {}


MODELS = SimpleNamespace(
    META={}, names=lambda: ["attention"], build=build, loss_of=lambda _, out: out.float().mean()
)


def options(*more: str) -> argparse.Namespace:
    return options_of(["--models-file", "models.py", "--device", "cpu", "--small", *more])


def test_each_pass_is_left_out_alone_or_with_others() -> None:
    names = ["fuse_attention", "pointless_view", "addmm", "remove_noop_ops"]
    assert left_out(names, ["remove_noop_ops", "pointless_view", "pointless_convert"]) == {
        "fuse_attention": ["fuse_attention"],
        "addmm": ["addmm"],
        "together": ["pointless_view", "remove_noop_ops"],
    }
    assert left_out(["addmm"], ["pointless_view"]) == {"addmm": ["addmm"]}
    assert left_out(["pointless_view"], ()) == {"pointless_view": ["pointless_view"]}


def test_only_passes_count_that_were_applied_and_can_be_left_out() -> None:
    records = [StageRecord("joint", "graph", "joint", "types", 1) for _ in range(2)]
    records[0].typed("addmm", 1)
    records[0].typed("pad_mm", 0)
    records[1].typed("addmm", 2)
    records[1].typed("replace_random", 4)  # code generation needs it
    assert applied(records) == {"addmm": 3}


def test_variants_are_compiled_without_what_is_left_out() -> None:
    torch._dynamo.reset()
    with without_codegen():
        works, found = compiled(MODELS, "attention", "inference", options("--together"))
    assert found.applied["fuse_attention"] == 1
    assert found.applied["common_subexpression_elimination"] == 1
    assert set(works) == {"stock", "ours", *found.applied}
    assert not found.not_measured
    assert max(found.losses.values()) == pytest.approx(min(found.losses.values()), rel=1e-4)


def test_no_variant_is_begun_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = chain([False, False], repeat(True))  # time for the two compilers
    monkeypatch.setattr(leave_one_out, "_is_late", lambda _: next(answers))
    torch._dynamo.reset()
    with without_codegen():
        works, found = compiled(MODELS, "attention", "inference", options())
    assert set(works) == {"stock", "ours"}
    assert found.not_measured["fuse_attention"] == "no time left"


def test_a_model_is_given_up_out_of_time() -> None:
    late = options()
    late.until = time.time() - 1
    with pytest.raises(TimeoutError, match="no time left"):
        one(MODELS, "attention", "inference", late)


def test_a_child_measures_under_the_same_options() -> None:
    given = options("--batch", "8", "--cudagraphs", "--in-a-row", "3", "--modes", "training")
    child = options_of([*command_of("module", given)[3:], "--modes", *given.modes])
    assert child.child
    child.child = False
    assert child == given
    assert given.models_file == Path("models.py")


def test_rows_and_geomeans(capsys: pytest.CaptureFixture[str]) -> None:
    first = Shares(
        {"addmm": 3, "fuse_attention": 2},
        {"stock": 3.0, "ours": 2.0, "addmm": 1.0},
        {"stock": 0.5, "ours": 0.5, "addmm": 0.25},
        {"fuse_attention": "no time left"},
    )
    second = Shares({"addmm": 1}, {"stock": 1.0, "ours": 1.0, "addmm": 2.0}, {}, {})
    second.losses = dict.fromkeys(second.times, 1.0)
    show(
        [
            (("bert", "training"), first),
            (("vit", "training"), second),
            (("t5", "inference"), "no time left"),
        ]
    )
    printed = capsys.readouterr().out
    assert "| bert | training | addmm | 3 | 1.000 | 2.000 | 0.500 | 0.25 | 0.5 |" in printed
    assert "| bert | training | stock |  | 3.000 | 2.000 | 1.500 | 0.5 | 0.5 |" in printed
    assert "| bert | training | fuse_attention | 2 | no time left |" in printed
    assert "| t5 | inference | no time left |" in printed
    assert "| addmm | training | 2 | 1.000 | 0.500 | 2.000 |" in printed
    assert "| stock | training | 2 | 1.225 | 1.000 | 1.500 |" in printed
