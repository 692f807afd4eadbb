"""Which random numbers a graph draws, and passes that may hand draws to another generator.

No rewrite may add, drop or move a draw. A pass that permits itself `"draws"` may move draws to the
compiler's generator, which is seeded from PyTorch's. It is then checked that the graph draws the
same numbers of elements on the same devices, from the same distributions, in the same order, and
each draw from a seed of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import Facts, GraphOp, TensorType, TorchOp
from xductor.ir.dialect.types import Dim
from xductor.transforms import Analyses, TypedPass, graphs_of
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.analysis.graphs import facts_of, integer
from xductor.transforms.analysis.op_effects import effects_of, never_draws
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import known_equal

#: Draws that the compiler's generator can make, with the distribution of each.
ATEN_DRAWS = {
    "aten.rand.default": "rand",
    "aten.rand.generator": "rand",
    "aten.randn.default": "randn",
    "aten.randn.generator": "randn",
    "aten.randint.low": "randint",
}
RANDOM = "prims.inductor_random.default"
RANDINT = "prims.inductor_randint.default"
SEED, SEEDS = "prims.inductor_seed.default", "prims.inductor_seeds.default"
LOOKUP_SEED = "prims.inductor_lookup_seed.default"
OFFSET = "prims.inductor_rand_eager_offset.default"
OFFSETS = "prims.inductor_rand_eager_offsets.default"
SELECT = "aten.select.int"

_SEEDINGS = frozenset((SEED, SEEDS, OFFSET, OFFSETS))


class DrawsChanged(Exception):
    """A pass has changed the random draws that it was to hand over."""


class Draw(NamedTuple):
    """The numbers that one op draws.

    - `kind`: "rand", "randn" or "randint"; for other ops their name.
    - `source`: draws from one source give the same numbers. A draw from PyTorch's generator is its
      own source.
    - `details`: what else determines the numbers: the bounds of integers, or the types of other
      ops.
    """

    kind: str
    device: torch.device | None
    shape: tuple[Dim, ...]
    source: int
    details: tuple[Any, ...] = ()

    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        details = f" {list(self.details)}" if self.details else ""
        return f"{self.kind}[{sizes}]{details} on {self.device}, from source {self.source}"


def draws_of(graph: GraphOp) -> list[Draw]:
    """The draws of a graph, in order, from whichever generator.

    Raises DrawsChanged if a draw reads a seed that does not exist.
    """
    draws: list[Draw] = []
    sources: dict[Any, int] = {}
    for op in _drawing(analyses_of(graph)):
        if op.name in (RANDOM, RANDINT):
            kind = op.argument("mode") if op.name == RANDOM else "randint"
            source = sources.setdefault(_seed_of(op), len(sources))
            draws.append(_draw(op, kind, source))
        elif op.name in ATEN_DRAWS:
            source = sources.setdefault(op, len(sources))
            draws.append(_draw(op, ATEN_DRAWS[op.name], source))
        elif effects_of(op).rng:
            draws.append(_other_draw(op, sources.setdefault(op, len(sources))))
    return draws


def _drawing(analyses: Analyses) -> list[TorchOp]:
    """The calls that may draw."""
    names = {
        name
        for name, (first, *_) in analyses.by_name.items()
        if name not in _SEEDINGS and (name in (RANDOM, RANDINT) or not never_draws(type(first)))
    }
    return analyses.named(names)


def _draw(op: TorchOp, kind: str, source: int) -> Draw:
    type_ = op.results[0]._type
    assert type(type_) is TensorType
    bounds = (_bound(op, "low"), _bound(op, "high")) if kind == "randint" else ()
    return Draw(kind, type_.device, type_.shape, source, bounds)


def _bound(op: TorchOp, name: str) -> Any:
    bound = op.argument(name)
    known = integer(bound)
    return bound if known is None else known


def _other_draw(op: TorchOp, source: int) -> Draw:
    types = tuple(result._type for result in op.results)
    first = types[0] if types and type(types[0]) is TensorType else None
    if first is None:
        return Draw(op.name, None, (), source, types)
    return Draw(op.name, first.device, first.shape, source, types)


def _seed_of(op: TorchOp) -> Any:
    """The seed of a draw from the compiler's generator: a value, or an element of a list."""
    seed = op.argument("seed")
    if not isinstance(seed, OpResult):
        return seed  # an input of the graph, drawn by the forward
    owner: Any = seed.op
    if owner.name == LOOKUP_SEED:
        return _element(owner, owner.argument("seeds"), SEEDS, "index", "count")
    if owner.name == SELECT:
        return _element(owner, owner.argument("self"), OFFSETS, "index", "offsets")
    return seed


def _element(op: TorchOp, whole: SSAValue, maker: str, index: str, count: str) -> Any:
    """The element of a list of seeds that an op reads, which must exist."""
    place: Any = op.argument(index)
    owner: Any = whole.owner
    if getattr(owner, "name", None) == maker:
        listed = owner.argument(count)
        size = listed if type(listed) is int else len(listed)
        if not 0 <= place < size:
            raise DrawsChanged(f"{op.name} reads seed {place} of {size}")
    return whole, place


def check_draws(before: list[Draw], after: list[Draw], facts: Facts, name: str) -> None:
    """Check that every draw is still made, in the same order, and no other.

    Raises DrawsChanged, which names the pass and the first draw that differs, if not.
    """
    if len(before) != len(after):
        raise DrawsChanged(f"{name}: {len(before)} random draws have become {len(after)}")
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new and not (
            old._replace(shape=()) == new._replace(shape=())
            and known_equal(old.shape, new.shape, facts)
        ):
            raise DrawsChanged(f"{name}: random draw {number}: expected {old}, found {new}")


@dataclass(frozen=True)
class RedrawingPass(TypedPass):
    """A pass that may replace draws from PyTorch's generator by draws from the compiler's.

    Subclasses implement :meth:`redraw`. The draws are compared before and after.
    """

    permits = ("draws",)

    @abstractmethod
    def redraw(self, editor: Editor) -> int:
        """Rewrite the editor's graph and return the number of applications."""

    def rewrite(self, module: ModuleOp) -> int:
        changed = 0
        for graph in graphs_of(module):
            before = draws_of(graph)
            with Editor(graph) as editor:
                applications = self.redraw(editor)
            if applications > 0:
                analyses_of(graph).forget(())  # do not trust analyses that the pass preserved
                check_draws(before, draws_of(graph), facts_of(graph), self.name)
                changed += applications
        return changed


__all__ = [
    "ATEN_DRAWS",
    "Draw",
    "DrawsChanged",
    "RedrawingPass",
    "check_draws",
    "draws_of",
]
