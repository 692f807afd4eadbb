"""Graphs with effect tokens go through our own reinplacing: what is behind a token stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch._library.effects import EffectType

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen

seen: list[float] = []


@pytest.fixture(autouse=True)
def _library() -> Iterator[None]:
    library = torch.library.Library("xductor_tokens", "DEF")
    library.define("log(Tensor x) -> ()")
    library.impl("log", lambda x: seen.append(float(x[0])), "CompositeExplicitAutograd")
    library.impl("log", lambda x: None, "Meta")
    handle = torch.library._register_effectful_op("xductor_tokens::log", EffectType.ORDERED)
    yield
    if handle is not None:
        handle.destroy()
    library._destroy()


def test_the_rest_of_the_graph_writes_in_place() -> None:
    def function(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        log = torch.ops.xductor_tokens.log.default
        log(x)
        made = x.sin()
        made[places] = 1.0
        log(made)
        return made

    torch._dynamo.reset()
    inputs = (torch.randn(6), torch.tensor([0, 3]))
    options = {"xductor.on_error": "raise"}
    compiled = torch.compile(function, backend="xductor", options=options)
    with torch.no_grad(), without_codegen(), stage_records.record() as records:
        seen.clear()
        found = compiled(*inputs)
        ours = list(seen)
        seen.clear()
        torch.testing.assert_close(found, function(*inputs))
    assert ours == seen
    assert sum(one.applications("reinplace_inplaceable_ops") for one in records) == 1
    bridged = [one.name for record in records for one in record.passes if one.kind == "bridged"]
    assert "reinplace_inplaceable_ops" not in bridged
