"""Checks what a user's function on the FX graph leaves, if the settings ask for types.

The graph is verified before the function, so that what is wrong afterwards is the function's doing.
Afterwards it is verified as it is: recorded values that are no longer true are not repaired first.
Values that were not recorded are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xductor.backend.stage_runs import failures
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import node_values, runner
from xductor.ir import GraphOp, OutputOp, TensorType, entry_graph
from xductor.ir.text.diagnostics import fail
from xductor.ir.verification.type_comparison import TypeComparison
from xductor.transforms.analysis.graphs import facts_of

#: What a graph's callers rely on. That excludes strides of outputs: a pass may choose others.
_OF_AN_OUTPUT = frozenset({"dtype", "device", "rank", "shape"})


@contextmanager
def checked(run: StageRun, name: str) -> Iterator[None]:
    """Check what runs inside the block under the name of a hook, if `verify` says types or more.

    Raises StageError if the graph that is left is wrong and `on_error="raise"`.
    """
    if run.settings.verify == "structure" or run.untyped or run.degraded:
        yield
        return
    before = runner.lowered(run)
    outputs = _outputs(entry_graph(before.module)) if before is not None else []
    yield
    if before is None:
        return  # what was wrong before has been reported
    run.group = None
    try:
        node_values.fill(run)
        group = runner.TypedGroup.lower_as_is(run)
        runner.verify_module(group.module, run.settings.verify)
        _same_outputs(entry_graph(group.module), outputs, name)
    except Exception as error:  # the hook is the user's, and may leave anything behind
        failures.handle(run, failures.Failure(name, error))
        return
    run.group = group


def _outputs(graph: GraphOp) -> list[object]:
    last = graph.block.last_op
    return [operand.type for operand in last.operands] if isinstance(last, OutputOp) else []


def _same_outputs(graph: GraphOp, before: list[object], name: str) -> None:
    """Raise VerifyException if the graph's outputs are of other types than before."""
    last = graph.block.last_op
    assert isinstance(last, OutputOp)
    after = _outputs(graph)
    if len(before) != len(after):
        fail(
            last,
            f"the graph has another number of outputs than before {name}",
            expected=str(len(before)),
            found=str(len(after)),
        )
    comparison = TypeComparison(facts_of(graph), with_grad=False)
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if not isinstance(old, TensorType) or not isinstance(new, TensorType):
            continue
        facet = comparison.difference(new, old, {})
        if facet in _OF_AN_OUTPUT:
            fail(
                last,
                f"output {index} is of another {facet} than before {name}",
                expected=f"{old} (before)",
                found=f"{new} (after)",
            )


__all__ = ["checked"]
