"""The corpus is imported as `tests.corpus`, by its tests as by its command."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch._inductor.config as inductor_config

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))


@pytest.fixture(autouse=True)
def _no_caches() -> Iterator[None]:
    with inductor_config.patch(force_disable_caches=True):
        yield


@pytest.fixture(autouse=True)
def _needed_package(request: pytest.FixtureRequest) -> None:
    """Skip the cases of models whose package is not installed."""
    case = getattr(request.node, "callspec", None)
    package = getattr(case and case.params.get("case"), "needs", None)
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
