"""`b2b_gemm_pass`: fuses two successive products and the pointwise ops between them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from xductor.ir import (
    GraphOp,
    OutputOp,
    Ref,
    SchemaOp,
    SymbolRef,
    TensorType,
    op_class,
)
from xductor.ir.dialect.graph import raw_args
from xductor.transforms import REASSOCIATES, ROUNDS_LESS_OFTEN, TypedPass, graphs_of
from xductor.transforms.analysis.graphs import free_subgraph_name
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.matmul.b2b_gemm_operator import b2b_gemm
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.passes.numerics import Declared
from xductor.transforms.passes.refusals import Refused

_MM = "aten.mm.default"
_DEVICES = ("cuda", "xpu")
_BEST = 3  # Inductor averages its estimate over this many best block sizes.


@dataclass(frozen=True)
class _Pair:
    """Two products; `between` computes `middle`, an operand of `outer`, from `inner`."""

    inner: SchemaOp
    between: tuple[SchemaOp, ...]
    outer: SchemaOp
    middle: SSAValue

    @property
    def left(self) -> bool:
        """Whether the inner product is the left operand of the outer one."""
        return self.outer._operands[0] is self.middle

    @property
    def factors(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The three matrices in order."""
        if self.left:
            return (*self.inner._operands, self.outer._operands[1])  # type: ignore[return-value]
        return (self.outer._operands[0], *self.inner._operands)  # type: ignore[return-value]


@dataclass(frozen=True)
class B2bGemmPass(TypedPass):
    """`f(a @ b) @ c` and `a @ f(b @ c)` become one call, if Inductor has a kernel that pays.

    `f` stands for pointwise ops that read nothing else and have no other users. The intermediate
    product is neither written to memory nor rounded to 16 bits.
    """

    name = "b2b_gemm_pass"
    stage = "post_grad"
    inductor = "b2b_gemm.py:b2b_gemm_handler"
    numerics: ClassVar[Declared] = {
        torch.float32: REASSOCIATES,
        torch.float16: ROUNDS_LESS_OFTEN,
        torch.bfloat16: ROUNDS_LESS_OFTEN,
    }
    roots = frozenset((_MM,))
    counter = "b2b_gemm"

    def rewrite(self, module: ModuleOp) -> int:
        return sum(self._graph(module, graph, None) for graph in graphs_of(module))

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        for graph in graphs_of(module):
            self._graph(module, graph, refused)

    def _graph(self, module: ModuleOp, graph: GraphOp, refused: Refused | None) -> int:
        count = 0
        editor = Editor(graph)
        gone: set[SchemaOp] = set()
        for inner in editor.analyses.named((_MM,)):
            if inner in gone:
                continue
            pair = _pair(inner, editor)
            reason = "no second product reads it" if pair is None else _refusal(pair)
            if pair is None or reason is not None:
                if refused is not None and reason is not None:
                    refused(inner, reason)
                continue
            if should_apply(self.name):
                gone.add(pair.outer)
                _join(module, editor, pair)
                count += 1
        return count


def _pair(inner: SchemaOp, editor: Editor) -> _Pair | None:
    """The pair that begins at `inner`; None if other than pointwise ops are in between."""
    values, pending = {inner.results[0]}, [inner.results[0]]
    between: list[SchemaOp] = []
    ends: list[tuple[Any, SSAValue]] = []
    while pending:
        value = pending.pop()
        for use in value.uses:
            user: Any = use.operation
            if user.name == _MM:
                ends.append((user, value))
            elif not _is_pointwise(user, inner):
                return None
            elif user not in between:
                between.append(user)
                values.add(user.results[0])
                pending.append(user.results[0])
    if len(ends) != 1:
        return None
    outer, middle = ends[0]
    others = [one for op in between for one in op._operands if type(one._type) is TensorType]
    if any(one not in values for one in others):
        return None
    if any(op.results[0].first_use is None for op in (inner, *between)):
        return None  # dead code, or a result that leads nowhere
    return _Pair(inner, tuple(sorted(between, key=editor.analyses.order.key)), outer, middle)


