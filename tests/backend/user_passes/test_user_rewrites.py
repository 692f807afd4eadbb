"""Users' own rewrites: where in a stage they run, side by side, and registered for a process."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

import xductor
from xductor import Rewrite, Tensor, no
from xductor.backend.cli.run_lines import RunLineFailed, run_pipeline, split_pipeline
from xductor.backend.config import placement, registered_rewrites, settings
from xductor.backend.config.rewrite_identity import rewrite_identity
from xductor.backend.config.settings import Settings, SettingsError
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.records import stage_records
from xductor.backend.seam.checked_options import checked_settings
from xductor.backend.stage_runs import applications
from xductor.backend.stage_runs.failures import FallbackWarning, StageError
from xductor.ir import aten
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.matching.patterns import PatternError


class SinToCos(Rewrite):
    """Wrong, and so visible: what a test sees of it is that it ran."""

    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.sin(x)

    def replacement(self, x: Tensor):
        return aten.cos(x)


class CosToExp(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.cos(x)

    def replacement(self, x: Tensor):
        return aten.exp(x)


class NegNeg(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor):
        return x


class Fails(Rewrite):
    """Has a mistake in `where`."""

    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.sin(x)

    def where(self, x: Tensor):
        return x.shpae[0] == 4  # type: ignore[attr-defined]

    def replacement(self, x: Tensor):
        return aten.cos(x)


class RaisesAfterwards(TypedPass):
    """A procedural pass that edits the module, and then fails."""

    name: ClassVar[str] = "raises_afterwards"
    stage: ClassVar[Any] = "joint"
    inductor: ClassVar[str] = ""
    numerics: ClassVar[Any] = EXACT
    roots: ClassVar[frozenset[object]] = frozenset(("aten.sin.default",))

    def rewrite(self, module: ModuleOp) -> int:
        for graph in module.ops:
            for op in list(graph.regions[0].block.ops):
                if op.name == "aten.sin.default":
                    op.results[0].replace_all_uses_with(op.operands[0])
        raise RuntimeError("half-way")


def traced(function: Any, *inputs: Any) -> torch.fx.GraphModule:
    return make_fx(function, tracing_mode="fake")(*inputs)


def targets(gm: torch.fx.GraphModule) -> list[str]:
    return [str(n.target) for n in gm.graph.nodes if n.op == "call_function"]


def joint(function: Any, *rewrites: Any, **options: Any) -> list[str]:
    """The calls of a function's graph after the joint stage with these rewrites."""
    gm = traced(function, torch.randn(4))
    options.setdefault("on_error", "raise")
    with settings.use(Settings(rewrites=rewrites, **options)):
        return targets(xductor.joint_graph_passes(gm))


def sin(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x)


def test_they_run_in_their_own_stage_only() -> None:
    gm = traced(sin, torch.randn(4))
    with settings.use(Settings(rewrites=(SinToCos,))):
        xductor.post_grad_passes(gm, is_inference=True)
        assert targets(gm) == ["aten.sin.default"]
        assert targets(xductor.joint_graph_passes(gm)) == ["aten.cos.default"]


# Places.


class First(Rewrite):
    """What Inductor's own pass would take away: a view that does nothing."""

    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.view.default(x, ...)

    def where(self, x: Tensor):
        return x.ndim == 1

    def replacement(self, x: Tensor):
        return aten.exp(x)


def same_view(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x.view(4))


@pytest.mark.parametrize(
    ("place", "fires"),
    [
        ({"position": "first"}, True),
        ({"position": "last"}, False),
        ({"before": "pointless_view"}, False),
        ({"after": "joint_custom_pre_pass"}, True),
        ({"after": "pointless_view"}, False),
        ({"before": "remove_noop_ops"}, True),
        ({"after": "pass_patterns"}, False),
    ],
    ids=str,
)
def test_a_place_is_before_or_after_a_pass(place: dict[str, Any], fires: bool) -> None:
    with_exp = ["aten.exp.default", "aten.sin.default"]
    expected = with_exp if fires else ["aten.sin.default"]
    assert joint(same_view, xductor.placed(First, **place)) == expected
    placed_class: Any = type("FirstThere", (First,), {**place, "__module__": __name__})
    assert joint(same_view, placed_class) == expected


