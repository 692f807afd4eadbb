"""The commands of docs/opt.md run as they stand there, and every flag in it exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from xductor.backend.cli.opt import main
from xductor.backend.cli.run_lines import run_command

PAGE = (Path(__file__).resolve().parents[3] / "docs/opt.md").read_text()
COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
GRAPH = re.findall(r"^```mlir\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "views.mlir").write_text(GRAPH)
    (tmp_path / "sin.mlir").write_text("// RUN: xductor-opt %s | filecheck %s\n" + GRAPH)
    assert len(COMMANDS) >= 4
    shown: dict[str, tuple[str, str]] = {}
    for command in COMMANDS:
        status, out, err = run_command(shlex.split(command), "")
        assert status == 0, f"{command}\n{err}"
        shown[command] = out, err
    outputs = [out for out, _ in shown.values()]
    assert "aten.view" not in outputs[0]
    assert "IR after pointless_view (2 applications)" in shown[COMMANDS[1]][1]
    assert outputs[2].count("aten.view") == 1
    assert "aten.cos" in outputs[3]
    assert "aten.sin" not in outputs[3]


def test_the_flags_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["--help"])
    known = set(re.findall(r"--[\w-]+", capsys.readouterr().out))
    table = PAGE[PAGE.index("## Flags") : PAGE.index("## Which pass")]
    named = set(re.findall(r"`(--[\w-]+)", table))
    assert len(named) >= 14
    assert named <= known
