"""What is attached to Inductor stays attached when a block of `without_codegen` ends."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from torch._inductor import compile_fx

from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.seam import dispatch


def test_the_first_compile_of_a_process_may_be_in_the_block() -> None:
    """Inductor's options are warned of after the block, as in any other process."""
    code = """
        import warnings
        import torch
        from torch._inductor import compile_fx, config
        from xductor import without_codegen
        from xductor.backend.config.coverage_warnings import NotCoveredWarning

        stock = compile_fx.fx_codegen_and_compile
        run = torch.compile(lambda x: x + 1, backend="xductor")
        with without_codegen():
            assert run(torch.ones(3)).tolist() == [2, 2, 2]
        assert compile_fx.fx_codegen_and_compile.__wrapped__ is stock
        torch._dynamo.reset()
        off = config.patch(use_joint_graph_passes=False, force_disable_caches=True)
        with off, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            run(torch.ones(3))
        assert any(one.category is NotCoveredWarning for one in said), said
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_block_puts_back_what_it_found() -> None:
    dispatch.attach()
    found = compile_fx.fx_codegen_and_compile
    with without_codegen():
        assert compile_fx.fx_codegen_and_compile is not found
    assert compile_fx.fx_codegen_and_compile is found
