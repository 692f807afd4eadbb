"""`xductor.last_compile()`: what the last compile did, and stopping at an application."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import xductor
from xductor import Rewrite, Tensor
from xductor.backend.records import stage_records
from xductor.backend.records.compile_record import (
    CompileRecord,
    NotARecord,
    last_compile,
)
from xductor.backend.records.counts import UnknownPass
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import aten
from xductor.transforms.passes.debug_counters import Counter, CounterError, counting, parse


class NegNeg(Rewrite):
    """Two signs are none."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


def function(x: torch.Tensor) -> torch.Tensor:
    y = x.transpose(0, 1).transpose(0, 1).view(12).view(3, 4)
    return y.neg().neg().relu() * x.sin().neg().neg() + 0


@pytest.fixture(autouse=True)
def no_code() -> Iterator[None]:
    torch._dynamo.reset()
    with without_codegen():
        yield


def compiled() -> CompileRecord:
    """The record of a compile of forward and backward."""
    torch._dynamo.reset()
    options = {"xductor.rewrites": [NegNeg], "xductor.on_error": "raise"}
    x = torch.ones(3, 4, requires_grad=True)
    torch.compile(function, backend="xductor", options=options)(x).sum().backward()
    return xductor.last_compile()


def test_stages_passes_and_applications() -> None:
    with counting({}):
        record = compiled()
    assert [(one.stage, one.direction) for one in record] == [
        ("pre_grad", "unknown"),
        ("joint", "joint"),
        ("post_grad", "forward"),
        ("post_grad", "backward"),
    ]
    assert record.numbers == list(range(1, len(record.numbers) + 1))
    counts = record.counts()
    assert counts["pointless_permute_pair"] >= 1
    given = [one for one in record.applications if one.rewrite == "neg_neg"]
    assert counts["neg_neg"] == len(given) >= 2
    first = given[0]
    assert (first.rewrite, first.anchor, first.in_pass) == (
        "neg_neg",
        "aten.neg.default",
        "rewrites",
    )
    assert first.where is not None
    assert first.where[0] == __file__
    assert first.bindings == {"x": "!fx.tensor<f32[3, 4], cpu>"}
    assert first.before == first.after == ("!fx.tensor<f32[3, 4], cpu>",)
    assert first.numerics == "exact"
    assert "contract" in first.checks
    assert (
        first.number in record.stage("joint").passes[-1].numbers or first.number in record.numbers
    )


def test_only_the_last_compile_is_in_it() -> None:
    compiled()
    torch._dynamo.reset()
    torch.compile(lambda x: x.sin(), backend="xductor")(torch.ones(3))
    assert xductor.last_compile().counts() == {}
    with pytest.raises(LookupError, match="the stages that ran: pre_grad"):
        xductor.last_compile().stage("post_grad", "backward")


def test_it_is_written_and_read_and_printed(tmp_path: Path) -> None:
    record = compiled()
    path = tmp_path / "record.json"
    record.save(path)
    assert CompileRecord.load(path) == record
    text = str(record)
    assert "neg_neg at" in text
    assert "pointless_permute_pair" in text


def test_a_direction_is_shown_where_there_is_one() -> None:
    """There is none before autograd, nor in the record of what was stored without any."""
    record = compiled()
    lost = stage_records.StageRecord("post_grad", "not recorded", "unknown", "structure", 0)
    record = CompileRecord((*record, lost))
    first = [line.split("│")[1].strip() for line in str(record).splitlines() if "│" in line]
    titles = [one.title for one in record]
    assert [cell for cell in first if cell] == titles
    assert titles == ["pre_grad", "joint", "post_grad forward", "post_grad backward", "post_grad"]
    html = record._repr_html_()
    assert [f"<td><b>{title}</b></td>" in html for title in titles] == [True] * 5
    with pytest.raises(LookupError, match=r"no call of post_grad inference; .*: pre_grad, joint, "):
        record.stage("post_grad", "inference")


def test_symbolic_sizes_are_printed() -> None:
    """They stand in brackets, which are markup to what prints the table."""
    options = {"xductor.rewrites": [NegNeg], "xductor.on_error": "raise"}
    x = torch.ones(5, 4)
    torch.compile(lambda x: x.neg().neg() * 2, backend="xductor", dynamic=True, options=options)(x)
    (one,) = [one for one in xductor.last_compile().applications if one.rewrite == "neg_neg"]
    (size,) = [part for part in one.before if "[s" in part]
    assert size.split(" ")[0] in str(xductor.last_compile())


@pytest.mark.parametrize("content", ["{", "[]", '{"xductor_compile": 99}'])
def test_another_file_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(content)
    with pytest.raises(NotARecord, match=r"record\.json"):
        CompileRecord.load(path)


def test_the_first_n_applications_and_no_more() -> None:
    with counting({}):
        everything = compiled()
    for count in (0, 1, len(everything.numbers) - 1, len(everything.numbers)):
        with counting({"*": Counter(0, count)}) as counters:
            record = compiled()
        assert record.numbers == list(range(1, count + 1))
        assert sum(one.applications or 0 for stage in record for one in stage.passes) == count
        assert counters["*"].allowed == count
        assert record.applications == [
            one for one in everything.applications if one.number <= count
        ]


def test_the_counter_of_all_and_one_of_a_pass_both_must_agree() -> None:
    with counting({"*": Counter(0, 100), "neg_neg": Counter(1, 1)}):
        assert compiled().counts()["neg_neg"] == 1


def test_the_counter_is_written_as_others_are() -> None:
    assert parse("*=0:7,cse=1") == {"*": Counter(0, 7), "cse": Counter(1)}
    with pytest.raises(CounterError):
        parse("*=x")


def test_nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_records, "recent", lambda: ())
    assert len(last_compile()) == 0


def test_a_name_that_no_pass_has_is_no_zero() -> None:
    record = compiled()
    assert record.count("neg_neg") == record.counts()["neg_neg"] > 0
    for known in ("pad_mm", "fuse_attention", "b2b_gemm_pass", "never_in_a_compile"):
        assert record.count(known) == record.counts()[known] == 0
        assert known not in record.counts()
    for ask in (record.count, record.counts().__getitem__, CompileRecord().count):
        with pytest.raises(UnknownPass, match=r"is called 'neg_negg'\. Did you mean 'neg_neg'\?"):
            ask("neg_negg")
        with pytest.raises(KeyError, match=r"is called 'qqqq'\. `xductor passes`"):
            ask("qqqq")
    assert record.counts().get("qqqq") is None
    assert CompileRecord().counts() == {}


def test_a_rewrite_that_is_loaded_no_more_is_known_by_its_record(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    compiled().save(path)
    path.write_text(path.read_text().replace("neg_neg", "of_elsewhere"))
    record = CompileRecord.load(path)
    assert record.count("of_elsewhere") > 0
    with pytest.raises(UnknownPass):
        record.count("of_elsewhre")


class NeverInACompile(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.cosh(x)

    def replacement(self, x: Tensor) -> Any:
        return x
