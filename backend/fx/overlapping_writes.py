"""Keeps in-place ops from reading what they have already written.

Inductor makes functional ops write in place if nobody reads the old content later, without asking
what the op itself reads: `slice_scatter(x, x[:-2], 0, 2)` becomes a copy into a part of `x` from
another part that overlaps it. Generated code then reads elements that it has written, and so do
eager kernels, if they do not refuse. An in-place op may also write to a tensor whose elements share
memory (an expanded constant, for which generated code has a buffer of its own); that concerns eager
kernels alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xductor.backend.fx.results_of_writes import read_what_was_written
from xductor.backend.fx.views_and_writes import viewed, written_by, written_slots
from xductor.ir import Facts, TensorType
from xductor.ir.inference.value_types import TypeReader
from xductor.ir.storage.overlap import may_overlap, same_elements

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule, Node

aten = torch.ops.aten


def separate_writes(gm: GraphModule) -> None:
    """Make the writes of a graph, and of the bodies it calls, ones that eager kernels accept."""
    from torch.fx import GraphModule

    for module in gm.modules():
        if isinstance(module, GraphModule):
            for node in list(module.graph.nodes):
                for written in written_by(node):
                    _give_memory(module.graph, written)
            separate_reads(module.graph)
            read_what_was_written(module.graph)
            module.recompile()


def separate_reads(graph: Graph) -> int:
    """Copy what an in-place op reads but has, or may have, overwritten by then.

    Nothing is copied if each element is written where it is read. Returns how many tensors were
    copied.
    """
    writers = [node for node in graph.nodes if written_by(node)]
    if not writers:
        return 0
    views = _Views(graph)
    return sum(_separate(graph, node, views) for node in writers)


class _Views:
    """What each tensor of a graph is a view of, and the types that say where it lies."""

    def __init__(self, graph: Graph) -> None:
        self._bases: dict[Node, Node] = {}
        for node in graph.nodes:
            source = viewed(node)
            self._bases[node] = node if source is None else self.base(source)
        self._types = TypeReader("post_grad")

    def base(self, node: Node) -> Node:
        return self._bases.get(node, node)

    def may_overlap(self, read: Node, written: Node) -> bool:
        types = self._type(read), self._type(written)
        if types[0] is None or types[1] is None:
            return True
        return may_overlap(types[0], types[1], self._facts())

    def same_elements(self, read: Node, written: Node) -> bool:
        types = self._type(read), self._type(written)
        if types[0] is None or types[1] is None:
            return read is written
        return same_elements(types[0], types[1], self._facts())

    def _type(self, node: Node) -> TensorType | None:
        value = node.meta.get("val")
        return self._types.type_of(value) if isinstance(value, torch.Tensor) else None

    def _facts(self) -> Facts:
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        return Facts.from_shape_env(self._types.shape_env or ShapeEnv())


def _separate(graph: Graph, node: Node, views: _Views) -> int:
    """Let an in-place op read copies of what it would overwrite before reading."""
    written, slots = written_by(node), written_slots(node)
    in_step = _in_step(node.target)
    copies: dict[Node, Node] = {}

    def separated(one: Any, place: int) -> Any:
        if isinstance(one, list | tuple):
            return type(one)([separated(item, number) for number, item in enumerate(one)])
        if not isinstance(one, torch.fx.Node):
            return one
        if one not in copies and not any(
            views.base(into) is views.base(one)
            and not (in_step and place == number and views.same_elements(one, into))
            and views.may_overlap(one, into)
            for number, into in enumerate(written)
        ):
            return one
        if one not in copies:
            with graph.inserting_before(node):
                copies[one] = graph.call_function(aten.clone.default, (one,))
            copies[one].meta.update(one.meta)
        return copies[one]

    node.args = tuple(
        arg if slot in slots else separated(arg, 0) for slot, arg in enumerate(node.args)
    )
    node.kwargs = {
        name: arg if name in slots else separated(arg, 0) for name, arg in node.kwargs.items()
    }
    return len(copies)


def _in_step(target: Any) -> bool:
    """Whether an op reads each element where it writes it; for foreach ops, within each pair."""
    name: str = target._schema.name
    return (
        torch.Tag.pointwise in target.tags
        or name == "aten::copy_"
        or name.startswith("aten::_foreach_")
    )


def _give_memory(graph: Graph, written: Node) -> None:
    """Copy the view through which a written tensor's elements share memory, for all its users."""
    chain = [written]
    while (source := viewed(chain[-1])) is not None:
        chain.append(source)
    if not _overlaps_itself(written):
        return
    shared = next((i for i, one in enumerate(chain) if not _overlaps_itself(one)), len(chain))
    if shared == len(chain):
        return  # an input: eager refuses the write too
    view = chain[shared - 1]
    with graph.inserting_after(view):
        copy = graph.call_function(
            aten.clone.default, (view,), {"memory_format": torch.contiguous_format}
        )
    copy.meta.update(view.meta)
    view.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy)
    _lay_out_anew(graph, copy)


def _lay_out_anew(graph: Graph, copy: Node) -> None:
    """Record the strides of a copy and of all its views."""
    from xductor.backend.fx.value_metadata import run_on_recorded

    mode = copy.meta["val"].fake_mode
    anew = {copy}
    for node in graph.nodes:
        if node is copy or viewed(node) in anew:
            anew.add(node)
            node.meta["val"] = run_on_recorded(node, "val", mode)


def _overlaps_itself(node: Node) -> bool:
    """Whether a tensor is expanded, as far as its recorded value tells."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    sizes = zip(value.shape, value.stride(), strict=True)
    return any(type(step) is int and step == 0 and not _is_one(size) for size, step in sizes)


def _is_one(size: Any) -> bool:
    return type(size) is int and size <= 1


__all__ = ["separate_reads", "separate_writes"]
