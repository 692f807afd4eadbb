"""Which operators may have their first two operands swapped, bit for bit, and when."""

from __future__ import annotations

from xductor.ir import SchemaOp, TorchOp

EXCHANGEABLE = (
    "aten.mul.Tensor",
    "aten.eq.Tensor",
    "aten.ne.Tensor",
    "aten.logical_and.default",
    "aten.logical_or.default",
    "aten.logical_xor.default",
    "aten.bitwise_and.Tensor",
    "aten.bitwise_or.Tensor",
    "aten.bitwise_xor.Tensor",
    "prims.add.default",
    "prims.mul.default",
    "prims.eq.default",
    "prims.ne.default",
    "pyfn.operator.mul",
    "pyfn.torch.mul",
)
#: `x + alpha * y` commutes where alpha is 1.
WITH_UNIT_ALPHA = ("aten.add.Tensor", "pyfn.operator.add", "pyfn.torch.add")


def swappable(cls: type[TorchOp]) -> tuple[int | str, int | str] | None:
    """The two arguments of a commutative op that a match may swap; None if there are none.

    `maximum` and `minimum` are not commutative: of 0.0 and -0.0, kernels return the first or the
    second, depending on the kernel.
    """
    if cls.name not in EXCHANGEABLE and cls.name not in WITH_UNIT_ALPHA:
        return None
    if issubclass(cls, SchemaOp):
        return (0, 1)
    return _PYTHON_NAMES.get(cls.name)


_PYTHON_NAMES: dict[str, tuple[str, str]] = {
    "pyfn.operator.mul": ("0", "1"),
    "pyfn.operator.add": ("0", "1"),
    "pyfn.torch.mul": ("input", "other"),
    "pyfn.torch.add": ("input", "other"),
}


def needs_unit_alpha(cls: type[TorchOp]) -> bool:
    """Whether the operands may be swapped only if `alpha` is 1."""
    return cls.name in WITH_UNIT_ALPHA


__all__ = ["EXCHANGEABLE", "WITH_UNIT_ALPHA", "needs_unit_alpha", "swappable"]
