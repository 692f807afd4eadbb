"""Shrinks a module while something about it stays true: `xductor.reduce(module, interesting)`.

Delta debugging over graphs. Chunks of ops are taken out, halving their size down to one; the
values that the rest still needs become inputs, which is always possible because their types are
known. Then single ops are bypassed, and outputs, inputs, subgraphs and metadata dropped, until
nothing can go.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError, VerifyException

from xductor.backend.reduce import edits
from xductor.ir import GraphOp, entry_graph, graph_named, parse_ir, print_ir, verify

#: Says whether a module still shows the fault. It may change the module it is given.
Interesting = Callable[[ModuleOp], bool]

#: Changes a module in place; False if there was nothing to change.
Edit = Callable[[ModuleOp], bool]


class NotInteresting(ValueError):
    """The module that was to be reduced does not show the fault."""


def reduce(
    module: ModuleOp,
    interesting: Interesting,
    *,
    on_progress: Callable[[Reduction], None] | None = None,
) -> ModuleOp:
    """A module as small as can be found for which `interesting` is still true.

    - `interesting`: gets a copy, which it may change, and says whether the copy still shows the
      failure. An error that it raises ends the reduction.
    - `on_progress`: called whenever a smaller module was found.

    Every candidate is well-formed (level `structure`) if `module` is, and so is the result. The
    result equals `parse_ir(print_ir(result))`, unless the failure needs the live objects that
    `module` was lowered with. `module` is not changed.

    Raises NotInteresting if `interesting` is false for `module` itself.
    """
    reduction = Reduction(module.clone(), interesting, on_progress)
    reduction.run()
    return reduction.module


@dataclass
class Reduction:
    """A reduction in progress: the smallest module so far, and what it took to find it."""

    module: ModuleOp
    interesting: Interesting
    on_progress: Callable[[Reduction], None] | None = None
    tests: int = 0
    seconds: float = 0.0
    _tried: set[bytes] = field(default_factory=set[bytes])
    _well_formed: bool = True
    _tidies: bool = True

    @property
    def ops(self) -> int:
        """How many ops the module holds in all graphs, without outputs."""
        return sum(len(edits.body_ops(graph)) for graph in _bodies(self.module))

    def run(self) -> None:
        """Reduce until no step makes the module smaller.

        Raises NotInteresting if the module does not show the fault.
        """
        start = time.perf_counter()
        self._well_formed = _is_well_formed(self.module)
        if not self._test(self.module):
            raise NotInteresting("the module does not show what is looked for; nothing to reduce")
        self._forget_live_objects()
        # If the fault is in an op that nothing uses, unused ops must stay at first.
        self._tidies = False
        self._tidies = self.attempt(_tidy) or not _tidy(self.module.clone())
        before: tuple[int, ...] = ()
        while before != (now := self._size()):
            before = now
            self._round()
            self.seconds = time.perf_counter() - start
        self._finish()
        self.seconds = time.perf_counter() - start

    def attempt(self, edit: Edit) -> bool:
        """Apply an edit to a copy, and keep the copy if it still shows the fault."""
        candidate = self.module.clone()
        if not edit(candidate):
            return False
        if self._tidies:
            _tidy(candidate)
        text = print_ir(candidate)
        digest = blake2b(text.encode(), digest_size=16).digest()
        if digest in self._tried:
            return False
        self._tried.add(digest)
        if self._well_formed and not _is_well_formed(candidate):
            return False
        if not self._test(candidate):
            return False
        self.module = candidate
        if self.on_progress is not None:
            self.on_progress(self)
        return True

    def _test(self, candidate: ModuleOp) -> bool:
        self.tests += 1
        return bool(self.interesting(candidate.clone()))

    def _forget_live_objects(self) -> None:
        """Go on with the parsed text if that shows the fault too."""
        try:
            parsed = parse_ir(print_ir(self.module))
        except ParseError:
            return
        if self._test(parsed):
            self.module = parsed

    def _size(self) -> tuple[int, ...]:
        graphs = _bodies(self.module)
        return (
            len(graphs),
            self.ops,
            sum(len(graph.arguments) for graph in graphs),
            sum(len(edits.output_leaves(graph)) for graph in graphs),
        )

    # ------------------------------------------------------------------------------ steps

    def _round(self) -> None:
        self._choose_entry()
        entry = entry_graph(self.module).sym_name.data
        self._drop_outputs(entry)
        self._chunked(entry, _count_ops, self._cut)
        self._chunked(entry, _count_ops, _edit(edits.erase_unused))
        self._chunked(entry, _count_inputs, _edit(edits.drop_inputs))
        self._chunked(entry, _count_ops, _edit(edits.bypass))
        for graph in _bodies(self.module)[1:]:
            name = graph.sym_name.data
            self._chunked(name, _count_ops, _edit(edits.substitute))
            self._chunked(name, _count_ops, _edit(edits.bypass))
            self._chunked(name, _count_ops, _edit(edits.erase_unused))
        self._merge_inputs(entry)

    def _choose_entry(self) -> None:
        """Drop graphs that nothing refers to, and try each subgraph by itself."""
        names = [graph.sym_name.data for graph in _bodies(self.module)]
        for name in [*names[1:], *names[:1]]:
            self.attempt(lambda module, name=name: edits.keep_reachable(module, name))

    def _drop_outputs(self, name: str) -> None:
        def drop(graph: str, positions: Sequence[int]) -> Edit:
            def edit(module: ModuleOp) -> bool:
                found = _graph(module, graph)
                gone = set(positions)
                count = len(edits.output_leaves(found))
                return edits.keep_outputs(found, [i for i in range(count) if i not in gone])

            return edit

        if edits.can_drop_outputs(_graph(self.module, name)):
            self._chunked(name, _count_outputs, lambda *at: self.attempt(drop(*at)))

    def _cut(self, name: str, positions: Sequence[int]) -> bool:
        def edit(module: ModuleOp, promote: bool) -> bool:
            return edits.cut_ops(_graph(module, name), positions, promote=promote)

        # What fed the ops is first dropped with them, then returned, so that it can still be seen.
        return self.attempt(lambda module: edit(module, False)) or self.attempt(
            lambda module: edit(module, True)
        )

    def _chunked(
        self,
        name: str,
        count: Callable[[GraphOp], int],
        step: Callable[[str, Sequence[int]], bool | Edit],
    ) -> None:
        """Try a step on chunks of positions, from the last to the first, halving their size."""
        size = count(_graph(self.module, name))
        while size:
            end = count(_graph(self.module, name))
            while end > 0:
                made = step(name, range(max(end - size, 0), end))
                if not isinstance(made, bool):
                    self.attempt(made)
                # Ops before the chunk may have gone with it; those left are still to be tried.
                end = min(end - size, count(_graph(self.module, name)))
            size //= 2

    def _merge_inputs(self, name: str) -> None:
        kept = 0
        while kept < len(_graph(self.module, name).arguments):
            other = len(_graph(self.module, name).arguments) - 1
            while other > kept:
                self.attempt(
                    lambda module, a=kept, b=other: edits.merge_inputs(_graph(module, name), a, b)
                )
                other = min(other, len(_graph(self.module, name).arguments)) - 1
            kept += 1

    def _finish(self) -> None:
        for graph in _bodies(self.module):
            name = graph.sym_name.data
            self.attempt(lambda module, name=name: edits.drop_metadata(_graph(module, name)))
            self.attempt(lambda module, name=name: edits.drop_symbols(_graph(module, name)))


def _edit(
    change: Callable[[GraphOp, Sequence[int]], bool],
) -> Callable[[str, Sequence[int]], Edit]:
    """The edit that a function of graph and positions makes in the graph of that name."""
    return lambda name, positions: lambda module: change(_graph(module, name), positions)


def _tidy(module: ModuleOp) -> bool:
    """Erase what nothing uses in the entry graph: ops without effects, then inputs."""
    graph = entry_graph(module)
    erased = edits.erase_unused(graph)
    return edits.drop_inputs(graph, range(len(graph.arguments))) or erased


def _graph(module: ModuleOp, name: str) -> GraphOp:
    graph = graph_named(module, name)
    assert graph is not None
    return graph


def _bodies(module: ModuleOp) -> list[GraphOp]:
    return [op for op in module.ops if isinstance(op, GraphOp) and not op.is_declaration]


def _count_ops(graph: GraphOp) -> int:
    return len(edits.body_ops(graph))


def _count_inputs(graph: GraphOp) -> int:
    return len(graph.arguments)


def _count_outputs(graph: GraphOp) -> int:
    return len(edits.output_leaves(graph))


def _is_well_formed(module: ModuleOp) -> bool:
    try:
        verify(module, level="structure")
    except VerifyException:
        return False
    return True
