"""Op functions of PyTorch's `aten` library, by name: `aten.mm`. See `ir/op_functions.py`."""

from xductor.ir.op_functions import OpFunction, op_function


def __getattr__(op: str) -> OpFunction:
    if op.startswith("__"):
        raise AttributeError(op)
    made = op_function("aten", op)
    globals()[op] = made
    return made
