"""Op functions of every `torch.library` namespace: `ops.mylib.fused`."""

from xductor.ir.functions.op_functions import OpLibrary, RawFunction


def __getattr__(library: str) -> OpLibrary | RawFunction:
    if library.startswith("__"):
        raise AttributeError(library)
    made = RawFunction(library) if library in _RAW else OpLibrary(library)
    globals()[library] = made
    return made


#: Prefixes of ops that do not come from a library: `ops.pyfn.torch.cat`, `ops.method.view`.
_RAW = frozenset(("pyfn", "method", "higher_order"))
