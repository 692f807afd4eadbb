"""The scripts by which Inductor lets a compile be repeated: those of ours install xductor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.repro import after_dynamo

from tests.backend.paths.through_stages import StageRecords, chain, run_script, square
from xductor.backend.config import versions

# What stands at the end of a script that was run, to say which stages it ran and how.
_TELL = """
from xductor.backend.records import stage_records
print([(record.stage, record.verify_level) for record in stage_records.recent()])
"""


@pytest.fixture
def runnable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ``fx_graph_runnable`` artifacts of the compiles in the test."""
    found: list[str] = []
    module = versions.compile_fx_module()
    stock: Callable[..., Any] = module.trace_structured

    def trace_structured(name: str, *args: Any, **keywords: Any) -> None:
        metadata = keywords.get("metadata_fn", dict)()
        if metadata.get("name") == "fx_graph_runnable":
            found.append(keywords["payload_fn"]())
        stock(name, *args, **keywords)

    monkeypatch.setattr(module, "trace_structured", trace_structured)
    return found


@pytest.mark.slow
def test_runnable_graph(stages: StageRecords, runnable: list[str], tmp_path: Path) -> None:
    """It compiles the graph behind the joint stage, through our post-grad stage."""
    options = {"xductor.verify": "types"}
    torch.compile(chain, backend="xductor", options=options)(square(), square())
    assert stages.names()
    (script,) = runnable
    said = run_script(f"{script}\n{_TELL}", tmp_path).strip().splitlines()[-1]
    assert said == "[('post_grad', 'types')]"


def test_runnable_graph_of_stock(runnable: list[str]) -> None:
    torch.compile(chain, backend="inductor")(square(), square())
    (script,) = runnable
    assert "xductor" not in script


def test_script_of_a_backend() -> None:
    """A script made before Inductor names the backend, and so finds ours."""
    gm = torch.fx.symbolic_trace(lambda x, w: (chain(x, w),))
    script = after_dynamo.generate_dynamo_fx_repro_string(
        gm, [square(), square()], "xductor", stable_output=True
    )
    assert "backend='xductor'" in script
