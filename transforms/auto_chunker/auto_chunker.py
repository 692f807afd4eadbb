"""`auto_chunker`: computes a product far larger than its operands, and its users, in chunks."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, InferenceEnv, TorchOp, entry_graph
from xductor.transforms import REASSOCIATES, TypedPass
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.auto_chunker.amplifier import (
    PRODUCTS,
    find_amplifier,
    tangents_of,
)
from xductor.transforms.auto_chunker.body import Region
from xductor.transforms.auto_chunker.chunks import ChunkCalls
from xductor.transforms.auto_chunker.cuts import Cuts
from xductor.transforms.auto_chunker.placement import Placement
from xductor.transforms.auto_chunker.refusal import CannotChunk
from xductor.transforms.auto_chunker.region import grow, is_constant
from xductor.transforms.auto_chunker.tangent_scale import loses_small_numbers, scales
from xductor.transforms.editing.editor import Editor
from xductor.transforms.matching.matcher import Match
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.rewriting.contracts import Declined, Violation
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.legality import Legality


@dataclass(frozen=True)
class AutoChunker(TypedPass):
    """Computes a product whose result is far larger than its operands in chunks of rows.

    The ops that use it, in forward and backward, are computed in chunks too: for a large
    vocabulary, these are the logits, the cross entropy, and their gradients. A chunk is a call of a
    body, so only one chunk of the large value exists at a time. A chunk returns a piece of each
    result, or a term of a sum. The body runs in the forward: it assumes that the gradient of the
    loss is one, and results that depend on it, which must be linear in it, are multiplied by it
    afterwards.

    - `output_size_threshold`: the number of bytes that the product's result must exceed.
    - `amplify_ratio_threshold`: the ratio of these bytes to those of the operands that it must
      exceed.
    - `num_chunk`: the number of chunks; there are fewer if rows can only be cut in groups.

    A graph that cannot be chunked stays as it is; the log `auto_chunker` says why. Under `fast`, as
    in Inductor, float16 gradients are chunked too, although gradients of a scaled loss are then
    scaled too late to avoid underflow; and sums of 16-bit terms are kept in 16 bits.
    """

    name = "auto_chunker"
    stage = "joint"
    inductor = "auto_chunker/__init__.py:chunk"
    numerics = REASSOCIATES
    roots = PRODUCTS
    permits = ("directions",)

    output_size_threshold: int = 1024 * 1024
    amplify_ratio_threshold: float = 8.0
    num_chunk: int = 8
    policy: Literal["strict", "default", "fast"] = "default"

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there is a product, and a tangent among the inputs."""
        return cls.has_root(graph) and any(
            "tangent" in node.name for node in graph.find_nodes(op="placeholder", sort=False)
        )

    def rewrite(self, module: ModuleOp) -> int:
        graph = entry_graph(module)
        try:
            return self._chunk(module, graph)
        except CannotChunk as refusal:
            _log().debug("not chunked: %s", refusal)
            return 0

    def _chunk(self, module: ModuleOp, graph: GraphOp) -> int:
        tangents = tangents_of(graph)
        if not tangents:
            return 0
        ops: list[TorchOp] = ops_of(graph.block)
        amplifier = find_amplifier(
            ops, tangents, self.output_size_threshold, self.amplify_ratio_threshold
        )
        if amplifier is None:
            raise CannotChunk("no product is large enough, and larger enough than its operands")
        found = grow(ops, amplifier, tangents)
        cuts = Cuts.of(found, amplifier)
        region = Region(amplifier, found, cuts, scales(found, tangents))
        self._check(region)
        placement = Placement.of(ops, region, analyses_of(graph).order)
        wide_sums = self.policy != "fast"
        calls = ChunkCalls(module, graph, region, wide_sums=wide_sums)
        with InferenceEnv.of(graph) as env:
            maker = calls.make(cuts.step(self.num_chunk), env)
            try:
                self._check_legality(graph, env, region, placement, calls, maker.made)
                if not should_apply(self.name):
                    raise CannotChunk("its debug counter says no")
            except BaseException:
                maker.discard()
                raise
        applied(amplifier)
        for body in calls.bodies.values():
            module.body.block.add_op(body)
        editor = Editor(graph)
        placement.put(editor, maker.made)
        _connect(editor, region, calls)
        return 1

    def _check_legality(
        self,
        graph: GraphOp,
        env: InferenceEnv,
        region: Region,
        placement: Placement,
        calls: ChunkCalls,
        made: list[Any],
    ) -> None:
        """Raises CannotChunk if the new results may not replace the old ones."""
        analyses = analyses_of(graph)
        legality = Legality(GraphState(graph, analyses.bodies, env, analyses))
        ops = [op for op in region.ops if op in region.replaced]
        match = Match.of(ops[-1], ops, list(calls.results), region.inputs)
        try:
            legality.check(match, placement.first, made, [*calls.results.values()], self.permits)
        except (Declined, Violation) as error:
            raise CannotChunk(str(error)) from error

    def _check(self, region: Region) -> None:
        if self.policy == "fast":
            return
        op = loses_small_numbers(region.ops, region.scales)
        if op is not None:
            raise CannotChunk.at(op, "a float16 gradient would be scaled too late")


def _connect(editor: Editor, region: Region, calls: ChunkCalls) -> None:
    """Replace the old results by the new ones, and remove ops that are no longer used."""
    for old, new in calls.results.items():
        editor.take_over(old, new)
    constants: dict[Any, None] = dict.fromkeys(
        value.owner for op in region.ops for value in op._operands if is_constant(value)
    )
    for op in (*reversed(region.ops), *constants):
        if all(result.first_use is None for result in op.results):
            editor.erase(op)


@cache
def _log() -> logging.Logger:
    """The log that `TORCH_LOGS=auto_chunker` shows, if this torch has it."""
    from torch._logging._internal import getArtifactLogger, log_registry

    if "auto_chunker" in log_registry.artifact_names:
        return getArtifactLogger(__name__, "auto_chunker")
    return logging.getLogger(__name__)


__all__ = ["AutoChunker"]
