"""Op functions of every `torch.library` namespace: `ops.mylib.fused`."""

from xductor.ir.functions.op_functions import OpLibrary, RawFunction


def __getattr__(library: str) -> OpLibrary | RawFunction:
    if library.startswith("__"):
        raise AttributeError(library)
    made = RawFunction(library) if library in _RAW else OpLibrary(library)
    globals()[library] = made
    return made


#: What ops are called in text that come from no library: `ops.pyfn.torch.cat`, `ops.method.view`.
_RAW = frozenset(("pyfn", "method", "higher_order"))
