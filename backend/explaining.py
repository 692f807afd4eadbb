"""`xductor.explain`: why a rewrite or a pass did not apply, on graphs and in compiles."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.config.unfit_rewrites import unfit
from xductor.backend.explained_graphs import explained_graph, joined
from xductor.transforms import Rewrite, Stage, TypedPass
from xductor.transforms.explaining.explain import Explanation
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rewriting.rewrite_pass import instance
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import PassRow

if TYPE_CHECKING:
    from torch.fx import GraphModule


def explain(
    rewrite: type[Rewrite | TypedPass] | Rewrite | TypedPass | str,
    subject: GraphModule | ModuleOp | Callable[..., Any],
    *inputs: Any,
    stage: Stage | None = None,
    **keywords: Any,
) -> Explanation:
    """Explain why `rewrite` applies or does not at each op that may be the root of its pattern.

    `rewrite` is a declared rewrite, a pass, or the name of a pass that `xductor passes` lists.

    `subject` is either a graph: a module of the IR or, without inputs, an FX graph, whose stage is
    `stage`, by default the first stage of the rewrite. Or it is a function or model, with `inputs`
    and `keywords` to call it with (a keyword that is called like a parameter here is bound to a
    function before, by `functools.partial`): it is compiled up to code generation and run, forward
    and backward, on copies of the inputs and of the model. Then the graphs of the rewrite's stages,
    or of `stage` alone, are explained, each as it is where the rewrite runs. What was compiled
    before is compiled again at its next call. What is given is not changed.

    The result has an entry for each root, the nearest misses first: how many of the pattern's calls
    were found, the first difference with both sides and the user's line, the objection of `where`
    or a contract, and what would let it match. A procedural pass has no pattern: it has entries for
    the ops to which it applies and, if the pass reports them, those that nearly matched, with the
    reasons. What keeps the rewrite from running at all is in `notes`. `print` it.

    Raises:
        ValueError: For a name that no pass has.
        TypeError: For inputs to a module of the IR, and for a class without a `replacement`.
        Exception: What `xductor.from_fx` raises for a graph that the IR cannot hold, and what
            compiling and running raise.
    """
    row = _row(rewrite) if isinstance(rewrite, str) else None
    if row is not None and not row.factory:
        return Explanation(row.name, "", (), (_not_ours(row),))
    if said := unfit(rewrite):
        raise TypeError(said)
    one: Any = registry.typed_class(row.name)() if row is not None else instance(rewrite)
    if isinstance(subject, ModuleOp):
        if inputs or keywords:
            raise TypeError("a module of the IR is explained as it is; it takes no inputs")
        return explained_graph(one, subject.clone())
    if isinstance(subject, torch.fx.GraphModule) and not (inputs or keywords):
        from xductor.frontend.fx_importer import from_fx

        return explained_graph(one, from_fx(subject, stage or stages_of(one)[0]))
    return _in_compile(one, stage, subject, inputs, keywords)


def _in_compile(
    one: Any,
    stage: Stage | None,
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Explanation:
    from xductor.backend.explained_compile import look_where_it_runs

    found: list[Explanation] = []
    look_where_it_runs(
        one,
        lambda module: found.append(explained_graph(one, module.clone())),
        stage,
        function,
        inputs,
        keywords,
    )
    if found:
        return joined(one.name, found)
    stages = " or ".join((stage,) if stage else stages_of(one))
    return Explanation(one.name, "", (), (f"the compile has no graph of the {stages} stage",))


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


__all__ = ["Explanation", "explain"]
