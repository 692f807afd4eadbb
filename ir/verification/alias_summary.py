"""Which outputs of a graph share storage with its inputs and with each other."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import BlockArgument, SSAValue

from xductor.ir.dialect.arguments import Ref, leaves
from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.types import TensorType
from xductor.ir.inference.infer import storage_root
from xductor.ir.text.diagnostics import fail

#: `("output", 0)` or `("input", 2)`: a tensor that is visible from outside.
Place = tuple[str, int]

AliasSummary = frozenset[tuple[Place, Place]]


def alias_summary(graph: GraphOp) -> AliasSummary:
    """The pairs of an output and an input, or of two outputs, that (may) share storage.

    They follow from the alias facts of the ops. Outputs are numbered as leaves of what the graph
    returns, including constants and None, so that an output keeps its number when another changes.
    """
    pairs: set[tuple[Place, Place]] = set()
    seen: dict[SSAValue, list[Place]] = {}
    for index, value in returned_values(graph):
        if value is None or not isinstance(value.type, TensorType):
            continue
        root = storage_root(value)
        place = ("output", index)
        if isinstance(root, BlockArgument):
            pairs.add((place, ("input", root.index)))
        pairs.update((other, place) for other in seen.get(root, ()))
        seen.setdefault(root, []).append(place)
    return frozenset(pairs)


def check_no_new_aliases(graph: GraphOp, before: AliasSummary) -> None:
    """Check that no outputs of a graph share storage that did not share it before.

    - `before`: the summary when the graph was lowered.

    Raises VerifyException naming the op that made the output.
    """
    added = sorted(alias_summary(graph) - before)
    if not added:
        return
    (_, index), (kind, other) = added[0]
    output = graph.output
    if kind == "input":
        name = graph.argument_names[other]
        partner = f"input %{name}"
    else:
        partner = f"output {other}"
    values = dict(returned_values(graph))
    value = values[index]
    made = output if value is None or isinstance(value, BlockArgument) else value.owner
    fail(
        made,  # type: ignore[arg-type]
        f"output {index} shares storage with {partner}; it did not when the graph was lowered",
        expected="an output with storage of its own",
        found=f"an alias of {partner}",
        hint="clone the value, or leave the op that copied it",
    )


def returned_values(graph: GraphOp) -> Iterator[tuple[int, SSAValue | None]]:
    """The leaves of what a graph returns, with their numbers; None for constants."""
    output = graph.output
    for index, leaf in enumerate(leaves((output.tree,))):
        yield index, output.operands[leaf.index] if type(leaf) is Ref else None


__all__ = [
    "AliasSummary",
    "Place",
    "alias_summary",
    "check_no_new_aliases",
    "returned_values",
]
