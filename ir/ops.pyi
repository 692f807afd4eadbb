"""Op functions of every `torch.library` namespace. Written by `python -m xductor.ir.functions.stubs`; do not edit."""

from xductor.ir import aten as aten
from xductor.ir import prims as prims
from xductor.ir.functions.op_functions import OpLibrary, RawFunction

pyfn: RawFunction
method: RawFunction
higher_order: RawFunction

def __getattr__(library: str) -> OpLibrary: ...
