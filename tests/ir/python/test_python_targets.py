"""Names, parameters and meanings of Python-level targets."""

from __future__ import annotations

import functools
import math
import operator
import re
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import torch.overrides

from xductor.ir.python import targets
from xductor.ir.python.targets import (
    UnknownTarget,
    canonical_name,
    method_signatures,
    qualified_name,
    resolve,
    signatures,
)


class Value:
    """A marker for a graph value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


x, y, c = Value("x"), Value("y"), Value("c")


def _is_value(item: object) -> bool:
    return isinstance(item, Value)


def bind(target: Any, *args: object, **kwargs: object) -> dict[str, object] | None:
    call = targets.bind_method if isinstance(target, str) else targets.bind
    return call(target, args, kwargs, _is_value)


# ------------------------------------------------------------------------------------------ names


def named(value: object) -> str:
    """A test id that is the same in every process: no addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (torch.cat, "torch.cat"),
        (F.relu, "torch.nn.functional.relu"),
        (F.max_pool2d, "torch.nn.functional.max_pool2d"),
        (F.linear, "torch._C._nn.linear"),
        (operator.add, "_operator.add"),
        (operator.getitem, "_operator.getitem"),
        (math.sqrt, "math.sqrt"),
        (getattr, "builtins.getattr"),
        (max, "builtins.max"),
        (torch.sym_max, "torch.sym_max"),
        (torch._sym_sqrt, "torch._sym_sqrt"),
        (torch.einsum, "torch.einsum"),
        (torch.linalg.norm, "torch._C._linalg.linalg_norm"),
        (torch.Tensor.add, "torch.Tensor.add"),
        (torch.Tensor.split, "torch.Tensor.split"),
        (torch._C._set_grad_enabled, "torch._C._set_grad_enabled"),
        (torch.amp.autocast_mode._enter_autocast, "torch.amp.autocast_mode._enter_autocast"),
        (torch._C._functorch._add_batch_dim, "torch._C._functorch._add_batch_dim"),
        (torch.ops.aten.add, "torch.ops.aten.add"),
        (torch.ops.aten.add.Tensor, "torch.ops.aten.add.Tensor"),
        (torch.ops.higher_order.cond, "torch.ops.higher_order.cond"),
    ],
    ids=named,
)
def test_names(fn: Callable[..., Any], name: str) -> None:
    assert qualified_name(fn) == name
    assert resolve(name) is fn
    assert qualified_name(fn) == name  # from the cache


def test_every_overridable_function_has_a_name_that_resolves() -> None:
    nameless = []
    for fn in torch.overrides.get_testing_overrides():
        name = qualified_name(fn)
        if name is None:
            nameless.append(fn)
            continue
        assert resolve(name) is fn
        assert re.fullmatch(r"[A-Za-z0-9_.$]+", name)
    # Property accessors are objects made on each access.
    assert all(isinstance(fn, types.MethodWrapperType) for fn in nameless), nameless


def _make_closure() -> Callable[..., Any]:
    def inner(value: object) -> object:
        return value

    return inner


@pytest.mark.parametrize(
    "fn",
    [lambda v: v, _make_closure(), functools.partial(torch.add, alpha=2), torch.nn.ReLU(),
     torch.Generator().manual_seed],
    ids=named,
)  # fmt: skip
def test_what_has_no_path_has_no_name(fn: Callable[..., Any]) -> None:
    assert qualified_name(fn) is None
    assert canonical_name(fn) is None


def test_user_functions_of_imported_modules_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("xductor_user_module")
    function = types.FunctionType(_make_closure.__code__, {}, "fused")
    function.__module__, function.__qualname__ = "xductor_user_module", "fused"
    module.fused = function  # type: ignore[attr-defined]
    with pytest.raises(UnknownTarget, match="import xductor_user_module first"):
        resolve("xductor_user_module.fused")
    monkeypatch.setitem(sys.modules, "xductor_user_module", module)
    assert qualified_name(function) == "xductor_user_module.fused"
    assert resolve("xductor_user_module.fused") is function
    del module.fused  # type: ignore[attr-defined]
    assert qualified_name(function) is None


