"""Static alias facts: which results of an operator share storage with which argument.

Most of this is in the schema; some operators may or may not return an alias (`reshape`,
`contiguous`, `to`), and a few share storage although their schema does not say so. If this cannot
be decided statically, `needs_storage_check` tells the frontend to compare the storages of the
recorded values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

__all__ = ["AliasFact", "needs_storage_check", "schema_aliases"]


@dataclass(frozen=True, slots=True)
class AliasFact:
    """A result, or each element of a list result, shares storage with the argument.

    - `argument`: its name in the schema.
    - `certain`: it shares always, not only for some inputs.
    - `in_place`: the result is the argument itself, after it was written.
    """

    argument: str
    certain: bool = True
    in_place: bool = False


# Annotated as views, but copy for some inputs.
_MAYBE_VIEWS = frozenset(
    {"aten::_autocast_to_full_precision", "aten::_autocast_to_reduced_precision",
     "aten::coalesce", "aten::contiguous", "aten::flatten", "aten::pin_memory", "aten::ravel",
     "aten::reshape", "aten::reshape_as", "aten::resolve_conj", "aten::resolve_neg", "aten::to",
     "aten::_sparse_broadcast_to", "aten::_nested_get_values", "aten::_values", "aten::values",
     "aten::_indices", "aten::indices"}
)  # fmt: skip

# Kernels that share storage although their schema does not say so.
_SHARE = "certain"
_MAY_SHARE = "possible"
_UNDECLARED: dict[str, tuple[str, str]] = {
    "aten::_unsafe_view": ("self", _SHARE),
    "aten::unsafe_split": ("self", _SHARE),
    "aten::unsafe_split_with_sizes": ("self", _SHARE),
    "aten::unsafe_chunk": ("self", _SHARE),
    "aten::lift": ("self", _SHARE),
    "aten::_remove_batch_dim": ("self", _MAY_SHARE),
    "aten::_add_batch_dim": ("self", _MAY_SHARE),
    "prims::device_put": ("a", _MAY_SHARE),
    "inductor::_reinterpret_tensor": ("self", _SHARE),
    "inductor::_alloc_from_pool": ("self", _SHARE),
    "_c10d_functional::wait_tensor": ("tensor", _SHARE),
    "c10d_functional::wait_tensor": ("tensor", _SHARE),
    "_c10d_functional_autograd::wait_tensor": ("tensor", _SHARE),
}


@cache
def schema_aliases(target: torch._ops.OpOverload) -> tuple[AliasFact | None, ...]:
    """One fact for each result of the schema; None for a result that shares with no argument.

    None is a promise only for operators whose `needs_storage_check` is False. A fact about a list
    result holds for each element.
    """
    schema: Any = target._schema
    owners: dict[str, Any] = {}
    for argument in schema.arguments:
        if argument.alias_info is not None:
            owners.update(dict.fromkeys(argument.alias_info.before_set, argument))
    undeclared = _UNDECLARED.get(schema.name)
    facts: list[AliasFact | None] = []
    for result in schema.returns:
        info = result.alias_info
        if info is None:
            facts.append(_undeclared(undeclared) if undeclared and _is_tensor(result) else None)
            continue
        candidates = [owners[a] for a in sorted(info.before_set) if a in owners]
        if not info.before_set:  # in a list only the elements carry the letter: `Tensor(a)[]`
            candidates = [a for a in schema.arguments if a.alias_info is not None]
        if not candidates:
            facts.append(None)
            continue
        certain = schema.name not in _MAYBE_VIEWS and len(candidates) == 1
        facts.append(AliasFact(candidates[0].name, certain, bool(info.is_write)))
    return tuple(facts)


def _undeclared(entry: tuple[str, str]) -> AliasFact:
    argument, how = entry
    return AliasFact(argument, how == _SHARE)


def _is_tensor(value: Any) -> bool:
    return "Tensor" in str(value.type)


def needs_storage_check(target: object) -> bool:
    """Whether only the values of a call tell which storages its results share.

    True for operators that may return an alias, for composite operators without annotations (they
    return whatever their last step returns), for higher-order ops, and for Python functions and
    methods unless they are known to make new tensors or no tensors. Custom operators must not
    return aliases of their inputs, and are trusted.
    """
    if isinstance(target, torch._ops.OpOverload):
        return _overload_needs_check(target)
    if isinstance(target, str):
        # A string may also be the path of a submodule, which names no method.
        return target not in _METHODS_WITHOUT_ALIASES
    if isinstance(target, torch._ops.HigherOrderOperator):
        return target.name() not in _HIGHER_ORDER_WITHOUT_ALIASES
    from xductor.ir.python.qualified_names import qualified_name

    name = qualified_name(target) if callable(target) else None
    if name is None:
        return True
    module, _, last = name.rpartition(".")
    if module == "math" or module.startswith("torch.amp") or name in _FUNCTIONS_WITHOUT_ALIASES:
        return False
    return not (module == "torch" and (last in _FACTORIES or last.startswith("sym_")))


@cache
def _overload_needs_check(target: torch._ops.OpOverload) -> bool:
    schema: Any = target._schema
    if not any(_is_tensor(result) for result in schema.returns):
        return False
    facts = schema_aliases(target)
    if any(fact is not None and not fact.certain for fact in facts):
        return True
    if torch.Tag.maybe_aliasing_or_mutating in target.tags:
        return True
    silent = all(fact is None for fact in facts)
    return silent and _is_composite(target)


def _is_composite(target: torch._ops.OpOverload) -> bool:
    full: str = target._schema.name
    if target._schema.overload_name:
        full = f"{full}.{target._schema.overload_name}"
    key = "CompositeImplicitAutograd"
    return torch._C._dispatch_has_kernel_for_dispatch_key(full, key) or (
        torch._C.DispatchKey.CompositeImplicitAutograd in target.py_kernels
    )


_FACTORIES = frozenset(
    {"arange", "empty", "empty_like", "empty_strided", "eye", "full", "full_like", "linspace",
     "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like",
     "randn", "randn_like", "randperm", "tensor", "tril_indices", "triu_indices", "zeros",
     "zeros_like", "bernoulli", "multinomial", "clone", "_check", "_assert", "manual_seed"}
)  # fmt: skip
_FUNCTIONS_WITHOUT_ALIASES = frozenset(
    {"torch._C._set_grad_enabled", "builtins.max", "builtins.min", "builtins.int",
     "builtins.float", "builtins.bool", "builtins.len", "builtins.round"}
)  # fmt: skip
_METHODS_WITHOUT_ALIASES = frozenset(
    {"size", "stride", "dim", "numel", "item", "element_size", "storage_offset", "tolist",
     "is_contiguous", "get_device", "ndimension", "nelement", "clone", "new_empty", "new_full",
     "new_ones", "new_tensor", "new_zeros", "new_empty_strided", "__len__", "__bool__", "__int__",
     "__float__", "__index__"}
)  # fmt: skip
# Their operands are cloned before they are written.
_HIGHER_ORDER_WITHOUT_ALIASES = frozenset({"triton_kernel_wrapper_functional"})
