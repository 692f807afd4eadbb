"""xDSL's own tools find our dialects and passes through the entry point."""

from __future__ import annotations

import pytest
from xdsl.universe import Universe

from xductor.transforms.rows import registry
from xductor.transforms.rows.universe import UNIVERSE


def test_the_entry_point_leads_here_and_clashes_with_nothing() -> None:
    everything = Universe.get_multiverse()
    assert everything.all_passes.keys() >= registry.passes_for_cli().keys()
    assert everything.all_dialects["aten"] is UNIVERSE.all_dialects["aten"]


@pytest.mark.parametrize(
    ("dialect", "op"),
    [("fx", "fx.graph"), ("aten", "aten.mm.default"), ("prims", "prims.iota.default")],
)
def test_a_dialect_holds_its_ops(dialect: str, op: str) -> None:
    found = UNIVERSE.all_dialects[dialect]()
    assert found.name == dialect
    names = [cls.name for cls in found.operations]
    assert op in names
    assert len(names) == len(set(names))
    assert all(name.startswith(f"{dialect}.") for name in names)
