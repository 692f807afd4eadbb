"""`fuse_split_getitem_squeeze_cat`: pieces, some of them squeezed, are joined in fewer calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.pre_grad.fuse_chunk_squeeze_cat_pass import SQUEEZES
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class FuseSplitGetitemSqueezeCat(TorchLevelPieces):
    """A cat or stack of pieces, some of which are squeezed, takes fewer calls."""

    name = "fuse_split_getitem_squeeze_cat"
    inductor = "pre_grad.py:fuse_split_getitem_squeeze_cat"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if not pieces.has_one_made_by(*SQUEEZES):
            return ()
        return ("view", "reshape", "fewer")


__all__ = ["FuseSplitGetitemSqueezeCat"]
