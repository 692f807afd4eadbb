"""What is collected of a compile: what fired, what was refused, what failed, and in which file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

import xductor.frontend
from tests.backend.report.compiles import (
    NegNeg,
    Parsed,
    Raises,
    compiled,
    function,
    inputs,
    pages,
    stage,
    step,
)
from xductor.backend.config import cache_keys, compile_state
from xductor.backend.config.settings import Settings, SettingsError
from xductor.backend.report import collector, page_files
from xductor.backend.report.collector import ReportWarning
from xductor.backend.report.compile_data import CompileData
from xductor.backend.report.side_by_side import Differs
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stage_runs.failures import FallbackWarning
from xductor.transforms.rows import registry

Collected = list[CompileData]


@pytest.fixture(autouse=True)
def _reproducers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path / "reproducers"))


def _break(name: str, monkeypatch: pytest.MonkeyPatch, by: str = "broken") -> None:
    """Make a pass of ours raise."""

    def rewrite(self: Any, module: ModuleOp) -> int:
        raise ValueError(by)

    monkeypatch.setattr(registry.typed_class(name), "rewrite", rewrite)


def test_what_fired_and_what_was_refused(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path, rewrites=[NegNeg])
    (data,) = collected
    assert [one.title for one in data.stages] == ["pre_grad", "joint", "post_grad inference"]
    joint = stage(data, "joint")
    rewrites = step(joint, "rewrites")
    assert (rewrites.kind, rewrites.applied, rewrites.changed) == ("typed", 1, True)
    (made,) = rewrites.applications
    assert (made.rewrite, made.anchor) == ("neg_neg", "aten.neg.default")
    (refused,) = rewrites.refusals.values()
    assert (refused.rewrite, refused.op, refused.count) == ("neg_neg", "aten.neg.default", 1)
    assert "only for <b>matrices</b>" in refused.reason
    assert [Path(file).name for file, _ in refused.places] == ["compiles.py"]
    assert rewrites.before is not None
    assert rewrites.after is not None
    gone = [row for row in rewrites.rows if isinstance(row, Differs) and row.right is None]
    assert [rewrites.before.lines[row.left].op for row in gone] == ["aten.neg.default"] * 2
    assert rewrites.before.ops - rewrites.after.ops == 2
    assert step(joint, "pointless_permute_pair").applied == 1
    assert joint.applied == sum(one.applied for one in joint.steps) >= 2
    assert joint.nodes_before > joint.nodes_after == stage(data, "post_grad inference").nodes_before
    assert all(one.ns >= 0 for _, one in data.steps())
    assert not joint.failures


def test_a_step_that_changed_nothing_keeps_no_graph(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path)
    idle = [one for _, one in collected[0].steps() if not one.changed]
    assert idle
    assert all(one.before is None for one in idle)


def test_an_edit_by_a_step_of_inductors_is_seen(collected: Collected, tmp_path: Path) -> None:
    def squared(graph: torch.fx.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
            node.target = torch.ops.aten.neg.default

    with torch._inductor.config.patch(joint_custom_pre_pass=squared):
        compiled(tmp_path)
    hook = step(stage(collected[0], "joint"), "joint_custom_pre_pass")
    assert (hook.kind, hook.changed) == ("bridged", True)
    (row,) = [row for row in hook.rows if isinstance(row, Differs)]
    assert hook.before is not None
    assert hook.after is not None
    ops = hook.before.lines[row.left or 0].op, hook.after.lines[row.right or 0].op
    assert ops == ("aten.relu.default", "aten.neg.default")


def test_a_fallback_is_shown_as_such(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break("pointless_permute_pair", monkeypatch)
    with pytest.warns(FallbackWarning):
        compiled(tmp_path, rewrites=[NegNeg], on_error="fallback")
    joint = stage(collected[0], "joint")
    assert joint.degraded
    (failure,) = joint.failures
    assert failure.culprit == "pointless_permute_pair"
    assert "ValueError: broken" in failure.reason
    assert Path(failure.reproducer).exists()
    failed = step(joint, "pointless_permute_pair")
    assert failed.undone
    assert "ValueError: broken" in failed.failure
    (page,) = pages(tmp_path)
    text = Parsed(page.read_text()).text
    assert "pointless_permute_pair failed in the joint stage." in text
    assert "fell back to its required passes" in text


def test_what_a_failure_undoes_is_not_counted(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break("pointless_permute_pair", monkeypatch)

    def with_noops(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.t().t() + y.view(8).view(8).clone()).relu()

    with pytest.warns(FallbackWarning):
        compiled(tmp_path, call=with_noops, on_error="fallback")
    joint = stage(collected[0], "joint")
    lost = [one.name for one in joint.steps if one.undone]
    assert lost[-1] == "pointless_permute_pair"
    assert len(lost) > 1
    assert all(one.applied for one in joint.steps if one.undone and not one.failure)
    assert joint.applied == 0
    assert joint.nodes_before == joint.nodes_after


def test_a_graph_that_a_pass_breaks_is_shown(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rewrite(self: Any, module: ModuleOp) -> int:
        graph: Any = next(iter(module.ops))
        (relu,) = (op for op in graph.block.ops if op.name == "aten.relu.default")
        relu.operands[0] = graph.arguments[0]
        return 1

    monkeypatch.setattr(registry.typed_class("pointless_permute_pair"), "rewrite", rewrite)
    with pytest.warns(FallbackWarning):
        compiled(tmp_path, on_error="fallback", verify="types")
    broken = step(stage(collected[0], "joint"), "pointless_permute_pair")
    assert broken.failure
    assert broken.undone
    assert any(isinstance(row, Differs) for row in broken.rows)


def test_a_pass_of_the_users_that_fails_is_left_out_alone(
    collected: Collected, tmp_path: Path
) -> None:
    with pytest.warns(FallbackWarning):
        compiled(tmp_path, rewrites=[NegNeg, Raises], on_error="fallback")
    joint = stage(collected[0], "joint")
    assert not joint.degraded
    assert step(joint, "rewrites").applied == 1
    assert not step(joint, "rewrites").undone
    assert step(joint, "raises").failure
    assert [one.culprit for one in joint.failures] == ["raises"]


def test_a_compile_that_raises_has_a_page(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break("pointless_permute_pair", monkeypatch)
    with pytest.raises(Exception, match="pointless_permute_pair failed"):
        compiled(tmp_path, on_error="raise")
    assert [one.title for one in collected[0].stages] == ["pre_grad", "joint"]
    assert "StageError: pointless_permute_pair failed" in collected[0].stages[1].raised
    assert "The joint stage raised" in Parsed(pages(tmp_path)[0].read_text()).text


def test_a_graph_that_cannot_be_lowered_is_shown_as_fx(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_fx(*_: Any, **__: Any) -> Any:
        raise NotImplementedError("no such IR")

    monkeypatch.setattr(xductor.frontend, "from_fx", from_fx)
    with warnings.catch_warnings(action="ignore"):
        compiled(tmp_path, on_error="fallback")
    joint = stage(collected[0], "joint")
    assert joint.before is not None
    assert joint.before.problem == "NotImplementedError: no such IR"
    assert any("torch.ops.aten.relu.default" in line.op for line in joint.before.lines)
    assert [one.culprit for one in joint.failures] == ["from_fx"]


def test_forward_and_backward_share_a_page(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path, *inputs(requires_grad=True)).sum().backward()
    titles = [one.title for one in collected[0].stages]
    assert titles == ["pre_grad", "joint", "post_grad forward", "post_grad backward"]
    assert len(pages(tmp_path)) == 1


def test_two_compiles_leave_two_pages(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path)
    compiled(tmp_path, call=lambda x, y: x.sin() + y)
    assert len(collected) == len(pages(tmp_path)) == 2
    assert collected[0].number < collected[1].number
    assert step(stage(collected[0], "joint"), "pointless_permute_pair").applied
    assert not any(one.applied for one in stage(collected[1], "joint").steps)


def test_a_compile_with_a_page_leaves_the_caches_alone(tmp_path: Path) -> None:
    """What is served from a cache runs no stage, and would have no page."""
    state = compile_state.begin(Settings(report=str(tmp_path)))
    with compile_state.entered(state), pytest.raises(Exception, match="shows every stage"):
        cache_keys.key_part()
    with compile_state.entered(compile_state.begin(Settings())):
        assert cache_keys.key_part()


def test_names_that_are_taken_get_a_number(collected: Collected, tmp_path: Path) -> None:
    """Another machine may have written into the same folder under the same process number."""
    compiled(tmp_path)
    (first,) = pages(tmp_path)
    other = CompileData(collected[0].number, "", collected[0].process, 0.0)
    second = page_files.write_page(other, tmp_path)
    assert second.name == f"{first.stem}-2.html"
    before = first.read_text()
    page_files.write_page(other, tmp_path)
    assert first.read_text() == before
    assert len(pages(tmp_path)) == 2


def test_a_forked_process_begins_a_page_of_its_own(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = compiled(tmp_path, *inputs(requires_grad=True)).sum()
    (page,) = pages(tmp_path)
    text = page.read_text()
    monkeypatch.setattr(os, "getpid", lambda: 999_999_999)
    loss.backward()
    assert page.read_text() == text
    assert [one.title for one in collected[1].stages] == ["post_grad backward"]
    assert len(pages(tmp_path)) == 2


WORKERS = """
import multiprocessing, sys
import torch
import xductor
from xductor.backend.run_as_fx.without_codegen import without_codegen