def test_without_a_place_they_run_last() -> None:
    assert joint(same_view, First) == ["aten.sin.default"]


def test_the_order_given_holds_among_those_of_one_place() -> None:
    """One walk takes both where they stand together; a pass between them parts the walk."""
    assert joint(sin, SinToCos, CosToExp) == ["aten.exp.default"]
    first_cos = xductor.placed(CosToExp, position="first")
    assert joint(sin, SinToCos, first_cos) == ["aten.cos.default"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"before": "pointless_veiw"}, "no such pass.*Did you mean 'pointless_view'"),
        ({"after": "reorder_for_locality"}, "That one is of the post_grad stage"),
        ({"after": "lint_and_recompile"}, "finish the stage"),
        ({"position": "frist"}, "Did you mean 'first'"),
        ({"before": "pointless_view", "position": "first"}, "found (position|before) and "),
        ({"before": 3}, "before is 3"),
        ({}, "found none"),
    ],
    ids=str,
)
def test_a_place_that_there_is_not_is_refused(place: dict[str, Any], message: str) -> None:
    with pytest.raises(placement.PlacementError, match=message):
        xductor.placed(First, **place)
    if not place:
        return
    with pytest.raises((PatternError, SettingsError), match=message):
        checked_settings(
            {"xductor.rewrites": [type("Wrong", (First,), {**place, "__module__": __name__})]}
        )


@pytest.mark.parametrize("what", [None, 3, "mm_plus_mm"])
def test_only_rewrites_have_a_place(what: Any) -> None:
    with pytest.raises(TypeError, match="takes a rewrite or pass"):
        xductor.placed(what, position="last")


def test_the_place_is_part_of_the_identity() -> None:
    here = [
        rewrite_identity(one)
        for one in (
            First,
            xductor.placed(First, position="first"),
            xductor.placed(First, before="pointless_view"),
            xductor.placed(NegNeg, before="pointless_view"),
        )
    ]
    assert None not in here
    assert len(set(here)) == 4


def test_an_instance_has_an_identity_after_it_ran() -> None:
    one = SinToCos()
    before = rewrite_identity(one)
    assert joint(sin, one) == ["aten.cos.default"]
    assert rewrite_identity(one) == before is not None


# Side by side.


def library(name: str) -> type[Rewrite]:
    """A library's rewrite called NegNeg, as every library may have one."""
    return type("NegNeg", (NegNeg,), {"__module__": name, "__qualname__": "NegNeg"})


def test_rewrites_of_one_name_are_told_apart() -> None:
    ours, theirs = library("lib_a.rewrites"), library("lib_b.rewrites")
    both = Settings.from_options({"xductor.rewrites": [ours, theirs]})
    gm = traced(lambda x: torch.sin(torch.neg(torch.neg(x))), torch.randn(4))
    with settings.use(both), stage_records.record() as records:
        xductor.joint_graph_passes(gm)
    assert targets(gm) == ["aten.sin.default"]
    assert counters["xductor"]["lib_a.rewrites.NegNeg"] == 1
    assert "lib_b.rewrites.NegNeg" not in counters["xductor"]
    (application,) = records[0].applications_made
    assert application.rewrite == "neg_neg"
    assert application.source == "lib_a.rewrites.NegNeg"


@pytest.mark.filterwarnings("ignore::xductor.backend.stage_runs.applications.ContractWarning")
@pytest.mark.parametrize("order", [(Fails, SinToCos), (SinToCos, Fails)])
def test_one_that_fails_leaves_the_others(order: tuple[Any, ...]) -> None:
    assert joint(sin, *order, on_error="fallback") == ["aten.cos.default"]


