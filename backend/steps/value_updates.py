"""Recorded values brought up to date after bridged steps, at the price of what changed.

Inductor's `FakeTensorUpdater` does the same. It hashes the arguments of every node, and takes a
result in a storage of its own for another value than before, so that it runs everything below a
changed node again. Here a node is run again if its call changed, or the value of an input did; a
new value counts as changed if its type did, or what shares its storage.

Calls of subgraphs, and symbols that the graph itself computes, are left to Inductor's.

Nothing is remembered until a step is about to edit the FX graph: what typed passes raise has the
values that it should have. What was stale when the stage began is not repaired: that is for the
verifier to report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.experimental.symbolic_shapes import compute_unbacked_bindings
from torch.fx.node import map_arg

from xductor.backend.steps import node_values
from xductor.ir.inference.value_types import TypeReader, leaves_of, structure_of

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule, Node

    from xductor.backend.stage_runs.stage_run import StageRun

Calls = dict["Node", tuple[Any, Any, Any]]

_MISSING = object()


_WATCHED = "value_updater"


def watch_edits(run: StageRun) -> None:
    """Let `refresh` find what steps on the FX graph leave stale, if types are checked."""
    if run.settings.verify != "structure" and not run.untyped:
        run.before_edit = watch


def watch(run: StageRun) -> None:
    """Remember what the nodes call, so that `update` knows which have changed since."""
    run.kept[_WATCHED] = run.gm, ValueUpdater(run)


def is_watched(run: StageRun) -> bool:
    """Whether a step that may have left values stale ran since the stage began."""
    return run.kept.get(_WATCHED, (None,))[0] is run.gm


def updater_of(run: StageRun) -> ValueUpdater:
    """What knows the calls of the graph as they were before a step edited it, or as they are."""
    return run.kept[_WATCHED][1] if is_watched(run) else ValueUpdater(run)


def update(run: StageRun) -> None:
    """Compute the values of calls that changed since `watch`, and of those that use them."""
    if is_watched(run):
        run.kept[_WATCHED][1].incremental_update()


def raised(run: StageRun) -> None:
    """What typed passes left has values that are true: none of it is a change to follow up."""
    if is_watched(run):
        run.kept[_WATCHED] = run.gm, ValueUpdater(run)


def refresh(run: StageRun) -> None:
    """Bring a graph up to date that is about to be lowered.

    It is sorted first if necessary, since values are computed in order.
    """
    from torch._inductor.virtualized import V

    if not is_watched(run) or not getattr(V, "fake_mode", None):
        return
    if not node_values.in_order(run):
        node_values.sort(run)
    update(run)


def renew(run: StageRun) -> bool:
    """Compute the values of all calls, where parameters became constants.

    A value that says what a new one does stays. Returns False, with nothing done, for a graph whose
    values have to be left to Inductor.
    """
    from torch._inductor.virtualized import V

    gm = run.gm
    if _is_inductors(gm) or not node_values.in_order(run):
        return False
    _renew_constants(gm, V.fake_mode)
    _Update(gm, list(gm.graph.nodes)).run()
    _renew_output(gm)
    return True


def _renew_output(gm: GraphModule) -> None:
    """Give the output the values that it returns: what reads a 16-bit product must have one."""
    output = gm.graph.output_node()
    output.meta["val"] = map_arg(output.args[0], lambda node: node.meta.get("val"))


def _renew_constants(gm: GraphModule, mode: Any) -> None:
    """Give constants that have no value the value of their tensor, or another than they had."""
    reader = TypeReader("post_grad")
    for node in gm.graph.find_nodes(op="get_attr"):
        held: Any = gm
        for part in str(node.target).split("."):
            held = getattr(held, part)
        if not isinstance(held, torch.Tensor):
            continue
        known = node.meta.get("val")
        if known is None or reader.type_of(known) != reader.type_of(held):
            node.meta["val"] = mode.from_tensor(held, static_shapes=True)


class ValueUpdater:
    """Remembers the calls of a graph as it is now, to find later which have changed.

    It takes the place of Inductor's own where that is passed to a pass: the name and the result of
    its one method are Inductor's.
    """

    def __init__(self, run: StageRun) -> None:
        self._run = run
        self._gm = run.gm
        self._calls = _all_calls(run.gm)

    def incremental_update(self) -> int:
        """Update the values; returns how many nodes have a new one."""
        known, self._calls = self._calls, _all_calls(self._gm)
        changed = [node for node, call in self._calls.items() if not _same(known.get(node), call)]
        if not changed:
            return 0
        if _is_inductors(self._gm):
            return self._inductors(changed).incremental_update()
        return _Update(self._gm, changed).run()

    def _inductors(self, changed: list[Node]) -> Any:
        """Inductor's updater, as if it had been made when this one was."""
        updater = node_values.updater_for(self._run)
        for one in _with_nested(updater):
            for node in changed:
                one.processed_hashes.discard(one.hash_node(node))
        return updater


