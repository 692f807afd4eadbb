"""Values that nodes do not record, and the order in which values are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xductor.backend.config.versions import inductor_version
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock

if TYPE_CHECKING:
    from torch.fx import Node


def updater_for(run: StageRun) -> Any:
    """Inductor's FakeTensorUpdater, which remembers the graph of `run` as it is now."""
    updater = stock.lookup("torch._inductor.fx_utils:FakeTensorUpdater")
    return updater(run.gm if inductor_version().updater_of == "module" else run.gm.graph)


def fill(run: StageRun) -> None:
    """Compute the values of calls that record none, and leave those that are recorded.

    Raises LoweringError if a call cannot be applied to the values of its arguments.
    """
    from torch._inductor.virtualized import V

    if not getattr(V, "fake_mode", None) or run.stage == "pre_grad":
        return
    if any(map(_lacks_value, run.gm.graph.nodes)) and not in_order(run):
        sort(run)
    for node in run.gm.graph.nodes:
        if _lacks_value(node):
            _fill(node, V.fake_mode)


def _lacks_value(node: Node) -> bool:
    return node.op == "call_function" and "val" not in node.meta and bool(node.users)


def _fill(node: Node, fake_mode: Any) -> None:
    from torch.fx.node import map_arg

    from xductor.frontend.errors import LoweringError

    if not all("val" in source.meta for source in node.all_input_nodes):
        return  # the body of a higher-order op, or a value that depends on an op without a value
    args, kwargs = map_arg((node.args, node.kwargs), lambda source: source.meta["val"])
    try:
        with fake_mode:
            node.meta["val"] = node.target(*args, **kwargs)  # type: ignore[operator]
    except Exception as error:  # a fake kernel may raise anything
        types = ", ".join(_shown(source.meta["val"]) for source in node.all_input_nodes)
        raise LoweringError(
            node,
            f"it cannot be applied to its arguments ({types}): {error}",
            "no value is recorded for it (meta['val']), so it was run on those of its arguments",
        ) from error


def _shown(value: Any) -> str:
    import torch

    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    sizes = "x".join([*map(str, value.shape), str(value.dtype).removeprefix("torch.")])
    return f"tensor<{sizes}>"


def in_order(run: StageRun) -> bool:
    """Whether every node of the graph comes after the nodes it uses."""
    seen: set[Any] = set()
    for node in run.gm.graph.nodes:
        if not seen.issuperset(node.all_input_nodes):
            return False
        seen.add(node)
    return True


def sort(run: StageRun) -> None:
    """Sort the graph as Inductor does at the end of the stage."""
    stock.lookup("torch._inductor.pattern_matcher:stable_topological_sort")(run.gm.graph)
