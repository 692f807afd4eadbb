"""xductor: a typed intermediate IR for PyTorch compiler passes.

The names below are imported at first use, so that `import xductor` loads neither torch nor xDSL.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xductor.backend.explaining import explain
    from xductor.backend.fx.export import to_fx
    from xductor.backend.pipelines.places import placed
    from xductor.backend.records.compile_record import last_compile
    from xductor.backend.reduce.reducer import reduce
    from xductor.backend.run_as_fx.without_codegen import without_codegen
    from xductor.backend.seam.checked_options import register_rewrites
    from xductor.backend.seam.compiler import Backend
    from xductor.backend.seam.dispatch import install, installed, uninstall
    from xductor.backend.stages import joint_graph_passes, post_grad_passes, pre_grad_passes
    from xductor.backend.testing.captured_stages import capture
    from xductor.backend.testing.graph_check import check
    from xductor.backend.traced_patterns.pattern_from import pattern_from
    from xductor.backend.user_passes.inductor_pass import inductor_pass
    from xductor.frontend.fx_importer import from_fx
    from xductor.ir import parse_ir, print_ir, run, same, verify
    from xductor.ir.execution.module_diff import diff
    from xductor.transforms import (
        ALL_SPELLINGS,
        APPROXIMATE,
        DROPS_ROUNDING,
        EXACT,
        REASSOCIATES,
        ROUNDS_LESS_OFTEN,
        UP_TO_ZERO_SIGN,
        Rewrite,
        Scalar,
        Tensor,
        all_of,
        any_of,
        bind,
        each,
        in_order,
        known,
        maybe,
        no,
        one_of,
        shared,
    )
    from xductor.transforms.proving.prover import prove
    from xductor.transforms.proving.results import Proof, ProofError
    from xductor.transforms.validation.validate import ValidationResult, validate

    __version__: str

_HOME = {
    "ALL_SPELLINGS": "xductor.transforms",
    "APPROXIMATE": "xductor.transforms",
    "Backend": "xductor.backend.seam.compiler",
    "DROPS_ROUNDING": "xductor.transforms",
    "EXACT": "xductor.transforms",
    "Proof": "xductor.transforms.proving.results",
    "ProofError": "xductor.transforms.proving.results",
    "REASSOCIATES": "xductor.transforms",
    "ROUNDS_LESS_OFTEN": "xductor.transforms",
    "Rewrite": "xductor.transforms",
    "Scalar": "xductor.transforms",
    "Tensor": "xductor.transforms",
    "UP_TO_ZERO_SIGN": "xductor.transforms",
    "ValidationResult": "xductor.transforms.validation.validate",
    "all_of": "xductor.transforms",
    "any_of": "xductor.transforms",
    "bind": "xductor.transforms",
    "capture": "xductor.backend.testing.captured_stages",
    "check": "xductor.backend.testing.graph_check",
    "diff": "xductor.ir.execution.module_diff",
    "each": "xductor.transforms",
    "explain": "xductor.backend.explaining",
    "from_fx": "xductor.frontend.fx_importer",
    "in_order": "xductor.transforms",
    "inductor_pass": "xductor.backend.user_passes.inductor_pass",
    "install": "xductor.backend.seam.dispatch",
    "installed": "xductor.backend.seam.dispatch",
    "joint_graph_passes": "xductor.backend.stages",
    "known": "xductor.transforms",
    "last_compile": "xductor.backend.records.compile_record",
    "maybe": "xductor.transforms",
    "no": "xductor.transforms",
    "one_of": "xductor.transforms",
    "parse_ir": "xductor.ir",
    "pattern_from": "xductor.backend.traced_patterns.pattern_from",
    "placed": "xductor.backend.pipelines.places",
    "post_grad_passes": "xductor.backend.stages",
    "pre_grad_passes": "xductor.backend.stages",
    "print_ir": "xductor.ir",
    "prove": "xductor.transforms.proving.prover",
    "reduce": "xductor.backend.reduce.reducer",
    "register_rewrites": "xductor.backend.seam.checked_options",
    "run": "xductor.ir",
    "same": "xductor.ir",
    "shared": "xductor.transforms",
    "to_fx": "xductor.backend.fx.export",
    "uninstall": "xductor.backend.seam.dispatch",
    "validate": "xductor.transforms.validation.validate",
    "verify": "xductor.ir",
    "without_codegen": "xductor.backend.run_as_fx.without_codegen",
}

__all__ = [
    "ALL_SPELLINGS",
    "APPROXIMATE",
    "DROPS_ROUNDING",
    "EXACT",
    "REASSOCIATES",
    "ROUNDS_LESS_OFTEN",
    "UP_TO_ZERO_SIGN",
    "Backend",
    "Proof",
    "ProofError",
    "Rewrite",
    "Scalar",
    "Tensor",
    "ValidationResult",
    "all_of",
    "any_of",
    "bind",
    "capture",
    "check",
    "diff",
    "each",
    "explain",
    "from_fx",
    "in_order",
    "inductor_pass",
    "install",
    "installed",
    "joint_graph_passes",
    "known",
    "last_compile",
    "maybe",
    "no",
    "one_of",
    "parse_ir",
    "pattern_from",
    "placed",
    "post_grad_passes",
    "pre_grad_passes",
    "print_ir",
    "prove",
    "reduce",
    "register_rewrites",
    "run",
    "same",
    "shared",
    "to_fx",
    "uninstall",
    "validate",
    "verify",
    "without_codegen",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            value: object = version("xductor")
        except PackageNotFoundError:  # run from a checkout that nobody installed
            value = "0+unknown"
    elif name in _HOME:
        from xductor.ir.import_without_gc import load

        value = getattr(load(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'xductor' has no attribute '{name}'")
    globals()[name] = value
    return value


def load_ipython_extension(ipython: object) -> None:
    """Show modules of the IR as HTML in a notebook; done at import if IPython runs already."""
    from xductor.backend.report.notebooks import register

    register(ipython)


def _register_with_a_running_notebook() -> None:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        load_ipython_extension(shell)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


_register_with_a_running_notebook()
