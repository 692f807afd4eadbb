"""`auto_chunker`: computes a product far larger than its operands, and its users, in chunks.

`amplifier` finds the product, `region` the ops that must be computed with it, `cuts` the dim along
which each value is cut (from the `correspondences` of ops, joined to `axes`), `tangent_scale` the
values that depend on the gradient of the loss, and `placement` the place of the chunks; `body` and
`chunks` make them.
"""

from xductor.transforms.auto_chunker.auto_chunker import AutoChunker

__all__ = ["AutoChunker"]
