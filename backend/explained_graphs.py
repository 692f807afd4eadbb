"""Explains why a rewrite or a pass does or does not apply to a graph as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xductor.backend.config import settings
from xductor.backend.user_passes import out_of_reach
from xductor.ir import TorchOp
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.text.diagnostics import op_line
from xductor.transforms import Rewrite, TypedPass, graphs_of
from xductor.transforms.explaining.explain import Entry, Explanation, explain_module
from xductor.transforms.passes.applications import Applied
from xductor.transforms.passes.debug_counters import counting
from xductor.transforms.passes.events import listening
from xductor.transforms.passes.permits import MEANINGS
from xductor.transforms.passes.refusals import LeftAlone
from xductor.transforms.rewriting.declared_pass import DeclaredPass
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rewriting.rewrite_pass import RewritePass


def explained_graph(one: Any, module: ModuleOp) -> Explanation:
    """Why a rewrite or pass does or does not apply to the graphs of a module."""
    found = [explained_part(part, module) for part in parts_of(one)]
    return found[0] if len(found) == 1 else joined(one.name, found)


def joined(name: str, found: Sequence[Explanation]) -> Explanation:
    """Several explanations as one, under a name."""
    return Explanation(
        name,
        ", or ".join(dict.fromkeys(part.pattern for part in found)),
        tuple([entry for part in found for entry in part.near])
        + tuple([entry for part in found for entry in part.matched]),
        tuple(dict.fromkeys(note for part in found for note in part.notes)),
    )


def parts_of(one: Any) -> Iterator[Any]:
    """The declared rewrites that a pass is made of, or the pass itself."""
    if isinstance(one, DeclaredPass | RewritePass):
        yield from one.rewrites
    else:
        yield one


def explained_part(one: Any, module: ModuleOp) -> Explanation:
    """The explanation of one of `parts_of` a pass."""
    notes = (
        *(MEANINGS[permit] for permit in one.permits),
        *out_of_reach.notes(one, module, settings.current().numerics),
    )
    if isinstance(one, Rewrite):
        return explain_module(one, module, notes)
    return _of_procedural(one, module.clone(), notes)


def _of_procedural(one: TypedPass, module: ModuleOp, notes: tuple[str, ...]) -> Explanation:
    """What a procedural pass does to a module, and what it leaves alone, with its reasons."""
    stages = {graph.stage.data for graph in graphs_of(module)}
    if stages.isdisjoint(stages_of(one)):
        return Explanation(one.name, "", (), notes)
    matched: list[Entry] = []
    near: list[Entry] = []
    roots = [_entry("left alone", op) for op in _roots_in(one, module)]

    def applied(event: Applied) -> None:
        matched.append(_entry("matched", event.op))

    def refused(op: TorchOp, reason: str, at: TorchOp | None = None, remedy: str = "") -> None:
        entry = _entry("refused", op, reason)
        place = None if at is None or at is op else _entry("refused", at)
        near.append(replace(entry, obstacle=place, remedies=(remedy,) if remedy else ()))

    def kept(event: LeftAlone) -> None:
        refused(event.op, event.reason)

    with counting({}), listening(Applied, applied), listening(LeftAlone, kept):
        one.explained(module, refused)
    if not matched and not near:
        near = roots
        if one.roots and not roots:
            names = ", ".join(sorted({_root_name(root) for root in one.roots}))
            notes = (*notes, f"these graphs have none of the ops that it looks for: {names}")
    return Explanation(one.name, "", (*near, *matched), notes)


def _roots_in(one: TypedPass, module: ModuleOp) -> Iterator[TorchOp]:
    """The ops that a pass may begin at, by its roots."""
    for graph in graphs_of(module):
        for op in graph.block.ops:
            if isinstance(op, TorchOp) and not one.roots.isdisjoint(_names_of(op)):
                yield op


def _names_of(op: TorchOp) -> Iterator[Any]:
    yield type(op).target
    for name in (op.name, aten_name(op)):
        yield name
        yield name.rpartition(".")[0]


def _root_name(root: Any) -> str:
    return root if isinstance(root, str) else getattr(root, "__name__", str(root))


def _entry(outcome: Any, op: Operation, reason: str = "") -> Entry:
    graph: Any = op.parent_op()
    name = graph.sym_name.data if graph is not None else ""
    location = op.node.location() if isinstance(op, TorchOp) else None
    text = op_line(op) if isinstance(op, TorchOp) else op.name
    return Entry(outcome, text, name, location, 0, 0, reason)


__all__ = ["explained_graph", "explained_part", "joined", "parts_of"]
