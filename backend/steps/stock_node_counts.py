"""How many more nodes Inductor's own stages would have left where we fused attention.

Inductor decides on the layout of convolutions by the number of nodes of a graph (`layout_decision`
asks). Each fused call therefore notes how many nodes its spelled-out form would have had in the
forward and in the backward: both are traced as Inductor traces its patterns, and its own patterns
are applied. The note is kept in the node's `custom` metadata, which AOTAutograd passes on.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._guards import tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.ir import TensorType, TorchOp, entry_graph
from xductor.ir.inference.fake_values import FakeEnvironment, device_exists
from xductor.transforms.analysis.effect_order import is_view
from xductor.transforms.analysis.fx_targets import called_functions
from xductor.transforms.attention.fusion import Fused
from xductor.transforms.before_autograd.enclosing_graphs import entered_graphs
from xductor.transforms.passes.events import listening
from xductor.transforms.rewriting.modes import modes_at
from xductor.transforms.validation.fragments import fragments_of

log = logging.getLogger(__name__)

#: The entry of `custom`: (more nodes in the forward, more nodes in the backward).
NOTE = "xductor_stock_nodes"

#: For sizes without a hint.
_SOME_SIZE = 8
_MEMO_SIZE = 256
_memo: dict[tuple[Any, ...], tuple[int, int]] = {}


def noted(run: StageRun) -> AbstractContextManager[None]:
    """Attach a note to what is fused inside the block, if a decision may depend on it."""
    root = (*entered_graphs(), run.gm)[0]
    if not _may_depend(root):
        return nullcontext()
    return listening(Fused, _note)


def _may_depend(root: GraphModule) -> bool:
    """Whether Inductor will count nodes for a layout, as `GraphLowering.decide_layout_opt` does."""
    if not stock.flag("layout_optimization") or stock.flag("force_layout_optimization"):
        return False
    convolutions = list(_convolutions(root))
    if not convolutions:
        return False
    if not (torch.backends.mkldnn.enabled and torch.backends.mkldnn.is_available()):
        return True
    from torch._inductor.utils import SUPPORTED_MKLDNN_DEVICES

    values = [node.meta.get("example_value", node.meta.get("val")) for node in convolutions]
    return not all(
        isinstance(value, torch.Tensor) and value.device.type in SUPPORTED_MKLDNN_DEVICES
        for value in values
    )


def _convolutions(root: GraphModule) -> Iterator[Node]:
    """The calls of a torch-level graph and its bodies that may be convolutions, by their names."""
    for module in root.modules():
        if not isinstance(module, GraphModule):
            continue
        graph = module.graph
        for target in called_functions(graph):
            if "conv" in getattr(target, "__name__", ""):
                yield from graph.find_nodes(op="call_function", target=target, sort=False)
        for op in ("call_method", "call_module"):
            yield from (n for n in graph.find_nodes(op=op, sort=False) if "conv" in str(n.target))


def _note(fused: Fused) -> None:
    fused = replace(fused, match=_WithViews(fused.match))
    try:
        forward, backward = _difference(fused)
    except Exception:  # a count must not end a compile
        # The decision is then based on the graph as it is: slower code at worst.
        log.warning("the nodes that attention stands for were not counted", exc_info=True)
        return
    if forward or backward:
        vars(fused.call.node)["custom"] = {NOTE: (forward, backward)}


def _difference(fused: Fused) -> tuple[int, int]:
    key = _key(fused)
    found = _memo.get(key)
    if found is None:
        found = _memo[key] = _measured(fused)
        while len(_memo) > _MEMO_SIZE:
            del _memo[next(iter(_memo))]
    return found


def _key(fused: Fused) -> tuple[Any, ...]:
    """What the numbers depend on: layers that are alike are measured once."""
    ops = [op for _, op in fused.match.matched_ops()]
    return (
        *[
            (op.name, op.args, *[value.type for value in (*op.operands, *op.results)])
            for op in (*ops, *fused.made)
        ],
        fused.state.env.identity,
        fused.state.env.modes,
    )


class _WithViews:
    """A fragment with the views that its operands are of, which Inductor's patterns include too."""

    def __init__(self, match: Any) -> None:
        self.anchor, self.bindings, self.outputs = match.anchor, match.bindings, match.outputs
        self.ops = dict.fromkeys(op for _, op in match.matched_ops())
        pending = [operand.owner for op in self.ops for operand in op.operands]
        while pending:
            owner: Any = pending.pop()
            if isinstance(owner, TorchOp) and owner not in self.ops and is_view(owner):
                self.ops[owner] = None
                pending += [operand.owner for operand in owner.operands]

    def matched_ops(self) -> list[tuple[None, TorchOp]]:
        return [(None, op) for op in self.ops]


