"""Ops that a pattern needs and that graphs of its stage do not have, so that it is never found."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch._ops import OpOverload

from xductor.ir import TorchOp
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.matching.patterns import Bound, Call, Each, Item, OneOf
from xductor.transforms.passes.declared_attributes import codes
from xductor.transforms.passes.stage import Stage

#: How the names of calls begin that Dynamo records.
PYTHON = ("pyfn.torch.", "method.")

Decomposed = Callable[[OpOverload], bool]
"""Whether an op is decomposed before the stages that follow autograd."""


class NeverMatchedWarning(UserWarning):
    """A rewrite whose pattern names an op that graphs of its stage do not have."""


def warn_of_absent_op(
    cls: type, place: str, outputs: Sequence[Any], stages: Sequence[Stage]
) -> None:
    """Warn of a new rewrite whose pattern has, for each of its stages, an op that is absent there.

    - `place`: file and line of the pattern.
    """
    found = [absent_op(outputs, stage, _is_surely_decomposed) for stage in stages]
    reasons = [one[1] for one in found if one is not None]
    if not reasons or None in found:
        return
    warnings.warn(
        f"{cls.__name__}.pattern ({place}) is not found in graphs of the {' and '.join(stages)} "
        f"stage: {'; '.join(dict.fromkeys(reasons))}. `xductor.pattern_from` traces what a "
        "function is there",
        NeverMatchedWarning,
        stacklevel=3,
    )


def absent_op(
    outputs: Sequence[Any], stage: Stage, decomposed: Decomposed | None = None
) -> tuple[Any, str] | None:
    """An op that a pattern needs and that graphs of a stage do not have, and why not.

    None if the pattern may be found there. `decomposed` is by default what Inductor's table says.
    """
    for output in outputs:
        found = _absent_in(output, stage, decomposed or is_decomposed)
        if found is not None:
            return found
    return None


def _absent_in(pattern: Any, stage: Stage, decomposed: Decomposed) -> tuple[Any, str] | None:
    """An absent op, as `absent_op` finds it, in a part of a pattern; None if it may match.

    Of alternatives, all must be absent.
    """
    if isinstance(pattern, Bound):
        return _absent_in(pattern.pattern, stage, decomposed)
    if isinstance(pattern, Item):
        return _absent_in(pattern.call, stage, decomposed)
    if isinstance(pattern, list | tuple):
        return next(filter(None, (_absent_in(part, stage, decomposed) for part in pattern)), None)
    if isinstance(pattern, OneOf):
        found = [_absent_in(one, stage, decomposed) for one in pattern.alternatives]
        return found[0] if found and None not in found else None
    if isinstance(pattern, Call):
        return _absent_call(pattern, stage, decomposed)
    return None  # a variable, a constant, a list of any length


def _absent_call(call: Call, stage: Stage, decomposed: Decomposed) -> tuple[Any, str] | None:
    reasons = [_absent_op(head.cls, stage, decomposed) for head in call.heads]
    for head, reason in zip(call.heads, reasons, strict=True):
        if reason is not None and None not in reasons:
            return head.cls.target, f"{head.cls.name} {reason}"
    for head in call.heads if len(call.heads) == 1 else ():
        for _, entry in head.entries:
            found = None if isinstance(entry, Each) else _absent_in(entry, stage, decomposed)
            if found is not None:
                return found
    return None


def _absent_op(cls: type[TorchOp], stage: Stage, decomposed: Decomposed) -> str | None:
    target: Any = cls.target
    if stage == "pre_grad":
        is_inner = isinstance(target, OpOverload) and target.namespace in ("aten", "prims")
        if is_inner and not _is_called(cls.name):
            return (
                "is no op of this stage, but where a model calls it by that name: before autograd "
                "there are Python functions and methods, of which none means it"
            )
        return None
    if cls.name.startswith(PYTHON):
        return "does not reach this stage: behind autograd there are ATen ops (aten...)"
    if isinstance(target, OpOverload) and decomposed(target):
        return (
            "does not reach this stage: Inductor decomposes it before "
            "(torch._inductor.decomposition.select_decomp_table)"
        )
    return None


def _is_called(name: str) -> bool:
    """Whether there are functions or methods that mean an operator, besides itself."""
    itself = (name, f"pyfn.torch.ops.{name.rpartition('.')[0]}")
    return not spelled([name]) <= {*itself}


def is_decomposed(target: OpOverload) -> bool:
    """Whether Inductor's table decomposes an op whatever its arguments are."""
    from torch._inductor.decomposition import select_decomp_table

    decomposition = select_decomp_table().get(target)
    return decomposition is not None and not _may_decline(decomposition)


@cache
def _may_decline(decomposition: Callable[..., Any]) -> bool:
    """Whether a decomposition may leave a call as it is by returning `NotImplemented`."""
    function: Any = inspect.unwrap(decomposition)
    while isinstance(function, partial):
        function = inspect.unwrap(function.func)
    code = getattr(function, "__code__", None)
    return code is not None and any("NotImplemented" in one.co_names for one in codes(code))


#: Operators of Core ATen that Inductor decomposes all the same.
_DECOMPOSED_CORE = frozenset(
    (
        *("_log_softmax", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training"),
        *("_softmax", "_to_copy", "adaptive_avg_pool1d", "arange", "avg_pool1d", "clamp", "col2im"),
        *("elu", "fill", "flip", "full_like", "gelu", "grid_sampler_2d", "hardtanh"),
        *("index_select", "leaky_relu", "max_pool2d_with_indices", "max_pool3d_with_indices"),
        *("native_dropout", "native_group_norm", "native_group_norm_backward"),
        *("native_layer_norm_backward", "reflection_pad1d", "reflection_pad2d"),
        *("reflection_pad3d", "replication_pad2d", "replication_pad3d", "sym_is_contiguous"),
        *("sym_size", "sym_stride", "upsample_bilinear2d", "var"),
    )
)


@cache
def may_be_decomposed(target: OpOverload) -> bool:
    """Whether it is worth asking Inductor, which is slow to import, if it decomposes an op."""
    if target.namespace != "aten":
        return False
    name = target.overloadpacket.__name__
    return torch.Tag.core not in target.tags or name in _DECOMPOSED_CORE


def _is_surely_decomposed(target: OpOverload) -> bool:
    return may_be_decomposed(target) and is_decomposed(target)


__all__ = [
    "PYTHON",
    "NeverMatchedWarning",
    "absent_op",
    "is_decomposed",
    "may_be_decomposed",
    "warn_of_absent_op",
]