def _is_pointwise(op: Any, inner: SchemaOp) -> bool:
    """Whether an op is pure and pointwise, with one result of the shape of the product."""
    if not isinstance(op, SchemaOp) or torch.Tag.pointwise not in op.target.tags:
        return False
    if len(op.results) != 1 or not effects_of(op).pure:
        return False
    type_, product = op.results[0]._type, inner.results[0]._type
    return type(type_) is TensorType and type_.shape == product.shape  # type: ignore[union-attr]


def _refusal(pair: _Pair) -> str | None:
    """Why two products must stay separate; None if they may become one call."""
    types: list[Any] = [one._type for one in (*pair.factors, pair.middle)]
    first = types[0]
    if any(type(one) is not TensorType or one.data.layout != "strided" for one in types):
        return "an operand is not a strided matrix"
    if first.device.type not in _DEVICES:
        return f"there is no kernel for {first.device.type}"
    if any(one.device != first.device or one.dtype is not first.dtype for one in types):
        return "they are of several dtypes or devices"
    if first.dtype not in B2bGemmPass.numerics:
        return f"the kernel is not for {first.dtype}"
    sizes = [*types[0].shape, *types[2].shape]
    if any(type(one) is not int for one in sizes):
        return "the sizes are not known while compiling"
    if _average_gain(pair.left, *sizes) <= 1:
        return "more would be loaded than before"
    return None


def _average_gain(left: bool, m: int, n: int, o: int, p: int) -> float:
    """By what factor the number of loads falls, by Inductor's estimate for its best block sizes."""
    if 0 in (m, n, o, p):
        return 0.0
    stock: Any = import_module("torch._inductor.fx_passes.b2b_gemm")
    ratio = stock.load_ratio_left if left else stock.load_ratio_right
    names = [f"BLOCK_SIZE_{dim}" for dim in "MNOP"]
    gains = [
        ratio(m, n, o, p, *(blocks[name] for name in names)) for blocks in stock.b2b_gemm_configs
    ]
    product = 1.0
    for gain in sorted(gains, reverse=True)[:_BEST]:
        product *= gain
    return float(product ** (1 / _BEST))


def _join(module: ModuleOp, editor: Editor, pair: _Pair) -> None:
    """Replace two products and the ops between them by one call."""
    graph = editor.graph
    name = free_subgraph_name(module, graph, "b2b_gemm_between")
    module.body.block.add_op(_body(graph, name, pair))
    args = raw_args((SymbolRef(name), Ref(0), Ref(1), Ref(2), pair.left))
    cls: Any = op_class(b2b_gemm)
    types = [one.type for one in pair.outer.results]
    made = editor.put(cls, args, pair.factors, types, pair.outer)
    applied(pair.outer, *made.results)
    editor.replace(pair.outer, *made.results, counted=False)
    for op in reversed((pair.inner, *pair.between)):
        editor.erase(op)


def _body(graph: GraphOp, name: str, pair: _Pair) -> GraphOp:
    """The ops between the products, as a graph of one argument."""
    product = pair.inner.results[0]
    block = Block(arg_types=[product.type])
    values: dict[SSAValue, SSAValue] = {product: block.args[0]}
    for op in pair.between:
        operands = [values.get(one, one) for one in op._operands]
        node = op.node.inherited(op.node.names, op.node.node)
        copy = type(op).make(op.args, operands, op.result_types, node, aliases=op.aliases)
        block.add_op(copy)
        values[op.results[0]] = copy.results[0]
    block.add_op(OutputOp.make(raw_args((Ref(0),)), [values[pair.middle]], []))
    return GraphOp(
        name,
        graph.stage.data,
        block,
        graph.symbols.data,
        graph.ambient.data,
        arguments=["product"],
    )


__all__ = ["B2bGemmPass"]
