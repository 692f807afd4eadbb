"""`XDUCTOR_OVERRIDE`: graphs that were dumped and edited take the place of those of a compile."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from tests.backend.steps import overridden_programs
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.steps import overrides
from xductor.backend.steps.overrides import OverrideError, OverrideWarning
from xductor.frontend import from_fx
from xductor.ir import print_ir

OPTIONS: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "stage"}


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Graphs are numbered from the beginning, as in another process."""
    monkeypatch.setattr(overrides, "_names", {})
    forget_warnings()
    yield
    forget_warnings()


def compiled(function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    torch._dynamo.reset()
    overrides._names.clear()
    with without_codegen():
        out = torch.compile(function, backend="xductor", options=OPTIONS, **options)(*inputs)
        if out.requires_grad:
            out.sum().backward()
    return out


def dumped(folder: Path, function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    with overridden_programs.dumping(folder):
        return compiled(function, *inputs, **options)


def edit(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    path.write_text(text)


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * 2 + 1


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("000_pre_grad.before", ("pyfn.torch.sin", "pyfn.torch.cos")),
        ("000_pre_grad.after", ("pyfn.torch.sin", "pyfn.torch.cos")),
        ("000_joint.before", ("aten.sin.default", "aten.cos.default")),
        ("000_joint.after", ("aten.sin.default", "aten.cos.default")),
        ("000_post_grad_inference.before", ("aten.sin.default", "aten.cos.default")),
        ("000_post_grad_inference.after", ("aten.sin.default", "aten.cos.default")),
    ],
)
def test_an_edited_graph_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, change: tuple[str, str]
) -> None:
    x = torch.randn(4)
    torch.testing.assert_close(dumped(tmp_path, f, x), f(x))
    assert (tmp_path / f"{file}.mlir").exists()
    edit(tmp_path / f"{file}.mlir", change)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning, match=re.escape(f"{file}.mlir")):
        out = compiled(f, x)
    torch.testing.assert_close(out, torch.cos(x) * 2 + 1)


def test_files_that_nobody_edited_have_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(4, requires_grad=True)
    dumped(tmp_path, f, x)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error", OverrideWarning)
        torch.testing.assert_close(compiled(f, x), f(x))


