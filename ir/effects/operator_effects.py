"""Effects of operators, from their schema, tags and library, and from tables for the rest."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload

from xductor.ir.effects.effects import ALL, PURE, Effects

_COLLECTIVE_LIBRARIES = frozenset(
    {"c10d", "_c10d_functional", "c10d_functional", "_c10d_functional_autograd", "symm_mem",
     "_dtensor"}
)  # fmt: skip
_HOST_LIBRARIES = frozenset({"profiler", "streams", "debugprims", "debug_mode_ops"})
_HOST_OPERATORS = frozenset(
    {"_functional_assert_async", "_functional_assert_scalar", "_functional_sym_constrain_range",
     "_functional_sym_constrain_range_for_size"}
)  # fmt: skip
_UNINITIALIZED = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_quantized", "empty_strided", "new_empty",
     "new_empty_strided", "_empty_affine_quantized", "_empty_per_channel_affine_quantized",
     "resize", "_resize_output"}
)  # fmt: skip
#: The arguments that batch and instance norm write in training.
RUNNING_STATISTICS = frozenset({"running_mean", "running_var"})

# Kernels that write although their schema does not say so.
_UNDECLARED_WRITES: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("aten::batch_norm", "aten::_batch_norm_impl_index", "aten::native_batch_norm",
         "aten::cudnn_batch_norm", "aten::miopen_batch_norm", "aten::instance_norm",
         "aten::batch_norm_gather_stats", "aten::batch_norm_gather_stats_with_counts"),
        RUNNING_STATISTICS,
    ),
    "inductor::resize_storage_bytes_": frozenset({"variable"}),
    "inductor::accumulate_grad_": ALL,
    "fsdp::all_gather_copy_in": frozenset({"all_gather_output"}),
}  # fmt: skip


@cache
def overload_effects(overload: torch._ops.OpOverload) -> Effects:
    """Effects by schema, tags and library, without those that are registered at run time."""
    schema: Any = overload._schema
    full: str = schema.name
    library, _, name = full.partition("::")
    writes = frozenset(a.name for a in schema.arguments if a.alias_info and a.alias_info.is_write)
    writes |= _UNDECLARED_WRITES.get(full, frozenset())
    if not writes and name.endswith("_") and not name.endswith("__"):
        writes = ALL  # the name says that it writes, but the schema does not say what
    generator = any("Generator" in str(a.type) for a in schema.arguments)
    host = (
        library in _HOST_LIBRARIES
        or name in _HOST_OPERATORS
        or (not schema.returns and not writes)  # a call without results is made for its effect
    )
    return Effects(
        writes,
        rng=generator or torch.Tag.nondeterministic_seeded in overload.tags,
        alloc=name in _UNINITIALIZED,
        collective=library in _COLLECTIVE_LIBRARIES,
        host=host,
    )


@cache
def packet_effects(packet: torch._ops.OpOverloadPacket) -> Effects:
    """The union of the effects of the overloads to which a call may resolve."""
    effects = PURE
    for name in packet.overloads():
        overload = getattr(packet, name)
        full = overload._schema.name
        full = f"{full}.{overload._schema.overload_name}".rstrip(".")
        if torch._C._dispatch_has_kernel(full):
            effects |= overload_effects(overload)
    return effects


def overwrites_without_reading(op: OpOverload) -> bool:
    """Whether an operator is tagged as one that only overwrites what it mutates (torch 2.13)."""
    tag = getattr(torch.Tag, "out", None)
    return tag is not None and tag in op.tags


__all__ = [
    "RUNNING_STATISTICS",
    "overload_effects",
    "overwrites_without_reading",
    "packet_effects",
]
