"""What one kernel computes by steps of its own: softmax, variances, norms, attention.

Its definition is a term, but where it rounds, and in which order it sums, is the kernel's affair.
So the result is an uninterpreted function of the definition: equal definitions give equal bits.
That the function is the definition itself is an axiom, which holds up to roundings and of finite
numbers: beside an infinity some kernels give NaN where their definition does not.
"""

from __future__ import annotations

from xductor.ir.meaning.terms import Term, call

PREFIX = "u.kernel."

KERNELS = (
    "softmax", "log_softmax", "logsumexp", "mean_of_row", "rstd_of_row", "variance", "deviation",
    "layer_norm", "rms_norm", "group_norm", "batch_norm", "attention", "scatter_add", "addcmul",
    "addcdiv", "lerp", "sigmoid_backward", "tanh_backward",
)  # fmt: skip
"""The kernels by name."""


def by_kernel(name: str, definition: Term) -> Term:
    """What the kernel of this name gives where this is the definition."""
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name}")
    return call(PREFIX + name, (definition,), definition.sort)


def definition_of(item: Term) -> Term | None:
    """The definition that a kernel computes up to roundings; None for what is no kernel's."""
    if item.op == "call" and item.args[0].startswith(PREFIX):
        return item.args[1]
    return None