def work(number):
    with without_codegen():
        torch.compile(lambda x: (x + number).t().t().sin(), backend="xductor")(torch.randn(3, 3))

if __name__ == "__main__":
    workers = [multiprocessing.get_context("spawn").Process(target=work, args=(n,)) for n in (1, 2)]
    for one in workers: one.start()
    work(0)
    for one in workers: one.join()
    sys.exit(max(one.exitcode for one in workers))
"""


@pytest.mark.slow
def test_worker_processes_leave_pages(tmp_path: Path) -> None:
    script, folder = tmp_path / "workers.py", tmp_path / "pages"
    script.write_text(WORKERS)
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "XDUCTOR_REPORT": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(pages(folder)) == 3
    assert len({page.name.split("-")[1] for page in pages(folder)}) == 3
    assert not list(folder.glob("*.part"))


OFF = """
import sys
import torch
from xductor.backend.run_as_fx.without_codegen import without_codegen
with without_codegen():
    torch.compile(lambda x: x.t().t().sin(), backend="xductor")(torch.randn(3, 3))
print([name for name in sys.modules if name.startswith("xductor.backend.report")])
"""


def test_nothing_of_it_is_loaded_when_off() -> None:
    environment = {key: text for key, text in os.environ.items() if key != "XDUCTOR_REPORT"}
    done = subprocess.run(
        [sys.executable, "-c", OFF], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["[]"]


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    given = inputs()
    with pytest.warns(ReportWarning) as told:
        result = compiled(tmp_path / "file", *given)
    assert len([one for one in told if one.category is ReportWarning]) == 1
    torch.testing.assert_close(result, function(*given))


def test_an_error_of_the_collector_does_not_break_the_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def module_lines(_: ModuleOp) -> Any:
        raise KeyError("a fault of the report")

    monkeypatch.setattr(collector, "module_lines", module_lines)
    given = inputs()
    with pytest.warns(ReportWarning, match="lacks a part of the joint stage"):
        result = compiled(tmp_path, *given, on_error="raise")
    torch.testing.assert_close(result, function(*given))
    assert len(pages(tmp_path)) == 1


def test_a_report_changes_nothing_about_the_compile(tmp_path: Path) -> None:
    records: list[Any] = []
    for folder in (tmp_path, None):
        torch._dynamo.reset()
        given = inputs(requires_grad=True)
        options = {"xductor.report": folder, "xductor.rewrites": [NegNeg]}
        with without_codegen():
            made = torch.compile(function, backend="xductor", options=options)
            made(*given).sum().backward()
        records.append(
            [
                (
                    one.stage,
                    one.direction,
                    one.nodes_before,
                    one.nodes_after,
                    one.lowered,
                    one.counts(),
                )
                for one in xductor.last_compile()
            ]
        )
    assert records[0] == records[1]
    assert len(pages(tmp_path)) == 1


def test_looking_at_a_function_leaves_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`explain` and `pattern_from` compile too, but not what the user runs."""
    monkeypatch.setenv("XDUCTOR_REPORT", str(tmp_path))
    assert xductor.explain(NegNeg, function, *inputs()).matched
    xductor.pattern_from(
        lambda x: x.sigmoid() * x, torch.randn(4, 4), replacement=lambda x: x * x.sigmoid()
    )
    assert not pages(tmp_path)


