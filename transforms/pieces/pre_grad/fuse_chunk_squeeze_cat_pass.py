"""`fuse_chunk_squeeze_cat_pass`: pieces of size one that are squeezed and joined are a reshape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces

SQUEEZES = ("aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims")


@dataclass(frozen=True)
class FuseChunkSqueezeCatPass(TorchLevelPieces):
    """A cat of squeezed pieces becomes a reshape of the whole tensor."""

    name = "fuse_chunk_squeeze_cat_pass"
    inductor = "pre_grad.py:fuse_chunk_squeeze_cat_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or not pieces.are_made_by(*SQUEEZES):
            return ()
        return ("view", "reshape")


__all__ = ["FuseChunkSqueezeCatPass"]
