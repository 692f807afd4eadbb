"""`xductor capture`: which files there are, what is in them, and how a script ends."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import xductor
from xductor.backend.cli import main as command

SCRIPT = Path(__file__).with_name("three_graph_breaks.py")


def index(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "index.json").read_text())["stages"]


def test_three_breaks_make_four_graphs_and_each_is_recompiled(captured: Path) -> None:
    stages = index(captured)
    assert {entry["compile_id"] for entry in stages} == {
        f"{frame}/{count}" for frame in range(4) for count in range(2)
    }
    assert {entry["graph"] for entry in stages} == set(range(8))
    for graph in range(8):
        own = [(e["stage"], e["direction"]) for e in stages if e["graph"] == graph]
        assert own[:3] == [
            ("pre_grad", "unknown"),
            ("joint", "joint"),
            ("post_grad", "forward"),
        ]
        assert ("post_grad", "backward") in own


def test_every_file_is_there_and_is_read_back(captured: Path) -> None:
    named = {entry[when] for entry in index(captured) for when in ("before", "after")}
    assert named == {path.name for path in captured.glob("*.mlir")}
    assert len(named) == 64
    for name in sorted(named):
        text = (captured / name).read_text()
        assert xductor.print_ir(xductor.parse_ir(text, name)) == text


def test_the_index_has_counts_and_passes(captured: Path) -> None:
    (joint,) = (e for e in index(captured) if e["graph"] == 2 and e["stage"] == "joint")
    assert joint["nodes_after"] < joint["nodes_before"]
    assert any(fired.startswith("pointless_permute_pair x") for fired in joint["fired"])
    assert joint["fallback"] is None
    assert joint["problem"] is None


def test_sizes_that_changed_are_symbols(captured: Path) -> None:
    text = (captured / "004_pre_grad.before.mlir").read_text()
    assert "symbols(s" in text
    assert "hint 4" in text
    assert "symbols(" not in (captured / "000_pre_grad.before.mlir").read_text()


def test_lines_of_the_script_are_in_the_text(captured: Path) -> None:
    assert f'loc("{SCRIPT}":' in (captured / "002_joint.before.mlir").read_text()


def test_an_exception_of_the_script_is_passed_on_and_files_are_kept(tmp_path: Path) -> None:
    """As a shell runs it: the status, the traceback from the script on, the table on stderr."""
    arguments = ["capture", str(SCRIPT), "-o", str(tmp_path), "--no-codegen", "--", "--fail"]
    done = subprocess.run(
        [sys.executable, "-m", "xductor", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("step 0: loss")
    assert "RuntimeError: the script failed on purpose" in done.stderr
    assert "runpy" not in done.stderr
    assert f'File "{SCRIPT}"' in done.stderr
    assert "000_post_grad_backward" in done.stderr
    assert len(list(tmp_path.glob("*.mlir"))) == 32


@pytest.mark.parametrize(("code", "status"), [("3", 3), ("'a message'", 1), ("None", 0)])
def test_the_exit_status_is_the_scripts(
    code: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "leaves.py"
    script.write_text(f"import sys\nprint(sys.argv[1:], __name__)\nsys.exit({code})\n")
    before = list(sys.argv), list(sys.path)
    arguments = ["capture", str(script), "-o", str(tmp_path / "o"), "--", "--a", "b"]
    assert command.main(arguments) == status
    assert (sys.argv, sys.path) == before
    shown = capsys.readouterr()
    assert shown.out == "['--a', 'b'] __main__\n"
    assert "nothing was compiled" in shown.err
    assert ("a message" in shown.err) == (status == 1)


COMPILES = """\
import sys, torch
@torch.compile(backend={backend!r})
def f(x):
    return x.relu() + 1
