"""xDSL's own tools open our files: they find dialects and passes through the entry point."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import xductor

T = "!fx.tensor<f32[4, 4], cpu>"
TEXT = f"""\
fx.graph @forward stage(joint) (%x : {T}) {{
  %a = aten.view.default %x, [4, 4] : {T}
  %b = aten.sin.default %a : {T}
  %c = aten.sin.default %a : {T}
  %d = prims.convert_element_type.default %b, f64 : !fx.tensor<f64[4, 4], cpu>
  %e = aten.add.Tensor %b, %c : {T}
  fx.output (%e,)
}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.mlir"
    path.write_text(TEXT)
    return path


def test_xdsl_opt_runs_its_passes_and_ours(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from xdsl.xdsl_opt_main import xDSLOptMain

    xDSLOptMain(args=[str(file)]).run()
    assert xductor.same(xductor.parse_ir(capsys.readouterr().out), xductor.parse_ir(TEXT))
    xDSLOptMain(args=[str(file), "-p", "cse,dce,pointless_view"]).run()
    shown = capsys.readouterr().out
    assert f"%b = aten.sin.default %x : {T}" in shown
    assert f"%e = aten.add.Tensor %b, %b : {T}" in shown
    assert "prims" not in shown
    xDSLOptMain(args=[str(file), "--print-op-generic"]).run()
    generic = capsys.readouterr().out
    assert '"aten.add.Tensor"(' in generic


def test_the_command_xdsl_opt(file: Path) -> None:
    program = Path(sys.executable).with_name("xdsl-opt")
    done = subprocess.run(
        [program, file, "-p", "pointless_view"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "aten.view" not in done.stdout
    file.write_text(TEXT.replace("aten.sin.default %a", "aten.sin.default %z", 1))
    done = subprocess.run([program, file], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"{file}:3" in done.stderr


# What xdsl-gui's `main` does, with textual's headless driver; textual is no dependency of ours.
GUI = """
import asyncio, sys
from pathlib import Path
from xdsl.interactive.app import InputApp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

async def main():
    file = Path(sys.argv[1])
    multiverse = Universe.get_multiverse()
    pipeline = PassPipeline.parse_spec(multiverse.all_passes, "pointless_view").passes
    passes = tuple((name, load()) for name, load in sorted(multiverse.all_passes.items())
                   if name in ("pointless_view", "cse", "dead_code_elimination"))
    dialects = tuple(multiverse.all_dialects.items())
    app = InputApp(dialects, passes, str(file), file.read_text(), pipeline)
    async with app.run_test() as pilot:
        await pilot.pause()
        print(app.output_text_area.text)
        print(app.input_operation_count_tuple)

asyncio.run(main())
"""


@pytest.mark.skipif(
    importlib.util.find_spec("textual") is None and "XDUCTOR_GUI_PYTHON" not in os.environ,
    reason="textual is not installed",
)
def test_xdsl_gui_opens_a_file(file: Path) -> None:
    python = os.environ.get("XDUCTOR_GUI_PYTHON", sys.executable)
    done = subprocess.run(
        [python, "-c", GUI, file], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert f"%b = aten.sin.default %x : {T}" in done.stdout
    assert "('aten.view.default', 1)" in done.stdout
