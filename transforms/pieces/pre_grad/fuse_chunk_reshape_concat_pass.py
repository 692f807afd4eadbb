"""`fuse_chunk_reshape_concat_pass`: pieces that are reshaped alike and joined are one reshape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xductor.transforms.pieces.pieces_pass import Form, Pieces
from xductor.transforms.pieces.pre_grad.move_reshape_out_of_split_stack_pass import RESHAPES
from xductor.transforms.pieces.torch_level_pieces import TorchLevelPieces


@dataclass(frozen=True)
class FuseChunkReshapeConcatPass(TorchLevelPieces):
    """A cat of reshaped pieces becomes a reshape or a permutation of the whole tensor."""

    name = "fuse_chunk_reshape_concat_pass"
    inductor = "pre_grad.py:fuse_chunk_reshape_concat_pass"

    def forms(self, pieces: Pieces) -> Sequence[Form]:
        if pieces.join.stacks or not pieces.are_made_by(*RESHAPES):
            return ()
        return ("view", "reshape")


__all__ = ["FuseChunkReshapeConcatPass"]