def test_a_patched_module_is_not_misread(monkeypatch: pytest.MonkeyPatch) -> None:
    original = torch.sym_max
    assert qualified_name(original) == "torch.sym_max"
    monkeypatch.setattr(torch, "sym_max", lambda a, b: a)
    assert qualified_name(original) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("antigravity.fly", "import antigravity first"),
        ("xml.no_such_part.fn", r"import xml(\.no_such_part)? first"),
        ("torch.no_such_function", "torch has no 'no_such_function'"),
        ("torch.no_such_module.fn", "no torch.no_such_module in this torch"),
        ("torch.ops.no_such_library.fn", "import the library that registers the operator 'fn'"),
        ("torch.float32", "is a dtype, not a callable"),
        ("torch", "no qualified name"),
        ("torch..cat", "no qualified name"),
        ("torch.cat()", "no qualified name"),
        ("", "no qualified name"),
    ],
)
def test_unknown_names_say_what_to_do(name: str, message: str) -> None:
    with pytest.raises(UnknownTarget, match=message):
        resolve(name)
    assert "antigravity" not in sys.modules


def test_signatures_are_read_on_first_use_only() -> None:
    program = (
        "import torch, xductor.ir.python.targets as t, xductor.ir.python.signatures as s\n"
        "assert s._function_signatures.cache_info().currsize == 0\n"
        "assert s._dispatched.cache_info().currsize == 0\n"
        "assert t.signatures(torch.cat)\n"
        "assert s._function_signatures.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# ------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("view", x, 2, 3), {"self": x, "size": (2, 3)}),
        (("view", x, (2, 3)), {"self": x, "size": (2, 3)}),
        (("view", x, c, 3), {"self": x, "size": (c, 3)}),
        (("view", x, c), {"self": x, "size": c}),
        (("view", x, torch.int32), {"self": x, "dtype": torch.int32}),
        (("reshape", x, -1), {"self": x, "shape": (-1,)}),
        (("permute", x, 0, 1), {"self": x, "dims": (0, 1)}),
        (("size", x), {"self": x}),
        (("size", x, 0), {"self": x, "dim": 0}),
        (("transpose", x, 1, 2), {"self": x, "dim0": 1, "dim1": 2}),
        (("roll", x, 1, 0), {"self": x, "shifts": (1,), "dims": (0,)}),
        (("repeat", x, 2, c), {"self": x, "repeats": (2, c)}),
        (("where", x, c, y), {"self": x, "condition": c, "other": y}),
        (("split", x, 2, 1), {"self": x, "split_size": 2, "dim": 1}),
        (("mul", x, 2.0), {"self": x, "other": 2.0}),
        (("unflatten", x, -1, (2, 3)), {"self": x, "dim": -1, "sizes": (2, 3)}),
        (("__getitem__", x, 0), {"self": x, "key": 0}),
        ((torch.mean, x), {"input": x, "dtype": None}),
        ((torch.mean, x, 1), {"input": x, "dim": (1,), "keepdim": False, "dtype": None}),
        ((torch.mean, x, [1, 2], True),
         {"input": x, "dim": [1, 2], "keepdim": True, "dtype": None}),
        ((torch.add, x, 2), {"input": x, "other": 2, "alpha": 1}),
        ((torch.cat, [x, y], -1), {"tensors": [x, y], "dim": -1}),
        ((torch.max, x), {"input": x}),
        ((torch.max, x, 1), {"input": x, "dim": 1, "keepdim": False}),
        ((torch.max, x, y), {"input": x, "other": y}),
        ((torch.where, c, x, 0.0), {"condition": c, "input": x, "other": 0.0}),
        ((torch.einsum, "ij,jk", x, y), {"args": ("ij,jk", x, y)}),
        ((F.relu, x), {"input": x, "inplace": False}),
        ((F.linear, x, y), {"input": x, "weight": y, "bias": None}),
        ((operator.add, x, y), {"a": x, "b": y}),
        ((math.sqrt, c), {"x": c}),
        ((max, c, 2), {"args": (c, 2)}),
        ((getattr, x, "shape"), {"object": x, "name": "shape"}),
        ((torch.ops.aten.add, x, 2), {"self": x, "other": 2, "alpha": 1}),
        ((torch.ops.aten.add.Tensor, x, y), {"self": x, "other": y, "alpha": 1}),
        ((torch._C._set_grad_enabled, False), {"enabled": False}),
    ],
    ids=named,
)  # fmt: skip
def test_binding(call: tuple[Any, ...], expected: dict[str, object]) -> None:
    target, *args = call
    bound = bind(target, *args)
    assert bound == expected
    assert list(bound or ()) == list(expected)


