"""Runs Inductor without code generation: after the post-grad stage, the FX graph itself is run.

For looking at graphs, since compiling kernels would take most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from xductor.backend.config import cache_keys, versions
from xductor.backend.fx.overlapping_writes import separate_writes
from xductor.backend.seam import dispatch


def _fx_as_code(gm: Any, example_inputs: Sequence[Any], *_: Any, **kwargs: Any) -> Any:
    """What Inductor does before code generation; the graph itself then takes the code's place."""
    from torch._inductor.output_code import MockFXGraphCacheOutput
    from torch._inductor.virtualized import V

    compile_fx: Any = versions.compile_fx_module()
    compile_fx.view_to_reshape(gm)
    with torch.no_grad():
        fake_mode = compile_fx.fake_tensor_prop(gm, example_inputs)
    with V.set_fake_mode(fake_mode):
        compile_fx._recursive_post_grad_passes(gm, bool(kwargs.get("is_inference")))
        separate_writes(gm)

    def run(inputs: Sequence[Any]) -> Any:
        return gm(*inputs)

    return MockFXGraphCacheOutput(gm=run)


@contextmanager
def without_codegen() -> Iterator[None]:
    """Run the graphs of every compile inside the block as FX, and keep them out of the caches.

    Raises UnsupportedTorchError if this torch is not one that xductor knows.
    """
    from torch._inductor import config

    dispatch.attach()  # it wraps the same function once: inside the block, that would be undone
    compile_fx: Any = versions.compile_fx_module()
    replaced = compile_fx.fx_codegen_and_compile
    compile_fx.fx_codegen_and_compile = _fx_as_code
    try:
        with (
            config.patch(fx_graph_cache=False, fx_graph_remote_cache=False),
            cache_keys.out_of_caches(),  # `config.patch` affects this thread alone
        ):
            yield
    finally:
        compile_fx.fx_codegen_and_compile = replaced
