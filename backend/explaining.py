"""`xductor.explain`: why a rewrite did not apply, on FX graphs and on modules of the IR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from xductor.transforms.rewriting.explain import Explanation, explain_module
from xductor.transforms.rewriting.rewrite import Rewrite, stages_of
from xductor.transforms.typed_pass import Stage

if TYPE_CHECKING:
    from torch.fx import GraphModule


def explain(
    rewrite: Rewrite | type[Rewrite],
    gm_or_module: GraphModule | ModuleOp,
    stage: Stage | None = None,
) -> Explanation:
    """Why `rewrite` applies or does not, at each op of all graphs that may root its pattern.

    `stage` says what kind of graph an FX graph is; by default the first stage of the rewrite. A
    module says it itself. What is given is not changed.

    The result has an entry for each root, the nearest misses first: how many of the pattern's calls
    are there, the first difference with both sides and the user's line, what `where` or a contract
    said, and what would let it match. `print` it.

    Raises what :func:`xductor.from_fx` raises for a graph that the IR cannot hold.
    """
    one = rewrite() if isinstance(rewrite, type) else rewrite
    if isinstance(gm_or_module, ModuleOp):
        module = gm_or_module.clone()
    else:
        from xductor.frontend.fx_importer import from_fx

        module = from_fx(gm_or_module, stage or stages_of(one)[0])
    return explain_module(one, module)


__all__ = ["Explanation", "explain"]
