"""The stubs are what the generator writes, and type checkers take from them what they should."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from xductor.ir.functions import stubs

TAKEN = """
import torch
from xductor import Tensor
from xductor.ir import aten, ops, prims


def f(a: Tensor, b: Tensor, n: int, xs: list[Tensor]):
    y = aten.mm(a, b)
    z = aten.mm.default(y, mat2=b)
    w = aten.add.Tensor(z, 1, alpha=2)
    aten.sub(a, w)
    v = aten.view(w, [n, -1, a.shape[0]])
    aten.cat(xs, 1)
    aten.sum(v, ..., dtype=torch.float32)
    q = prims.convert_element_type(v, torch.bfloat16)
    s = aten.split(q, 2)
    aten.cat(s)
    values, indices = aten.topk(a, 3)
    ops.mylib.fused(values, y.shape[0], indices.dtype)
    ops.pyfn.torch.cat([a, b])
    ops.aten.relu(a)
    aten.absolute(a)
    return aten.permute(s[0], (1, 0))
"""
REFUSED = """
from xductor import Tensor
from xductor.ir import aten, prims


def f(a: Tensor):
    aten.mmm(a, a)
    aten.mm.defalt(a, a)
    aten.relu(a, dims=1)
    aten.mm.default(a, "x")
    aten.view.default(a, ["x"])
    prims.convert_element_type(a, 1.5)
    aten.mm.default(a)
    prims.iotta(3)
"""


@pytest.mark.skipif(
    f"for torch {torch.__version__.partition('+')[0]};"
    not in (stubs.HERE / "aten.pyi").read_text().split("\n", 1)[0],
    reason="the stubs are those of another torch",
)
def test_the_stubs_are_what_the_generator_writes() -> None:
    # In a process of its own: what tests import may register more operators.
    command = [sys.executable, "-m", "xductor.ir.functions.stubs", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_changed_stub_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stubs, "HERE", tmp_path)
    assert stubs.main(["--check"]) == 1
    assert stubs.main([]) == 0
    assert stubs.main(["--check"]) == 0
    (tmp_path / "ops.pyi").write_text("")
    assert stubs.out_of_date(stubs.stub_texts()) == ["ops.pyi"]


def test_signatures_cover_core_and_what_inductor_mentions() -> None:
    signed = stubs.signatures_of_aten()
    assert {"mm", "convolution", "native_layer_norm", "_to_copy", "bmm", "addmm"} <= signed
    text = (stubs.HERE / "aten.pyi").read_text()
    for name in signed:
        assert f"\n{name}: _op_{name}\n" in text
    listed = set(re.findall(r"^(\w+): ", text, re.MULTILINE))
    assert listed <= set(stubs.operators("aten"))
    assert {"relu", "absolute", "_weight_norm_interface_backward"} <= listed


def test_a_type_checker_takes_calls_that_are_right_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "taken.py").write_text(TAKEN)
    (tmp_path / "refused.py").write_text(REFUSED)
    root = Path(__file__).resolve().parents[3]
    config = {
        "include": [str(tmp_path)],
        "extraPaths": [str(root / "tests/typeroot")],
        "enableExperimentalFeatures": True,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "-p", str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found}
    first = REFUSED[: REFUSED.index("    aten.mmm")].count("\n") + 1
    wrong = REFUSED.rstrip().count("\n") + 2 - first
    assert lines == {("refused.py", first + i) for i in range(wrong)}, found
