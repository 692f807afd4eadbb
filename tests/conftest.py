"""What every test runs under: one thread, a temporary Inductor cache, a clean Dynamo afterwards."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator

import pytest

_CACHE_ROOT = "XDUCTOR_TEST_CACHE_ROOT"


def _prepare_environment() -> None:
    """Set what torch reads at import; the workers of pytest-xdist inherit it."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MKL_NUM_THREADS", "1")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    if _CACHE_ROOT not in os.environ:
        os.environ[_CACHE_ROOT] = tempfile.mkdtemp(prefix="xductor-test-cache-")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ[_CACHE_ROOT]


_prepare_environment()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the controller outlives its workers
        shutil.rmtree(os.environ.pop(_CACHE_ROOT, ""), ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not on_gpu:
        return
    import torch

    if torch.cuda.is_available():
        return
    for item in on_gpu:
        item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture(autouse=True)
def _validate_applications() -> Iterator[None]:
    """`XDUCTOR_VALIDATE=values` validates what tests apply themselves as it does in compiles."""
    if os.environ.get("XDUCTOR_VALIDATE") != "values":
        yield
        return
    from xductor.transforms.validation.values import validating

    with validating():
        yield


@pytest.fixture(autouse=True)
def _clean_torch_state() -> Iterator[None]:
    """Seed before, and forget what was compiled after: no test sees another's graphs.

    Inductor's numeric check leaves deterministic algorithms switched on.
    """
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].use_deterministic_algorithms(False)
    if "torch._dynamo" in sys.modules:
        import torch._dynamo.utils

        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
