"""The tail of the post-grad stage on a GPU: Triton kernels, constructors, two products in one.

Run them there with `pytest -m gpu tests/backend/pipelines/test_tail_on_gpu.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._inductor import config

from xductor.backend import lowerings
from xductor.backend.records import stage_records

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def _kernel() -> Any:
    triton = pytest.importorskip("triton")
    tl = pytest.importorskip("triton.language")

    @triton.jit
    def add_kernel(x_ptr, y_ptr, count, block: tl.constexpr):  # type: ignore[no-untyped-def]
        place = tl.program_id(0) * block + tl.arange(0, block)
        mask = place < count
        x = tl.load(x_ptr + place, mask=mask)
        y = tl.load(y_ptr + place, mask=mask)
        tl.store(y_ptr + place, x * 2 + y, mask=mask)

    return add_kernel


def _compiled(function: Any, *inputs: Any, name: str, **options: Any) -> int:
    """Compare a compiled function with eager, inputs included; how often a pass was applied."""
    torch._dynamo.reset()
    ours = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
    theirs = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
    compiled = torch.compile(
        function, backend="xductor", options={"xductor.on_error": "raise", **options}
    )
    with torch.no_grad(), stage_records.record() as records:
        found = compiled(*ours)
        expected = function(*theirs)
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    torch.testing.assert_close(ours, theirs)
    return sum(record.applications(name) for record in records)


class TestTritonKernels:
    name = "decompose_triton_kernel_wrapper_functional"

    @pytest.mark.parametrize("case", ["own", "input", "read_later", "twice"])
    def test_values(self, case: str) -> None:
        kernel = _kernel()

        def call(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            kernel[(1,)](x, y, x.numel(), block=64)
            return y

        def function(x: torch.Tensor, y: torch.Tensor) -> Any:
            if case == "input":
                return call(x, y) + 1
            made = y.sin()
            if case == "read_later":
                copy = made.clone()
                call(x, copy)
                return made.cos(), copy
            call(x, made)
            if case == "twice":
                call(made, made)
            return made

        x, y = torch.randn(64, device="cuda"), torch.randn(64, device="cuda")
        assert _compiled(function, x, y, name=self.name) >= 1


class TestConstructors:
    name = "move_constructors_to_gpu"

    def test_places_are_made_there(self) -> None:
        def function(x: torch.Tensor) -> torch.Tensor:
            return x[torch.arange(4) * 2 + 1]

        assert _compiled(function, torch.randn(16, device="cuda"), name=self.name) in (0, 1)

    def test_scalars_of_two_dtypes(self) -> None:
        def function(x: torch.Tensor, a: torch.Tensor, n: torch.Tensor) -> Any:
            return x * a + n, torch.zeros(3)

        inputs = (torch.randn(8, device="cuda"), torch.tensor(1.5), torch.tensor(2**40 + 1))
        with config.patch({"triton.cudagraphs": True, "graph_partition": True}):
            assert _compiled(function, *inputs, name=self.name) == 2

    def test_a_symbolic_float_in_training(self) -> None:
        """The forward converts it on CPU and saves it; both graphs are replayed as CUDA graphs."""

        def function(x: torch.Tensor, scale: float) -> torch.Tensor:
            return (x.sin() * scale).softmax(-1) * scale

        compiled = torch.compile(
            function,
            backend="xductor",
            dynamic=True,
            options={"xductor.on_error": "raise", "triton.cudagraphs": True},
        )
        for scale in (0.5, 0.5, 0.5, 1.5, 1.5, 1.5):
            torch.compiler.cudagraph_mark_step_begin()
            x = torch.randn(16, 32, device="cuda", requires_grad=True)
            found, expected = compiled(x, scale), function(x, scale)
            torch.testing.assert_close(found, expected)
            seed = torch.randn_like(expected)
            gradients = [torch.autograd.grad(one, x, seed)[0] for one in (found, expected)]
            torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("left", [True, False])
def test_two_products(left: bool, dtype: torch.dtype) -> None:
    def function(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return torch.relu(a @ b) @ c if left else a @ torch.relu(b @ c)

    sizes = [(256, 32), (32, 256), (256, 32)] if left else [(32, 256), (256, 32), (32, 256)]
    matrices = [(torch.randn(*size, device="cuda") / 16).to(dtype) for size in sizes]
    applications = _compiled(function, *matrices, name="b2b_gemm_pass", b2b_gemm_pass=True)
    assert applications == (1 if lowerings.tunes_b2b_gemm() else 0)
