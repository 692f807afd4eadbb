"""`auto_chunker`: a product far larger than its operands, and what follows, chunk by chunk.

`amplifier` finds the product, `region` what must be computed with it, `cuts` where each value is
cut (by the `correspondences` of ops, joined to `axes`), `tangent_scale` what depends on the
gradient of the loss, `placement` where the chunks go; `body` and `chunks` make them.
"""

from xductor.transforms.auto_chunker.auto_chunker import AutoChunker

__all__ = ["AutoChunker"]
