"""xductor: a typed intermediate IR for PyTorch compiler passes.

The names below are imported at first use, so that `import xductor` loads neither torch nor xDSL.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xductor.backend.explaining import explain
    from xductor.backend.fx.export import to_fx
    from xductor.backend.pipelines.places import placed
    from xductor.backend.records.compile_record import last_compile
    from xductor.backend.reduce.reducer import reduce
    from xductor.backend.seam.checked_options import register_rewrites
    from xductor.backend.seam.compiler import Backend
    from xductor.backend.seam.dispatch import install, installed, uninstall
    from xductor.backend.stages import joint_graph_passes, post_grad_passes, pre_grad_passes
    from xductor.backend.steps.inductor_pass import inductor_pass
    from xductor.backend.testing.graph_check import check
    from xductor.frontend.fx_importer import from_fx
    from xductor.ir.execution.interpreter import run
    from xductor.ir.execution.module_diff import diff
    from xductor.ir.modules import parse_ir, print_ir, same
    from xductor.ir.verification.verifier import verify
    from xductor.transforms.passes.numerics import (
        APPROXIMATE,
        DROPS_ROUNDING,
        EXACT,
        REASSOCIATES,
        ROUNDS_LESS_OFTEN,
        UP_TO_ZERO_SIGN,
    )
    from xductor.transforms.proving.prover import prove
    from xductor.transforms.proving.results import Proof, ProofError
    from xductor.transforms.rewriting.decisions import all_of, any_of, known, no
    from xductor.transforms.rewriting.handles import Scalar, Tensor
    from xductor.transforms.rewriting.patterns import bind, each, in_order, maybe, one_of, shared
    from xductor.transforms.rewriting.rewrite import Rewrite
    from xductor.transforms.rewriting.spellings import ALL_SPELLINGS
    from xductor.transforms.validation.validate import ValidationResult, validate

    __version__: str

_HOME = {
    "ALL_SPELLINGS": "xductor.transforms.rewriting.spellings",
    "APPROXIMATE": "xductor.transforms.passes.numerics",
    "Backend": "xductor.backend.seam.compiler",
    "DROPS_ROUNDING": "xductor.transforms.passes.numerics",
    "EXACT": "xductor.transforms.passes.numerics",
    "Proof": "xductor.transforms.proving.results",
    "ProofError": "xductor.transforms.proving.results",
    "REASSOCIATES": "xductor.transforms.passes.numerics",
    "ROUNDS_LESS_OFTEN": "xductor.transforms.passes.numerics",
    "Rewrite": "xductor.transforms.rewriting.rewrite",
    "Scalar": "xductor.transforms.rewriting.handles",
    "Tensor": "xductor.transforms.rewriting.handles",
    "UP_TO_ZERO_SIGN": "xductor.transforms.passes.numerics",
    "ValidationResult": "xductor.transforms.validation.validate",
    "all_of": "xductor.transforms.rewriting.decisions",
    "any_of": "xductor.transforms.rewriting.decisions",
    "bind": "xductor.transforms.rewriting.patterns",
    "check": "xductor.backend.testing.graph_check",
    "diff": "xductor.ir.execution.module_diff",
    "each": "xductor.transforms.rewriting.patterns",
    "explain": "xductor.backend.explaining",
    "from_fx": "xductor.frontend.fx_importer",
    "in_order": "xductor.transforms.rewriting.patterns",
    "inductor_pass": "xductor.backend.steps.inductor_pass",
    "install": "xductor.backend.seam.dispatch",
    "installed": "xductor.backend.seam.dispatch",
    "joint_graph_passes": "xductor.backend.stages",
    "known": "xductor.transforms.rewriting.decisions",
    "last_compile": "xductor.backend.records.compile_record",
    "maybe": "xductor.transforms.rewriting.patterns",
    "no": "xductor.transforms.rewriting.decisions",
    "one_of": "xductor.transforms.rewriting.patterns",
    "parse_ir": "xductor.ir.modules",
    "placed": "xductor.backend.pipelines.places",
    "post_grad_passes": "xductor.backend.stages",
    "pre_grad_passes": "xductor.backend.stages",
    "print_ir": "xductor.ir.modules",
    "prove": "xductor.transforms.proving.prover",
    "reduce": "xductor.backend.reduce.reducer",
    "register_rewrites": "xductor.backend.seam.checked_options",
    "run": "xductor.ir.execution.interpreter",
    "same": "xductor.ir.modules",
    "shared": "xductor.transforms.rewriting.patterns",
    "to_fx": "xductor.backend.fx.export",
    "uninstall": "xductor.backend.seam.dispatch",
    "validate": "xductor.transforms.validation.validate",
    "verify": "xductor.ir.verification.verifier",
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


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
