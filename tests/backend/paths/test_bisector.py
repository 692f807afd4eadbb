"""The compiler bisector finds the application of a pass that breaks a program, ours as stock's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch._inductor.compiler_bisector import CompilerBisector
from xdsl.dialects.builtin import ModuleOp

from tests.backend.paths.through_stages import OPTIONS, StageRecords, chain, square
from xductor.backend.seam import dispatch
from xductor.transforms import EXACT, TypedPass

_MM = "aten.mm.default"


class SwappedProducts(TypedPass):
    """A planted error: the operands of a product change places."""

    name = "swapped_products"
    stage = "joint"
    numerics = EXACT
    roots = frozenset((_MM,))

    def rewrite(self, module: ModuleOp) -> int:
        products = [op for op in module.walk() if op.name == _MM]
        for op in products:
            op.operands = [op.operands[1], op.operands[0]]
        return len(products)


@pytest.fixture(autouse=True)
def _no_bisection_left() -> Iterator[None]:
    yield
    CompilerBisector.bisection_enabled = False
    CompilerBisector.in_process_cache = None


def works() -> bool:
    """Compile in this very moment: the bisector changes the backend that ``compile`` takes."""
    torch._dynamo.reset()
    x, w = square(), square()
    return torch.allclose(torch.compile(chain)(x, w), chain(x, w), atol=1e-5)


@pytest.mark.slow
def test_names_the_pass(stages: StageRecords) -> None:
    dispatch.install(OPTIONS)
    assert works()
    dispatch.install({**OPTIONS, "xductor.rewrites": [SwappedProducts]})
    assert not works()
    stages.take()
    found = CompilerBisector.do_bisect(works)
    assert found is not None
    assert (found.backend, found.subsystem) == ("inductor", "joint_graph_passes")
    assert "swapped_products" in str(found.debug_info)
    assert stages.names()
