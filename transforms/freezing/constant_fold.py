"""`constant_fold`: ops whose operands are all constants, computed at compile time."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GetAttrOp, GraphOp, TorchOp
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import MEMORY, ORDER
from xductor.transforms.editing.editor import Editor
from xductor.transforms.freezing.computed import Computed
from xductor.transforms.freezing.foldable import Foldable
from xductor.transforms.freezing.foldable_nodes import holds_something_to_fold
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply


@dataclass(frozen=True)
class ConstantFold(TypedPass):
    """Values that depend on constants alone are computed now, by eager's kernels, and held.

    Only results that other ops read are held; the constants and steps behind them go. Left alone
    are random draws, writes and other effects, uninitialised memory, calls of graphs, values that
    share storage with an output, ops that a kernel refuses, and dequantisations, which code
    generation fuses into products. A constructor is held only if something was computed from it and
    a product or a convolution reads the result: generated code makes the others for free.

    - `budget`: how many bytes a result may take; it may also take `GROWTH` times the bytes of the
      constants it is computed from.
    - `dont_constant_fold`: names of further operators that are left alone.
    """

    name = "constant_fold"
    stage = "post_grad"
    inductor = "../constant_folding.py:constant_fold"
    numerics = EXACT
    preserves = frozenset((MEMORY, ORDER))

    budget: int = 1 << 26
    dont_constant_fold: tuple[str, ...] = ()

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether some constant has no reader, or some op reads only constants."""
        return holds_something_to_fold(graph)

    def rewrite(self, module: ModuleOp) -> int:
        return sum(self._rewrite(graph) for graph in graphs_of(module))

    def _rewrite(self, graph: GraphOp) -> int:
        editor = Editor(graph)
        foldable = Foldable(editor.analyses, self.budget, self.dont_constant_fold)
        computed = Computed(foldable)
        held = 0
        for result, tensor in computed.read_elsewhere():
            if not should_apply(self.name):
                continue
            held += 1
            op: TorchOp = result.owner  # type: ignore[assignment]
            made = _constant(result, tensor, editor)
            applied(op, made)
            editor.take_over(result, made)
        return held + _erase_unread(computed, editor)


def compute_now(graph: GraphOp, names: Collection[str]) -> None:
    """Compute ops of some names that read constants alone, as part of what another pass does."""
    editor = Editor(graph)
    computed = Computed(Foldable(editor.analyses, sys.maxsize, (), names))
    for result, tensor in list(computed.read_elsewhere()):
        editor.take_over(result, _constant(result, tensor, editor))
    _erase_unread(computed, editor)


def _constant(result: OpResult, tensor: torch.Tensor, editor: Editor) -> SSAValue:
    """A new constant of the module, of a result's type, read above its op."""
    op: TorchOp = result.owner  # type: ignore[assignment]
    return editor.constant(tensor, result.type, op, named=len(op.results) == 1).results[0]


def _erase_unread(computed: Computed, editor: Editor) -> int:
    """Erase what is no longer read; returns how many constants had not been read before."""
    dropped = sum(_is_unread(op) for op in _constants(editor))
    for op in reversed(computed.ops):
        if _is_unread(op):
            editor.erase(op)
    for op in _constants(editor):
        if _is_unread(op):
            editor.erase(op)
    return dropped


def _constants(editor: Editor) -> Iterator[TorchOp]:
    return iter(editor.analyses.named((GetAttrOp.name,)))


def _is_unread(op: TorchOp) -> bool:
    return all(result.first_use is None for result in op.results)


__all__ = ["ConstantFold", "compute_now"]
