"""The step of the joint stage that computes a large product, and what follows it, in chunks."""

from __future__ import annotations

from typing import Any

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import stock
from xductor.backend.steps.bridge import BridgedStep, flush, when_flag
from xductor.backend.steps.typed_steps import TypedStep, is_all_bridged, make, run_observed

_FUNCTION = "torch._inductor.fx_passes.auto_chunker:chunk"


class AutoChunkerStep(TypedStep):
    """The typed chunker, instead of Inductor's `chunk`.

    The bodies that it makes become children of the GraphModule at once. As in Inductor, no later
    step of the stage enters them.
    """

    def __call__(self, run: StageRun) -> None:
        if is_all_bridged() or not self._is_stock():
            self.stock_step(run)
        elif self.stock_step.when(run) and _has_code(run):
            chunked = run_observed([make(self.name, run)], run)
            flush(run)
            if chunked and not run.degraded:
                _count()


def _has_code(run: StageRun) -> bool:
    """Whether code can be generated for calls of bodies; Inductor's C++ wrapper cannot do it."""
    if stock.flag("cpp_wrapper"):
        _log().debug("not chunked: the C++ wrapper has no code for calls of subgraphs")
        return False
    return not run.degraded


def _count() -> None:
    """Count a chunked graph as Inductor does."""
    metrics: Any = stock.lookup("torch._inductor.metrics:__dict__")
    if "num_auto_chunking" in metrics:
        metrics["num_auto_chunking"] += 1


def _log() -> Any:
    artifact_logger = stock.lookup("torch._logging:getArtifactLogger")
    return artifact_logger("torch._inductor.fx_passes.joint_graph", "auto_chunker")


def _stock(run: StageRun) -> None:
    """Chunk the graph with Inductor's chunker, or a user's in its place, if that can."""
    chunk = stock.lookup(_FUNCTION)
    cannot = stock.lookup("torch._inductor.fx_passes.auto_chunker:CantChunk")
    try:
        run.gm = chunk(run.gm)
    except cannot:
        _log().debug("AutoChunker fail.", exc_info=True)


auto_chunker = AutoChunkerStep(
    "auto_chunker",
    BridgedStep("auto_chunker", _stock, when_flag("auto_chunker.enable")),
    _FUNCTION,
)

__all__ = ["AutoChunkerStep", "auto_chunker"]
