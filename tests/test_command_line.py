"""The two commands, as a shell runs them and in process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xductor.backend.cli import main as command
from xductor.backend.cli.opt import main
from xductor.transforms.rows import registry

GRAPH = """\
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
  %neg = aten.neg.default %x : !fx.tensor<f32[4], cpu>
  fx.output (%neg,)
}
"""


def test_passes_lists_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["passes"]) == 0
    shown = capsys.readouterr().out
    for row in registry.rows():
        assert row.name in shown


def test_passes_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["passes", "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# Passes\n")
    for title in ("## Pre-grad", "## Joint", "## Post-grad"):
        assert title in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("xductor 0.")


@pytest.mark.parametrize("arguments", [[], ["nonesuch"], ["passes", "--nonesuch"]])
def test_wrong_usage_is_status_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert "usage: xductor" in capsys.readouterr().err


@pytest.mark.parametrize(
    "prefix", [["-m", "xductor", "opt"], ["-m", "xductor.backend.cli.opt.main"]]
)
def test_opt_reads_standard_input(prefix: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *prefix], input=GRAPH, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "%neg = aten.neg.default %x : !fx.tensor<f32[4], cpu>" in done.stdout


def test_opt_keeps_the_flags_of_xdsl(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main.main(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    for flag in (
        "--verify-level",
        "--print-between-passes",
        "--verify-diagnostics",
        "--parsing-diagnostics",
        "--split-input-file",
        "--print-op-generic",
        "--allow-unregistered-dialect",
        "--time-passes",
        "--shrink",
    ):
        assert flag in shown


def test_opt_knows_our_passes_and_those_of_xdsl() -> None:
    driver = main.XductorOptMain(args=[])
    assert {"cse", "dce", "canonicalize"} <= driver.available_passes.keys()
    for name, factory in registry.passes_for_cli().items():
        assert driver.available_passes[name]() is factory()


def test_a_broken_pipe_is_quiet() -> None:
    program = f"{sys.executable} -m xductor passes --markdown | head -1"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "# Passes\n"
    assert done.stderr == ""


@pytest.mark.parametrize(("run", "name"), [(command.main, "xductor"), (main.main, "xductor-opt")])
def test_an_interrupt_is_no_traceback(
    run: Callable[[list[str]], int],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH)
    monkeypatch.setattr("xductor.backend.cli.commands.check.read_module", interrupted)
    monkeypatch.setattr(main.XductorOptMain, "parse_chunk", interrupted)
    arguments = [str(path)] if name == "xductor-opt" else ["check", str(path)]
    assert run(arguments) == 130
    assert capsys.readouterr().err == f"{name}: interrupted\n"