def _with_nested(updater: Any) -> Iterator[Any]:
    """An updater of Inductor's, and those that it has for the graphs of calls (from 2.12 on)."""
    yield updater
    for nested in getattr(updater, "subgraph_updaters", {}).values():
        yield from _with_nested(nested)


def _all_calls(gm: GraphModule) -> Calls:
    """What each node calls, in the graphs of calls too."""
    found = calls(gm.graph)
    for child in gm.children():
        if isinstance(child, torch.fx.GraphModule):
            found.update(_all_calls(child))
    return found


def calls(graph: Graph) -> Calls:
    """What each node calls, in order. FX makes new tuples of arguments when one changes."""
    return {node: (node.target, node.args, node.kwargs) for node in graph.nodes}


def _same(known: tuple[Any, Any, Any] | None, call: tuple[Any, Any, Any]) -> bool:
    return known is not None and all(old is new for old, new in zip(known, call, strict=True))


def _is_inductors(gm: GraphModule) -> bool:
    """Whether a graph has to be left to Inductor: it calls subgraphs, or computes new symbols."""
    if any(isinstance(child, torch.fx.GraphModule) for child in gm.children()):
        return True
    return any("unbacked_bindings" in node.meta for node in gm.graph.nodes)


class _Update:
    """One walk down a graph."""

    def __init__(self, gm: GraphModule, changed: list[Node]) -> None:
        self.gm = gm
        self.pending = set(changed)
        self.reader = TypeReader("post_grad")
        self.shape_env: Any = None
        self.holders = Counter(
            storage for node in gm.graph.nodes for storage in _storages(node.meta.get("val"))
        )

    def run(self) -> int:
        from torch._dispatch.python import enable_python_dispatcher
        from torch._inductor.virtualized import V

        updated = 0
        self.shape_env = V.fake_mode.shape_env
        with V.fake_mode, enable_python_dispatcher():
            for node in self.gm.graph.nodes:
                if node in self.pending and self._update(node):
                    self.pending.update(node.users)
                    updated += 1
        return updated

    def _update(self, node: Node) -> bool:
        """Run a call on the values of its arguments; returns whether its value has changed."""
        if not callable(node.target) or hasattr(node.target, "_inductor_lowering_function"):
            return False  # one of Inductor's lowerings, which take no fake tensors
        inputs = {used: self._value(used) for used in node.all_input_nodes}
        if any(value is _MISSING for value in inputs.values()):
            return False
        args, kwargs = map_arg((node.args, node.kwargs), inputs.__getitem__)
        value = node.target(*args, **kwargs)
        old = node.meta.get("val", _MISSING)
        if old is not _MISSING and self._alike(value, old, inputs.values()):
            return False
        node.meta["val"] = value
        if self.shape_env is not None and (
            symbols := compute_unbacked_bindings(self.shape_env, value)
        ):
            node.meta["unbacked_bindings"] = symbols
        self.holders.subtract(_storages(old))
        self.holders.update(_storages(value))
        return True

    def _value(self, node: Node) -> Any:
        if "val" in node.meta or node.op != "get_attr":
            return node.meta.get("val", _MISSING)
        value: Any = self.gm
        for part in str(node.target).split("."):
            value = getattr(value, part, _MISSING)
        return value

    def _alike(self, new: Any, old: Any, inputs: Collection[Any]) -> bool:
        """Whether an old value says all that a new one does."""
        if structure_of(new) != structure_of(old):
            return False
        given = {storage for value in inputs for storage in _storages(value)}
        leaves, before = list(leaves_of(new)), list(leaves_of(old))
        if _sharing(leaves) != _sharing(before):
            return False
        return all(self._same_leaf(*pair, given) for pair in zip(leaves, before, strict=True))

    def _same_leaf(self, new: Any, old: Any, given: set[int]) -> bool:
        if new is old:
            return True
        if self.reader.type_of(new) != self.reader.type_of(old):
            return False
        if not isinstance(new, torch.Tensor):
            return type(new) is type(old) and isinstance(new, _COMPARED_BY_TYPE)
        now, before = _storage(new), _storage(old)
        if now in given or now is None:
            return now == before
        # A storage of its own: any will do that no other node has.
        return before is not None and self.holders[before] == 1


_COMPARED_BY_TYPE = (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool, type(None))


def _sharing(leaves: list[Any]) -> list[int | None]:
    """Which leaves of a value share a storage: for each, the number of the first that has it."""
    storages = [_storage(leaf) for leaf in leaves]
    return [None if storage is None else storages.index(storage) for storage in storages]


def _storages(value: Any) -> set[int]:
    """The storages of a value's leaves."""
    found = {_storage(leaf) for leaf in leaves_of(value)}
    return {storage for storage in found if storage is not None}


def _storage(value: Any) -> int | None:
    """An id of the storage of a tensor; None for other values."""
    if not isinstance(value, torch.Tensor) or not torch._C._has_storage(value):
        return None
    return value.untyped_storage()._cdata


__all__ = [
    "ValueUpdater",
    "calls",
    "is_watched",
    "raised",
    "refresh",
    "renew",
    "update",
    "updater_of",
    "watch",
    "watch_edits",
]
