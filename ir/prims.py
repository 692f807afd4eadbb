"""Op functions of PyTorch's `prims` library, by name: `prims.iota`."""

from xductor.ir.functions.op_functions import OpFunction, op_function


def __getattr__(op: str) -> OpFunction:
    if op.startswith("__"):
        raise AttributeError(op)
    made = op_function("prims", op)
    globals()[op] = made
    return made
