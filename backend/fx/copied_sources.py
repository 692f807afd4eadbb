"""Puts in memory what a copy into a tensor computes from other elements of that tensor.

Generated code computes what is not in memory in the loop that reads it. Inductor realizes whatever
reads a tensor before the tensor is written; but the loop of `copy_(x, source)` is made before that
if `source` is a view, or has another size or dtype than `x`. So `x.t()[:] = x[:, 0] + 1` reads in
one loop what it writes. A loop may read the element that it writes, and no other element of the
tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from xductor.backend.fx.read_regions import behind_view, expanded, shows
from xductor.backend.fx.views_and_writes import viewed
from xductor.ir import Facts, TensorType
from xductor.ir.inference.value_types import TypeReader
from xductor.ir.storage.overlap import may_overlap
from xductor.transforms.in_place.loops import is_long
from xductor.transforms.in_place.realized import is_kernel_name

if TYPE_CHECKING:
    from torch.fx import Graph, Node

aten = torch.ops.aten

_ELEMENTWISE = (
    aten.copy.default, aten.clone.default, aten._to_copy.default,
    torch.ops.prims.convert_element_type.default,
)  # fmt: skip

#: What leads from a value to what a loop reads of it: views, and sizes to which it is expanded.
Steps = tuple[Any, ...]


def realize_sources(graph: Graph) -> int:
    """Give memory to sources of copies that may read what the copies have written.

    Returns how many sources got memory.
    """
    copies = [node for node in _copies(graph) if _is_computed_in_its_loop(node)]
    if not copies:
        return 0
    reads = _Reads(graph, [node.args[0] for node in copies])
    found = [node for node in copies if reads.may_read_elsewhere(*node.args[:2])]
    for node in found:
        with graph.inserting_before(node):
            source = graph.call_function(aten.copy.default, node.args[:2])
        source.meta.update(node.args[0].meta)
        node.update_arg(1, source)
    return len(found)


def _copies(graph: Graph) -> Iterator[Any]:
    for node in graph.find_nodes(op="call_function", target=aten.copy_.default):
        if all(isinstance(one, torch.fx.Node) for one in node.args[:2]):
            yield node


def _is_computed_in_its_loop(copy: Any) -> bool:
    """Whether Inductor makes the loop of a copy before it realizes the source."""
    into, source = copy.args[:2]
    if viewed(into) is None and into.op == "call_function":
        return False  # the tensor becomes another buffer instead
    if viewed(source) is not None:
        return True
    a, b = into.meta.get("val"), source.meta.get("val")
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return True
    return a.dtype is not b.dtype or list(map(str, a.shape)) != list(map(str, b.shape))


class _Reads:
    """What the loops of copies into some tensors may read of these tensors."""

    def __init__(self, graph: Graph, written: Iterable[Node]) -> None:
        self._graph = graph
        self._bases: dict[Node, Node] = {}
        for node in graph.nodes:
            source = viewed(node)
            self._bases[node] = node if source is None else self._bases[source]
        bases = dict.fromkeys([self._bases[one] for one in written])
        self._bits = {base: 1 << place for place, base in enumerate(bases)}
        self._types = TypeReader("post_grad")

    def may_read_elsewhere(self, into: Node, source: Node) -> bool:
        """Whether a copy may read an element that it has written under another index."""
        bit, target = self._bits[self._bases[into]], self._type(into)
        if not self._read[source] & bit:
            return False
        if target is None:
            return True
        pending: list[tuple[Node, Steps | None]] = [(source, self._expanded(source, target, ()))]
        seen = set(pending)
        while pending:
            node, steps = pending.pop()
            if self._bits.get(self._bases[node]) == bit:
                if not self._is_harmless(node, steps, target):
                    return True
                continue
            above = [
                one
                for one in self._above(node, steps)
                if self._read[one[0]] & bit and one not in seen
            ]
            seen.update(above)
            pending += above
        return False

    @cached_property
    def _read(self) -> dict[Node, int]:
        """Which of the written tensors are read by a loop that computes a node."""
        found: dict[Node, int] = {}
        for node in self._graph.nodes:
            bits = self._bits.get(self._bases[node], 0)
            if self._is_in_loop(node):
                for one in node.all_input_nodes:
                    bits |= found[one]
            found[node] = bits
        return found

    def _is_in_loop(self, node: Node) -> bool:
        """Whether a node may be computed in the loop that reads it."""
        if node.op != "call_function":
            return False
        if viewed(node) is not None:
            return True
        target: Any = node.target
        if not isinstance(target, torch._ops.OpOverload):
            return not isinstance(target, torch._ops.HigherOrderOperator)
        if is_kernel_name(str(target)):
            return False
        return not (torch.Tag.reduction in target.tags and self._reduces_many(node))

    def _reduces_many(self, node: Node) -> bool:
        """Whether a reduction is too long to be written out in the loop of its reader."""
        before, after = self._type(node.args[0]), self._type(node)
        return before is not None and after is not None and is_long(before.shape, after.shape)

    def _above(self, node: Node, steps: Steps | None) -> Iterator[tuple[Node, Steps | None]]:
        """The operands that a loop reads for a node, and by which steps."""
        source = viewed(node)
        if source is not None:
            yield source, None if steps is None else (node, *steps)
            return
        own, target = self._type(node), node.target
        in_step = own is not None and _is_pointwise(target)
        for one in node.all_input_nodes:
            yield one, self._expanded(one, own, steps) if in_step and own else None

    def _expanded(self, node: Node, to: TensorType, steps: Steps | None) -> Steps | None:
        type_ = self._type(node)
        if steps is None or type_ is None:
            return None
        return steps if type_.shape == to.shape else (to.shape, *steps)

    def _is_harmless(self, node: Node, steps: Steps | None, target: TensorType) -> bool:
        """Whether a loop reads each element of a tensor where it writes it, or none it writes."""
        type_ = self._type(node)
        if type_ is None:
            return False
        region: TensorType | None = type_
        for step in steps or ():
            region = region and self._behind(step, region)
        if steps is None or region is None:
            return not may_overlap(type_, target, self._facts)
        if region.dtype is target.dtype and shows(region, target, self._facts):
            return True
        return not may_overlap(region, target, self._facts)

    def _behind(self, step: Any, region: TensorType) -> TensorType | None:
        if isinstance(step, tuple):
            return expanded(region, step, self._facts)
        before, after = self._type(viewed(step)), self._type(step)
        if before is None or after is None or not isinstance(step.target, torch._ops.OpOverload):
            return None
        return behind_view(region, step, before, after, self._facts)

    def _type(self, node: Any) -> TensorType | None:
        value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
        found = self._types.type_of(value) if isinstance(value, torch.Tensor) else None
        return found if found is not None and found.data.layout == "strided" else None

    @cached_property
    def _facts(self) -> Facts:
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        return Facts.from_shape_env(self._types.shape_env or ShapeEnv())


def _is_pointwise(target: Any) -> bool:
    """Whether each element of a result is computed of one element of each operand."""
    return isinstance(target, torch._ops.OpOverload) and (
        torch.Tag.pointwise in target.tags or target in _ELEMENTWISE
    )


__all__ = ["realize_sources"]
