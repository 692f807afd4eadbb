"""What one kernel computes in steps of its own: sums, products, softmax, norms, attention.

The definition is a term, but where the kernel rounds, and in which order it sums, is up to it. So
the result is an uninterpreted function of the definition: equal definitions give equal bits. That
the function is the definition itself is an axiom, which holds up to roundings and for finite
numbers: beside an infinity some kernels give NaN where their definition does not.

A product of matrices is one function of the whole: how its sums are split depends on the sizes of
the result too, so these are operands of the function.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from xductor.transforms.semantics.scalars import fn, from_index, wide
from xductor.transforms.semantics.terms import Term, call, cast, rebuilt

PREFIX = "u.kernel."

#: The names of the kernels.
KERNELS = (
    "softmax", "prepare_softmax", "log_softmax", "logsumexp", "mean_of_row", "rstd_of_row",
    "variance", "deviation", "layer_norm", "rms_norm", "group_norm", "batch_norm", "attention",
    "scatter_add", "index_put",
    "addcmul", "addcdiv", "lerp", "sigmoid_backward", "tanh_backward", "mean", "cumsum", "cumprod",
    "mm", "bmm", "mv", "dot", "matmul", "inner", "einsum", "addmm", "mm_plus_mm",
    "baddbmm", "linear",
)  # fmt: skip


#: Sums with a scaled operand, with the function that combines the two.
SCALED = {"u.add_scaled": "add", "u.sub_scaled": "sub"}


def _scaled(name: str, x: Term, y: Term, factor: Term, dtype: torch.dtype) -> Term:
    wider = wide(dtype)
    product = fn("mul", cast(y, wider), cast(factor, wider))
    return cast(fn(name, cast(x, wider), product), dtype)


def with_sums_apart(item: Term) -> Term:
    """A term in which sums with a scaled operand are written as products and sums."""
    done: dict[Term, Term] = {}

    def visit(one: Term) -> Term:
        found = done.get(one)
        if found is None:
            made = rebuilt(one, visit)
            scaled = made.op == "call" and made.args[0] in SCALED
            found = done[one] = (definition_of(made) or made) if scaled else made
        return found

    return visit(item)


def by_kernel(name: str, definition: Term, sizes: Sequence[Term] = ()) -> Term:
    """The result of the kernel of this name with the given definition.

    - `sizes`: those of the whole result, if they affect how one element of it is rounded.
    """
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name}")
    operands = [from_index(size, torch.int64) for size in sizes]
    return call(PREFIX + name, (definition, *operands), definition.sort)


def summed_by(name: str, definition: Term, sizes: Sequence[Term] = ()) -> Term:
    """`by_kernel` for a float sum or product; one of integers is the same in any order."""
    sort = definition.sort
    floats = isinstance(sort, torch.dtype) and sort.is_floating_point
    return by_kernel(name, definition, sizes) if floats else definition


def definition_of(item: Term) -> Term | None:
    """The definition that a kernel computes up to roundings; None for other terms."""
    if item.op == "call" and item.args[0] in SCALED:
        x, y, factor = item.args[1:]
        assert isinstance(item.sort, torch.dtype)
        return _scaled(SCALED[item.args[0]], x, y, factor, item.sort)
    if item.op == "call" and item.args[0].startswith(PREFIX):
        return item.args[1]
    return None
