"""`xductor.explain`: why a rewrite or a pass did not apply, on graphs and in compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xductor.backend.config import settings
from xductor.backend.steps import out_of_reach
from xductor.ir import TorchOp
from xductor.ir.functions.torch_calls import aten_name
from xductor.ir.text.diagnostics import op_line
from xductor.transforms import Rewrite, Stage, TypedPass, graphs_of
from xductor.transforms.explaining.explain import Entry, Explanation, explain_module
from xductor.transforms.passes.applications import Applied
from xductor.transforms.passes.debug_counters import counting
from xductor.transforms.passes.events import listening
from xductor.transforms.passes.permits import MEANINGS
from xductor.transforms.passes.refusals import LeftAlone
from xductor.transforms.rewriting.declared_pass import DeclaredPass
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rewriting.rewrite_pass import RewritePass, instance
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import PassRow

if TYPE_CHECKING:
    from torch.fx import GraphModule


def explain(
    rewrite: type[Rewrite | TypedPass] | Rewrite | TypedPass | str,
    subject: GraphModule | ModuleOp | Callable[..., Any],
    *inputs: Any,
    stage: Stage | None = None,
) -> Explanation:
    """Explain why `rewrite` applies or does not at each op that may be the root of its pattern.

    `rewrite` is a declared rewrite, a pass, or the name of a pass that `xductor passes` lists.

    `subject` is either a graph: a module of the IR or, without inputs, an FX graph, whose stage is
    `stage`, by default the first stage of the rewrite. Or it is a function or model, with `inputs`
    to call it with: it is compiled up to code generation and run, forward and backward, on copies
    of the inputs and of the model. Then the graphs of the rewrite's stages, or of `stage` alone,
    are explained, each as it is where the rewrite runs. What was compiled before is compiled again
    at its next call. What is given is not changed.

    The result has an entry for each root, the nearest misses first: how many of the pattern's calls
    were found, the first difference with both sides and the user's line, the objection of `where`
    or a contract, and what would let it match. A procedural pass has no pattern: it has entries for
    the ops to which it applies and, if the pass reports them, those that nearly matched, with the
    reasons. What keeps the rewrite from running at all is in `notes`. `print` it.

    Raises:
        ValueError: For a name that no pass has.
        TypeError: For inputs to a module of the IR.
        Exception: What `xductor.from_fx` raises for a graph that the IR cannot hold, and what
            compiling and running raise.
    """
    row = _row(rewrite) if isinstance(rewrite, str) else None
    if row is not None and not row.factory:
        return Explanation(row.name, "", (), (_not_ours(row),))
    one: Any = registry.typed_class(row.name)() if row is not None else instance(rewrite)
    if isinstance(subject, ModuleOp):
        if inputs:
            raise TypeError("a module of the IR is explained as it is; it takes no inputs")
        return _of_parts(one, subject.clone())
    if isinstance(subject, torch.fx.GraphModule) and not inputs:
        from xductor.frontend.fx_importer import from_fx

        return _of_parts(one, from_fx(subject, stage or stages_of(one)[0]))
    return _in_compile(one, stage, subject, inputs)


def _in_compile(
    one: Any, stage: Stage | None, function: Callable[..., Any], inputs: tuple[Any, ...]
) -> Explanation:
    from xductor.backend.explained_compile import look_where_it_runs

    found: list[Explanation] = []
    look_where_it_runs(
        one, lambda module: found.append(_of_parts(one, module.clone())), stage, function, inputs
    )
    if found:
        return _joined(one.name, found)
    stages = " or ".join((stage,) if stage else stages_of(one))
    return Explanation(one.name, "", (), (f"the compile has no graph of the {stages} stage",))


def _of_parts(one: Any, module: ModuleOp) -> Explanation:
    found = [_explained(part, module) for part in _parts(one)]
    return found[0] if len(found) == 1 else _joined(one.name, found)


def _joined(name: str, found: Sequence[Explanation]) -> Explanation:
    return Explanation(
        name,
        ", or ".join(dict.fromkeys(part.pattern for part in found)),
        tuple([entry for part in found for entry in part.near])
        + tuple([entry for part in found for entry in part.matched]),
        tuple(dict.fromkeys(note for part in found for note in part.notes)),
    )


def _row(name: str) -> PassRow:
    rows = {row.name: row for row in reversed(registry.rows())}
    if name in rows:
        return rows[name]
    close = get_close_matches(name, rows, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"no pass is called {name!r}.{hint} `xductor passes` lists them")


def _not_ours(row: PassRow) -> str:
    if row.covered_by:
        return f"it is done by {row.covered_by}: explain that"
    return (
        f"it is Inductor's own ({row.kind}, {row.stage} stage): it runs in compiles, on the FX "
        "graph, and has nothing to say of this graph"
    )


def _parts(one: Any) -> Iterator[Any]:
    """The declared rewrites that a pass is made of, or the pass itself."""
    if isinstance(one, DeclaredPass | RewritePass):
        yield from one.rewrites
    else:
        yield one


def _explained(one: Any, module: ModuleOp) -> Explanation:
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


__all__ = ["Explanation", "explain"]
