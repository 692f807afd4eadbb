"""`fuse_attention`: attention that a model spells out becomes one fused call, before autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.transforms.attention.fusion import fuse
from xductor.transforms.attention.replacement import Options
from xductor.transforms.numerics import REASSOCIATES
from xductor.transforms.typed_pass import Numerics, Stage, TypedPass


@dataclass(frozen=True)
class FuseAttention(TypedPass):
    """Scores, scale, mask, softmax, dropout and values become `scaled_dot_product_attention`.

    Found before autograd, so that the kernel brings its own backward. It is taken where a fused
    kernel of the device computes the same: see `xductor.transforms.attention.kernels`.
    """

    name: ClassVar[str] = "fuse_attention"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "pre_grad"
    inductor: ClassVar[str] = "fuse_attention.py:_sfdp_init"
    numerics: ClassVar[Numerics] = REASSOCIATES
    counter: ClassVar[str | None] = "fuse_attention"
    roots: ClassVar[frozenset[object]] = frozenset(
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

    policy: Literal["strict", "default", "fast"] = "default"
    fallback_random: bool = False

    def rewrite(self, module: ModuleOp) -> int:
        dropout = not (self.fallback_random or torch.are_deterministic_algorithms_enabled())
        return fuse(module, Options(self.policy, dropout))
