"""Whether code generation stores a value in memory of its own in any case."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xductor.ir import OutputOp, SchemaOp, TorchOp
from xductor.transforms.in_place.storage_uses import is_given

_OWN_LIBRARIES = frozenset(("aten", "prims"))
_KERNELS = frozenset(
    {"mm", "bmm", "addmm", "baddbmm", "convolution", "convolution_backward", "sort", "topk",
     "cumsum", "cumprod", "_scaled_dot_product_flash_attention",
     "_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention_for_cpu"}
)  # fmt: skip


def is_realized(value: SSAValue) -> bool:
    """Whether a value is an input, returned, or made or read by a kernel that is not generated."""
    if is_given(value) or is_kernel(value.owner):
        return True
    users = (use.operation for use in value.uses)
    return any(isinstance(user, OutputOp) or is_kernel(user) for user in users)


def is_kernel(op: object) -> bool:
    """Whether a call is one of a kernel that is not generated."""
    if not isinstance(op, SchemaOp):
        return isinstance(op, TorchOp)
    return is_kernel_name(op.name)


def is_kernel_name(name: str) -> bool:
    """Whether an overload such as `aten.mm.default` is one of a kernel that is not generated."""
    library, operator, _ = name.split(".", 2)
    return library not in _OWN_LIBRARIES or operator in _KERNELS


__all__ = ["is_kernel", "is_kernel_name", "is_realized"]
