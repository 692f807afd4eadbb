"""PyTorch's own samples of calls do what the operators do that they mean."""

from __future__ import annotations

import sys
import unittest
import warnings
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map

from xductor.ir import ListArg, op_class
from xductor.ir.dialect.registry import method_class
from xductor.ir.functions.torch_calls import Operand, call_meant

# PyTorch's own tests ask for a package of which the samples use nothing.
stand_in = ModuleType("expecttest")
stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
sys.modules.setdefault("expecttest", stand_in)
samples = pytest.importorskip("torch.testing._internal.common_methods_invocations")
# To import them freezes the flags of backends, for this process and all tests in it.
torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True

_SAMPLES = 3


class Call(NamedTuple):
    """A call by its target, as a graph would have it."""

    cls: Any
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _calls(info: Any) -> Iterator[Call]:
    targets = [
        info.op,
        info.method_variant,
        info.inplace_variant,
        *[one.op for one in info.aliases],
    ]
    dtype = torch.float32 if torch.float32 in info.dtypes else torch.bool
    if dtype not in info.dtypes:
        return
    for number, sample in enumerate(info.sample_inputs("cpu", dtype)):
        if number == _SAMPLES:
            break
        args = (sample.input, *sample.args)
        for target in targets:
            is_method = (
                target is not None
                and getattr(torch.Tensor, getattr(target, "__name__", ""), None) is target
            )
            cls = method_class(target.__name__) if is_method else target and op_class(target)
            if cls is not None:
                yield Call(cls, target, args, sample.kwargs)


def _marked(tree: Any, found: list[torch.Tensor]) -> Any:
    def mark(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        found.append(leaf)
        return Operand(len(found) - 1, "tensor", leaf.ndim)

    return tree_map(mark, tree)


def _value(item: Any, values: Sequence[torch.Tensor]) -> Any:
    if isinstance(item, Operand):
        return values[item.index]
    if isinstance(item, list | tuple | ListArg):
        return [_value(one, values) for one in item]
    return item


def _run(call: Any) -> tuple[list[Any], Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        return tree_flatten(call())[0], None


def _same(expected: Sequence[Any], found: Sequence[Any]) -> bool:
    if len(expected) != len(found):
        return False
    for left, right in zip(expected, found, strict=True):
        if left.dtype is not right.dtype or left.shape != right.shape:
            return False
        if left.stride() != right.stride() or not torch.equal(
            left.nan_to_num() if left.is_floating_point() else left,
            right.nan_to_num() if right.is_floating_point() else right,
        ):
            return False
    return True


def _checked(call: Call) -> tuple[bool, str]:
    """Whether a call has a meaning, and what is wrong with it."""
    tensors: list[torch.Tensor] = []
    args, kwargs = _marked((call.args, call.kwargs), tensors)
    meant = call_meant(call.cls, args, kwargs)
    if meant is None:
        return False, ""
    first, second = ([one.clone() for one in tensors] for _ in range(2))
    try:
        expected, _ = _run(lambda: call.target(*_given(args, first), **_given(kwargs, first)))
    except RuntimeError:
        return False, ""
    names = list(meant.cls.table.index)
    given = {
        name: _value(item, second)
        for name, item, told in zip(names, meant.args, meant.given, strict=True)
        if told
    }
    positional = []
    for name in names:
        if name not in given:
            break
        if meant.cls.table.params[meant.cls.table.index[name]].kwarg_only:
            break
        positional.append(given.pop(name))
    found, _ = _run(lambda: meant.cls.target(*positional, **given))
    if not _same(expected, found):
        return True, f"{call.cls.name} is not {meant.cls.name}"
    if not _same(first, second):
        return True, f"{call.cls.name} leaves its operands otherwise than {meant.cls.name}"
    return True, ""


def _given(tree: Any, values: Sequence[torch.Tensor]) -> Any:
    return tree_map(lambda leaf: values[leaf.index] if isinstance(leaf, Operand) else leaf, tree)


#: Whose results are not told by their arguments, or that eager cannot compare.
_NOT_COMPARED = frozenset(
    ("empty_like", "new_empty", "new_empty_strided", "chalf", "to_sparse", "linalg.lstsq")
)


@pytest.mark.slow
def test_what_calls_mean() -> None:
    read = 0
    wrong: dict[str, int] = {}
    names: set[str] = set()
    for info in samples.op_db:
        for call in () if info.name in _NOT_COMPARED else _calls(info):
            known, fault = _checked(call)
            read += known
            names.update([call.cls.name] if known else [])
            if fault:
                wrong[fault] = wrong.get(fault, 0) + 1
    assert not wrong
    assert read > 1400
    assert len(names) > 700
