"""Tracing functions into the typed IR, running passes over it, and comparing with eager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms import Rewrite, TypedPass
from xductor.transforms.rewriting.rewrite_pass import RewritePass

Function = Callable[..., Any]


@dataclass
class Case:
    """A function's graph in FX and in the IR; passes change the IR alone."""

    gm: torch.fx.GraphModule | None
    module: ModuleOp

    @property
    def ops(self) -> list[str]:
        """Names of the ops but the output."""
        return [op.name for op in entry_graph(self.module).block.ops][:-1]

    @property
    def text(self) -> str:
        return print_ir(self.module)

    def run(self, one: TypedPass | Rewrite | type[Rewrite]) -> int:
        """Run a pass or a rewrite; what it leaves must verify, print and parse."""
        typed = one if isinstance(one, TypedPass) else RewritePass.of([one])
        before = self.text
        applications = typed.rewrite(self.module)
        verify(self.module, "structure")
        after = self.text
        assert (before == after) == (applications == 0)
        assert same(parse_ir(after), self.module)
        return applications

    def check_values(self, *inputs: Any) -> None:
        """The module computes what the FX graph does, bit for bit, with the same layouts,
        and its outputs share storage with inputs and each other exactly as before."""
        from xductor.backend.fx.export import to_fx

        assert self.gm is not None
        expected = _observe(self.gm, inputs)
        found = _observe(to_fx(self.module), inputs)
        assert found == expected


def _observe(function: Function, inputs: Sequence[Any]) -> Any:
    copies = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
    outputs = function(*copies)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    tensors = [one for one in (*copies, *outputs) if isinstance(one, torch.Tensor)]
    storages = [one.untyped_storage().data_ptr() for one in tensors]
    sharing = [
        storages.index(storage) if tensor.numel() else -1
        for storage, tensor in zip(storages, tensors, strict=True)
    ]
    same_tensor = [[a is b for b in tensors] for a in tensors]
    return [_bits(one) for one in tensors], sharing, same_tensor


def _bits(tensor: torch.Tensor) -> Any:
    """Everything visible of a tensor; every NaN is one."""
    values = tensor.detach().contiguous()
    if values.is_floating_point():
        values = torch.where(values.isnan(), torch.full_like(values, float("nan")), values)
        width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()]
        values = values.view(width)
    return (
        values.tolist(),
        tensor.dtype,
        tuple(tensor.shape),
        tensor.stride(),
        tensor.storage_offset(),
    )


@pytest.fixture
def trace() -> Callable[..., Case]:
    """`trace(f, *inputs, dynamic=False, stage="joint")`: the graph that make_fx records."""

    def run(function: Function, *inputs: Any, dynamic: bool = False, stage: str = "joint") -> Case:
        mode = "symbolic" if dynamic else "fake"
        gm = make_fx(function, tracing_mode=mode)(*inputs)
        return Case(gm, from_fx(gm, stage))

    return run


@pytest.fixture
def parse() -> Callable[[str], Case]:
    """The case of a text."""

    def run(text: str) -> Case:
        module = parse_ir(text)
        verify(module, "structure")
        return Case(None, module)

    return run


SPECIAL = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -3.0, 1e-45, 65504.0, 1e30)


@pytest.fixture
def special() -> Callable[..., torch.Tensor]:
    """A tensor of a shape filled with NaN, infinities, signed zeros, a denormal, large numbers."""

    def fill(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        count = torch.Size(shape).numel()
        repeated = [SPECIAL[index % len(SPECIAL)] for index in range(count)]
        return torch.tensor(repeated, dtype=torch.float64).to(dtype).reshape(shape)

    return fill
