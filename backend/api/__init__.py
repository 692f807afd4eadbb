"""xductor: a typed intermediate IR for PyTorch compiler passes.

The names below are imported at first use, so ``import xductor`` loads neither torch nor xDSL.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xductor.backend.compiler import Backend
    from xductor.backend.fx_exporter import to_fx
    from xductor.backend.reducer import reduce
    from xductor.backend.seam import install, installed, uninstall
    from xductor.backend.stages import joint_graph_passes, post_grad_passes, pre_grad_passes
    from xductor.frontend.fx_importer import from_fx
    from xductor.ir.interpreter import run
    from xductor.ir.module_diff import diff
    from xductor.ir.text import parse_ir, print_ir, same
    from xductor.ir.verifier import verify

    __version__: str

_HOME = {
    "Backend": "xductor.backend.compiler",
    "diff": "xductor.ir.module_diff",
    "from_fx": "xductor.frontend.fx_importer",
    "install": "xductor.backend.seam",
    "installed": "xductor.backend.seam",
    "joint_graph_passes": "xductor.backend.stages",
    "parse_ir": "xductor.ir.text",
    "post_grad_passes": "xductor.backend.stages",
    "pre_grad_passes": "xductor.backend.stages",
    "print_ir": "xductor.ir.text",
    "reduce": "xductor.backend.reducer",
    "run": "xductor.ir.interpreter",
    "same": "xductor.ir.text",
    "to_fx": "xductor.backend.fx_exporter",
    "uninstall": "xductor.backend.seam",
    "verify": "xductor.ir.verifier",
}

__all__ = [
    "Backend",
    "diff",
    "from_fx",
    "install",
    "installed",
    "joint_graph_passes",
    "parse_ir",
    "post_grad_passes",
    "pre_grad_passes",
    "print_ir",
    "reduce",
    "run",
    "same",
    "to_fx",
    "uninstall",
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
        from xductor.ir.first_use import load

        value = getattr(load(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'xductor' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
