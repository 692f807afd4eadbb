"""Joint graphs of losses, as AOTAutograd makes them, and what of them is chunked."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch._functorch.aot_autograd import aot_function
from torch._functorch.compilers import nop
from torch._functorch.partitioners import default_partition
from torch._inductor.decomposition import select_decomp_table
from torch.fx import Interpreter
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import (
    GraphOp,
    TensorType,
    entry_graph,
    graph_named,
    parse_ir,
    print_ir,
    same,
    verify,
)
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.op_effects import subgraphs_of
from xductor.transforms.auto_chunker import AutoChunker
from xductor.transforms.uniform_values.constant_fold_uniform_value import ConstantFoldUniformValue

CALL = "higher_order.invoke_subgraph"
LOG = "xductor.transforms.auto_chunker"
Loss = Callable[..., torch.Tensor]


ROWS, SIZE, CLASSES = 64, 16, 128


class Targets(NamedTuple):
    """What the logits of 64 rows and 128 classes are compared with."""

    labels: torch.Tensor
    ignored: torch.Tensor
    soft: torch.Tensor
    weight: torch.Tensor

    @classmethod
    def make(cls) -> Targets:
        labels = torch.arange(ROWS) * 7 % CLASSES
        grid = torch.arange(ROWS * CLASSES).view(ROWS, CLASSES)
        return cls(
            labels,
            torch.where(labels % 5 == 0, -100, labels),
            torch.softmax(grid.remainder(13).float(), 1),
            torch.linspace(0.5, 2.0, CLASSES),
        )


@dataclass
class Joint:
    """The joint graph of a loss: inputs, gradients to be, and the tangent of the loss last."""

    gm: torch.fx.GraphModule
    module: ModuleOp
    inputs: list[torch.Tensor]
    reasons: list[str]

    def chunk(self, num_chunk: int = 4, **options: Any) -> int:
        """Run the pass with thresholds that let small products count; what it leaves verifies."""
        given: dict[str, Any] = {"output_size_threshold": 64, "amplify_ratio_threshold": 0.5}
        one = AutoChunker(num_chunk=num_chunk, **(given | options))
        before = print_ir(self.module)
        applied = one.rewrite(self.module)
        verify(self.module, "types")
        after = print_ir(self.module)
        assert (before == after) == (applied == 0)
        assert same(parse_ir(after), self.module)
        return applied

    @property
    def calls(self) -> int:
        return sum(op.name == CALL for op in entry_graph(self.module).block.ops)

    @property
    def bodies(self) -> list[GraphOp]:
        return [op for op in self.module.ops if op is not entry_graph(self.module)]  # type: ignore[misc]

    def large(self, count: int) -> list[str]:
        """The ops of the entry graph that make a value of that many elements."""
        return [
            op.name
            for op in entry_graph(self.module).block.ops
            for result in op.results
            if type(result.type) is TensorType
            and 0 not in result.type.stride
            and math.prod(result.type.shape) >= count  # type: ignore[arg-type]
        ]

    def run(self, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """What the module gives: the loss, then the gradients."""
        return tree_leaves(to_fx(self.module)(*inputs))

    def check_values(self, tangent: float = 1.5, tolerance: float = 1e-5) -> None:
        """The module computes what the FX graph does, within rounding."""
        inputs = [*self.inputs[:-1], torch.full_like(self.inputs[-1], tangent)]
        found, expected = self.run(inputs), tree_leaves(Interpreter(self.gm).run(*inputs))
        assert [one is None for one in found] == [one is None for one in expected]
        found, expected = [[one for one in some if one is not None] for some in (found, expected)]
        for one, other in zip(found, expected, strict=True):
            assert (one.dtype, one.shape, one.stride()) == (
                other.dtype,
                other.shape,
                other.stride(),
            )
            wide = other.double()
            error = (one.double() - wide).abs().max()
            assert error <= tolerance * max(float(wide.abs().max()), 1e-6), float(error)

    @property
    def peak(self) -> int:
        """The most bytes that the graph's own values hold at a time."""
        return _peak(self.module, entry_graph(self.module))


def _peak(module: ModuleOp, graph: GraphOp) -> int:
    ops = list(graph.block.ops)
    last = {storage_root(value): place for place, op in enumerate(ops) for value in op.operands}
    live: dict[Any, int] = {}
    most = 0
    for place, op in enumerate(ops):
        inside = [graph_named(module, name) for name in subgraphs_of(op)]  # type: ignore[arg-type]
        inner = sum(_peak(module, body) for body in inside if body is not None)
        most = max(most, sum(live.values()) + inner)
        for result in op.results:
            if storage_root(result) is result:
                type_: Any = result.type
                live[result] = math.prod(type_.shape) * type_.dtype.itemsize
        most = max(most, sum(live.values()))
        for value in [one for one in live if last.get(one, -1) <= place]:
            del live[value]
    return most


@pytest.fixture
def joint() -> Iterator[Callable[..., Joint]]:
    """`joint(loss, x, w, ..., layer=F.linear)`: of `loss(layer(x, w, ...), targets)`."""

    def capture(
        loss: Loss, *inputs: torch.Tensor, layer: Callable[..., torch.Tensor] = F.linear
    ) -> Joint:
        targets = Targets.make()
        leaves = [one.detach().requires_grad_() for one in inputs]
        graphs: list[torch.fx.GraphModule] = []

        def partition(gm: torch.fx.GraphModule, *args: Any, **options: Any) -> Any:
            graphs.append(copy.deepcopy(gm))
            return default_partition(gm, *args, **options)

        def function(*given: torch.Tensor) -> torch.Tensor:
            return loss(layer(*given[: len(inputs)]), Targets(*given[len(inputs) :]))

        value = aot_function(
            function,
            fw_compiler=nop,
            bw_compiler=nop,
            partition_fn=partition,
            decompositions=select_decomp_table(),
        )(*leaves, *targets)
        gm = graphs[0]
        given = [*inputs, *targets, torch.ones_like(value)]
        reasons: list[str] = []
        handler = _Reasons(reasons)
        _logger().addHandler(handler)
        module = from_fx(gm, "joint")
        ConstantFoldUniformValue().rewrite(module)  # as in a compile, where it comes first
        return Joint(gm, module, given, reasons)

    yield capture
    _logger().handlers.clear()


class _Reasons(logging.Handler):
    def __init__(self, reasons: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self.reasons = reasons

    def emit(self, record: logging.LogRecord) -> None:
        self.reasons.append(record.getMessage())


def _logger() -> logging.Logger:
    from xductor.transforms.auto_chunker import auto_chunker

    logger = auto_chunker._log()
    logger.setLevel(logging.DEBUG)
    return logger


@pytest.fixture
def operands() -> Callable[..., list[torch.Tensor]]:
    """`operands(dtype, rows)`: rows of hidden states, a weight, and a bias."""

    def make(
        dtype: torch.dtype = torch.float32, rows: tuple[int, ...] = (ROWS,)
    ) -> list[torch.Tensor]:
        torch.manual_seed(0)
        shapes = [(*rows, SIZE), (CLASSES, SIZE), (CLASSES,)]
        return [torch.randn(shape).to(dtype) for shape in shapes]

    return make