assert torch.equal(f(torch.ones(3)), torch.full((3,), 2.0))
"""


@pytest.mark.parametrize("backend", ["inductor", "xductor"])
def test_both_backends_go_through_us_with_code_generation(backend: str, tmp_path: Path) -> None:
    script = tmp_path / "compiles.py"
    script.write_text(COMPILES.format(backend=backend))
    for name in ("first", "second"):  # nothing comes from a cache
        assert command.main(["capture", str(script), "-o", str(tmp_path / name)]) == 0
        stages = [entry["stage"] for entry in index(tmp_path / name)]
        assert stages == ["pre_grad", "joint", "post_grad"]


def test_a_stage_that_raises_is_in_the_index(tmp_path: Path) -> None:
    script = tmp_path / "raises.py"
    script.write_text(
        "import torch\nfrom torch._inductor import config\n"
        "def broken(graph):\n    raise ZeroDivisionError('broken pass')\n"
        "config.post_grad_custom_pre_pass = broken\n"
        "try:\n    torch.compile(torch.sin)(torch.ones(3))\n"
        "finally:\n    config.post_grad_custom_pre_pass = None\n"
    )
    out = tmp_path / "out"
    assert command.main(["capture", str(script), "-o", str(out), "--no-codegen"]) == 1
    last = index(out)[-1]
    assert (last["stage"], last["problem"], last["after"]) == (
        "post_grad",
        "the stage raised",
        None,
    )


@pytest.mark.parametrize(("name", "problem"), [("no.py", "No such file"), ("", "is a directory")])
def test_a_script_that_is_not_there(
    name: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert command.main(["capture", str(tmp_path / name), "-o", str(out)]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert len(told.splitlines()) == 1
    assert not out.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert command.main(["capture", str(SCRIPT), "-o", str(tmp_path / "file")]) == 2
    assert "cannot write there: File exists" in capsys.readouterr().err


def test_a_script_that_is_no_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "broken.py"
    script.write_text("def f(:\n")
    assert command.main(["capture", str(script), "-o", str(tmp_path / "o")]) == 1
    told = capsys.readouterr().err
    assert f'File "{script}", line 1' in told
    assert "Traceback" not in told


CHANGES_FOLDER = "import os, torch\nos.chdir('/')\ntorch.compile(torch.sin)(torch.ones(3))\n"
CLOSES = "import sys\nsys.stdout.close()\n"


def test_a_script_that_changes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moves.py").write_text(CHANGES_FOLDER)
    monkeypatch.chdir(tmp_path)
    assert command.main(["capture", "moves.py", "-o", "a folder", "--no-codegen"]) == 0
    assert len(index(tmp_path / "a folder")) == 3


def test_a_script_that_closes_its_output(tmp_path: Path) -> None:
    script = tmp_path / "closes.py"
    script.write_text(CLOSES)
    command_line = [sys.executable, "-m", "xductor", "capture", str(script), "-o", str(tmp_path)]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


THREADS = """\
import threading, torch
def work(number):
    f = torch.compile(lambda x: x * number + 1)
    assert torch.equal(f(torch.ones(3)), torch.full((3,), number + 1.0))
threads = [threading.Thread(target=work, args=(number,)) for number in range(2, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("options", [["--no-codegen"], []])
def test_compiles_in_threads_come_from_no_cache(options: list[str], tmp_path: Path) -> None:
    """Inductor's switches for its caches are settings of one thread."""
    script = tmp_path / "threads.py"
    script.write_text(THREADS)
    for name in ("first", "second"):
        torch.compiler.reset()
        out = tmp_path / name
        assert command.main(["capture", str(script), "-o", str(out), *options]) == 0
        assert sorted(entry["stage"] for entry in index(out)) == sorted(
            2 * ["pre_grad", "joint", "post_grad"]
        )


def test_graphs_after_a_reset_have_numbers_of_their_own(tmp_path: Path) -> None:
    script = tmp_path / "resets.py"
    script.write_text(
        "import torch\nfor _ in range(2):\n    torch.compiler.reset()\n"
        "    torch.compile(torch.sin)(torch.ones(3))\n"
    )
    assert command.main(["capture", str(script), "-o", str(tmp_path / "o"), "--no-codegen"]) == 0
    assert [entry["graph"] for entry in index(tmp_path / "o")] == [0, 0, 0, 1, 1, 1]


def test_a_folder_that_goes_away_does_not_break_the_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, out = tmp_path / "removes.py", tmp_path / "out"
    script.write_text(
        f"import shutil, torch\nshutil.rmtree({str(out)!r})\n"
        "print(torch.compile(torch.neg)(torch.ones(2)))\n"
    )
    assert command.main(["capture", str(script), "-o", str(out), "--no-codegen"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "tensor([-1., -1.])\n"
    assert "not written before the stage" in shown.err


def test_locations_by_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "f = lambda x: x.sin().cos()\n"
        "torch.compile(f, backend='xductor')(torch.randn(3, 3))\n"
    )
    folder = tmp_path / "graphs"
    arguments = ["capture", str(script), "-o", str(folder), "--no-codegen", "--location-aliases"]
    assert command.main(arguments) == 0
    text = (folder / "000_joint.before.mlir").read_text()
    assert text.count(str(script)) == 1
    assert text.endswith(f'#loc1 = loc("{script}":2)\n')
    assert xductor.print_ir(xductor.parse_ir(text), locations="aliases") == text


def test_the_graph_after_each_pass_that_changed_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "f = lambda x: x.t().t().view(3, 3).sin()\n"
        "torch.compile(f, backend='xductor')(torch.randn(3, 3))\n"
    )
    folder = tmp_path / "graphs"
    arguments = ["capture", str(script), "-o", str(folder), "--no-codegen", "--no-locations"]
    assert command.main([*arguments, "--passes"]) == 0
    (joint,) = (entry for entry in index(folder) if entry["stage"] == "joint")
    files = sorted(path.name for path in (folder / "000_joint").iterdir())
    assert files == joint["passes"]
    assert [name[3:] for name in files] == ["remove_noop_ops.mlir", "pointless_permute_pair.mlir"]
    texts = [(folder / "000_joint" / name).read_text() for name in files]
    assert len(set(texts)) == len(texts)
    for name, text in zip(files, texts, strict=True):
        assert xductor.print_ir(xductor.parse_ir(text, name)) == text
    assert texts[-1] == (folder / joint["after"]).read_text()
    digests = json.loads((folder / "index.json").read_text())["digests"]
    assert {f"000_joint/{name}" for name in files} <= digests.keys()
    (pre_grad,) = (entry for entry in index(folder) if entry["stage"] == "pre_grad")
    assert pre_grad["passes"] == []
