"""`xductor run`, `diff` and `tv` on captured files and on small ones."""

import sys
from pathlib import Path

import pytest
import torch

import xductor
from xductor.backend.cli import main as command

BODY = "  %a = aten.{op}.default %x : !fx.tensor<f32[3], cpu>\n  fx.output (%a,)\n"
GRAPH = "fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>) {{\n" + BODY + "}}\n"


def written(path: Path, op: str) -> Path:
    path.write_text(GRAPH.format(op=op))
    return path


def test_every_captured_graph_runs(captured: Path) -> None:
    for path in sorted(captured.glob("*.mlir")):
        assert command.main(["run", str(path)]) == 0, path.name


def test_saved_inputs_give_the_same_results(tmp_path: Path) -> None:
    path, saved = written(tmp_path / "a.mlir", "sin"), tmp_path / "a.pt"
    assert command.main(["run", str(path), "--seed", "7", "--output", str(saved)]) == 0
    first = torch.load(saved)
    assert torch.equal(first["results"][0], first["inputs"][0].sin())
    assert command.main(["run", str(path), "--inputs", str(saved), "--output", str(saved)]) == 0
    assert torch.equal(torch.load(saved)["results"][0], first["results"][0])


def test_an_error_names_op_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.mlir"
    path.write_text(
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[5, 3], cpu>) {\n  %e = aten.mm.default "
        '%x, %x : !fx.tensor<f32[5, 5], cpu> loc("model.py":7)\n  fx.output (%e,)\n}\n'
    )
    assert command.main(["run", str(path)]) == 2
    shown = capsys.readouterr().err
    assert "while running aten.mm.default" in shown
    assert f"{path}:2:3" in shown
    assert "user code: model.py:7" in shown


def test_diff_says_what_a_pass_removed(captured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(captured / f"002_joint.{when}.mlir") for when in ("before", "after")]
    assert command.main(["diff", *files, "--values"]) == 1
    shown = capsys.readouterr().out
    assert "6 removed, 3 changed" in shown
    assert "values are the same, bit by bit" in shown
    assert command.main(["diff", files[0], files[0]]) == 0


def test_names_do_not_count() -> None:
    left = xductor.parse_ir(GRAPH.format(op="sin"))
    right = xductor.parse_ir(GRAPH.format(op="sin").replace("%a", "%other"))
    assert not xductor.diff(left, right)
    assert xductor.diff(left, right, names=True).metadata
    assert xductor.diff(left, xductor.parse_ir(GRAPH.format(op="cos")))


def test_tv_agrees_and_differs(
    captured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(captured / f"006_joint.{when}.mlir") for when in ("before", "after")]
    assert command.main(["tv", *files, "--count", "6"]) == 0
    source, target = written(tmp_path / "s.mlir", "sin"), written(tmp_path / "t.mlir", "cos")
    assert command.main(["tv", str(source), str(target)]) == 1
    assert "differs on --seed 0" in capsys.readouterr().out
    assert command.main(["tv", str(source), files[0]]) == 2


IMPOSSIBLE = {
    "[-4]": "would have a size of -4",
    "[4.5]": "cannot be a !fx.tensor<f32[4.5], cpu>",
    "[4611686018427387904]": "which are too many to make up",
    "[3][-1]": "cannot be a !fx.tensor<f32[3][-1], cpu>",
    "[floordiv(s0, 0)]": "division by zero",
}


@pytest.mark.parametrize("sizes", IMPOSSIBLE)
def test_types_that_no_value_has(
    sizes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "impossible.mlir"
    text = GRAPH.format(op="sin").replace("f32[3]", f"f32{sizes}")
    path.write_text(text.replace("stage(joint)", "stage(joint) symbols(s0 : int [2, 9] hint 4)"))
    for arguments in (["run", str(path)], ["diff", "--values", str(path), str(path)]):
        assert command.main(arguments) == 2
        told = capsys.readouterr().err
        assert IMPOSSIBLE[sizes] in told
        assert "input %x" in told


def test_what_is_not_well_formed_is_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(GRAPH.format(op="sin") * 2)
    for arguments in (["run", str(path)], ["tv", str(path), str(path)]):
        assert command.main(arguments) == 2
        assert "two graphs of the module are called @f" in capsys.readouterr().err


def test_results_without_elements_or_strides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kinds.mlir"
    path.write_text(
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[3, 3], cpu>) {\n"
        "  %s = aten.to_sparse.default %x : !fx.tensor<f32[3, 3], cpu, layout sparse_coo>\n"
        "  %m = aten.empty.memory_format [2], dtype = f32, device = device<meta> "
        ": !fx.tensor<f32[2], meta>\n  fx.output (%s, %m)\n}\n"
    )
    assert command.main(["run", str(path)]) == 0
    assert "result[1]" in capsys.readouterr().out
    assert command.main(["diff", "--values", str(path), str(path)]) == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--seed", "99999999999999999999"], "no integer from 0 to 2**63 - 1"),
        (["--seed", "-1"], "no integer from 0 to"),
        (["--special", "7"], "no number from 0 to 1"),
        (["--special", "nan"], "no number from 0 to 1"),
        (["--symbol", "s0"], "not of the form s0=5"),
    ],
)
def test_options_that_make_no_sense(
    arguments: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "a.mlir", "sin")
    with pytest.raises(SystemExit) as stop:
        command.main(["run", str(path), *arguments])
    assert stop.value.code == 2
    assert problem in capsys.readouterr().err


