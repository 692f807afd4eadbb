"""Where our pipelines go further than Inductor's own, on purpose; mirrored in docs/differences.md.

Each difference is a rewrite of the graph that Inductor left. Parity is equality after the rewrites
that are needed, so a difference excuses nothing but itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx as fx
from torch._inductor.fx_passes import joint_graph

from tests.corpus.graph_comparison import Comparison, compare_graphs
from xductor.backend.config import settings
from xductor.backend.fx.export import to_fx
from xductor.backend.steps import cpu_libraries, user_patterns
from xductor.backend.steps.runner import run_typed
from xductor.frontend import from_fx
from xductor.transforms import TypedPass
from xductor.transforms.joint_graph.pointless_view import PointlessViewPair
from xductor.transforms.loops.cond_to_where import CondToWhere
from xductor.transforms.loops.unroll_while_loop import UnrollWhileLoop
from xductor.transforms.onednn.onednn_linear import ONEDNN_LINEAR
from xductor.transforms.pieces.post_grad.cat_of_pieces import CatOfPieces
from xductor.transforms.post_grad.common_subexpression_elimination import (
    CommonSubexpressionElimination,
)
from xductor.transforms.post_grad.fold_tables import FoldTables
from xductor.transforms.post_grad.pointless_cumsum import PointlessCumsum
from xductor.transforms.pre_grad.fuse_attention import FuseAttention
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.rows import registry

aten: Any = torch.ops.aten


@dataclass(frozen=True)
class Difference:
    """What a pass of ours does more, why, and the same thing done to Inductor's result.

    Without `in_training`, the pass runs on graphs of inference alone.
    """

    name: str
    stage: str
    reason: str
    apply: Callable[[fx.GraphModule], None]
    in_training: bool = True


def _shared_permute_pairs(gm: fx.GraphModule) -> None:
    permute = torch.ops.aten.permute.default
    for outer in list(gm.graph.find_nodes(op="call_function", target=permute)):
        inner = outer.args[0]
        if not isinstance(inner, fx.Node) or inner.target is not permute:
            continue
        first, second = inner.args[1], outer.args[1]
        if [first[dim] for dim in second] == list(range(len(first))):  # type: ignore[index]
            outer.replace_all_uses_with(inner.args[0])  # type: ignore[arg-type]
            gm.graph.erase_node(outer)
            if not inner.users:
                gm.graph.erase_node(inner)


def _shared_view_pairs(gm: fx.GraphModule) -> None:
    """The rewrite, on the graph that Inductor's own stage leaves."""
    run_typed(gm, [RewritePass.of([PointlessViewPair])], "joint")


def _with_bodies(gm: fx.GraphModule, one: TypedPass) -> None:
    """A pass that reads the bodies of subgraphs, on the graph that Inductor's own stage leaves."""
    module = from_fx(gm, "joint")
    one.rewrite(module)
    to_fx(module, into=gm)


def _onednn_linears(gm: fx.GraphModule) -> None:
    """The pass as it is on this processor, on the graph that Inductor's own stage leaves."""
    options = (cpu_libraries.mkl_is_narrow(), cpu_libraries.copies_bias())
    run_typed(gm, [RewritePass.of([one(*options) for one in ONEDNN_LINEAR])], "post_grad")


def _fused_attention(gm: fx.GraphModule) -> None:
    """The pass, on the graph that Inductor's own stage leaves."""
    run_typed(gm, [FuseAttention("fast")], "pre_grad")


def _mm_plus_mm(gm: fx.GraphModule) -> None:
    """Our operator in the place of Inductor's handler, which only code generation can call."""
    for node in list(gm.graph.nodes):
        handler = getattr(node.target, "func", None)
        if getattr(handler, "__name__", "") != "mm_plus_mm":
            continue
        match = node.target.args[0]
        operands = [match.kwargs[f"mat{number}"] for number in range(1, 5)]
        with gm.graph.inserting_before(node):
            made = gm.graph.call_function(torch.ops.xductor.mm_plus_mm.default, tuple(operands))
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        gm.graph.erase_node(node)


def _cumsum_of_constant(gm: fx.GraphModule) -> None:
    """Our multiples of a constant in the place of Inductor's, which are of the constant's dtype."""
    found_one = False
    for expand in list(gm.graph.find_nodes(op="call_function", target=aten.expand.default)):
        view = expand.args[0]
        if not isinstance(view, fx.Node) or view.target not in (
            aten.view.default,
            aten.reshape.default,
        ):
            continue
        product = view.args[0]
        if not isinstance(product, fx.Node) or not _counts(product):
            continue
        sizes, value, found = view.args[1], product.args[1], expand.meta["val"]
        options: dict[str, Any] = {"layout": found.layout, "pin_memory": False}
        options |= {"dtype": found.dtype, "device": found.device}
        with gm.graph.inserting_before(expand):
            full = gm.graph.call_function(aten.full.default, (expand.args[1], value), options)
            dim = next(dim for dim, size in enumerate(sizes) if size != 1)  # type: ignore[arg-type]
            total = gm.graph.call_function(aten.cumsum.default, (full, dim))
        full.meta["val"] = total.meta["val"] = found.new_empty(found.shape)
        expand.replace_all_uses_with(total)
        found_one = True
    if not found_one:
        return
    gm.graph.eliminate_dead_code()
    run_typed(gm, [RewritePass.of([PointlessCumsum])], "post_grad")


