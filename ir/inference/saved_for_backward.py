"""What autograd saves of a call for its backward, found by running the call on fake values.

PyTorch has no table of what its derivative formulas save. But its hooks for saved tensors get each
one, so a call is run once with them: a saved tensor that shares storage with an operand or a
result is that value. Saved tensors that a composite function made itself do not matter to others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from xdsl.ir import SSAValue

from xductor.ir.dialect.arguments import Handle, SymbolRef, leaves
from xductor.ir.dialect.graph import GetAttrOp, OpaqueCallOp
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.python_calls import CallArguments, NoPythonValue
from xductor.ir.dialect.types import TensorType, symbols_of
from xductor.ir.inference.fake_values import device_exists, fake_value
from xductor.ir.inference.infer import InferenceEnv, functions_of
from xductor.ir.inference.quiet_kernels import only_fake
from xductor.ir.inference.symbolic_kernels import kernel_for
from xductor.ir.inference.value_types import leaves_of

MEMO_SIZE = 1 << 12


class Saved(NamedTuple):
    """What autograd saves of a call, and which storages its results share.

    - `operands`, `results`: the numbers of those whose storage autograd saves.
    - `shares`: for each result the operand whose storage it shares, or None.
    """

    operands: frozenset[int]
    results: frozenset[int]
    shares: tuple[int | None, ...]

    @classmethod
    def everything(cls, op: TorchOp) -> Saved:
        """The answer for a call about which nothing is known."""
        operands, results = range(len(op.operands)), range(len(op.results))
        return cls(frozenset(operands), frozenset(results), (None,) * len(op.results))


_memo: dict[tuple[Any, ...], Saved] = {}
_memo_lock = threading.Lock()


def saved_for_backward(
    op: TorchOp, env: InferenceEnv, with_grad: frozenset[SSAValue] = frozenset()
) -> Saved:
    """What autograd saves of a call, run in `env` under the current modes.

    `with_grad` are operands that require grad although their types do not say so. If a call cannot
    be run on fake values, all its tensors count as saved, and its results as unshared.
    """
    types = [_type_of(operand, operand in with_grad) for operand in op.operands]
    symbolic = any(symbols_of(type_) for type_ in types)
    known = env.identity if symbolic else None
    key = (type(op), op.args, *types, env.modes, known, functions_of(op.args))
    found = _memo.get(key)
    if found is None:
        found = _observed(op, types, env) or Saved.everything(op)
        with _memo_lock:
            while len(_memo) >= MEMO_SIZE:
                del _memo[next(iter(_memo))]
            _memo[key] = found
    return found


def requires_grad(type_: Any) -> bool:
    """Whether values of a type require grad."""
    return type(type_) is TensorType and "requires_grad" in type_.data.flags


def _type_of(value: SSAValue, with_grad: bool) -> Any:
    type_: Any = value.type
    if not with_grad or type(type_) is not TensorType or requires_grad(type_):
        return type_
    fields = type_.data
    if not (fields.dtype.is_floating_point or fields.dtype.is_complex):
        return type_
    return TensorType(fields._replace(flags=(*fields.flags, "requires_grad")))


def _observed(op: TorchOp, types: Sequence[Any], env: InferenceEnv) -> Saved | None:
    """What a run shows; None if the call cannot be run."""
    if not _can_run(op, types):
        return None
    kept: list[torch.Tensor] = []
    try:
        with only_fake(env.fake, True), _told_of_saved(kept):
            values = [fake_value(type_, env.fake) for type_ in types]
            # An in-place call saves and returns its operand, so the operands are noted first.
            given = [_storages(value) for value in values]
            calls = CallArguments(env.fake.number, _no_subgraph)
            positional, keywords = calls.of(type(op), op.args.data, values)
            made = list(leaves_of(_call(op, positional, keywords)))
            results = [_storages(leaf) for leaf in made]
            saved = frozenset().union(*map(_storages, kept))
    except Exception:  # whatever a kernel raises, the call cannot be run
        return None
    finally:
        env.renew()  # a kernel may have learned something about symbols
    if len(results) != len(op.results):
        return None
    return Saved(
        frozenset([number for number, one in enumerate(given) if one & saved]),
        frozenset([number for number, one in enumerate(results) if one & saved]),
        tuple([_first_that_meets(one, given) for one in results]),
    )


def _can_run(op: TorchOp, types: Sequence[Any]) -> bool:
    """Whether the call takes tensors on devices where an autograd graph can be built."""
    if isinstance(op, GetAttrOp | OpaqueCallOp) or op.fx_op not in ("call_function", "call_method"):
        return False
    if any(type(leaf) in (Handle, SymbolRef) for leaf in leaves(op.args.data)):
        return False
    tensors = [type_ for type_ in types if type(type_) is TensorType]
    return all(device_exists(type_.device) for type_ in tensors)


def _call(op: TorchOp, positional: list[Any], keywords: dict[str, Any]) -> Any:
    if op.fx_op == "call_method":
        receiver, *rest = positional
        return getattr(receiver, str(op.target))(*rest, **keywords)
    return kernel_for(op.target, positional)(*positional, **keywords)


def _storages(value: Any) -> frozenset[int]:
    if not isinstance(value, torch.Tensor):
        return frozenset()
    return frozenset((value.untyped_storage()._cdata,))


def _first_that_meets(one: frozenset[int], others: Sequence[frozenset[int]]) -> int | None:
    return next((number for number, other in enumerate(others) if one & other), None)


@contextmanager
def _told_of_saved(kept: list[torch.Tensor]) -> Iterator[None]:
    """Note what is saved inside the block, even if a trace has disabled the hooks."""

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    autograd: Any = getattr(torch._C, "_autograd")  # noqa: B009  (unknown to type checkers)
    refusal = autograd._saved_tensors_hooks_get_disabled_error_message()
    tracing = autograd._saved_tensors_hooks_set_tracing(False)
    autograd._saved_tensors_hooks_enable()
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, _as_it_is):
            yield
    finally:
        autograd._saved_tensors_hooks_set_tracing(tracing)
        if refusal is not None:
            autograd._saved_tensors_hooks_disable(refusal)


def _as_it_is(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _no_subgraph(name: str) -> Any:
    raise NoPythonValue(f"subgraph @{name}")


__all__ = ["Saved", "requires_grad", "saved_for_backward"]
