"""`remove_noop_ops`: what goes, what stays, and that nobody can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor.fx_passes import post_grad
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.frontend import from_fx
from xductor.transforms.noops.noop_registry import NOOP_RULES
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

aten, prims = torch.ops.aten, torch.ops.prims
END = 2**63 - 1

# ------------------------------------------------------------------------- the registry, by case

NOOPS: dict[str, Callable[[Any], Any]] = {
    "aten.slice.Tensor": lambda x: aten.slice.Tensor(x, 0, 0, END),
    "aten.slice_scatter.default": lambda x: aten.slice_scatter.default(x.neg(), x, 0, 0, 3),
    "aten.repeat.default": lambda x: aten.repeat.default(x, [1, 1]),
    "aten.constant_pad_nd.default": lambda x: aten.constant_pad_nd.default(x, [0, 0], 7.0),
    "prims.convert_element_type.default": lambda x: prims.convert_element_type.default(x, x.dtype),
    "prims.device_put.default": lambda x: prims.device_put.default(x, torch.device("cpu")),
    "aten.pow.Tensor_Scalar": lambda x: aten.pow.Tensor_Scalar(x, 1),
    "aten.cat.default": lambda x: aten.cat.default([x], 1),
    "aten.view.default": lambda x: aten.view.default(x, [3, 4]),
    "aten.view.dtype": lambda x: aten.view.dtype(x, x.dtype),
    "aten.copy.default": lambda x: aten.copy.default(x.neg(), x),
    "aten.alias.default": lambda x: aten.alias.default(x),
    "aten.clone.default": lambda x: aten.clone.default(x),
}
INTEGER_NOOPS: dict[str, Callable[[Any], Any]] = {
    "aten.ceil.default": aten.ceil.default,
    "aten.floor.default": aten.floor.default,
    "aten.round.default": aten.round.default,
    "aten.trunc.default": aten.trunc.default,
}


def test_every_rule_has_a_case() -> None:
    assert NOOPS.keys() | INTEGER_NOOPS.keys() == NOOP_RULES.keys()


def test_the_registry_is_inductors() -> None:
    """All of stock's overloads but those that write to `out`, and those that can never apply."""
    stock = {f"{op.namespace}.{op._opname}.{op._overloadname}" for op in post_grad.noop_registry}
    writing = {name for name in stock if name.endswith("out")}
    tensor_exponents = {"aten.pow.Tensor_Tensor", "aten.pow.Scalar"}
    refused_by_eager = {"aten.round.decimals"}  # of integers
    assert stock - writing - tensor_exponents - refused_by_eager == NOOP_RULES.keys()


@pytest.mark.parametrize("name", NOOPS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_noop_goes(trace: Any, special: Any, name: str, dtype: torch.dtype) -> None:
    x = special(3, 4, dtype=torch.float32).nan_to_num(0, 7, -7).to(dtype)
    x = special(3, 4, dtype=dtype) if dtype.is_floating_point else x
    case = trace(lambda x: aten.abs.default(NOOPS[name](x)), x)
    assert name in case.ops
    assert case.run(RemoveNoopOps()) == 1
    assert name not in case.ops
    case.check_values(x)


@pytest.mark.parametrize("name", INTEGER_NOOPS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_rounding_of_integers_goes(trace: Any, name: str, dtype: torch.dtype) -> None:
    x = torch.arange(12, dtype=dtype).view(3, 4)
    case = trace(lambda x: aten.add.Tensor(INTEGER_NOOPS[name](x), 1), x)
    assert name in case.ops
    assert case.run(RemoveNoopOps()) == 1
    assert case.ops == ["aten.add.Tensor"]
    case.check_values(x)


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (3, 0)])
@pytest.mark.parametrize("name", sorted(NOOPS.keys() - {"aten.slice_scatter.default"}))
def test_empty_and_size_one(trace: Any, special: Any, name: str, shape: tuple[int, int]) -> None:
    x = special(*shape)
    noop = NOOPS[name]
    if name == "aten.view.default":
        noop = lambda x: aten.view.default(x, list(shape))  # noqa: E731
    case = trace(lambda x: aten.abs.default(noop(x)), x)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


