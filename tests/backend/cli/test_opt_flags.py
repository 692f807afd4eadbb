"""What xductor-opt prints, counts, times and refuses around its passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.cli.opt import main
from xductor.backend.cli.opt.expected_diagnostics import expectations
from xductor.backend.config import cache_keys, compile_state
from xductor.backend.config.settings import Settings
from xductor.backend.steps import runner
from xductor.transforms.passes import debug_counters
from xductor.transforms.passes.debug_counters import Counter, CounterError, should_apply
from xductor.transforms.rows.registry import typed_class

T = "!fx.tensor<f32[4, 4], cpu>"
VIEWS = f"""\
fx.graph @forward stage(joint) (%x : {T}) {{
  %a = aten.view.default %x, [4, 4] : {T}
  %b = aten.neg.default %a : {T}
  %c = aten.view.default %b, [4, 4] : {T}
  %d = aten.neg.default %c : {T}
  %e = aten.view.default %d, [4, 4] : {T}
  %f = aten.neg.default %e : {T}
  fx.output (%f,)
}}
"""
PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar
from xductor.transforms.passes.typed_pass import TypedPass

@dataclass(frozen=True)
class Liar(TypedPass):
    name: ClassVar[str] = "liar"
    stage: ClassVar = "joint"
    inductor: ClassVar[str] = ""
    def rewrite(self, module):
        for op in module.walk():
            if op.name == "aten.neg.default" and not op.results[0].uses:
                op.detach()
        return 0

@dataclass(frozen=True)
class Breaks(Liar):
    name: ClassVar[str] = "breaks"
    def rewrite(self, module):
        first, *_, last = [op for op in module.walk() if op.name == "aten.neg.default"]
        last.detach()
        first.parent.insert_op_before(last, first)
        return 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "views.mlir"
    path.write_text(VIEWS)
    return path


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    path = tmp_path / "some_passes.py"
    path.write_text(PLUGIN)
    return str(path)


class Ran:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


Opt = Callable[..., Ran]


@pytest.fixture
def opt(capsys: pytest.CaptureFixture[str]) -> Opt:
    def run(*arguments: str | Path) -> Ran:
        status = main.main([str(one) for one in arguments])
        shown = capsys.readouterr()
        return Ran(status, shown.out, shown.err)

    return run


def test_ir_is_printed_after_passes_that_change_it(file: Path, opt: Opt) -> None:
    ran = opt(file, "-p", "pointless_view,cse,dce,pointless_view", "--print-ir-after-change")
    assert re.findall(r"// IR (.*) //-", ran.err) == ["after pointless_view (3 applications)"]
    assert "aten.view" not in ran.out
    assert "// IR" not in ran.out


def test_ir_is_printed_around_named_passes(file: Path, opt: Opt) -> None:
    flags = ["--print-ir-before", "cse", "--print-ir-after=pointless_view"]
    ran = opt(file, "-p", "pointless_view,cse,dce", *flags)
    assert re.findall(r"// IR (.*) //-", ran.err) == ["after pointless_view", "before cse"]
    ran = opt(file, "-p", "cse,dce", "--print-ir-before-all", "--print-ir-after-all")
    headers = re.findall(r"// IR (.*) //-", ran.err)
    assert headers == ["before cse", "after cse", "before dce", "after dce"]
    ran = opt(file, "-p", "cse,dce,cse", "--print-between-passes")
    assert re.findall(r"// IR (.*) //-", ran.err) == ["after cse", "after dce", "after cse"]
    ran = opt(file, "-p", "cse", "--print-ir-after", "pointless_vew")
    assert ran.status == 1
    assert "did you mean 'pointless_view'?" in ran.err


def test_a_pass_that_hides_its_changes_is_told(file: Path, plugin: str, opt: Opt) -> None:
    broken = VIEWS.replace("(%f,)", "(%d,)")
    file.write_text(broken)
    ran = opt(file, "--load-pass-plugin", plugin, "-p", "liar", "--print-ir-after-change")
    assert "pass 'liar' says that it changed nothing" in ran.err


def test_a_failing_pass_is_named_and_its_ir_printed(file: Path, plugin: str, opt: Opt) -> None:
    load = ["--load-pass-plugin", plugin]
    ran = opt(file, *load, "-p", "cse,breaks,dce", "--print-ir-after-failure")
    assert ran.status == 1
    assert "// IR after breaks failed //" in ran.err
    assert f"{file}:7:3: aten.neg.default (node f): operand 0 is defined after this op" in ran.err
    assert "found after pass 'breaks'" in ran.err
    ran = opt(file, *load, "-p", "breaks,stable_topological_sort", "--no-verify-each")
    assert ran.status == 0, ran.err
    ran = opt(file, *load, "-p", "breaks,breaks", "--no-verify-each")
    assert ran.status == 1


def test_op_statistics(file: Path, opt: Opt) -> None:
    ran = opt(file, "-p", "pointless_view", "--print-op-stats")
    rows = {line.split()[-1]: line.split()[:-1] for line in ran.err.splitlines()[2:]}
    assert rows["aten.view.default"] == ["3", "0"]
    assert rows["aten.neg.default"] == ["3", "3"]
    assert rows["aten"] == ["6", "3"]
    assert rows["fx"] == ["2", "2"]
    assert rows["total"] == ["8", "5"]


def test_time_is_given_for_each_pass(file: Path, opt: Opt) -> None:
    ran = opt(file, "-p", "pointless_view,cse", "--time-passes")
    rows = [line.split() for line in ran.err.splitlines()]
    assert rows[0] == ["thread", "CPU", "time"]
    names = [row[-1] for row in rows[2:]]
    assert names == ["parse", "input", "pointless_view", "cse", "print", "total"]
    view = rows[4]
    assert view[3] == "3"  # applications
    total = float(rows[-1][0])
    parts = sum(float(row[0]) for row in rows[2:-1]) + float(view[2]) + float(rows[5][2])
    assert parts == pytest.approx(total, abs=0.01)


def test_debug_counters_choose_applications_by_number(file: Path, opt: Opt) -> None:
    for counter, left in (("1:1", 2), ("0:2", 1), ("2", 2), (":1", 2), ("9", 3)):
        flag = f"--debug-counter=pointless_view={counter}"
        ran = opt(file, "-p", "pointless_view", flag)
        assert ran.out.count("aten.view.default") == left, counter
    ran = opt(file, "-p", "pointless_view", "--debug-counter=pointless_view=1:1")
    assert "%a = aten.view" in ran.out
    assert "%c = aten.view" not in ran.out
    flags = ["--debug-counter", "pointless_view=1:1", "--print-debug-counters"]
    ran = opt(file, "-p", "pointless_view", *flags)
    assert "pointless_view  asked 3, applied 1 (skip 1, count 1)" in ran.err
    assert not debug_counters.active()


@pytest.mark.parametrize(
    ("flag", "complaint"),
    [
        ("pointless_view", "expected NAME=skip:count"),
        ("pointless_view=a:b", "expected NAME=skip:count"),
        ("pointless_view=", "expected NAME=skip:count"),
        ("pointless_vew=1:1", "did you mean 'pointless_view'?"),
    ],
)
def test_wrong_counters_are_refused(file: Path, flag: str, complaint: str, opt: Opt) -> None:
    ran = opt(file, "--debug-counter", flag)
    assert ran.status == 1
    assert complaint in ran.err


def test_counters_of_the_environment(file: Path, opt: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_COUNTER", "pointless_view=1:1")
    ran = opt(file, "-p", "pointless_view")
    assert ran.out.count("aten.view.default") == 2
    monkeypatch.setenv("XDUCTOR_DEBUG_COUNTER", "nonsense")
    with pytest.raises(CounterError, match="XDUCTOR_DEBUG_COUNTER"):
        should_apply("pointless_view")


def test_stages_heed_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_COUNTER", "pointless_permute_pair=1")

    def permuted(x: torch.Tensor) -> torch.Tensor:
        return x.permute(1, 0, 2).permute(1, 0, 2) + x.permute(2, 1, 0).permute(2, 1, 0)

    gm = make_fx(permuted, tracing_mode="fake")(torch.randn(2, 3, 4))
    applied = runner.run_typed(gm, [typed_class("pointless_permute_pair")()], "joint")
    assert applied == {"pointless_permute_pair": 1}
    assert debug_counters.active()["pointless_permute_pair"].asked == 2


def test_what_counters_shaped_is_kept_out_of_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.codecache import BypassFxGraphCache

    with compile_state.entered(compile_state.begin(Settings())):
        assert cache_keys.key_part() is not None
        monkeypatch.setenv("XDUCTOR_DEBUG_COUNTER", "pointless_permute_pair=1")
        with pytest.raises(BypassFxGraphCache, match="debug counters"):
            cache_keys.key_part()


def test_a_counter_counts() -> None:
    counter = Counter(skip=2, count=1)
    assert [counter.ask() for _ in range(5)] == [False, False, True, False, False]
    assert (counter.asked, counter.allowed) == (5, 1)
    with debug_counters.counting({"a": Counter(1)}):
        assert [should_apply("a"), should_apply("b"), should_apply("a")] == [False, True, True]
    assert should_apply("a")


EXPECTED = f"""\
fx.graph @forward stage(joint) (%x : {T}) {{
  // expected-error@below {{{{dtype differs}}}}
  %a = aten.neg.default %x : !fx.tensor<f64[4, 4], cpu>
  fx.output (%a,)
}}
// -----
fx.graph @forward stage(joint) (%x : {T}) {{
  %a = aten.negx.default %x : {T} // expected-error-re {{{{'aten::negx' .* not registered}}}}
  fx.output (%a,)
}}
// -----
fx.graph @right stage(joint) (%x : {T}) {{
  fx.output (%x,)
}}
"""
EXPECT = ["--verify-diagnostics", "--split-input-file", "--verify-level", "types"]


def test_errors_that_comments_expect_are_no_failure(file: Path, opt: Opt) -> None:
    file.write_text(EXPECTED)
    ran = opt(file, *EXPECT)
    assert (ran.status, ran.err) == (0, "")
    assert "fx.graph @right" in ran.out
    assert "fx.graph @forward" not in ran.out


@pytest.mark.parametrize(
    ("old", "new", "complaints"),
    [
        (
            "below",
            "above",
            ["views.mlir:3: unexpected error: aten.neg", "was not produced at line 1"],
        ),
        ("dtype differs", "shape differs", ['expected error "shape differs" was not produced']),
        ("negx", "neg", ["'aten::neg' .* not registered\" was not produced at line 8"]),
        ("(%x,)", "(%y,)", ["views.mlir:13: unexpected error: value %y is used before"]),
    ],
)
def test_other_errors_are(file: Path, old: str, new: str, complaints: list[str], opt: Opt) -> None:
    file.write_text(EXPECTED.replace(old, new))
    ran = opt(file, *EXPECT)
    assert ran.status == 1
    for complaint in complaints:
        assert complaint in ran.err


def test_places_of_expectations() -> None:
    text = (
        "// expected-error@+2 {{a}}\n// expected-error@below {{b}}\nx\n// expected-error@-1 {{c}}\n"
    )
    text += "// expected-error@above {{d}}\n// expected-error@unknown {{e}}\n"
    assert [(one.text, one.line) for one in expectations(text)] == [
        ("a", 3),
        ("b", 3),
        ("c", 3),
        ("d", 3),
        ("e", None),
    ]


def test_structure_errors_lead_with_file_and_line(file: Path, opt: Opt) -> None:
    late = VIEWS.replace("aten.neg.default %c", "aten.neg.default %f")
    file.write_text(VIEWS + "// -----\n" + late)
    ran = opt(file, "--split-input-file")
    assert ran.status == 1
    assert ran.err.startswith(f"{file}:15:")  # a parse error: used before its definition
    file.write_text(VIEWS + VIEWS)
    assert opt(file).err.startswith(f"{file}:10:10: fx.graph @forward")
    wrong = VIEWS.replace("aten.neg.default %a :", "aten.neg.default %a, %a :")
    file.write_text(wrong)
    assert f"{file}:3:" in opt(file).err
    file.write_text(VIEWS.replace("[4, 4] : " + T, '["four"] : ' + T, 1))
    assert opt(file).err.startswith(f"{file}:2:3: aten.view.default (node a)")


def test_a_plugin_that_is_not_there(file: Path, opt: Opt) -> None:
    assert "no such file" in opt(file, "--load-pass-plugin", "none.py").err
    assert "cannot load 'no_such_module'" in opt(file, "--load-pass-plugin", "no_such_module").err


APPLICABLE: dict[str, str] = {
    "constant_fold_uniform_value": (
        "%a = aten.mul.Tensor %ones, 3 : T\n  %b = aten.neg.default %a : T"
    ),
    "remove_no_ops": "%b = aten.mul.Tensor %x, %ones : T",
    "view_to_reshape": "%b = aten.view.default %x, [4] : T",
    "remove_noop_ops": "%a = aten.clone.default %x : T\n  %b = aten.neg.default %a : T",
}


@pytest.mark.parametrize("name", APPLICABLE)
def test_passes_ask_before_each_application(file: Path, name: str, opt: Opt) -> None:
    ones = "%ones = aten.full.default [4], 1.0, dtype = f32, device = device<cpu> : T"
    text = f"fx.graph @f stage(joint) (%x : T) {{\n  {ones}\n  {APPLICABLE[name]}\n"
    text += "  %c = aten.add.Tensor %b, %ones : T\n  fx.output (%c,)\n}\n"
    file.write_text(text.replace(": T", ": !fx.tensor<f32[4], cpu>"))
    untouched = opt(file).out
    free = opt(file, "-p", name)
    assert free.out != untouched
    flags = ["--debug-counter", f"{name}=:0", "--print-debug-counters"]
    held = opt(file, "-p", name, *flags)
    assert held.out == untouched
    assert "applied 0" in held.err
    assert "asked 0" not in held.err


REWRITE = """
from xductor import Rewrite, Tensor
from xductor.ir import aten

class NegNeg(Rewrite):
    '''A negation of a negation.'''
    stage = "joint"
    def pattern(self, x: Tensor):
        return aten.neg(aten.neg(x))
    def replacement(self, x: Tensor):
        return aten.clone(x)
"""


def test_a_declared_rewrite_of_a_plugin_is_a_pass(file: Path, tmp_path: Path, opt: Opt) -> None:
    plugin = tmp_path / "neg_neg.py"
    plugin.write_text(REWRITE)
    file.write_text(VIEWS.replace("aten.view.default %b, [4, 4]", "aten.neg.default %b"))
    ran = opt(file, "--load-pass-plugin", plugin, "-p", "neg_neg", "--verify-level", "types")
    assert ran.status == 0, ran.err
    assert "aten.clone.default" in ran.out
    flags = ["-p", "neg_neg{policy=strict}", "--debug-counter", "neg_neg=:0"]
    ran = opt(file, "--load-pass-plugin", plugin, *flags, "--print-debug-counters")
    assert "aten.clone" not in ran.out
    assert ", applied 0 " in ran.err