def test_the_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Settings.from_options().report is None
    assert Settings.from_options({"xductor.report": tmp_path}).report == str(tmp_path)
    monkeypatch.setenv("XDUCTOR_REPORT", "somewhere")
    assert Settings.from_options().report == str(Path("somewhere").absolute())
    assert Settings.from_options({"xductor.report": None}).report is None
    with pytest.raises(SettingsError, match=r"xductor\.report.*path of a folder or None"):
        Settings.from_options({"xductor.report": 3})
    same = Settings(report="a").fingerprint(), Settings().fingerprint()
    assert same[0] == same[1]


def test_the_graphs_can_be_drawn_from_the_page_alone(collected: Collected, tmp_path: Path) -> None:
    compiled(tmp_path, rewrites=[NegNeg])
    graphs = Parsed(pages(tmp_path)[0].read_text()).graphs
    number = [one.title for one in collected[0].stages].index("joint")
    joint = collected[0].stages[number]
    place = [one.name for one in joint.steps].index("rewrites")
    rows = graphs["diffs"][f"{number}-{place}"]["rows"]
    sides: tuple[list[int], list[int]] = ([], [])
    for row in rows:
        if row[0]:
            run = [a + k for a, n in zip(row[3::2], row[4::2], strict=True) for k in range(n)]
            assert len(run) == row[0]
            sides[0].extend(run)
            sides[1].extend(run)
        else:
            for side, line in zip(sides, row[3:5], strict=True):
                side.extend([line] if line >= 0 else [])
    drawn = joint.steps[place]
    for side, text in zip(sides, (drawn.before, drawn.after), strict=True):
        assert text is not None
        found = [graphs["lines"][line][:2] for line in side]
        assert found == [[", ".join(line.results), line.op] for line in text.lines]


