"""Decides which Python functions text may call.

Inference and the interpreter call the functions that a graph names, so a file must not be able to
name a function that starts programs, reads or writes files, or evaluates code. Graphs of PyTorch
call none of these. This protects against accidental harm; it is not a sandbox.
"""

from __future__ import annotations

import re
import sys
from typing import Any

#: Modules of the standard library whose functions are ops of graphs.
_STANDARD = frozenset({"_operator", "operator", "math", "cmath", "builtins"})
# ruff: noqa: SIM905  a list of words is easier to read as one text
_BUILTINS = frozenset(
    """abs all any bool bytes complex dict divmod float frozenset getattr hasattr hash id int
    isinstance issubclass iter len list max min next pow print range repr reversed round set
    slice sorted str sum tuple type zip""".split()
)
#: Dependencies of torch and xDSL; a graph would name these only to get at other modules.
_DEPENDENCIES = frozenset(
    """_pytest filecheck filelock fsspec immutabledict jinja2 markupsafe mpmath networkx numpy
    ordered_set pip pkg_resources pytest rich setuptools sympy triton xdsl xductor yaml
    z3""".split()
)
#: Modules of torch about files, processes, compilers and other machines.
_TORCH = re.compile(
    r"torch\.(serialization|_weights_only_unpickler|hub|package|jit|onnx|export|_export"
    r"|multiprocessing|_subclasses|compiler|storage|testing|profiler"
    r"|_inductor\.(?!fx_passes|inductor_prims|decomposition)|_logging"
    r"|distributed\.(run|launch|launcher|elastic|rpc|checkpoint)"
    r"|utils\.(cpp_extension|data|model_zoo|collect_env|show_pickle|mobile_optimizer|benchmark"
    r"|tensorboard|hipify|bottleneck|bundled_inputs|model_dump|viz|_config_module))(\.|$)"
)
#: Words in the names of C++ functions that text must not call.
_TORCH_WORDS = frozenset({"crash", "export", "file", "import", "jit", "load", "pickle", "save"})


def refusal(function: Any) -> str | None:
    """Why text may not call a function; None if it may.

    This depends on where the function is defined, not on the path that leads to it.
    """
    name = str(getattr(function, "__name__", ""))
    home = getattr(function, "__module__", None)
    if not isinstance(home, str):
        owner = getattr(function, "__self__", None)  # builtins are bound to their module
        home = getattr(owner, "__name__", None) if isinstance(owner, type(sys)) else None
    top = (home or "torch").partition(".")[0]
    if top == "torch":
        binds = home in (None, "torch", "torch._C", "torch._ops", "torch._classes")
        words = _TORCH_WORDS.intersection(name.lower().split("_")) if binds else ()
        if words or _TORCH.match(home or ""):
            return "it is not a function of tensors or numbers"
        return None
    if top == "builtins":
        return None if name in _BUILTINS else f"builtins.{name} is no op of a graph"
    if top in _STANDARD:
        return f"{top}.{name} calls anything" if name == "call" else None
    if top in sys.stdlib_module_names:
        return f"it belongs to the standard library ({home})"
    return f"it belongs to {top}, which is no operator library" if top in _DEPENDENCIES else None