def test_keywords_and_overloads_by_constants() -> None:
    assert bind("to", x, torch.float16)["dtype"] is torch.float16
    assert bind("to", x, "cpu")["device"] == "cpu"
    assert bind("to", x, y)["other"] is y
    conv = bind(F.conv2d, x, y, None, 2, padding="same")
    assert conv["stride"] == (2, 2)
    assert conv["padding"] == "same"
    assert conv["dilation"] == (1, 1)
    pool = bind(F.max_pool2d, x, 2, return_indices=True)
    assert pool["kernel_size"] == 2
    assert pool["return_indices"] is True
    assert bind(torch.add, input=x, other=y, alpha=2)["alpha"] == 2
    assert bind(torch.mean, x, axis=1, keepdims=True)["keepdim"] is True
    assert bind(torch.add, x1=x, x2=y)["other"] is y
    assert bind(torch.zeros, 2, 3, dtype=torch.int8)["size"] == (2, 3)
    assert bind(torch.randint, 0, c, (2,))["dtype"] is torch.int64


@pytest.mark.parametrize(
    ("target", "args", "kwargs"),
    [
        (torch.mean, (x,), {"axis": 1, "dim": 1}),
        (F.softmax, (x,), {"axis": 1}),
        (torch.cat, (), {}),
        (torch.add, (x, "text"), {}),
        (torch.relu, (x,), {"inplace": True}),
        (F.relu, (x, False, 3), {}),
        ("no_such_method", (x,), {}),
        ("add", (x, y), {"other": y}),
        (lambda *, a: a, (x,), {}),
    ],
    ids=named,
)
def test_what_does_not_bind(target: Any, args: Any, kwargs: Any) -> None:
    assert bind(target, *args, **kwargs) is None


def test_known_tensors_choose_exactly() -> None:
    as_dim = targets.bind(torch.max, (x, y), {}, _is_value, lambda v: v is x)
    assert as_dim == {"input": x, "dim": y, "keepdim": False}
    assert targets.bind(torch.max, (x, y), {}, _is_value, lambda v: True)["other"] is y


_T = torch.arange(24.0).reshape(2, 3, 4)
REAL_CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (torch.mean, (_T, 1), {}),
    (torch.sum, (_T,), {"dim": [0, 2], "keepdim": True}),
    (torch.add, (_T, 2), {"alpha": 3}),
    (torch.cat, ([_T, _T], 1), {}),
    (torch.where, (_T > 3, _T, 0.0), {}),
    (torch.std, (_T, 1), {}),
    (torch.full, ((2, 2), 1.5), {}),
    (torch.arange, (2, 9, 3), {}),
    (torch.zeros, (2, 3), {"dtype": torch.int8}),
    (torch.flatten, (_T, 1), {}),
    (torch.clamp, (_T,), {"min": 3}),
    (torch.softmax, (_T, -1), {}),
    (torch.tensor, ([1, 2],), {"dtype": torch.int8}),
    (F.softmax, (_T, -1), {"dtype": torch.float64}),
    (F.max_pool2d, (_T, 2), {}),
    (F.layer_norm, (_T, (4,)), {}),
    (F.conv1d, (_T, torch.ones(1, 3, 2), None, 2), {}),
    (F.scaled_dot_product_attention, (_T, _T, _T), {"is_causal": True}),
    (F.pad, (_T, (1, 1)), {"value": 2.0}),
    ("view", (_T, 6, 4), {}),
    ("view", (_T, [6, 4]), {}),
    ("permute", (_T, 2, 0, 1), {}),
    ("expand", (_T[:, :1], 2, 3, 4), {}),
    ("sum", (_T, 1), {}),
    ("to", (_T, torch.float16), {}),
    ("where", (_T, _T > 3, _T * 2), {}),
    ("masked_fill", (_T, _T > 3, 0), {}),
    ("new_zeros", (_T, 2, 3), {}),
    ("split", (_T, 2, 1), {}),
    ("chunk", (_T, 2), {"dim": -1}),
    ("roll", (_T, 1, 0), {}),
    ("repeat", (_T, 1, 2, 1), {}),
    ("norm", (_T,), {"dim": 1}),
    ("float", (_T,), {}),
    ("contiguous", (_T,), {}),
]


