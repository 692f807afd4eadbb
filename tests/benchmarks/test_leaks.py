"""Two hundred compiles in a row leave nothing in memory that belonged to one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch._functorch import config as functorch_config
from torch._inductor import config as inductor_config
from torch._inductor.output_code import OutputCode
from torch._inductor.virtualized import V
from torch.fx import GraphModule

from tests.live_objects import census
from xductor.backend.config import versions
from xductor.backend.seam import dispatch

COMPILES = 200


class GraphAsCode(OutputCode):
    """What Inductor would have generated code for, run as the graph it is."""

    def __init__(self, gm: GraphModule) -> None:
        super().__init__()
        self._boxed_call = True
        self._gm = gm

    def post_compile(self, *args: Any) -> None: ...

    def set_triton_bundle(self, triton_bundle: Any) -> None: ...

    def __call__(self, inputs: Sequence[Any]) -> Any:
        return torch.fx.Interpreter(self._gm).run(*inputs)


@pytest.fixture
def no_code_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inductor up to its post-grad passes, and no further."""
    module: Any = versions.compile_fx_module()

    def codegen_and_compile(
        self: Any,
        gm: GraphModule,
        example_inputs: Sequence[Any],
        inputs_to_check: Sequence[int],
        graph_kwargs: dict[str, Any],
    ) -> OutputCode:
        with V.set_fake_mode(module.fake_tensor_prop(gm, example_inputs)):
            module._recursive_post_grad_passes(gm, graph_kwargs.get("is_inference", False))
        return GraphAsCode(gm)

    monkeypatch.setattr(module._InProcessFxCompile, "codegen_and_compile", codegen_and_compile)


def block(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Little, for speed, and something for each stage to do."""
    hidden = torch.relu(torch.mm(x.clone(), w))
    return x + hidden.view(-1, 2, 2).view(x.shape[0], 4)


def train_once(index: int) -> None:
    """Compile and run forward and backward; every twentieth time with dynamic shapes."""
    torch._dynamo.reset()
    x = torch.randn(3 + index % 5, 4, requires_grad=True)
    w = torch.randn(4, 4, requires_grad=True)
    options = {"xductor.on_error": "raise", "xductor.verify": ("structure", "types")[index % 2]}
    compiled = torch.compile(block, backend="xductor", dynamic=index % 20 == 3, options=options)
    out = compiled(x, w)
    torch.testing.assert_close(out, block(x, w))
    out.sum().backward()


def leftover(work: Callable[[int], None], times: int) -> Counter[str]:
    """What ``times`` calls leave behind that the first few do not."""
    for index in range(4):
        work(index)
    before = census()
    for index in range(times):
        work(index)
    return census() - before


@pytest.mark.slow
@pytest.mark.usefixtures("no_code_generation")
def test_compiles_leave_nothing_behind():
    stages: Counter[str] = Counter()
    with (
        inductor_config.patch(fx_graph_cache=False),
        functorch_config.patch(enable_autograd_cache=False),
        pytest.MonkeyPatch.context() as patched,
    ):
        look_up = dispatch.stage_function

        def counted(stage: Any) -> Callable[..., Any]:
            stages[stage] += 1
            return look_up(stage)

        patched.setattr(dispatch, "stage_function", counted)
        assert leftover(train_once, COMPILES) == Counter()
    assert stages["joint"] == stages["pre_grad"] == COMPILES + 4
    assert stages["post_grad"] == 2 * (COMPILES + 4)
