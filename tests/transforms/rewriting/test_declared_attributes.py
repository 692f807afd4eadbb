"""Attributes of rewrites and passes that are none of what they may be: errors of the class."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

import xductor
from xductor import Rewrite, Tensor, one_of
from xductor.backend.config.settings import SettingsError
from xductor.backend.pipelines import places
from xductor.backend.seam.checked_options import checked_settings
from xductor.ir import aten as _aten
from xductor.ir import parse_ir
from xductor.transforms import ALL_SPELLINGS, TypedPass
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.declared_attributes import DeclarationError
from xductor.transforms.rewriting.driver import ContractViolation, Driver, RewriteIndex
from xductor.transforms.rows import registry

aten: Any = _aten  # the stubs know what is misspelt, too


def _rewrite(**members: Any) -> type[Rewrite]:
    def pattern(self: Any, x: Tensor) -> Any:
        return aten.sin(x)

    def replacement(self: Any, x: Tensor) -> Any:
        return aten.cos(x)

    given = {"stage": "joint", "pattern": pattern, "replacement": replacement, **members}
    return type("Given", (Rewrite,), given)


def _pass(**members: Any) -> type[TypedPass]:
    given = {"name": "given", "stage": "joint", "rewrite": lambda self, module: 0, **members}
    return type("Given", (TypedPass,), given)


COMMON: list[tuple[dict[str, Any], str]] = [
    ({"stage": "jiont"}, "no stage is called 'jiont'. Did you mean 'joint'"),
    ({"stage": ("joint", "postgrad")}, "Did you mean 'post_grad'"),
    ({"stage": ()}, "stage is (); expected a stage"),
    ({"stage": 5}, "no stage is called 5"),
    ({"numerics": "exat"}, "Did you mean 'exact'"),
    ({"numerics": None}, "numerics is None; it is one of 'exact'"),
    ({"inductor": 3}, "inductor is 3; expected text"),
    ({"name": 3}, "name is 3; expected text"),
    ({"name": ""}, "expected a name"),
    ({"counter": 3}, "counter is 3; expected the name of a counter"),
    ({"position": "frist"}, "Did you mean 'first'"),
    ({"before": "pointless_veiw"}, "joint stage has no such pass. Did you mean 'pointless_view'"),
    ({"after": "reorder_for_locality"}, "That one is of the post_grad stage"),
    ({"before": 3}, "before is 3; expected the name of a pass"),
    ({"before": "pointless_view", "after": "pad_mm"}, "found after and before"),
]
OF_REWRITES: list[tuple[dict[str, Any], str]] = [
    ({"devices": ("cpuu",)}, "with 'cpuu' in it; expected a tuple of kinds of device"),
    ({"devices": ("cpuu",)}, "Did you mean 'cpu'"),
    ({"devices": ("cuda:0",)}, "with 'cuda:0' in it"),
    ({"devices": ("cpu", 3)}, "with 3 in it"),
    ({"devices": "cpu"}, "devices is 'cpu'; expected a tuple"),
    ({"through": "ALL"}, "Did you mean 'ALL_SPELLINGS'"),
    ({"through": ("ALL",)}, "Did you mean 'ALL_SPELLINGS'"),
    ({"through": ALL_SPELLINGS[0]}, "expected a tuple of spellings"),
    ({"once": "yes"}, "once is 'yes'; expected True or False"),
    ({"keeps": ("x",)}, "expected the name of a variable"),
    ({"keeps": "y"}, "keeps is 'y'; `pattern` binds x"),
    *[
        ({name: wrong}, f"{name} is {wrong!r}; expected a method")
        for name in ("pattern", "where", "pays", "replacement", "instances", "uuid")
        for wrong in (None, 3)
    ],
    ({"replacement": lambda self, x: None}, "returns nothing"),
    ({"replacement": lambda self, x: aten.add(x, x, alpa=2)}, "Did you mean 'alpha'"),
    ({"replacement": lambda self, x: aten.neg(aten.add.Tensor(x, x, alpa=2))}, "'alpha'"),
    ({"replacement": lambda self, x: aten.sum(x, [0], keepdims=True)}, "Did you mean 'keepdim'"),
]
OF_PASSES: list[tuple[dict[str, Any], str]] = [
    ({"numeric": "exact"}, "no use for `numeric`: .*Did you mean 'numerics'"),
    ({"rootz": frozenset()}, "Did you mean 'roots'"),
    ({"devices": ("cpu",)}, "no use for `devices`"),
    ({"befor": "pointless_view"}, "Did you mean 'before'"),
    ({"roots": "aten.sin.default"}, "expected a frozenset of operators"),
    ({"roots": frozenset(("aten.siin.default",))}, "Did you mean 'aten.sin.default'"),
    ({"roots": frozenset(("sin",))}, "with 'sin' in it"),
    ({"roots": frozenset((3,))}, "with 3 in it"),
    ({"preserves": frozenset(("memry",))}, "Did you mean 'memory'"),
    ({"preserves": "memory"}, "expected a frozenset"),
    ({"matched_nodes": "3"}, "expected a number of nodes"),
    ({"rewrite": None}, "rewrite is None; expected a method"),
    ({"may_fire": 3}, "may_fire is 3; expected a method"),
]


def _plain(message: str) -> str:
    return ".*".join(map(re.escape, message.split(".*")))


@pytest.mark.parametrize(("members", "said"), [*COMMON, *OF_REWRITES])
def test_of_a_rewrite(members: dict[str, Any], said: str) -> None:
    with pytest.raises(PatternError, match=_plain(said)) as raised:
        _rewrite(**members)
    assert "given" in str(raised.value).lower()


@pytest.mark.parametrize(("members", "said"), [*COMMON, *OF_PASSES])
def test_of_a_procedural_pass(members: dict[str, Any], said: str) -> None:
    with pytest.raises(DeclarationError, match=_plain(said)) as raised:
        _pass(**members)
    assert "Given" in str(raised.value)


@pytest.mark.parametrize(
    "members",
    [
        {"stage": ("joint", "post_grad"), "before": "remove_noop_ops"},
        {"after": "early_patterns"},
        {"position": "last", "counter": None},
    ],
    ids=str,
)
def test_what_is_right(members: dict[str, Any]) -> None:
    assert _rewrite(**members)
    assert _pass(**members)


def test_what_is_right_of_one_kind() -> None:
    assert _rewrite(devices=("cpu", "cuda", "xpu"), through=ALL_SPELLINGS, once=True, keeps="x")
    assert _rewrite(replacement=lambda self, x: aten.add(x, x, alpha=2))
    assert _rewrite(replacement=lambda self, x: _named(anything=aten.neg(x)))
    assert _pass(roots=frozenset(("aten.sin", "method.clone", "later.op.default", abs)))
    assert _pass(preserves=frozenset(("memory", "of_mine")), matched_nodes=2, _own=3)
    assert _pass(limit=3, __annotations__={"limit": int})
    assert _pass(limit=3, rewrite=lambda self, module: self.limit)


@pytest.mark.parametrize("root", [lambda x: x, lambda x: one_of(aten.sin(x), x), lambda x: None])
def test_a_pattern_whose_root_is_no_op(root: Any) -> None:
    def pattern(self: Any, x: Tensor) -> Any:
        return root(x)

    with pytest.raises(PatternError, match=rf"given\.pattern \(.*{__name__.split('.')[-1]}.*\): "):
        _rewrite(pattern=pattern)


def _named(anything: Any) -> Any:
    return anything


@dataclass(frozen=True)
class OfTheOption(Rewrite):
    stage = "joint"

    whole: bool = True

    def pattern(self, x: Tensor) -> Any:
        return aten.sin(x) if self.whole else x

    def replacement(self, x: Tensor) -> Any:
        return aten.cos(x)


def test_a_pattern_that_is_none_with_the_options_of_an_instance() -> None:
    """Said where the backend is made, not in the middle of a compile."""
    for one in (OfTheOption(False), xductor.placed(OfTheOption(False), position="first")):
        with pytest.raises(SettingsError, match=r"of_the_option\.pattern .*no call of an operator"):
            checked_settings({"xductor.rewrites": [one]})
    checked_settings({"xductor.rewrites": [OfTheOption()]})


def test_a_replacement_that_may_return_nothing() -> None:
    def replacement(self: Any, x: Tensor) -> Any:
        if x.ndim > 3:
            return aten.cos(x)
        return None

    module = parse_ir(
        "fx.graph @f stage(joint) (%x : !fx.tensor<f32[4], cpu>) {\n"
        "  %a = aten.sin.default %x : !fx.tensor<f32[4], cpu>\n  fx.output (%a,)\n}\n"
    )
    driver = Driver(RewriteIndex([_rewrite(replacement=replacement)()]))
    with pytest.raises(ContractViolation, match="rewrite given: `replacement` returned nothing"):
        driver.rewrite(module)


@pytest.mark.parametrize("stage", ["pre_grad", "joint", "post_grad"])
def test_the_names_are_those_of_the_pipelines(stage: Any) -> None:
    assert places._all_names(stage) <= registry.place_names(stage)
    for name in registry.STEP_NAMES[stage]:
        assert name in places._all_names(stage)