def test_chain_goes_at_once(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = aten.alias(aten.clone(aten.repeat(x[0:3], [1, 1])))
        return y.view(3, 4) * 2

    case = trace(f, special(3, 4))
    assert case.run(RemoveNoopOps()) == 5
    assert case.ops == ["aten.mul.Tensor"]
    case.check_values(special(3, 4))


NOT_NOOPS: dict[str, Callable[[Any], Any]] = {
    "a slice from one": lambda x: x[1:],
    "a slice that ends early": lambda x: x[:2],
    "steps of two": lambda x: x[::2],
    "another dim": lambda x: x[:, 0:3],
    "a scatter into a part": lambda x: aten.slice_scatter(x, x[1:2], 0, 1, 2),
    "repeated": lambda x: x.repeat(1, 2),
    "a leading dim": lambda x: x.repeat(1, 1, 1),
    "padded": lambda x: torch.constant_pad_nd(x, [0, 1]),
    "cut by negative padding": lambda x: torch.constant_pad_nd(x, [0, -1]),
    "another dtype": lambda x: prims.convert_element_type(x, torch.float64),
    "dtype of the same width": lambda x: aten.view.dtype(x, torch.int32),
    "rounding of floats": lambda x: x.ceil(),
    "the power of two": lambda x: aten.pow.Tensor_Scalar(x, 2),
    "the power of zero": lambda x: aten.pow.Tensor_Scalar(x, 0),
    "a cat of two": lambda x: torch.cat([x, x]),
    "another shape": lambda x: x.view(4, 3),
    "a copy into another dtype": lambda x: aten.copy(x.double(), x),
    "a copy that broadcasts": lambda x: aten.copy(x.new_empty(2, 3, 4), x),
    "a clone with other strides": lambda x: x.t().clone(memory_format=torch.contiguous_format),
    "a clone of an expanded value": lambda x: x[0].expand(5, 4).clone(),
}


@pytest.mark.parametrize("why", NOT_NOOPS)
def test_other_calls_stay(trace: Any, special: Any, why: str) -> None:
    x = special(3, 4)
    case = trace(lambda x: aten.add.Tensor(NOT_NOOPS[why](x), 1), x)
    before = case.ops
    case.run(RemoveNoopOps())
    # The views of make_fx may go (`x[1:]` slices both dims); the call in question stays.
    assert [name for name in before if name not in case.ops] in ([], ["aten.slice.Tensor"])
    case.check_values(x)


@pytest.mark.parametrize("flag", ["conj", "neg"])
def test_bits_that_a_clone_resolves(parse: Any, flag: str) -> None:
    case = parse(f"""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<complex<f32>[4], cpu, {flag}>) {{
          %y = aten.clone.default %x : !fx.tensor<complex<f32>[4], cpu>
          %z = aten.abs.default %y : !fx.tensor<f32[4], cpu>
          fx.output (%z)
        }}""")
    assert case.run(RemoveNoopOps()) == 0


# ---------------------------------------------------------------------------- symbolic shapes


def test_symbolic_full_slice(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return x[: x.shape[0]].view(x.shape[0], 4).clone() + 1

    case = trace(f, special(5, 4), dynamic=True)
    case.run(RemoveNoopOps())
    assert not {"aten.slice.Tensor", "aten.view.default", "aten.clone.default"} & set(case.ops)
    case.check_values(special(5, 4))


SYMBOLIC = """
    fx.graph @g stage(joint) symbols(s0 : int positive [{low}, {high}], s1 : int positive [2, 9])
        (%n : !fx.symint<s1>, %x : !fx.tensor<f32[s0, 4], cpu>) {{
      %y = {call} : !fx.tensor<f32[{dim}, 4], cpu>
      %z = aten.neg.default %y : !fx.tensor<f32[{dim}, 4], cpu>
      fx.output (%z)
    }}"""


@pytest.mark.parametrize(
    ("call", "dim", "low", "high", "goes"),
    [
        ("aten.slice.Tensor %x, 0, 0, 16", "s0", 2, 16, True),
        ("aten.slice.Tensor %x, 0, 0, 16", "s0", 2, 17, False),
        ("aten.slice.Tensor %x, 0, 0, 9223372036854775807", "s0", 2, 99, True),
        ("aten.slice.Tensor %x, 0, 0, %n", "s0", 2, 2, True),
        ("aten.slice.Tensor %x, 0, 0, %n", "s0", 2, 9, False),
        ("aten.slice.Tensor %x, 0, %n, 16", "s0", 2, 16, False),
        ("aten.view.default %x, [%n, 4]", "s0", 2, 9, False),
        ("aten.view.default %x, [-1, 4]", "s0", 2, 9, True),
        ("aten.repeat.default %x, [%n, 1]", "s0", 2, 9, False),
        ("aten.clone.default %x", "s1", 2, 9, False),
        ("aten.clone.default %x", "s0", 2, 9, True),
    ],
)
def test_symbols_are_asked_without_guards(
    parse: Any, call: str, dim: str, low: int, high: int, goes: bool
) -> None:
    case = parse(SYMBOLIC.format(call=call, dim=dim, low=low, high=high))
    assert case.run(RemoveNoopOps()) == int(goes)


def test_no_guard_is_added(trace: Any, special: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return x[: y.shape[0]].clone() * 2

    case = trace(f, special(5, 4), special(7, 3), dynamic=True)
    environment = next(iter(case.module.ops)).live.types.shape_env
    guards = list(environment.guards)
    version = environment._version_counter
    case.run(RemoveNoopOps())
    assert environment.guards == guards
    assert environment._version_counter == version


# ------------------------------------------------------------------------------- options, levels


def test_same_graph_on_every_rank(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        return torch.constant_pad_nd(x[0:3], [0, 0]).clone() * 2

    case = trace(f, special(3, 4))
    assert case.run(RemoveNoopOps(keep_for_spmd=True)) == 1
    assert case.ops == ["aten.slice.Tensor", "aten.constant_pad_nd.default", "aten.mul.Tensor"]


def _exported(function: Callable[..., Any], *inputs: Any) -> torch.fx.GraphModule:
    from torch._dynamo import export

    return export(function)(*inputs)[0]


PYTHON_LEVEL: dict[str, tuple[Callable[..., Any], int]] = {
    "a method": (lambda x: x.clone() + 1, 1),
    "a function": (lambda x: torch.clone(x) + 1, 1),
    "returned": (lambda x: x.clone(), 0),
    "other strides": (lambda x: x.t().clone(memory_format=torch.contiguous_format) + 1, 0),
}


@pytest.mark.parametrize("why", PYTHON_LEVEL)
@pytest.mark.parametrize("stage", ["pre_grad", "joint", "post_grad"])
def test_clone_before_autograd(why: str, stage: str, special: Any, trace: Any) -> None:
    function, removed = PYTHON_LEVEL[why]
    x = special(3, 4)
    gm = _exported(function, x)
    case = type(trace(lambda x: x + 1, x))(gm, from_fx(gm, stage, example_inputs=[x]))
    assert case.run(RemoveNoopOps()) == removed
    case.check_values(x)


def _clone_then_write(x: Any, z: Any) -> Any:
    y = x.clone()
    z.add_(1)  # z may overlap x: nothing says that inputs are apart
    return y * 2


def _clone_written(x: Any, z: Any) -> Any:
    y = x.clone()
    y.add_(1)
    return y * z


def _clone_by_operator(x: Any, z: Any) -> Any:
    y = x.clone()
    x += 1
    return y * z


@pytest.mark.parametrize("function", [_clone_then_write, _clone_written, _clone_by_operator])
def test_writes_before_autograd(function: Any, special: Any, trace: Any) -> None:
    x, z = special(3, 4), special(3, 4)
    gm = _exported(function, x, z)
    case = type(trace(lambda x: x + 1, x))(gm, from_fx(gm, "pre_grad", example_inputs=[x, z]))
    assert "method.clone" in case.ops
    assert case.run(RemoveNoopOps()) == 0
    case.check_values(x, z)


def test_prefilter(trace: Any, special: Any) -> None:
    assert RemoveNoopOps.may_apply(make_fx(lambda x: x.clone() + 1)(special(2)).graph)
    assert not RemoveNoopOps.may_apply(make_fx(lambda x: x + 1)(special(2)).graph)
    assert RemoveNoopOps.may_apply(_exported(lambda x: x.clone() + 1, special(2)).graph)


# -------------------------------------------------------------------------------------- parity


def _attention_like(x: Any) -> Any:
    q, k, v = (x.view(2, 3, 4).clone() for _ in range(3))
    scores = torch.softmax((q @ k.transpose(1, 2)).to(torch.float32), -1)
    return torch.cat([scores @ v]).view(2, 3, 4)[0:2].reshape(6, 4).clone()


def _masks(x: Any) -> Any:
    n = torch.arange(6)[:, None].ceil()
    keep = (n.repeat(1, 1) < 3).clone()
    return torch.where(keep, x, x**1) + torch.constant_pad_nd(x, [0, 0]) + x[0:6, 1:]


@pytest.mark.parametrize("function", [_attention_like, _masks])
@pytest.mark.parametrize("dynamic", [False, True])
def test_parity_with_inductor(trace: Any, function: Any, dynamic: bool) -> None:
    x = torch.randn(6, 4) if function is _attention_like else torch.randn(6, 1)
    case = trace(function, x, dynamic=dynamic and function is _masks)
    stock = make_fx(
        function, tracing_mode="symbolic" if dynamic and function is _masks else "fake"
    )(x)
    before = len(stock.graph.nodes)
    post_grad.remove_noop_ops(stock.graph)
    assert case.run(RemoveNoopOps()) == before - len(stock.graph.nodes) > 0
    stock.recompile()
    case.check_values(x)


def test_linear_in_the_number_of_ops(parse: Any) -> None:
    """The walk and the storages are each read once: 4,000 copies in a row all go."""
    lines = ["%v0 = aten.neg.default %x : !fx.tensor<f32[4], cpu>"]
    lines += [
        f"%v{index + 1} = aten.clone.default %v{index} : !fx.tensor<f32[4], cpu>"
        for index in range(4000)
    ]
    body = "\n".join(lines)
    case = parse(
        "fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {"
        f"{body}\nfx.output (%v4000)\n}}"
    )
    assert case.run(RemoveNoopOps()) == 4000
    assert case.ops == ["aten.neg.default"]