def test_a_backward_and_a_later_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second graph of a function with a break, in training: its gradient is tripled."""

    def g(x: torch.Tensor) -> torch.Tensor:
        y = torch.sin(x)
        torch._dynamo.graph_break()
        return torch.exp(y)

    x = torch.randn(4, requires_grad=True)
    dumped(tmp_path, g, x)
    (expected,) = torch.autograd.grad(g(x).sum(), [x])
    file = tmp_path / "001_post_grad_backward.before.mlir"
    text = file.read_text()
    (line,) = re.findall(r"(?m)^ +%mul\S* = aten\.mul\.Tensor.*$", text)
    file.write_text(text.replace(line, re.sub(r"%(\w+), %(\w+) :", r"%\1, 3.0 :", line)))
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    x.grad = None
    with pytest.warns(OverrideWarning):
        out = compiled(g, x)
    torch.testing.assert_close(out, g(x))
    torch.testing.assert_close(x.grad, 3 * torch.cos(x.detach()))
    assert not torch.allclose(x.grad, expected)


def test_symbolic_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def h(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x).reshape(-1) * x.shape[0]

    x = torch.randn(4, 6)
    dumped(tmp_path, h, x, dynamic=True)
    edit(tmp_path / "000_joint.before.mlir", ("aten.sin.default", "aten.cos.default"))
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning):
        out = compiled(h, x, dynamic=True)
    torch.testing.assert_close(out, torch.cos(x).reshape(-1) * 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("!fx.tensor<f32[4], cpu>)", "!fx.tensor<f32[5], cpu>)"), r":2: input 0: expected "
         r"!fx.tensor<f32\[4\], cpu>, found !fx.tensor<f32\[5\], cpu>"),
        (("fx.output (", "fx.output (%sin, "), r":\d+: expected 1 results, found 2"),
        (("stage(joint)", "stage(post_grad)"), r":2: expected a graph of stage joint, found post"),
        (("aten.sin.default", "aten.sine.default"), r"before.mlir:\d+:\d+(?s:.*)aten::sine"),
        (("aten.sin.default %arg0_1 : !fx.tensor<f32[4]", "aten.sin.default %arg0_1 : "
          "!fx.tensor<f32[6]"), r"before.mlir:\d+(?s:.*)expected(?s:.*)f32\[4\](?s:.*)f32\[6\]"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], message: str
) -> None:
    x = torch.randn(4)
    dumped(tmp_path, f, x)
    edit(tmp_path / "000_joint.before.mlir", change)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.raises(Exception, match=message) as raised:
        compiled(f, x)
    assert OverrideError.__name__ in str(raised.value) or isinstance(raised.value, OverrideError)


def test_a_folder_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path / "nowhere"))
    with pytest.raises(Exception, match=r"XDUCTOR_OVERRIDE is .*nowhere.*expected a folder"):
        compiled(f, torch.randn(4))


def test_caches_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def products(x: torch.Tensor) -> torch.Tensor:
        return torch.mm(torch.mm(x, x), x)

    x = torch.randn(4, 4)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    for _ in range(2):
        torch._dynamo.reset()
        counters.clear()
        torch.compile(products, backend="xductor", options=OPTIONS)(x)
        assert not counters["inductor"]["fxgraph_cache_hit"]
        assert not counters["aot_autograd"]["autograd_cache_hit"]


def g(x: torch.Tensor) -> torch.Tensor:
    return (x.t().t().view(x.shape[0], x.shape[1]).sin() * 1).t().t() + 1


def after_pass(folder: Path, name: str, number: int = 0) -> Path:
    """The dump behind a pass of the first joint stage."""
    return sorted((folder / "000_joint").glob(f"*_{name}.mlir"))[number]


SIN_TO_COS = ("aten.sin.default", "aten.cos.default")


@pytest.mark.parametrize("name", ["remove_noop_ops", "pointless_permute_pair"])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("verify", ["structure", "stage"])
def test_what_a_pass_made_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, dynamic: bool, verify: str
) -> None:
    x = torch.randn(3, 5)
    torch.testing.assert_close(dumped(tmp_path, g, x, dynamic=dynamic), g(x))
    file = after_pass(tmp_path, name)
    edit(file, SIN_TO_COS)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    monkeypatch.setitem(OPTIONS, "xductor.verify", verify)
    with pytest.warns(OverrideWarning, match=re.escape(f"000_joint/{file.stem} of this compile")):
        out = compiled(g, x, dynamic=dynamic)
    torch.testing.assert_close(out, torch.cos(x) + 1)


def test_what_passes_made_and_nobody_edited_has_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(3, 5)
    dumped(tmp_path, g, x)
    edit(tmp_path / "000_joint.before.mlir", SIN_TO_COS)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning) as seen:
        torch.testing.assert_close(compiled(g, x), torch.cos(x) + 1)
    assert ["before.mlir" in str(one.message) for one in seen].count(True) == 1
    assert not [one for one in seen if "000_joint/" in str(one.message)]


def test_passes_after_an_edit_see_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edit takes away what the later pass removes: its own edited file then has no place."""
    x = torch.randn(3, 5)
    dumped(tmp_path, g, x)
    file, later = (
        after_pass(tmp_path, "remove_noop_ops"),
        after_pass(tmp_path, "pointless_permute_pair"),
    )
    lines = [line for line in file.read_text().splitlines(True) if "aten.permute" not in line]
    text = re.sub(r"(aten\.\w+\.\w+) %permute\w*", r"\1 %arg0_1", "".join(lines))
    file.write_text(re.sub(r"fx.output \(%\w+,", "fx.output (%sin,", text))
    edit(later, SIN_TO_COS)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning) as seen:
        out = compiled(g, x)
    torch.testing.assert_close(out, torch.sin(x))
    said = [str(one.message) for one in seen if one.category is OverrideWarning]
    assert any(f"{later} has no effect" in one and "so often" in one for one in said), said


@pytest.mark.parametrize("name", ["000_jont.after.mlir", "joint.mlir", "000_jint/01_dce.mlir"])
def test_names_that_no_graph_has_are_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("nobody reads this")
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning, match="graphs are called like 000_joint.before.mlir"):
        compiled(g, torch.randn(3, 5))


def test_a_misspelt_pass_is_told_the_right_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumped(tmp_path, g, torch.randn(3, 5))
    file = after_pass(tmp_path, "pointless_permute_pair")
    edit(file, SIN_TO_COS)
    file.rename(file.with_name("77_pointles_permute_pair.mlir"))
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning, match="did you mean 'pointless_permute_pair'"):
        compiled(g, torch.randn(3, 5))


def test_what_is_no_text_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "000_joint.before.mlir"
    file.write_bytes(b"\xec\xff\x00")
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.raises(Exception, match=re.escape(f"{file} cannot be read: it is no text")):
        compiled(g, torch.randn(3, 5))


def test_a_damaged_index_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumped(tmp_path, g, torch.randn(3, 5))
    (tmp_path / "index.json").write_text("{")
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.raises(Exception, match=r"index.json is not as `xductor capture` wrote it"):
        compiled(g, torch.randn(3, 5))


