"""`fuse_attention`: attention that a model spells out becomes one fused call, before autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp

from xductor.transforms import REASSOCIATES, TypedPass
from xductor.transforms.attention.candidates import may_have_attention
from xductor.transforms.attention.fusion import fuse
from xductor.transforms.attention.replacement import Options
from xductor.transforms.passes.refusals import Refused
from xductor.transforms.rewriting.driver import takes_unprofitable


@dataclass(frozen=True)
class FuseAttention(TypedPass):
    """Scores, scale, mask, softmax, dropout and values become `scaled_dot_product_attention`.

    It runs before autograd, so that the kernel provides its own backward. It applies if a fused
    kernel of the device computes the same: see `xductor.transforms.attention.kernels`.
    """

    name = "fuse_attention"
    stage = "pre_grad"
    inductor = "fuse_attention.py:_sfdp_init"
    numerics = REASSOCIATES
    counter = "fuse_attention"
    permits = ("draws",)
    roots = frozenset(
        (
            torch.softmax,
            torch.nn.functional.softmax,
            torch.special.softmax,
            torch.exp,
            getattr(torch, "_safe_softmax"),  # noqa: B009  (unknown to type checkers)
            "aten.softmax",
            "aten._softmax",
            "aten._safe_softmax",
            "aten.exp",
            "method.softmax",
            "method.exp",
        )
    )

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether there may be a softmax before a product, of which a kernel may take both."""
        return may_have_attention(graph, cls.root_nodes(graph))

    policy: Literal["strict", "default", "fast"] = "default"
    fallback_random: bool = False

    def rewrite(self, module: ModuleOp) -> int:
        return fuse(module, self._options())

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        fuse(module, self._options(), refused)

    def _options(self) -> Options:
        as_eager = self.fallback_random or torch.are_deterministic_algorithms_enabled()
        permits = () if as_eager else self.permits
        return Options(self.policy, permits, even_unprofitable=takes_unprofitable())