def test_one_that_fails_is_named() -> None:
    forget_warnings()
    with pytest.warns(applications.ContractWarning, match=r"rewrite fails.*shpae"):
        joint(lambda x: torch.sin(x) + 1, Fails, on_error="fallback")
    with pytest.raises(StageError, match="shpae") as caught:
        joint(sin, Fails, SinToCos)
    assert Path(str(caught.value).rpartition("to reproduce: ")[2]).exists()


def test_the_reproducer_of_a_rewrite_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    with pytest.raises(StageError):
        joint(sin, Fails)
    (path,) = tmp_path.glob("*.mlir")
    command = path.read_text().splitlines()[0]
    assert command.startswith(f"// xductor-opt {path} -p 'fails' --load-pass-plugin {__file__}")
    with pytest.raises(RunLineFailed, match=r"exit status 1(.|\n)*did you mean `shape`"):
        run_pipeline(split_pipeline(command.removeprefix("// ")), path, "")


def test_a_pass_that_fails_is_undone_alone() -> None:
    forget_warnings()
    with pytest.warns(FallbackWarning, match="raises_afterwards failed.*goes on without it"):
        found = joint(
            lambda x: torch.exp(torch.sin(x.view(4)) - 1),
            RaisesAfterwards,
            SinToCos,
            on_error="fallback",
        )
    # Inductor's passes ran (no view), and so did the rewrite behind the one that failed.
    assert found == ["aten.cos.default", "aten.sub.Tensor", "aten.exp.default"]
    with pytest.raises(RuntimeError, match="half-way"):
        joint(sin, RaisesAfterwards)


# Registered for the process.


def test_registered_rewrites_run_until_they_are_unregistered() -> None:
    assert joint_of_process() == ["aten.sin.default"]
    with xductor.register_rewrites([SinToCos]) as registration:
        assert joint_of_process() == ["aten.cos.default"]
        more = xductor.register_rewrites([CosToExp, SinToCos])
        assert registered_rewrites.registered() == (SinToCos, CosToExp)
        assert joint_of_process() == ["aten.exp.default"]
        more.unregister()
        more.unregister()
        assert joint_of_process() == ["aten.cos.default"]
    assert joint_of_process() == ["aten.sin.default"]
    assert registration not in registered_rewrites._registrations


def joint_of_process() -> list[str]:
    return targets(xductor.joint_graph_passes(traced(sin, torch.randn(4))))


def test_what_is_no_rewrite_is_not_registered() -> None:
    with pytest.raises(SettingsError, match="is no rewrite or pass"):
        xductor.register_rewrites([int])
    assert registered_rewrites.registered() == ()


def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


class MmOnce(Rewrite):
    """Wrong, and so visible: mm(mm(x, w), w) is mm(x, w)."""

    stage = "joint"

    def pattern(self, x: Tensor, w: Tensor):
        return aten.mm(aten.mm(x, w), w)

    def replacement(self, x: Tensor, w: Tensor):
        return aten.mm(x, w)


class Never(MmOnce):
    def where(self) -> Any:
        return no("never")


@pytest.mark.parametrize("backend", ["xductor", "inductor"])
def test_a_registration_is_part_of_a_compile_and_of_its_key(backend: str, empty_cache: Any) -> None:
    x, w = torch.randn(4, 4), torch.randn(4, 4)

    def run() -> tuple[torch.Tensor, int]:
        torch._dynamo.reset()
        counters.clear()
        with warnings.catch_warnings(), xductor.installed():
            warnings.simplefilter("ignore")
            out = torch.compile(chain, backend=backend)(x, w)
        return out, counters["inductor"]["fxgraph_cache_hit"]

    plain, hits = run()
    assert hits == 0
    with xductor.register_rewrites([MmOnce]):
        changed, hits = run()
        assert hits == 0
        torch.testing.assert_close(changed, torch.mm(x, w))
        _, hits = run()
        assert hits == 1
    again, hits = run()
    assert hits == 1
    torch.testing.assert_close(again, plain)
    with xductor.register_rewrites([Never]):
        other, hits = run()
    assert hits == 0
    torch.testing.assert_close(other, plain)
