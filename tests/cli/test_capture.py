"""`xductor capture`: which files there are, what is in them, and how a script ends."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


def test_a_script_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["capture", str(tmp_path / "no.py"), "-o", str(tmp_path)]) == 2
    assert "no script that can be read" in capsys.readouterr().err
