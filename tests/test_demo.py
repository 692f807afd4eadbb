"""``xductor demo`` says so when a number is off or a stage did not do its work."""

import math

import pytest
import torch

from xductor.backend.cli import demo_models
from xductor.backend.cli.commands import demo
from xductor.backend.records.stage_records import PassRecord, StageRecord


def record(stage: str, direction: str, **fields: object) -> StageRecord:
    made = StageRecord(stage, "graph", "unknown", "types", nodes_before=3, nodes_after=2)
    for name, value in {"direction": direction, **fields}.items():
        setattr(made, name, value)
    return made


def inference_records() -> list[StageRecord]:
    return [
        record("pre_grad", "unknown"),
        record("joint", "joint"),
        record("post_grad", "inference"),
    ]


def test_equal_values_pass() -> None:
    run = demo.Run("inference")
    run.compare("outputs", [torch.ones(3)], [torch.ones(3) + 1e-7])
    assert run.complaints == []
    assert 0 < run.errors["outputs"] < 1e-6


def test_a_difference_is_a_complaint() -> None:
    run = demo.Run("inference")
    run.compare("outputs", [torch.ones(3), torch.ones(2)], [torch.ones(3), torch.zeros(2)])
    assert run.errors["outputs"] == 1.0
    assert len(run.complaints) == 1


def test_nan_is_a_complaint() -> None:
    run = demo.Run("inference")
    run.compare("outputs", [torch.tensor([float("nan")])], [torch.zeros(1)])
    assert run.complaints
    assert run.errors["outputs"] == math.inf


def test_all_stages_ran() -> None:
    run = demo.Run("inference", records=inference_records())
    run.check_stages(post_grad=["inference"])
    assert run.complaints == []


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_stage_that_did_not_run_is_a_complaint(missing: int) -> None:
    records = inference_records()
    absent = records.pop(missing)
    run = demo.Run("inference", records=records)
    run.check_stages(post_grad=["inference"])
    (complaint,) = run.complaints
    assert absent.stage in complaint


def test_a_fallback_is_a_complaint() -> None:
    records = inference_records()
    records[1].fallback = "pointless_view: a reason"
    run = demo.Run("inference", records=records)
    run.check_stages(post_grad=["inference"])
    (complaint,) = run.complaints
    assert "pointless_view: a reason" in complaint


def test_passes_that_fired_are_named_with_counts() -> None:
    passes = [
        PassRecord("pointless_view", "typed", 3, True),
        PassRecord("pointless_convert", "typed", 0, False),
        PassRecord("pad_mm", "bridged", changed=True),
        PassRecord("fuse_attention", "bridged", changed=False),
    ]
    assert demo.fired(record("joint", "joint", passes=passes)) == "pointless_view x3, pad_mm*"


def test_both_models_are_causal() -> None:
    pytest.importorskip("transformers")
    for plain in (False, True):
        torch.manual_seed(0)
        _, model = demo_models.build(plain)
        model.eval()
        tokens = torch.arange(demo_models.SEQUENCE)[None]
        changed = tokens.clone()
        changed[0, -1] = 0
        with torch.no_grad():
            before, after = model(tokens)[0], model(changed)[0]
        torch.testing.assert_close(before[:-1], after[:-1])
        assert not torch.equal(before[-1], after[-1])


def test_plain_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.demo(device="cpu", plain=True) == 0
    shown = capsys.readouterr().out
    for word in ("pre_grad", "joint", "post_grad", "backward", "inference", "types"):
        assert word in shown
    assert "same numbers as eager, no stage fell back" in shown


@pytest.mark.gpu
def test_demo_on_a_gpu() -> None:
    assert demo.demo(device="cuda", plain=True) == 0