def test_the_steps_go_to_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(collector, "is_traced", lambda: True)
    monkeypatch.setattr(collector, "trace_artifact", told.__setitem__)
    compiled(tmp_path, rewrites=[NegNeg])
    assert list(told) == [
        "xductor_steps_pre_grad",
        "xductor_steps_joint",
        "xductor_steps_post_grad",
    ]
    joint = json.loads(json.dumps(told["xductor_steps_joint"]))
    (rewrites,) = (one for one in joint["steps"] if one["name"] == "rewrites")
    assert rewrites["applied"] == len(rewrites["applications"]) == len(rewrites["refusals"]) == 1
    types = "!fx.tensor<f32[4, 8], cpu>"
    assert rewrites["changes"] == [
        f"- %neg = aten.neg.default %arg0_1 : {types}",
        f"- %neg_1 = aten.neg.default %neg : {types}",
        f"- %mul = aten.mul.Tensor %neg_1, 2 : {types}",
        f"+ %mul = aten.mul.Tensor %arg0_1, 2 : {types}",
    ]


def test_the_cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from xductor.backend.cli import main as command

    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch\n"
        "torch.compile(lambda x: x.t().t() + 1)(torch.randn(3, 3))\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    folder = tmp_path / "pages"
    arguments = ["report", str(script), "-o", str(folder), "--no-codegen", "--", "3"]
    assert command.main(arguments) == 3
    (page,) = (one for one in pages(folder) if one.name != "index.html")
    told = capsys.readouterr().err
    assert page.name in told
    assert "joint 5 -> 3" in told
    assert "XDUCTOR_REPORT" not in os.environ
    index = (folder / "index.html").read_text()
    assert f'href="{page.name}"' in index
    (folder / "index.html").unlink()
    assert command.main(["report", str(folder)]) == 0
    assert (folder / "index.html").read_text() == index
    (tmp_path / "empty").mkdir()
    assert command.main(["report", str(tmp_path / "empty")]) == 1
    assert command.main(["report", str(tmp_path / "nothing.py")]) == 2


def test_summaries_survive_what_others_put_into_the_folder(tmp_path: Path) -> None:
    from xductor.backend.report.page_index import summaries

    compiled(tmp_path)
    (tmp_path / "other.html").write_text("<meta name=description content=x>")
    (tmp_path / "begun.html").write_bytes(b"\xff\xfe")
    (found,) = summaries(tmp_path)
    assert found[1]["stages"] == ["pre_grad", "joint", "post_grad inference"]
    assert json.loads(json.dumps(found[1])) == found[1]


def test_compiles_that_no_backend_of_ours_began_leave_pages(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with without_codegen(), xductor.installed({"xductor.report": str(tmp_path)}):
        torch.compile(function)(*inputs())
    assert len(pages(tmp_path)) == 1
