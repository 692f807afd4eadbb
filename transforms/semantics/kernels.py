"""What one kernel computes by steps of its own: sums, products, softmax, norms, attention.

Its definition is a term, but where it rounds, and in which order it sums, is the kernel's affair.
So the result is an uninterpreted function of the definition: equal definitions give equal bits.
That the function is the definition itself is an axiom, which holds up to roundings and of finite
numbers: beside an infinity some kernels give NaN where their definition does not.

A product of matrices is one over the whole: how its sums are cut depends on the sizes of the
result too, so these are operands of the function.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from xductor.transforms.semantics.scalars import from_index
from xductor.transforms.semantics.terms import Term, call

PREFIX = "u.kernel."

KERNELS = (
    "softmax", "prepare_softmax", "log_softmax", "logsumexp", "mean_of_row", "rstd_of_row",
    "variance", "deviation", "layer_norm", "rms_norm", "group_norm", "batch_norm", "attention",
    "scatter_add", "index_put",
    "addcmul", "addcdiv", "lerp", "sigmoid_backward", "tanh_backward", "mean", "cumsum", "cumprod",
    "mm", "bmm", "mv", "dot", "matmul", "inner", "einsum", "addmm", "mm_plus_mm",
    "baddbmm", "linear",
)  # fmt: skip
"""The kernels by name."""


def by_kernel(name: str, definition: Term, sizes: Sequence[Term] = ()) -> Term:
    """What the kernel of this name gives where this is the definition.

    - `sizes`: of the whole result, where they have a say in how one element of it is rounded.
    """
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name}")
    operands = [from_index(size, torch.int64) for size in sizes]
    return call(PREFIX + name, (definition, *operands), definition.sort)


def summed_by(name: str, definition: Term, sizes: Sequence[Term] = ()) -> Term:
    """As `by_kernel`, of a sum or product: one of integers is the same in any order."""
    sort = definition.sort
    floats = isinstance(sort, torch.dtype) and sort.is_floating_point
    return by_kernel(name, definition, sizes) if floats else definition


def definition_of(item: Term) -> Term | None:
    """The definition that a kernel computes up to roundings; None for what is no kernel's."""
    if item.op == "call" and item.args[0].startswith(PREFIX):
        return item.args[1]
    return None