def _measured(fused: Fused) -> tuple[int, int]:
    application: Any = fused  # has all that is read of an application
    fragments = fragments_of(application)
    # Under the modes around the attention, since autocast adds nodes.
    with modes_at(fused.match.anchor, fused.state):
        before, after = (
            _counted(module, fused.state.env.fake)
            for module in (fragments.matched, fragments.replacement)
        )
    return before.forward - after.forward, before.backward - after.backward


@dataclass(frozen=True)
class _Nodes:
    forward: int
    backward: int


def _counted(module: ModuleOp, numbers: FakeEnvironment) -> _Nodes:
    """The nodes that a torch-level fragment has once Inductor has traced and rewritten it."""
    from torch._inductor import config
    from torch._inductor.virtualized import V

    types = [argument.type for argument in entry_graph(module).arguments]
    gm = to_fx(module)
    # Padding would be decided by running the products.
    without_padding = config.patch(shape_padding=False)
    # What is traced here has a fake mode of its own, and is not part of the user's trace.
    with _disable_current_modes(), tracing(None), _counters_kept(), without_padding:
        with FakeTensorMode() as mode:
            inputs = [_sample(type_, numbers) for type_ in types]
        with V.set_fake_mode(mode):
            traced = _traced(gm, inputs)
            for table in _own_patterns(inputs):
                table.apply(traced.graph)
            traced.graph.eliminate_dead_code()
            return _nodes(traced, inputs)


def _traced(gm: GraphModule, inputs: list[Any]) -> GraphModule:
    """Trace `gm` as Inductor traces the patterns that it looks for."""
    with_grad = any(isinstance(one, torch.Tensor) and one.requires_grad for one in inputs)
    name = "joint_fwd_bwd" if with_grad else "fwd_only"
    return stock.lookup(f"torch._inductor.pattern_matcher:{name}")(gm, inputs)


def _own_patterns(inputs: list[Any]) -> Any:
    """Inductor's tables of the joint stage, with its patterns of attention, in order."""
    device = next(one.device for one in inputs if isinstance(one, torch.Tensor))
    stock.lookup("joint_graph:lazy_init")(device)
    return stock.lookup("joint_graph:pass_patterns")


def _sample(type_: Any, numbers: FakeEnvironment) -> Any:
    if type(type_) is not TensorType:
        return _SOME_SIZE if not hasattr(type_, "expr") else _hint(type_.expr, numbers)
    fields = type_.data
    if not device_exists(fields.device):
        raise RuntimeError(f"there is no {fields.device} here")
    shape = [_hint(size, numbers) for size in fields.shape]
    stride = [_hint(step, numbers) for step in fields.stride]
    made = torch.empty_strided(shape, stride, dtype=fields.dtype, device=fields.device)
    return made.requires_grad_("requires_grad" in fields.flags)


def _hint(size: Any, numbers: FakeEnvironment) -> int:
    number = numbers.number(size)
    if not isinstance(number, torch.SymInt):
        return int(number)
    return int(number.node.hint) if number.node.has_hint() else _SOME_SIZE


@contextmanager
def _counters_kept() -> Iterator[None]:
    """Keep Inductor's counters of patterns, which are about the user's graph, unchanged."""
    from torch._dynamo.utils import counters

    before = Counter(counters["inductor"])
    try:
        yield
    finally:
        counters["inductor"].clear()
        counters["inductor"].update(before)


def _nodes(traced: GraphModule, inputs: list[Any]) -> _Nodes:
    """All nodes, counted as the decision does, in the parts that the partitioner makes."""
    if not any("tangents" in str(node.target) for node in traced.graph.nodes):
        return _Nodes(len(traced.graph.nodes), 0)
    partition = stock.lookup("torch._functorch.partitioners:min_cut_rematerialization_partition")
    parts = partition(traced, inputs, compiler="inductor", num_fwd_outputs=1)
    forward, backward = (len(part.graph.nodes) for part in parts)
    return _Nodes(forward, backward)


__all__ = ["NOTE", "noted"]
