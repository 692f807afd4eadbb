"""Comparing two FX graphs up to names and order.

Nodes are numbered bottom-up by what they compute: equal numbers mean equal calls on equal inputs.
Calls are read through their schema, so that `add(x, y)` and `add(x, other=y, alpha=1)` are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx as fx
from torch.utils._python_dispatch import _disable_current_modes


@dataclass
class Numbering:
    """Numbers of calls, shared by the graphs that are compared."""

    known: dict[Any, int] = field(default_factory=dict[Any, int])

    def number(self, key: Any) -> int:
        return self.known.setdefault(key, len(self.known))

    def graph(self, gm: fx.GraphModule) -> dict[fx.Node, int]:
        """The number of every node of a graph."""
        numbers: dict[fx.Node, int] = {}
        inputs = 0
        for node in gm.graph.nodes:
            if node.op == "placeholder":
                numbers[node] = self.number(("input", inputs))
                inputs += 1
            elif node.op == "get_attr":
                numbers[node] = self.number(("attribute", self.attribute(gm, str(node.target))))
            else:
                args, kwargs = _in_schema_order(node)
                called = (
                    self.constant(node.target),
                    self.tree(args, numbers),
                    self.tree(kwargs, numbers),
                )
                numbers[node] = self.number((node.op, *called))
        return numbers

    def attribute(self, gm: fx.GraphModule, path: str) -> Any:
        """Constants by value, subgraphs by what they compute, parameters by path."""
        value: Any = gm
        for part in path.split("."):
            value = getattr(value, part)
        if isinstance(value, fx.GraphModule):
            numbers = self.graph(value)
            return "graph", tuple(sorted(numbers[node] for node in live_nodes(value)))
        if isinstance(value, torch.nn.Parameter) or not isinstance(value, torch.Tensor):
            return "path", path
        if isinstance(value, torch._subclasses.FakeTensor) or value.numel() > 4096:
            return "path", path
        with _disable_current_modes():
            return "constant", str(value.dtype), str(value.device), str(value.tolist())

    def tree(self, item: Any, numbers: Mapping[fx.Node, int]) -> Any:
        if isinstance(item, fx.Node):
            return "node", numbers.get(item, -1)
        if isinstance(item, list | tuple):
            return "list", tuple(self.tree(part, numbers) for part in item)
        if isinstance(item, dict):
            return "dict", tuple(
                (key, self.tree(part, numbers)) for key, part in sorted(item.items())
            )
        if isinstance(item, slice):
            return "slice", self.tree((item.start, item.stop, item.step), numbers)
        return self.constant(item)

    def constant(self, item: Any) -> Any:
        if isinstance(item, torch.SymInt | torch.SymFloat | torch.SymBool):
            return "symbol", str(item.node.expr)
        if callable(item):
            return "callable", getattr(item, "__module__", ""), str(item).split(" at 0x")[0]
        return type(item).__name__, str(item)


def _in_schema_order(node: fx.Node) -> tuple[Any, Any]:
    """Arguments by name without those that have their default, where there is a schema."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return node.args, node.kwargs
    named = dict(node.kwargs)
    defaults = {}
    for position, argument in enumerate(node.target._schema.arguments):
        if position < len(node.args):
            named[argument.name] = node.args[position]
        if argument.has_default_value():
            defaults[argument.name] = argument.default_value
    return (), {
        name: value for name, value in named.items() if not _is_default(name, value, defaults)
    }


def _is_default(name: str, value: Any, defaults: Mapping[str, Any]) -> bool:
    if name not in defaults or isinstance(value, fx.Node):
        return False
    if isinstance(value, list | tuple) and any(isinstance(part, fx.Node) for part in value):
        return False
    default = defaults[name]
    return type(value) is type(default) and value == default


def live_nodes(gm: fx.GraphModule) -> set[fx.Node]:
    """Nodes that the output or an effect needs."""
    live: set[fx.Node] = set()
    pending = [node for node in gm.graph.nodes if node.op == "output" or node.is_impure()]
    while pending:
        node = pending.pop()
        if node not in live:
            live.add(node)
            pending.extend(node.all_input_nodes)
    return live


@dataclass(frozen=True)
class Comparison:
    """Where two graphs part.

    `ours` and `theirs` are the calls that only one side makes although both have their inputs;
    `dead` counts calls whose results nothing needs, on our side and on theirs.
    """

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    dead: tuple[int, int]

    @property
    def equal(self) -> bool:
        """Equal in all that is needed."""
        return not self.ours and not self.theirs

    def __str__(self) -> str:
        if self.equal:
            return "equal"
        ours, theirs = (", ".join(side) or "-" for side in (self.ours, self.theirs))
        return f"only ours: {ours}; only theirs: {theirs}"


def compare_graphs(ours: fx.GraphModule, theirs: fx.GraphModule) -> Comparison:
    """Compare two graphs up to names, order and dead calls."""
    numbering = Numbering()
    sides = []
    for gm in (ours, theirs):
        numbers, live = numbering.graph(gm), live_nodes(gm)
        sides.append(
            (numbers, [node for node in gm.graph.nodes if node in live], len(numbers) - len(live))
        )
    (our_numbers, our_nodes, our_rest), (their_numbers, their_nodes, their_rest) = sides
    inputs = sum(1 for node in ours.graph.nodes if node.op == "placeholder")
    our_inputs = sum(1 for node in our_nodes if node.op == "placeholder")
    their_inputs = sum(1 for node in their_nodes if node.op == "placeholder")
    return Comparison(
        _only(our_nodes, our_numbers, [their_numbers[n] for n in their_nodes]),
        _only(their_nodes, their_numbers, [our_numbers[n] for n in our_nodes]),
        (our_rest - (inputs - our_inputs), their_rest - (inputs - their_inputs)),
    )


def _only(
    nodes: Iterable[fx.Node], numbers: Mapping[fx.Node, int], others: list[int]
) -> tuple[str, ...]:
    """Calls that the other side lacks, where it has all their inputs."""
    left = Counter(others)
    known = set(others)
    found = []
    for node in nodes:
        if left[numbers[node]] > 0:
            left[numbers[node]] -= 1
        elif node.op != "placeholder" and all(
            numbers[used] in known for used in node.all_input_nodes
        ):
            found.append(f"{node.name} = {node.target if node.op != 'output' else 'output'}")
    return tuple(found)
