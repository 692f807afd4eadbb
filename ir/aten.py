"""Op functions of PyTorch's `aten` library, by name: `aten.mm`."""

from xductor.ir.functions.op_functions import OpFunction, op_function


def __getattr__(op: str) -> OpFunction:
    if op.startswith("__"):
        raise AttributeError(op)
    made = op_function("aten", op)
    globals()[op] = made
    return made
