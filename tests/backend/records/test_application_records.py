"""Each application of a procedural pass is on record: op, line of the user's code, types."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import xductor
from tests.specimens.passes import SPECIMENS
from xductor import Rewrite, Tensor
from xductor.backend.fx.export import to_fx
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stage_runs.failures import FallbackWarning, StageError
from xductor.ir import aten, entry_graph
from xductor.transforms import TypedPass, graphs_of
from xductor.transforms.editing.replacement import Replacement
from xductor.transforms.passes.applications import Applied
from xductor.transforms.passes.events import listening

_SLOW = {f"_sfdp_pattern_{number}" for number in range(1, 31) if number not in (1, 5)}
#: Passes whose one application is of no single op, or of an item of an op that stays.
_WHOLE_GRAPH = {"stable_topological_sort", "reorder_for_locality", "dead_code_elimination"}


@pytest.fixture(autouse=True)
def no_code() -> Iterator[None]:
    torch._dynamo.reset()
    with without_codegen():
        yield


@pytest.mark.parametrize("name", sorted(set(SPECIMENS) - _SLOW - _WHOLE_GRAPH))
def test_procedural_passes_tell_of_each_application(name: str) -> None:
    fired = 0
    for specimen in islice(SPECIMENS[name].make(), 6):
        found: list[tuple[str, list[Any], list[Any]]] = []

        def hear(event: Applied, found: list[Any] = found) -> None:
            op, new = event
            assert op.parent is not None
            found.append((op.name, [r.type for r in op.results], [one.type for one in new]))

        module = (specimen.given or specimen.module).clone()
        with listening(Applied, hear):
            applied = specimen.one.rewrite(module)
        assert len(found) == applied
        fired += applied
    assert fired


def program(x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    scores = torch.softmax(q @ q.transpose(-2, -1) / 2.0, dim=-1)
    zeros = torch.zeros(4, 4) * 3
    return (scores @ q).sum() + (x + zeros).sin() + x.cos().to(torch.float32)


def _compiled(function: Any, *inputs: torch.Tensor, **options: Any) -> Any:
    torch._dynamo.reset()
    given = {f"xductor.{name}": value for name, value in options.items()}
    torch.compile(function, backend="xductor", options=given)(*inputs)
    return xductor.last_compile()


def test_a_compile_says_where_and_on_which_types() -> None:
    q = torch.randn(1, 2, 4, 4)
    record = _compiled(program, torch.ones(4, 4), q, numerics="fast", on_error="raise")
    made = {one.rewrite: one for one in record.applications}
    line = program.__code__.co_firstlineno
    expected = {
        "fuse_attention": ("pyfn._operator.matmul", line + 3),
        "remove_no_ops": ("aten.add.Tensor", line + 3),
        "constant_fold_uniform_value": ("aten.mul.Tensor", line + 2),
    }
    for name, (anchor, number) in expected.items():
        assert made[name].anchor == anchor
        assert made[name].where == (__file__, number)
        assert made[name].before
        assert made[name].before == made[name].after
        assert made[name].number in record.numbers
    assert made["fuse_attention"].before == ("!fx.tensor<f32[1, 2, 4, 4], cpu>",)
    (row,) = [one for one in str(record).splitlines() if "fuse_attention at" in one]
    assert Path(__file__).name[:15] in row
    assert "!fx.tensor<f32[1, 2, 4" in row


class NegNeg(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


class SinSin(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.sin(aten.sin(x))

    def replacement(self, x: Tensor) -> Any:
        return aten.sin(aten.cos(x))


def test_an_application_counts_once() -> None:
    record = _compiled(lambda x: x.t().t() + 1, torch.ones(3, 4), on_error="raise")
    assert record.counts() == {"pointless_permute_pair": 1}
    assert len(record.applications) == len(record.numbers) == 1
    assert record.count("pointless_permute_pair") == 1
    assert record.count("pointless_convert") == 0
    assert record.count(record[0]) == 1


def test_rewrites_of_ones_own_count_under_their_names() -> None:
    before = counters["xductor"][NegNeg.qualified_name()]
    record = _compiled(
        lambda x: x.neg().neg().sin().sin().t().t() + x.tanh().neg().neg(),
        torch.ones(3, 3),
        rewrites=[NegNeg, SinSin],
        on_error="raise",
    )
    assert record.counts() == {"pointless_permute_pair": 1, "neg_neg": 2, "sin_sin": 1}
    assert sum(record.counts().values()) == len(record.applications) == len(record.numbers)
    assert counters["xductor"][NegNeg.qualified_name()] == before + 2


def test_what_was_undone_is_not_on_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module that cannot be raised leaves the graph as it was."""
    from xductor.backend.fx import export

    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    monkeypatch.setattr(export, "to_fx", fail)
    before = counters["xductor"][NegNeg.qualified_name()]
    with pytest.warns(FallbackWarning):
        record = _compiled(lambda x: x.neg().neg() + 1, torch.ones(3), rewrites=[NegNeg])
    assert record.counts() == {}
    assert record.applications == []
    assert counters["xductor"][NegNeg.qualified_name()] == before