def test_a_pass_that_changes_a_graph_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number in front of a file is not what it is found by, but its place among its like."""
    x = torch.randn(3, 5)
    dumped(tmp_path, g, x)
    file = after_pass(tmp_path, "pointless_permute_pair")
    edit(file, SIN_TO_COS)
    file.rename(file.with_name("77_pointless_permute_pair.mlir"))
    second = file.with_name("078_pointless_permute_pair.mlir")
    second.write_text(file.with_name("77_pointless_permute_pair.mlir").read_text())
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    with pytest.warns(OverrideWarning) as seen:
        out = compiled(g, x)
    torch.testing.assert_close(out, torch.cos(x) + 1)
    said = [str(one.message) for one in seen if one.category is OverrideWarning]
    assert [str(second) in one and "so often" in one for one in said].count(True) == 1, said


@pytest.mark.parametrize("on_error", ["raise", "fallback"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fx.output (", "fx.output (%sin, "), r":\d+: expected 1 results, found 2"),
        (("stage(joint)", "stage(post_grad)"), r":2: expected a graph of stage joint, found post"),
        (("aten.sin.default", "aten.sine.default"), r"noop_ops.mlir:\d+:\d+(?s:.*)aten::sine"),
        (("%sin = aten.sin.default %", "%sin = aten.sin.default %no"),
         r"noop_ops.mlir:\d+(?s:.*)%no"),
        (("fx.output", "fx.outpt"), r"noop_ops.mlir:\d+"),
    ],
)  # fmt: skip
def test_what_does_not_fit_behind_a_pass_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: tuple[str, str],
    message: str,
    on_error: str,
) -> None:
    """An error whatever the settings say of failures of passes, and the graph is not half edited:
    the next compile, without the file, is as ever.
    """
    x = torch.randn(3, 5)
    dumped(tmp_path, g, x)
    edit(after_pass(tmp_path, "remove_noop_ops"), change)
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    monkeypatch.setitem(OPTIONS, "xductor.on_error", on_error)
    with pytest.raises(Exception, match=message) as raised:
        compiled(g, x)
    assert OverrideError.__name__ in str(raised.value) or isinstance(raised.value, OverrideError)
    monkeypatch.delenv("XDUCTOR_OVERRIDE")
    torch.testing.assert_close(compiled(g, x), g(x))


def test_a_refused_file_leaves_the_graph_of_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error goes through the stage, whose graph is what the pass made, whole."""
    x = torch.randn(3, 5)
    dumped(tmp_path, g, x)
    file = after_pass(tmp_path, "remove_noop_ops")
    made = file.read_text()
    edit(file, ("fx.output (", "fx.output (%sin, "))
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    left: list[str] = []
    take_pass = overrides.take_pass

    def watched(run: Any, name: str) -> None:
        try:
            take_pass(run, name)
        except OverrideError:
            left.append(print_ir(from_fx(run.gm, run.stage)))
            raise

    monkeypatch.setattr(overrides, "take_pass", watched)
    with pytest.raises(Exception, match="expected 1 results"):
        compiled(g, x)
    assert left == [made]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(6)
        self.attention = torch.nn.MultiheadAttention(6, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x.flatten(0, 1)).view_as(x)
        y = x + self.attention(y, y, y, need_weights=False)[0]
        first, second = y.chunk(2, -1)
        return torch.cat([torch.nn.functional.gelu(first), second], 1)


def test_every_graph_of_a_model_survives_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All graphs of a training step are taken, before and after each stage, though unedited."""
    net, x = Net(), torch.randn(3, 4, 6)
    dumped(tmp_path, net, x)
    expected = {name: one.grad.clone() for name, one in net.named_parameters()}
    state = {name: one.clone() for name, one in net.named_buffers()}
    net.zero_grad()
    monkeypatch.setenv("XDUCTOR_OVERRIDE", str(tmp_path))
    monkeypatch.setattr(overrides, "same", lambda *_: False)
    (tmp_path / "index.json").unlink()
    with pytest.warns(OverrideWarning) as seen:
        compiled(net, x)
    assert len([one for one in seen if one.category is OverrideWarning]) == len(
        list(tmp_path.rglob("*.mlir"))
    )
    assert len(list(tmp_path.glob("*/*.mlir"))) >= 2, "no pass changed anything"
    for name, one in net.named_parameters():
        torch.testing.assert_close(one.grad, expected[name])
    assert state.keys() == dict(net.named_buffers()).keys()


def test_random_programs_survive_their_text() -> None:
    outcome = overridden_programs.run(12, seed=0)
    assert outcome["same"] + outcome["refused"] == 12, outcome
    assert outcome["same"] >= 10