@pytest.mark.parametrize(("target", "args", "kwargs"), REAL_CALLS, ids=lambda v: named(v)[:30])
def test_a_bound_call_computes_the_same(target: Any, args: Any, kwargs: Any) -> None:
    bound = bind(target, *args, **kwargs)
    assert bound is not None
    if isinstance(target, str):
        fn = getattr(torch.Tensor, target)
        receiver = bound.pop("self")
        named = {k: v for k, v in bound.items() if k != "implicit" and v is not None}
        again = fn(receiver, **named)
    else:
        fn = target
        again = fn(**{k: v for k, v in bound.items() if v is not None})
    torch.testing.assert_close(again, fn(*args, **kwargs), rtol=0, atol=0)


def test_every_overridable_function_has_signatures() -> None:
    for fn in torch.overrides.get_testing_overrides():
        found = signatures(fn)
        assert found, fn


def test_method_signatures_begin_with_self() -> None:
    count = 0
    for name in dir(torch.Tensor):
        method = getattr(torch.Tensor, name)
        if name.startswith("_") or not callable(method):
            continue
        for signature in method_signatures(name) or ():
            first = signature.parameters[0]
            if first.how.name.startswith("POSITIONAL") and "classmethod" not in str(method):
                count += 1
                assert first.name == "self", name
    assert count > 500


# --------------------------------------------------------------------------------------- meaning


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("add", (torch.add, torch.Tensor.add, operator.add, "add", "__add__", torch.ops.aten.add)),
        ("add_", ("add_", torch.Tensor.add_)),
        ("relu", (torch.relu, F.relu, "relu")),
        ("softmax", (torch.softmax, F.softmax, "softmax")),
        ("gelu", (F.gelu,)),
        ("linear", (F.linear,)),
        ("cat", (torch.cat, torch.concat, torch.concatenate)),
        ("div", (torch.div, torch.true_divide, operator.truediv, "divide", "__truediv__")),
        ("mul", (torch.mul, torch.multiply, operator.mul, "__mul__")),
        ("bitwise_and", (torch.bitwise_and, operator.and_, "__and__")),
        ("clamp", (torch.clamp, torch.clip, "clip")),
        ("mul_", ("multiply_", "mul_")),
        ("getitem", (operator.getitem, "__getitem__")),
        ("transpose", (torch.transpose, torch.swapaxes, "swapdims")),
        ("abs", (abs, operator.abs, torch.abs, torch.absolute, "__abs__")),
    ],
    ids=named,
)
def test_one_meaning_one_name(name: str, spellings: tuple[Any, ...]) -> None:
    assert {canonical_name(s) for s in spellings} == {name}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (F.embedding, torch.embedding),  # the other order of arguments
        (F.layer_norm, torch.layer_norm),
        (torch.linalg.norm, torch.norm),
        (max, torch.max),
        (math.sqrt, torch.sqrt),
        (operator.iadd, operator.add),
        ("__rsub__", "__sub__"),
        (torch.rsub, torch.sub),
        ("add_", "add"),
        (F.cross_entropy, torch._C._nn.cross_entropy_loss),
    ],
    ids=named,
)
def test_what_differs_keeps_its_own_name(one: Any, other: Any) -> None:
    assert canonical_name(one) != canonical_name(other)
