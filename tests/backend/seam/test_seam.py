"""Which stages run: stock's until asked, then ours, wherever Inductor looks them up."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor import config
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.backend.config import compile_state, settings, versions
from xductor.backend.config.coverage_warnings import NotCoveredWarning
from xductor.backend.config.settings import Settings, SettingsError
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.seam import dispatch

STAGES = ["pre_grad", "joint", "post_grad"]
TIMINGS = ["early", "late"] if hasattr(config, "pre_grad_pass_timing") else [None]

pytestmark = pytest.mark.usefixtures("empty_cache")


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


def compile_plainly(backend: Any = "inductor", *, size: int = 4, **keywords: Any) -> None:
    torch._dynamo.reset()
    x, w = torch.randn(size, size), torch.randn(size, size)
    torch.testing.assert_close(torch.compile(chain, backend=backend, **keywords)(x, w), chain(x, w))


def in_new_thread(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


class TestInstall:
    def test_nothing_by_default(self, recorded_stages):
        dispatch.attach()
        compile_plainly()
        assert recorded_stages.take() == []

    def test_install_and_uninstall(self, recorded_stages):
        dispatch.install({"xductor.verify": "types"})
        compile_plainly()
        assert {call.settings for call in recorded_stages.calls} == {Settings(verify="types")}
        assert recorded_stages.take() == STAGES
        dispatch.uninstall()
        compile_plainly()
        assert recorded_stages.take() == []
        assert settings.current() == Settings()

    def test_install_again_changes_the_options(self, recorded_stages):
        dispatch.install({"xductor.verify": "types"})
        dispatch.install()
        compile_plainly()
        assert {call.settings for call in recorded_stages.calls} == {Settings()}

    def test_bad_option_installs_nothing(self):
        with pytest.raises(SettingsError, match="Did you mean"):
            dispatch.install({"xductor.verfy": "types"})
        assert not compile_state.is_installed()

    def test_install_reaches_every_thread(self, recorded_stages):
        dispatch.install()
        in_new_thread(compile_plainly)
        assert recorded_stages.take() == STAGES

    def test_installed_block(self, recorded_stages):
        with dispatch.installed({"xductor.numerics": "fast"}) as chosen:
            compile_plainly()
            in_new_thread(lambda: None)
            assert chosen == Settings(numerics="fast")
        assert {call.settings for call in recorded_stages.calls} == {chosen}
        assert recorded_stages.take() == STAGES
        compile_plainly()
        assert recorded_stages.take() == []

    def test_installed_block_is_of_this_thread(self, recorded_stages):
        with dispatch.installed():
            in_new_thread(compile_plainly)
        assert recorded_stages.take() == []

    def test_settings_in_use_count(self, recorded_stages):
        with dispatch.installed(), settings.use(Settings(verify="stage")):
            compile_plainly()
        assert {call.settings for call in recorded_stages.calls} == {Settings(verify="stage")}

    def test_backends_interleave(self, recorded_stages):
        order = [("inductor", []), ("xductor", STAGES)] * 2
        for size, (backend, expected) in enumerate(order, start=3):
            compile_plainly(backend, size=size)
            assert recorded_stages.take() == expected

    def test_options_of_the_backend_stand_over_those_installed(self, recorded_stages):
        dispatch.install({"xductor.verify": "types"})
        compile_plainly("xductor", options={"xductor.verify": "stage"})
        assert {call.settings.verify for call in recorded_stages.calls} == {"stage"}


class TestNames:
    def test_replaced_once(self):
        dispatch.attach()
        module = versions.compile_fx_module()
        before = {name: getattr(module, name) for name in versions.STAGE_FUNCTIONS.values()}
        dispatch.attach()
        dispatch.install()
        dispatch.uninstall()
        assert before == {name: getattr(module, name) for name in before}

    def test_stock_functions_are_the_home_modules(self):
        from torch._inductor.fx_passes import joint_graph, post_grad, pre_grad

        assert dispatch.stock_function("pre_grad") is pre_grad.pre_grad_passes
        assert dispatch.stock_function("joint") is joint_graph.joint_graph_passes
        assert dispatch.stock_function("post_grad") is post_grad.post_grad_passes

    def test_home_modules_swapped_too(self, recorded_stages, monkeypatch):
        """A test suite may put our functions into the modules that define stock's."""
        from torch._inductor.fx_passes import joint_graph, post_grad, pre_grad

        homes = {"pre_grad": pre_grad, "joint": joint_graph, "post_grad": post_grad}
        for stage, home in homes.items():
            stock = dispatch.stock_function(stage)
            name = versions.STAGE_FUNCTIONS[stage]
            monkeypatch.setattr(home, name, dispatch.stage_function(stage))
            assert dispatch.stock_function(stage) is stock
        with dispatch.installed():
            compile_plainly()
        assert recorded_stages.take() == STAGES

    def test_nothing_is_touched_before_the_first_use(self):
        code = """
            import torch, torch._inductor.compile_fx as compile_fx
            before = compile_fx.joint_graph_passes
            import xductor.backend.seam.dispatch, xductor.backend.seam.compiler
            assert compile_fx.joint_graph_passes is before
            xductor.backend.seam.dispatch.attach()
            assert compile_fx.joint_graph_passes is not before
            assert compile_fx.joint_graph_passes.__wrapped__ is before
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)

    def test_stages_are_the_real_ones(self):
        from xductor.backend import stages

        assert dispatch.stage_function("pre_grad") is stages.pre_grad_passes
        assert dispatch.stage_function("joint") is stages.joint_graph_passes
        assert dispatch.stage_function("post_grad") is stages.post_grad_passes


class TestGraphs:
    @pytest.mark.parametrize("timing", TIMINGS)
    @pytest.mark.parametrize("stages", ["stock", "ours"])
    def test_pre_grad_edits_the_module_it_got(self, monkeypatch, timing, stages):
        """A module that takes the place of the first is dropped by Inductor without a word."""
        found: list[tuple[GraphModule, Any, list[str], GraphModule, Any, list[str]]] = []
        look_up = dispatch.stage_function if stages == "ours" else dispatch.stock_function

        def stage_function(stage: Any) -> Callable[..., Any]:
            def run(gm: GraphModule, *args: Any, **kwargs: Any) -> Any:
                graph = gm.graph
                inputs = [node.name for node in graph.find_nodes(op="placeholder")]
                out = look_up(stage)(gm, *args, **kwargs)
                if stage == "pre_grad":
                    left = [node.name for node in out.graph.find_nodes(op="placeholder")]
                    found.append((gm, graph, inputs, out, out.graph, left))
                return out

            return run

        monkeypatch.setattr(dispatch, "stage_function", stage_function)

        def cloned(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return torch.mm(x.clone(), w)

        x, w = torch.randn(4, 4), torch.randn(4, 4)
        with config.patch({"pre_grad_pass_timing": timing} if timing else {}):
            out = torch.compile(cloned, backend="xductor")(x, w)
        torch.testing.assert_close(out, cloned(x, w))
        ((gm, graph, inputs, out_gm, out_graph, out_inputs),) = found
        assert out_gm is gm
        assert out_graph is graph
        assert out_inputs == inputs

    def test_children_before_their_parent(self, recorded_stages):
        def with_checkpoint(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            inner = torch.utils.checkpoint.checkpoint(torch.mm, x, w, use_reentrant=False)
            return torch.mm(inner, w)

        x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
        torch.compile(with_checkpoint, backend="xductor", fullgraph=True)(x, w)
        child, parent = [call for call in recorded_stages.calls if call.stage == "pre_grad"]
        assert child.example_inputs == ()
        assert len(parent.example_inputs) == 2
        assert child.graph_module in parent.graph_module.children()

    def test_branches(self, recorded_stages):
        def branched(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.shape[0] > w.sum(), torch.mm, lambda x, w: torch.mm(w, x), (x, w))

        gm = make_fx(lambda x, w: (branched(x, w),), tracing_mode="fake")(
            torch.randn(4, 4), torch.randn(4, 4)
        )
        compile_fx = versions.compile_fx_module()
        with dispatch.installed():
            compile_fx._recursive_joint_graph_passes(gm)
        called = [call.graph_module for call in recorded_stages.calls]
        assert called == [gm.true_graph_0, gm.false_graph_0, gm]


class TestReach:
    def test_freezing(self, recorded_stages):
        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.w = torch.nn.Parameter(torch.randn(4, 4))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return chain(x, self.w)

        model = Model().eval()
        x = torch.randn(4, 4)
        with torch.no_grad(), config.patch(freezing=True):
            out = torch.compile(model, backend="xductor")(x)
        torch.testing.assert_close(out, model(x))
        assert set(recorded_stages.names()) == set(STAGES)

    def test_flags_of_inductor_stand_above_the_stages(self, recorded_stages):
        compile_plainly("xductor", options={"use_joint_graph_passes": False})
        assert recorded_stages.take() == ["pre_grad", "post_grad"]
        compile_plainly("xductor", options={"use_pre_grad_passes": False})
        assert recorded_stages.take() == ["joint", "post_grad"]
        compile_plainly("xductor", mode="lite")
        assert recorded_stages.take() == []

    def test_graph_given_without_dynamo(self, recorded_stages):
        x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
        from xductor.backend.seam.compiler import xductor_backend

        def wrapped(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor]:
            return (chain(x, w),)

        gm = torch.fx.symbolic_trace(wrapped)
        (out,) = xductor_backend(gm, [x, w])(x, w)
        assert recorded_stages.take() == STAGES
        in_new_thread(out.sum().backward)
        assert recorded_stages.take() == ["post_grad"]

    def test_bisector_takes_another_backend(self, recorded_stages, monkeypatch):
        """Under the bisector a backend given by name is replaced by the one it looks into."""
        from torch._inductor.compiler_bisector import CompilerBisector

        monkeypatch.setattr(CompilerBisector, "get_backend", lambda: "inductor")
        compile_plainly("xductor")
        assert recorded_stages.take() == []
        with dispatch.installed():
            compile_plainly("xductor")
        assert recorded_stages.take() == STAGES

    @pytest.mark.slow
    def test_ahead_of_time_when_installed(self, recorded_stages, tmp_path):
        class Model(torch.nn.Module):
            def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
                return chain(x, w)

        x, w = torch.randn(4, 4), torch.randn(4, 4)
        exported = torch.export.export(Model(), (x, w))
        with dispatch.installed():
            package = torch._inductor.aoti_compile_and_package(
                exported, package_path=str(tmp_path / "model.pt2")
            )
        assert recorded_stages.take() == STAGES
        loaded = torch._inductor.aoti_load_package(package)
        torch.testing.assert_close(loaded(x, w), chain(x, w))

    def test_standalone_compile_when_installed(self, recorded_stages):
        x, w = torch.randn(4, 4), torch.randn(4, 4)
        gm = make_fx(lambda x, w: (chain(x, w),))(x, w)
        with dispatch.installed():
            artifact = torch._inductor.standalone_compile(gm, [x, w])
        assert recorded_stages.take() == STAGES
        torch.testing.assert_close(artifact(x, w)[0], chain(x, w))

    def test_other_process_is_not_used(self, recorded_stages, monkeypatch):
        module = versions.compile_fx_module()
        subprocess_mode = module.FxCompileMode.SUBPROCESS
        monkeypatch.setattr(module, "fx_compile_mode", subprocess_mode)
        forget_warnings()
        with pytest.warns(NotCoveredWarning, match="SUBPROCESS"):
            compile_plainly("xductor")
        with warnings.catch_warnings(action="error", category=NotCoveredWarning):
            compile_plainly("xductor", options={"xductor.numerics": "fast"})
        assert recorded_stages.take() == STAGES * 2
        assert module.fx_compile_mode is subprocess_mode


class TestReproScripts:
    def test_they_install(self, recorded_stages):
        from torch._dynamo.repro import after_aot

        gm = make_fx(lambda x, w: (chain(x, w),))(torch.randn(4, 4), torch.randn(4, 4))
        x, w = torch.randn(4, 4), torch.randn(4, 4)

        def script() -> str:
            return after_aot.generate_compiler_repro_string(gm, [x, w], stable_output=True)

        dispatch.attach()
        stock = script()
        assert "xductor" not in stock
        disabled = ["pointless_view", "pointless_convert"]
        with dispatch.installed({"xductor.verify": "types", "xductor.disabled_passes": disabled}):
            ours = script()
        lines = [line for line in ours.splitlines() if line not in stock.splitlines()]
        assert lines == [
            "import xductor",
            "xductor.install({'xductor.verify': 'types', 'xductor.disabled_passes': "
            "['pointless_convert', 'pointless_view']})",
        ]
        compile(ours, "repro.py", "exec")
        (call,) = [node for node in ast.walk(ast.parse(ours)) if is_installation(node)]
        options = ast.literal_eval(call.args[0])
        assert Settings.from_options(options) == Settings(
            verify="types", disabled_passes=frozenset(disabled)
        )


def is_installation(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "xductor.install"


class TestUnknownTorch:
    @pytest.fixture(autouse=True)
    def unknown(self, monkeypatch):
        monkeypatch.setattr(versions, "torch_release", lambda: (3, 0))
        versions.inductor_version.cache_clear()
        yield
        versions.inductor_version.cache_clear()

    def test_install_refuses(self):
        with pytest.raises(versions.UnsupportedTorchError, match=r"torch 2\.11 to 2\.14"):
            dispatch.install()
        with pytest.raises(versions.UnsupportedTorchError), dispatch.installed():
            pass
        assert not compile_state.is_installed()

    def test_backend_is_plain_inductor_and_warns_once(self, recorded_stages):
        forget_warnings()
        with pytest.warns(UserWarning, match="plain Inductor"):
            compile_plainly("xductor")
        with warnings.catch_warnings(action="error"):
            compile_plainly("xductor")
        assert recorded_stages.take() == []


class TestVersions:
    @pytest.mark.parametrize(
        ("text", "release"),
        [("2.13.0+cpu", (2, 13)), ("2.11.0a0+git1234", (2, 11)), ("2.14.0.dev20261101", (2, 14))],
    )
    def test_release(self, text, release):
        assert versions.torch_release(text) == release

    def test_table_says_what_this_torch_has(self):
        from torch._functorch import aot_autograd
        from torch._inductor import custom_graph_pass

        version = versions.inductor_version()
        lists = hasattr(custom_graph_pass, "get_custom_graph_passes")
        late = "pre_grad_passes" in aot_autograd.aot_module_simplified.__code__.co_varnames
        assert version.custom_pass_hooks == ("list" if lists else "callable")
        assert version.pre_grad_result == ("dropped" if late else "used")
        assert version.pre_grad_timing == hasattr(config, "pre_grad_pass_timing")

    def test_custom_passes(self):
        def one(graph: Any) -> None: ...

        assert versions.custom_passes(None) == ()
        assert versions.custom_passes(one) == (one,)
        assert versions.custom_passes([one, one]) == (one, one)

    @pytest.mark.skipif(TIMINGS == [None], reason="Inductor has the option from 2.12 on")
    def test_timing(self):
        assert versions.pre_grad_runs_late()
        with config.patch(pre_grad_pass_timing="early"):
            assert not versions.pre_grad_runs_late()