@dataclass(frozen=True)
class _Negations(TypedPass):
    """neg(neg(x)) is x, as a user writes it; what it answers differs."""

    stage = "joint"
    inductor = ""
    roots = frozenset({"aten.neg.default"})

    def remove(self, module: ModuleOp) -> int:
        applied = 0
        for graph in graphs_of(module):
            replacement = Replacement(graph)
            for outer in replacement.analyses.named(("aten.neg.default",)):
                inner = outer.operands[0].owner
                if isinstance(inner, Operation) and inner.name == outer.name:
                    replacement.replace(outer, inner.operands[0])
                    applied += 1
        return applied


class Says(_Negations):
    name = "says"

    def rewrite(self, module: ModuleOp) -> int:
        return self.remove(module)


class Forgets(_Negations):
    name = "forgets"

    def rewrite(self, module: ModuleOp) -> int:
        self.remove(module)
        return None  # type: ignore[return-value]


class Hides(_Negations):
    name = "hides"

    def rewrite(self, module: ModuleOp) -> int:
        self.remove(module)
        return 0


class Renumbers(_Negations):
    """Changes an argument, and no op."""

    name = "renumbers"

    def rewrite(self, module: ModuleOp) -> int:
        for op in entry_graph(module).block.ops:
            if op.name == "aten.neg.default":
                op.operands[0] = entry_graph(module).block.args[0]
        return 0


class Text(_Negations):
    name = "text"

    def rewrite(self, module: ModuleOp) -> int:
        return "1"  # type: ignore[return-value]


class Negative(_Negations):
    name = "negative"

    def rewrite(self, module: ModuleOp) -> int:
        return -1


class Boasts(_Negations):
    name = "boasts"

    def rewrite(self, module: ModuleOp) -> int:
        return 5


class Agrees(_Negations):
    name = "agrees"

    def rewrite(self, module: ModuleOp) -> int:
        return True


def negations(x: torch.Tensor) -> torch.Tensor:
    return x.sin().neg().neg() * x.t().t()


def test_a_procedural_pass_of_ones_own_is_on_record() -> None:
    record = _compiled(negations, torch.ones(3, 3), rewrites=[Says], on_error="raise")
    assert record.counts() == {"pointless_permute_pair": 1, "says": 1}
    (made,) = [one for one in record.applications if one.rewrite == "says"]
    assert made.anchor == "aten.neg.default"
    assert made.where == (__file__, negations.__code__.co_firstlineno + 1)
    assert made.before == made.after == ("!fx.tensor<f32[3, 3], cpu>",)


@pytest.mark.parametrize("one", [Forgets, Hides, Renumbers, Text, Negative, Boasts, Agrees])
def test_a_pass_that_does_not_say_what_it_did(
    one: type[TypedPass], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDUCTOR_DEBUG_DIR", str(tmp_path))
    x = torch.rand(3, 3)
    code = one.rewrite.__code__
    place = rf"pass {one.name} \(joint; .*{Path(__file__).name}:{code.co_firstlineno}"
    with pytest.raises(Exception, match=place) as raised:
        _compiled(negations, x, rewrites=[one], on_error="raise")
    assert isinstance(getattr(raised.value, "inner_exception", raised.value), StageError)
    torch._dynamo.reset()
    options: Any = {"xductor.rewrites": [one, Says]}
    with pytest.warns(FallbackWarning, match=place):
        found = torch.compile(negations, backend="xductor", options=options)(x)
    assert torch.equal(found, negations(x))
    assert xductor.last_compile().counts() == {"pointless_permute_pair": 1, "says": 1}


def test_a_pass_that_answers_wrongly_outside_of_a_compile() -> None:
    text = """
    fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
      %a = aten.neg.default %x : !fx.tensor<f32[4], cpu>
      fx.output (%a)
    }
    """
    module = xductor.parse_ir(text)
    with pytest.raises(Exception, match=r"pass forgets .*returned None; expected the number"):
        Forgets().apply(None, module)  # type: ignore[arg-type]
    assert to_fx(module) is not None


def test_quiet_passes_are_not_accused() -> None:
    """A pass of ours that does nothing is believed; so is one of a user's that does nothing."""

    class Nothing(_Negations):
        name = "nothing"

        def rewrite(self, module: ModuleOp) -> int:
            return 0

    with warnings.catch_warnings(), stage_records.record() as records:
        warnings.simplefilter("error")
        _compiled(negations, torch.ones(3, 3), rewrites=[Nothing], on_error="raise", verify="stage")
    ran = [one.name for record in records for one in record.passes]
    assert "nothing" in ran
