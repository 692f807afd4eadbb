"""A typed pass that stands for an entry of a table stands for one that is there."""

from __future__ import annotations

import pytest

from xductor.backend.steps import stock
from xductor.backend.steps.user_patterns import homes_in
from xductor.transforms.rows import registry

_STAGES = {"joint": "joint_graph", "post_grad": "post_grad"}


def _tables() -> list[tuple[str, str, str]]:
    return [
        (one.stage, one.table, one.name)
        for one in registry.rows()
        if one.table.startswith("pass_patterns[")
    ]


@pytest.mark.parametrize(("stage", "table", "name"), _tables())
def test_the_entry_is_in_the_table(stage: str, table: str, name: str) -> None:
    module = _STAGES[stage]
    stock.lookup(f"{module}:lazy_init")()
    number = int(table.removeprefix("pass_patterns[").removesuffix("]"))
    found = stock.lookup(f"{module}:pass_patterns")[number]
    home = registry.home(name)
    assert homes_in(found, frozenset((home,))) == {home}
