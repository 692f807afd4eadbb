"""The registered backend: found by name, options as Inductor has them, early and clear errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch._inductor import config

from xductor.backend.config.settings import Settings, SettingsError
from xductor.backend.seam.compiler import Backend, xductor_backend

pytestmark = pytest.mark.usefixtures("empty_cache")


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


class Rewrite:
    stage = "joint"


def run(backend: Any = "xductor", size: int = 4, **keywords: Any) -> None:
    x, w = torch.randn(size, size), torch.randn(size, size)
    torch.testing.assert_close(torch.compile(chain, backend=backend, **keywords)(x, w), chain(x, w))


class TestRegistration:
    def test_listed(self):
        assert "xductor" in torch._dynamo.list_backends()
        assert torch._dynamo.backends.registry.lookup_backend("xductor") is xductor_backend

    def test_names(self):
        assert xductor_backend.compiler_name == xductor_backend.__name__ == "xductor"

    def test_by_name_and_as_an_object(self, recorded_stages):
        run("xductor")
        by_name = recorded_stages.take()
        torch._dynamo.reset()
        run(xductor_backend, size=5)
        assert recorded_stages.take() == by_name == ["pre_grad", "joint", "post_grad"]

    def test_module_and_graph_break(self, recorded_stages):
        class Broken(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.w = torch.nn.Parameter(torch.randn(4, 4))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x = torch.mm(x, self.w)
                torch._dynamo.graph_break()
                return torch.mm(x, self.w)

        model = Broken()
        x = torch.randn(4, 4)
        torch.testing.assert_close(torch.compile(model, backend="xductor")(x), model(x))
        assert recorded_stages.names().count("joint") == 2


class TestModesAndOptions:
    def seen(self, recorded_stages: Any, **keywords: Any) -> tuple[Any, ...]:
        seen: list[tuple[Any, ...]] = []
        recorded_stages.before = lambda call: seen.append(
            (config.max_autotune, config.coordinate_descent_tuning, config.epilogue_fusion)
        )
        # No search for the fastest kernel: that compiles a good many.
        with config.patch(max_autotune_gemm_backends="ATEN"):
            run(**keywords)
        (only,) = set(seen)
        return only

    def test_mode(self, recorded_stages):
        mode = "max-autotune-no-cudagraphs"
        assert self.seen(recorded_stages, mode=mode) == (True, True, True)

    def test_options(self, recorded_stages):
        options = {"epilogue_fusion": False, "max-autotune": True, "xductor.verify": "types"}
        assert self.seen(recorded_stages, options=options) == (True, False, False)
        assert {call.settings for call in recorded_stages.calls} == {Settings(verify="types")}

    def test_max_autotune(self, recorded_stages):
        assert self.seen(recorded_stages, mode="max-autotune") == (True, True, True)

    def test_mode_with_options_of_ours(self, recorded_stages):
        backend = Backend(mode="max-autotune-no-cudagraphs", verify="types")
        assert self.seen(recorded_stages, backend=backend) == (True, True, True)
        assert {call.settings.verify for call in recorded_stages.calls} == {"types"}

    def test_options_of_the_call_come_over_those_of_the_backend(self, recorded_stages):
        backend = Backend(options={"epilogue_fusion": False}, verify="types")
        options = {"xductor.verify": "stage", "max_autotune": True}
        assert self.seen(recorded_stages, backend=backend, options=options) == (True, False, False)
        assert {call.settings.verify for call in recorded_stages.calls} == {"stage"}

    def test_dynamic(self, recorded_stages):
        compiled = torch.compile(chain, backend="xductor", dynamic=True)
        for size in (4, 5, 6):
            x, w = torch.randn(size, size), torch.randn(size, size)
            torch.testing.assert_close(compiled(x, w), chain(x, w))
        assert recorded_stages.take() == ["pre_grad", "joint", "post_grad"]

    def test_config_patches(self, recorded_stages):
        """Dynamo's override of Inductor's configuration for single graphs comes by keyword."""
        seen: list[bool] = []
        recorded_stages.before = lambda call: seen.append(config.max_autotune)
        gm = torch.fx.symbolic_trace(lambda x, w: (chain(x, w),))
        x, w = torch.randn(4, 4), torch.randn(4, 4)
        xductor_backend(gm, [x, w], config_patches={"max_autotune": True})
        assert set(seen) == {True}


class TestErrors:
    def test_ours(self):
        with pytest.raises(BackendCompilerFailed, match=r"Did you mean 'xductor\.on_error'"):
            run(options={"xductor.onerror": "raise"})

    @pytest.mark.parametrize(
        ("keywords", "message"),
        [
            ({"options": {"max_autotun": True}}, "Unexpected optimization option max_autotun"),
            ({"options": {"max_autotune": "yes"}}, "Unexpected type of attr max_autotune"),
            ({"mode": "max-autotun"}, "Unrecognized mode=max-autotun"),
        ],
    )
    def test_inductors_own(self, keywords, message):
        with pytest.raises(RuntimeError, match=message):
            torch.compile(chain, backend="inductor", **keywords)
        with pytest.raises(BackendCompilerFailed, match=message):
            run(**keywords)
        with pytest.raises(RuntimeError, match=message):
            Backend(**keywords)

    @pytest.mark.parametrize(
        ("keywords", "message"),
        [
            ({"verfy": "types"}, r"Did you mean 'xductor\.verify'"),
            ({"verify": "type"}, "expected one of 'structure', 'types', 'stage'"),
            ({"options": {"xductor.verify": "type"}}, "expected one of"),
            ({"verify": "types", "options": {"xductor.verify": "types"}}, "given twice"),
        ],
    )
    def test_backend_validates_when_it_is_made(self, keywords, message):
        with pytest.raises(SettingsError, match=message):
            Backend(**keywords)

    def test_stage_error_reaches_the_user(self, recorded_stages):
        def fail(call: Any) -> None:
            raise ValueError("a broken stage")

        recorded_stages.before = fail
        with pytest.raises(BackendCompilerFailed, match="a broken stage"):
            run()


class TestIdentity:
    def test_equality_and_hash(self):
        assert Backend() == xductor_backend
        same = [Backend(mode="max-autotune", rewrites=[Rewrite]) for _ in range(2)]
        assert same[0] == same[1]
        assert hash(same[0]) == hash(same[1])
        others = [
            Backend(),
            Backend(mode="max-autotune"),
            Backend(mode="reduce-overhead", rewrites=[Rewrite]),
            Backend(options={"max_autotune": True}),
            Backend(options={"max_autotune": False}),
        ]
        assert len({*others, same[0], same[1]}) == 6
        assert Backend(mode="default") == Backend()

    def test_name_and_option_are_one(self):
        assert Backend(verify="types") == Backend(options={"xductor.verify": "types"})

    def test_equal_backends_share_compiled_code(self, recorded_stages):
        """Dynamo compares backends to decide whether code it has may run."""
        x, w = torch.randn(4, 4), torch.randn(4, 4)
        torch.compile(chain, backend=Backend(verify="types"))(x, w)
        recorded_stages.take()
        torch.compile(chain, backend=Backend(verify="types"))(x, w)
        assert recorded_stages.take() == []

    def test_repr(self):
        made = Backend(mode="max-autotune", verify="types")
        expected = "xductor.Backend(mode='max-autotune', options={'xductor.verify': 'types'})"
        assert repr(made) == expected
        assert repr(Backend()) == "xductor.Backend()"


class TestInductorsServices:
    def test_compiler_config(self):
        made = Backend(mode="max-autotune-no-cudagraphs", options={"epilogue_fusion": False})
        found = made.get_compiler_config()
        assert found["max_autotune"] is True
        assert found["epilogue_fusion"] is False
        assert xductor_backend.get_compiler_config()["max_autotune"] is False

    def test_reset_frees_cudagraph_trees(self, monkeypatch, recorded_stages):
        from torch._inductor import cudagraph_trees

        resets: list[None] = []
        monkeypatch.setattr(cudagraph_trees, "reset_cudagraph_trees", lambda: resets.append(None))
        made = Backend()
        run(made)
        torch._dynamo.reset()
        assert resets == []
        run(made, mode="reduce-overhead")
        torch._dynamo.reset()
        assert resets

    def test_inductors_backends_are_kept(self):
        made = Backend()
        first = made._inductor("max-autotune", {"epilogue_fusion": False})
        assert made._inductor("max-autotune", {"epilogue_fusion": False}) is first
        assert made._inductor("max-autotune", {"epilogue_fusion": True}) is not first
        for limit in range(200):
            made._inductor(None, {"max_fusion_size": limit})
        assert len(made._memo) <= 64

    def test_bisector_changes_options_from_compile_to_compile(self, monkeypatch):
        from torch._inductor.compiler_bisector import CompilerBisector

        made = Backend()
        changes: list[Any] = [{"epilogue_fusion": False}, {"epilogue_fusion": True}]
        monkeypatch.setattr(CompilerBisector, "bisection_enabled", True)
        monkeypatch.setattr(CompilerBisector, "get_config_change", lambda _: changes.pop(0))
        assert made._inductor(None, {}).config == {"epilogue_fusion": False}
        assert made._inductor(None, {}).config == {"epilogue_fusion": True}