def test_how_many_inputs_tv_takes(tmp_path: Path) -> None:
    path = str(written(tmp_path / "a.mlir", "sin"))
    for count in ("0", "-4", "x"):
        with pytest.raises(SystemExit) as stop:
            command.main(["tv", path, path, "--count", count])
        assert stop.value.code == 2


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([torch.ones(4)], "torch.float32 of size [4], expected !fx.tensor<f32[3], cpu>"),
        ([torch.ones(3).double()], "torch.float64 of size [3], expected"),
        ([torch.ones(3), 1], "has 2 inputs, @f takes 1: x"),
        (["text"], "input %x is 'text', expected"),
        (torch.ones(3), "holds neither a list of inputs nor a dict with 'inputs'"),
        ({"inputs": [torch.ones(3)], "attributes": 3}, "'attributes' is 3, expected a dict"),
    ],
)
def test_inputs_that_do_not_suit(
    value: object, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, saved = written(tmp_path / "a.mlir", "sin"), tmp_path / "in.pt"
    torch.save(value, saved)
    assert command.main(["run", str(path), "--inputs", str(saved)]) == 2
    assert problem in capsys.readouterr().err


def test_files_that_hold_no_inputs_or_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(written(tmp_path / "a.mlir", "sin"))
    assert command.main(["run", path, "--inputs", path]) == 2
    told = capsys.readouterr().err
    assert "is no file of tensors that torch.save wrote" in told
    assert len(told.splitlines()) == 1
    assert command.main(["run", path, "--output", str(tmp_path / "no" / "out.pt")]) == 2
    shown = capsys.readouterr()
    assert (shown.out, "cannot write there: No such file" in shown.err) == ("", True)


def test_a_fraction_for_an_integer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.mlir"
    text = GRAPH.format(op="sin").replace("f32[3]", "f32[s0]")
    path.write_text(text.replace("stage(joint)", "stage(joint) symbols(s0 : int [2, 9])"))
    assert command.main(["run", str(path), "--symbol", "s0=2.5"]) == 2
    assert "s0 = 2.5, but s0 is an integer" in capsys.readouterr().err


def test_values_of_graphs_that_take_other_inputs(
    captured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One shape that the other happens to accept says nothing about the graphs."""
    left, right = written(tmp_path / "a.mlir", "sin"), tmp_path / "b.mlir"
    right.write_text(left.read_text().replace("[3]", "[5]"))
    assert command.main(["diff", str(left), str(right)]) == 1
    assert command.main(["diff", str(left), str(right), "--values"]) == 2
    told = capsys.readouterr().err
    assert "values cannot be compared" in told
    assert "of size [3], expected !fx.tensor<f32[5], cpu>" in told
    other = str(captured / "006_joint.before.mlir")
    assert command.main(["diff", str(left), other, "--values"]) == 2
    assert "has 1 inputs, @forward takes 7" in capsys.readouterr().err


OWN_OPS = """import torch
import neighbour

@torch.library.custom_op("ownlib_{lib}::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * neighbour.FACTOR

twice.register_fake(torch.empty_like)
"""


@pytest.mark.parametrize("name", ["check", "run", "diff", "tv", "reduce"])
def test_a_module_that_registers_ops_is_imported_first(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its neighbours are found as Python finds those of a script."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    neighbour = f"neighbour_{name}"
    (tmp_path / f"{neighbour}.py").write_text("FACTOR = 2\n")
    module = tmp_path / f"own_ops_{name}.py"
    module.write_text(OWN_OPS.replace("{lib}", name).replace("neighbour", neighbour))
    path = tmp_path / "a.mlir"
    path.write_text(GRAPH.format(op="sin").replace("aten.sin", f"ownlib_{name}.twice"))
    files = [str(path)] * (2 if name in ("diff", "tv") else 1)
    if name == "reduce":
        files += ["--test", "grep -q twice {}"]
    missing = command.main([name, *files])
    assert missing != 0
    shown = capsys.readouterr()
    assert f"import the package that registers the 'ownlib_{name}' library" in shown.err + shown.out
    assert command.main([name, *files, "--import", str(module)]) == 0
    (tmp_path / "wrong.py").write_text("import nosuchmodule\n")
    assert command.main([name, *files, "--import", str(tmp_path / "wrong.py")]) == 2
    assert "No module named 'nosuchmodule'" in capsys.readouterr().err
