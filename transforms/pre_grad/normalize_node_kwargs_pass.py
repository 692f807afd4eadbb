"""`normalize_node_kwargs_pass`: calls with all arguments by name, and dims from the front."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch._ops import OpOverload
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import (
    ArgsAttr,
    NotInferred,
    RawOp,
    SchemaOp,
    TensorType,
    infer_call,
)
from xductor.ir.functions.torch_calls import AtenCall, aten_call, may_mean
from xductor.ir.inference.infer import NotApplicable
from xductor.transforms import EXACT
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.editing.editor import Editor, raw_call_args
from xductor.transforms.passes.typed_pass import TypedPass
from xductor.transforms.pre_grad.respelling import put_respelled

_RANK_OF_FIRST = frozenset(
    {"split", "split_with_sizes", "chunk", "tensor_split", "unbind", "cat", "concat", "concatenate",
     "squeeze", "transpose", "swapdims", "permute", "select", "slice", "narrow", "flatten",
     "unflatten", "softmax", "log_softmax", "sum", "mean", "prod", "amax", "amin", "max", "min",
     "argmax", "argmin", "any", "all", "var", "std", "logsumexp", "cumsum", "cumprod", "cummax",
     "cummin", "logcumsumexp", "sort", "argsort", "topk", "kthvalue", "median", "gather", "scatter",
     "scatter_add", "index_select", "flip", "roll", "glu", "diagonal", "repeat_interleave"}
)  # fmt: skip
_ONE_MORE = frozenset(("unsqueeze", "stack"))
#: Parameters that count dims of the first tensor; of these operators, or with one dim more.
DIMS = frozenset(("dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim"))


@dataclass(frozen=True)
class NormalizeNodeKwargsPass(TypedPass):
    """Every call in one spelling: names of its signature, defaults filled in, dims from the front.

    An operator has its arguments by its schema in any case, so that dims alone are left; it is
    called by position. What a function or method takes by position alone stays so. Calls that
    write, and those whose meaning nobody knows, stay as they are.
    """

    name = "normalize_node_kwargs_pass"
    stage = "pre_grad"
    inductor = "pre_grad.py:normalize_node_kwargs_pass"
    numerics = EXACT

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there is a call of a function or method, or a number below zero in a call."""
        return any(
            node.op == "call_method"
            or (node.op == "call_function" and _may_be_respelled(node.target))
            or any(_is_negative(item) for item in (*node.args, *node.kwargs.values()))
            for node in graph.nodes
        )

    def rewrite(self, module: ModuleOp) -> int:
        applied = 0
        for graph in graphs_of(module):
            with Editor(graph) as editor:
                for op in list(graph.block.ops):
                    if isinstance(op, SchemaOp):
                        applied += _count_from_front(op, editor)
                    elif isinstance(op, RawOp) and op.results:
                        applied += _name_arguments(op, editor)
        return applied


def _may_be_respelled(target: Any) -> bool:
    """Whether a function may take its arguments by name: not an operator of Python."""
    is_python = target is not getattr(operator, getattr(target, "__name__", ""), None)
    return is_python and not isinstance(target, OpOverload) and target is not getattr


def _is_negative(item: Any) -> bool:
    if isinstance(item, tuple | list):
        return any(_is_negative(one) for one in item)
    return type(item) is int and item < 0


def _count_from_front(op: SchemaOp, editor: Editor) -> bool:
    """Give a call of an operator the dims that it means."""
    call = aten_call(op)
    told = {} if call is None or effects_of(op).writes else _dims_from_front(call)
    if not told:
        return False
    index = op.table.index
    data = list(op.args.data)
    for name, item in told.items():
        data[index[name]] = item
    put_respelled(op, type(op), ArgsAttr(tuple(data)), list(op._operands), editor)
    return True


def _name_arguments(op: RawOp, editor: Editor) -> bool:
    """Give a call of a function or method its arguments by name."""
    if not may_mean(type(op)) or not _may_be_respelled(op.target) or effects_of(op).writes:
        return False
    call, bound = aten_call(op), op.bound_arguments()
    if call is None or bound is None or any(name.isdigit() for name in bound):
        return False
    told = _dims_from_front(call)
    given = {name: told.get(name, item) for name, item in bound.items() if name[0] != "_"}
    is_method = op.fx_op == "call_method"
    positional = (next(iter(given.values())),) if is_method else ()
    keywords = dict(list(given.items())[len(positional) :])
    args, operands = raw_call_args(positional, keywords)
    if args == op.args or not _is_accepted(op, args, operands, editor):
        return False
    put_respelled(op, type(op), args, operands, editor)
    return True


def _is_accepted(op: RawOp, args: ArgsAttr, operands: list[SSAValue], editor: Editor) -> bool:
    """Whether the function takes these names, and gives what it gave."""
    types = [one.type for one in operands]
    try:
        found, _ = infer_call(type(op), args, types, editor.env, operands)
    except (NotApplicable, NotInferred):
        return False
    return list(found.types) == [result.type for result in op.results]


def _dims_from_front(call: AtenCall) -> Mapping[str, Any]:
    """Dims of a call that are counted from the end, counted from the front."""
    name = call.name.removeprefix("aten.").partition(".")[0]
    extra = name in _ONE_MORE
    if not extra and name not in _RANK_OF_FIRST:
        return {}
    first = call.items[0]
    tensors = [first] if isinstance(first, SSAValue) else list(first)
    ranks = [one.type.rank for one in tensors if type(one.type) is TensorType]
    if not ranks or len(ranks) < len(tensors):
        return {}
    rank = max(ranks) + extra or 1
    found: dict[str, Any] = {}
    for key in DIMS & call.arguments.keys():
        item = call.argument(key)
        if _is_negative(item):
            found[key] = _from_front(item, rank)
    return found


def _from_front(item: Any, rank: int) -> Any:
    if isinstance(item, tuple | list):
        return type(item)([_from_front(one, rank) for one in item])
    return item % rank if type(item) is int else item


__all__ = ["DIMS", "NormalizeNodeKwargsPass"]