def _counts(product: fx.Node) -> bool:
    """Whether a node is a range of numbers times a constant."""
    if product.target is not aten.mul.Tensor or isinstance(product.args[1], fx.Node):
        return False
    node = product.args[0]
    while isinstance(node, fx.Node) and node.target in _RANGE and node.args:
        if node.target is torch.ops.prims.iota.default:
            return True
        node = node.args[0]
    return False


def _cat_of_pieces(gm: fx.GraphModule) -> None:
    """The pass, on the graph that Inductor's own stage leaves."""
    run_typed(gm, [CatOfPieces()], "post_grad")


def _common_subexpressions(gm: fx.GraphModule) -> None:
    """The pass, on the graph that Inductor's own stage leaves."""
    run_typed(gm, [CommonSubexpressionElimination()], "post_grad")


def _tables(gm: fx.GraphModule) -> None:
    """The pass, on the graph that Inductor's own stage leaves."""
    run_typed(gm, [FoldTables()], "post_grad")


def _scaled_softmax(gm: fx.GraphModule) -> None:
    """The passes, on the graph of a stage whose own table of them was empty."""
    passes = [registry.typed_class(name)(policy="fast") for name in _SCALED_SOFTMAX]  # type: ignore[call-arg]
    with settings.use(settings.current().replace(numerics="fast")):
        run_typed(gm, passes, "joint")


_RANGE = (
    torch.ops.prims.iota.default,
    torch.ops.prims.convert_element_type.default,
    aten.add.Tensor,
    aten.mul.Tensor,
)
_SCALED_SOFTMAX = ("mul_softmax_pattern", "div_softmax_pattern")
#: Whether this torch's own patterns keep rows with NaN and infinities, as ours do (2.13 on).
_keeps_nonfinite_rows = hasattr(joint_graph, "_preserve_scaled_softmax_nonfinite_semantics")


def stock_joint_passes(gm: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
    """Inductor's joint stage without what ours does in its place, or differently.

    Its attention patterns: ours fuses before autograd. And, in a torch in which they lose rows that
    are not finite, its patterns of a scaled softmax.
    """
    joint_graph.lazy_init(*args[:1])
    without = registry.covered_homes()
    if not _keeps_nonfinite_rows:
        without |= {registry.home(name) for name in _SCALED_SOFTMAX}
    tables = joint_graph.pass_patterns
    entries = [table.patterns for table in tables]
    for table in tables:
        table.patterns = user_patterns.without(table, without).patterns
    try:
        return joint_graph.joint_graph_passes(gm, *args, **kwargs)
    finally:
        for table, own in zip(tables, entries, strict=True):
            table.patterns = own


_SOFTMAX = Difference(
    "mul_softmax_pattern",
    "joint",
    "keeps rows with NaN and infinities, as Inductor's own does from torch 2.13 on",
    _scaled_softmax,
)

DIFFERENCES = (
    *(() if _keeps_nonfinite_rows else (_SOFTMAX,)),
    Difference(
        "pointless_permute_pair",
        "joint",
        "also where the inner permute has other users: in training a weight's transpose is used "
        "by the forward and transposed again by the backward",
        _shared_permute_pairs,
    ),
    Difference(
        "unroll_while_loop",
        "joint",
        "a loop that is known to go round a few times is its body, as often",
        lambda gm: _with_bodies(gm, UnrollWhileLoop()),
    ),
    Difference(
        "cond_to_where",
        "joint",
        "two cheap branches are both computed, and a where chooses",
        lambda gm: _with_bodies(gm, CondToWhere()),
    ),
    Difference(
        "pointless_view_pair",
        "joint",
        "also where the inner view has other users: with dynamic shapes a training graph asks "
        "for its size",
        _shared_view_pairs,
    ),
    Difference(
        "mm_plus_mm",
        "post_grad",
        "an operator with a reference and a fake kernel, where Inductor puts a Python function",
        _mm_plus_mm,
    ),
    Difference(
        "pointless_cumsum_replacement",
        "post_grad",
        "the multiples of a constant have the dtype that cumsum gives, and are each rounded once",
        _cumsum_of_constant,
    ),
    Difference(
        "cat_of_pieces",
        "post_grad",
        "a cat of all that a tensor was cut into is that tensor, however it was cut",
        _cat_of_pieces,
    ),
    Difference(
        "common_subexpression_elimination",
        "post_grad",
        "AOTAutograd merges equal ops of training graphs alone",
        _common_subexpressions,
    ),
    Difference(
        "fold_tables",
        "post_grad",
        "tables that depend on no input are computed at every call",
        _tables,
        in_training=False,
    ),
    Difference(
        "onednn_linear",
        "post_grad",
        "on some processors oneDNN computes products faster than what ATen calls",
        _onednn_linears,
    ),
    Difference(
        "fuse_attention",
        "pre_grad",
        "before autograd, so that a kernel brings its own backward, and whatever the spelling",
        _fused_attention,
    ),
)


@dataclass(frozen=True)
class Parity:
    """A comparison, and the known differences that it took to make the graphs equal."""

    comparison: Comparison
    known: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return self.comparison.equal


def parity(
    stage: str,
    ours: fx.GraphModule,
    theirs: fx.GraphModule,
    *,
    training: bool,
) -> Parity:
    """Compare our result of a stage with Inductor's, known differences of that stage aside.

    `theirs` is edited.
    """
    comparison = compare_graphs(ours, theirs)
    known: tuple[str, ...] = ()
    for difference in DIFFERENCES:
        if comparison.equal:
            break
        if difference.stage == stage and (difference.in_training or not training):
            difference.apply(theirs)
            known += (difference.name,)
            comparison = compare_graphs(ours, theirs)
    return Parity(comparison, known)
