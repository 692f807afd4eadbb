"""Every declared rewrite of our passes, and every no-op rule, on generated instances."""

from __future__ import annotations

from typing import Any

import pytest

from xductor.backend.cli import main as command
from xductor.transforms import Rewrite
from xductor.transforms.noops.noop_registry import NOOP_RULES, NoopRule
from xductor.transforms.rows import registry
from xductor.transforms.rows.registry import typed_class
from xductor.transforms.validation.call_validation import validate_calls
from xductor.transforms.validation.validate import validate

REWRITES = registry.declared_rewrites()


def test_the_registry_knows_its_rewrites() -> None:
    names = {one.name for one in REWRITES}
    assert {"pointless_view", "pointless_view_pair", "pointless_convert"} <= names
    assert names == {row.name for row in registry.rows() if row.kind == "declared"}


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda one: one.__name__)
def test_declared_rewrite(rewrite: type[Rewrite]) -> None:
    result = validate(rewrite, instances=12, rounds=3).raise_if_wrong()
    assert result.instances >= 3
    assert result.runs >= result.instances


@pytest.mark.parametrize("name", NOOP_RULES)
def test_noop_rule(name: str) -> None:
    result = validate_calls(name, typed_class("remove_noop_ops")(), instances=5, rounds=3)
    assert result.violations == []
    assert result.instances > 0, result


def test_a_wrong_noop_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = NoopRule("self", lambda op, source, facts: True)
    rules: Any = {**NOOP_RULES, "aten.neg.default": wrong}
    monkeypatch.setattr("xductor.transforms.noops.remove_noop_ops.NOOP_RULES", rules)
    result = validate_calls("aten.neg.default", typed_class("remove_noop_ops")(), instances=5)
    assert result.status == "violated"
    assert "values differ" in str(result)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    assert command.main(["validate", "pointless_permute_pair", "--instances", "3"]) == 0
    shown = capsys.readouterr().out
    assert "pointless_permute_pair: validated, exact, 3 instances" in shown
    assert "ranks: " in shown
    file = tmp_path / "mine.py"
    file.write_text(
        "from xductor import Rewrite, Tensor\n"
        "from xductor.ir import aten\n"
        "class Wrong(Rewrite):\n"
        "    stage = 'joint'\n"
        "    def pattern(self, x: Tensor):\n"
        "        return aten.sin(aten.cos(x))\n"
        "    def replacement(self, x: Tensor):\n"
        "        return aten.cos(aten.sin(x))\n"
    )
    assert command.main(["validate", f"{file}:Wrong", "--instances", "3"]) == 1
    assert "wrong: violated" in capsys.readouterr().out
    assert command.main(["validate", "pointless_veiw"]) == 2
    assert "pointless_view" in capsys.readouterr().err
