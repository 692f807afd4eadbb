"""`numpy_compat_normalization`: arguments with NumPy's names get PyTorch's names."""

from __future__ import annotations

from dataclasses import dataclass

from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import RawOp, TorchOp
from xductor.ir.python.numpy_names import NUMPY_NAMES, own_name
from xductor.ir.python.signatures import signatures
from xductor.transforms import EXACT, graphs_of
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.pre_grad.respelling import Respelling, Written


@dataclass(frozen=True)
class NumpyCompatNormalization(Respelling):
    """`torch.sum(x, axis=1, keepdims=True)` becomes `torch.sum(x, dim=1, keepdim=True)`."""

    name = "numpy_compat_normalization"
    stage = "pre_grad"
    inductor = "misc_patterns.py:numpy_compat_normalization"
    numerics = EXACT
    counter = "numpy_compat_normalization"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether a function is called with an argument of one of NumPy's names."""
        return any(
            node.kwargs and node.op == "call_function" and not NUMPY_NAMES.isdisjoint(node.kwargs)
            for node in graph.nodes
        )

    def has_work(self, module: ModuleOp) -> bool:
        return any(_is_named(op) for graph in graphs_of(module) for op in ops_of(graph.block))

    def respelled(self, op: RawOp) -> Written | None:
        if not _is_named(op):
            return None
        keywords = op.keywords
        for signature in signatures(op.target) or ():
            renamed = {own_name(name, signature.names): item for name, item in keywords.items()}
            if signature.schema is not None and renamed.keys() <= set(signature.names):
                return type(op), op.positional, renamed
        return None


def _is_named(op: TorchOp) -> bool:
    """Whether a function is called with an argument of one of NumPy's names."""
    if not op.raw_arguments or op.fx_op != "call_function":
        return False
    named = op.args.data[1]
    return bool(named) and not NUMPY_NAMES.isdisjoint([name for name, _ in named])


__all__ = ["NumpyCompatNormalization"]
