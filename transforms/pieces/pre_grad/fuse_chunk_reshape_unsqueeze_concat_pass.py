"""`fuse_chunk_reshape_unsqueeze_concat_pass`: unsqueezed pieces that are joined are a reshape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class FuseChunkReshapeUnsqueezeConcatPass(TorchLevelPieces):
    """A cat of reshaped and unsqueezed pieces becomes a reshape of the whole tensor."""

    name = "fuse_chunk_reshape_unsqueeze_concat_pass"
    inductor = "pre_grad.py:fuse_chunk_reshape_unsqueeze_concat_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or not pieces.are_made_by("aten.unsqueeze.default"):
            return ()
        return ("view", "reshape")


__all__ = ["FuseChunkReshapeUnsqueezeConcatPass"]
