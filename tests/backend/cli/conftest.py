"""The graphs of the script beside this file, captured once."""

from pathlib import Path

import pytest

from xductor.backend.cli import main as command

SCRIPT = Path(__file__).with_name("three_graph_breaks.py")


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the graphs of two steps of training, the second with other sizes."""
    folder = tmp_path_factory.mktemp("captured")
    assert command.main(["capture", str(SCRIPT), "-o", str(folder), "--no-codegen"]) == 0
    return folder
