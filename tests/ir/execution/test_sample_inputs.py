"""Inputs that are made from types alone."""

import itertools
import math

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import GraphOp, TensorType, entry_graph, parse_ir, run
from xductor.ir.dialect.dtypes import TEXT_OF_DTYPE
from xductor.ir.execution.sample_inputs import (
    NoSample,
    Sampler,
    sample_attributes,
    sample_inputs,
    special_floats,
)
from xductor.ir.symbolic.expressions import parse_expr
from xductor.ir.symbolic.symbol_parser import parse_symbol_table
from xductor.ir.symbolic.symbol_values import number, symbol_choices, symbol_values

INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64]
INTEGERS += [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
NUMBERS = [
    *INTEGERS,
    *FLOATS,
    torch.bool,
    torch.complex64,
    torch.complex128,
    *(dtype for dtype in TEXT_OF_DTYPE if "float8" in str(dtype) or "float4" in str(dtype)),
]


def graph_of(text: str) -> tuple[ModuleOp, GraphOp]:
    module = parse_ir(text)
    return module, entry_graph(module)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("special", [0.0, 0.5])
def test_dtype_strides_and_offset_are_the_types(dtype: torch.dtype, special: float) -> None:
    type_ = TensorType.get(dtype, (3, 4), (1, 5), offset=2)
    made = Sampler(special=special).value(type_)
    assert (made.dtype, made.shape, made.stride(), made.storage_offset()) == (
        dtype,
        (3, 4),
        (1, 5),
        2,
    )


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (1, 1, 1)])
def test_empty_and_size_one(shape: tuple[int, ...]) -> None:
    assert Sampler().value(TensorType.get(torch.float32, shape)).shape == shape


def test_expanded_inputs_share_their_elements() -> None:
    made = Sampler().value(TensorType.get(torch.float32, (3, 4), (0, 1)))
    assert torch.equal(made[0], made[2])


def test_flags_are_bits_of_the_value() -> None:
    made = Sampler().value(TensorType.get(torch.complex64, (3,), flags=("conj",)))
    assert made.is_conj()
    made = Sampler().value(TensorType.get(torch.float32, (3,), flags=("neg",)))
    assert made.is_neg()


def test_same_seed_same_values() -> None:
    type_ = TensorType.get(torch.float32, (64,))
    assert torch.equal(Sampler(seed=3).value(type_), Sampler(seed=3).value(type_))
    assert not torch.equal(Sampler(seed=3).value(type_), Sampler(seed=4).value(type_))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_special_floats_are_all_there(dtype: torch.dtype) -> None:
    made = Sampler(special=0.7).value(TensorType.get(dtype, (4000,)))
    assert made.isnan().any()
    assert made.isposinf().any()
    assert made.isneginf().any()
    assert ((made == 0) & made.signbit()).any()
    assert ((made != 0) & (made.abs() < torch.finfo(dtype).tiny)).any()
    assert (made == torch.finfo(dtype).max).any()


def test_special_floats_survive_their_dtype() -> None:
    for dtype in FLOATS:
        cast = special_floats(dtype).to(dtype)
        assert torch.equal(cast.double().nan_to_num(7.0, 8.0, 9.0),
                           special_floats(dtype).nan_to_num(7.0, 8.0, 9.0))  # fmt: skip


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d.itemsize < 8], ids=str)
def test_special_integers_are_the_extremes(dtype: torch.dtype) -> None:
    made = Sampler(special=0.7).value(TensorType.get(dtype, (1000,))).to(torch.int64)
    assert made.min() == torch.iinfo(dtype).min
    assert made.max() == torch.iinfo(dtype).max


def test_what_cannot_be_made_up_says_so() -> None:
    sampler = Sampler()
    with pytest.raises(NoSample, match="%x has the layout sparse_coo"):
        sampler.value(TensorType.get(torch.float32, (3,), layout="sparse_coo"), what="input %x")
    with pytest.raises(NoSample, match="DTensor"):
        sampler.value(TensorType.get(torch.float32, (3,), subclass="DTensor"))
    with pytest.raises(NoSample, match="qint8"):
        sampler.value(TensorType.get(torch.qint8, (3,)))


TABLE = "symbols(s0 : int positive [2, int_oo] hint 16, u0 : int unbacked [0, 9])"


def test_symbols_have_hints_or_given_values() -> None:
    table = parse_symbol_table(TABLE)
    assert symbol_values(table) == {"s0": 16, "u0": 3}
    assert symbol_values(table, {"s0": 5}) == {"s0": 5, "u0": 3}
    with pytest.raises(NoSample, match=r"s0 = 1 is not in its range, \[2, inf\]"):
        symbol_values(table, {"s0": 1})
    with pytest.raises(NoSample, match="no symbol s9; its symbols are: s0, u0"):
        symbol_values(table, {"s9": 1})


def test_choices_reach_the_smallest_sizes() -> None:
    choices = list(itertools.islice(symbol_choices(parse_symbol_table(TABLE)), 20))
    assert choices[0] == {"s0": 16, "u0": 3}
    assert {"s0": 2, "u0": 0} in choices
    assert {"s0": 2, "u0": 1} in choices
    assert all(c["s0"] >= 2 and 0 <= c["u0"] <= 9 for c in choices)
    assert len({tuple(c.items()) for c in choices}) > 8


def test_a_symbol_value_is_computed_exactly() -> None:
    module, graph = graph_of(
        "fx.graph @f stage(joint) symbols(s0 : int positive [2, int_oo] hint 16) "
        "(%x : !fx.tensor<f32[floordiv(s0, 3), 2*s0 + 1], cpu>, %n : !fx.symint<s0**2>) {\n"
        "  fx.output (%x,)\n}"
    )
    x, n = sample_inputs(graph, symbols={"s0": 7})
    assert x.shape == (2, 15)
    assert (type(n), n) == (int, 49)
    assert run(module, x, n)[0] is x


def test_a_value_without_its_symbol_is_refused() -> None:
    table = parse_symbol_table(TABLE)
    type_ = TensorType.get(torch.float32, (parse_expr("s0 + u7"),))
    with pytest.raises(NoSample, match="u7"):
        Sampler(symbol_values(table)).value(type_)


def test_number_of_floats() -> None:
    assert number(parse_expr("to_float(s0)"), {"s0": 3}) == 3.0
    assert number(2.5, {}) == 2.5


CONSUMERS = {
    "index_select": "aten.index_select.default %t, 0, %i : !fx.tensor<f32[6, 5], cpu>",
    "gather": "aten.gather.default %t, 1, %j : !fx.tensor<f32[6, 5], cpu>",
    "index": "aten.index.Tensor %t, [none, %i] : !fx.tensor<f32[5, 6], cpu>",
    "embedding": "aten.embedding.default %t, %i : !fx.tensor<f32[6, 5], cpu>",
    "scatter": "aten.scatter.value %t, 0, %j, 1.0 : !fx.tensor<f32[5, 5], cpu>",
    "take": "aten.take.default %t, %i : !fx.tensor<f32[6], cpu>",
    "one_hot": "aten.one_hot.default %i, 3 : !fx.tensor<i64[6, 3], cpu>",
    "bincount": "aten.bincount.default %i : !fx.tensor<i64[6], cpu>",
    "remainder": "aten.remainder.Tensor %i, %i : !fx.tensor<i64[6], cpu>",
    "shift": "aten.bitwise_left_shift.Tensor %i, %i : !fx.tensor<i64[6], cpu>",
}


@pytest.mark.parametrize("name", CONSUMERS)
@pytest.mark.parametrize("special", [0.0, 0.5])
def test_index_tensors_are_in_range(name: str, special: float) -> None:
    module, graph = graph_of(
        "fx.graph @f stage(joint) (%t : !fx.tensor<f32[5, 5], cpu>, %i : !fx.tensor<i64[6], cpu>, "
        f"%j : !fx.tensor<i64[5, 5], cpu>) {{\n  %r = {CONSUMERS[name]}\n  fx.output (%r,)\n}}"
    )
    for seed in range(8):
        inputs = sample_inputs(graph, seed=seed, special=special)
        run(module, *inputs)


@pytest.mark.parametrize("name", ["index", "take", "index_select", "gather"])
def test_indices_count_from_the_end_where_eager_lets_them(name: str) -> None:
    _, graph = graph_of(
        "fx.graph @f stage(joint) (%t : !fx.tensor<f32[5, 5], cpu>, %i : !fx.tensor<i64[6], cpu>, "
        f"%j : !fx.tensor<i64[5, 5], cpu>) {{\n  %r = {CONSUMERS[name]}\n  fx.output (%r,)\n}}"
    )
    made = [sample_inputs(graph, seed=seed)[2 if name == "gather" else 1] for seed in range(8)]
    assert any(bool((one < 0).any()) for one in made) == (name in ("index", "take"))


@pytest.mark.parametrize(
    "index",
    [
        "(slice(none, none, none), none, %i)",
        "(..., %i)",
        "(..., %i, slice(none, 1, none))",
        "(%m, %i)",
        "(none, 1, %i)",
    ],
)
def test_indices_of_python_are_in_range(index: str) -> None:
    """As `x[index]` and in `x[index] = 1` of the pre-grad stage."""
    module, graph = graph_of(
        "fx.graph @f stage(pre_grad) (%t : !fx.tensor<f32[9, 2, 3], cpu>, "
        "%i : !fx.tensor<i64[1], cpu>, %m : !fx.tensor<i1[9], cpu>) {\n"
        "  %y = method.clone %t : !fx.tensor<f32[9, 2, 3], cpu>\n"
        f"  pyfn._operator.setitem %y, {index}, 1.0\n  fx.output (%y,)\n}}"
    )
    for seed in range(12):
        run(module, *sample_inputs(graph, seed=seed))


def test_a_need_passes_through_arithmetic_and_views() -> None:
    module, graph = graph_of(
        "fx.graph @f stage(joint) (%t : !fx.tensor<f32[5, 2], cpu>, %i : !fx.tensor<i64[6], cpu>) {"
        "\n  %v = aten.view.default %i, [2, 3] : !fx.tensor<i64[2, 3], cpu>"
        "\n  %a = aten.sub.Tensor %v, 100 : !fx.tensor<i64[2, 3], cpu>"
        "\n  %r = aten.embedding.default %t, %a : !fx.tensor<f32[2, 3, 2], cpu>"
        "\n  fx.output (%r,)\n}"
    )
    for seed in range(8):
        table, indices = sample_inputs(graph, seed=seed)
        assert 100 <= indices.min() <= indices.max() < 105
        run(module, table, indices)


def test_a_need_through_unknown_ops_is_cautious() -> None:
    _, graph = graph_of(
        "fx.graph @f stage(joint) (%t : !fx.tensor<f32[9, 2], cpu>, %i : !fx.tensor<i64[6], cpu>) {"
        "\n  %c = aten.cumsum.default %i, 0 : !fx.tensor<i64[6], cpu>"
        "\n  %r = aten.embedding.default %t, %c : !fx.tensor<f32[6, 2], cpu>"
        "\n  fx.output (%r,)\n}"
    )
    _, indices = sample_inputs(graph)
    assert set(indices.tolist()) <= {0, 1}


def test_attributes_by_path() -> None:
    module, graph = graph_of(
        "fx.graph @f stage(pre_grad) (%x : !fx.tensor<f32[2, 3], cpu>) {"
        '\n  %w = fx.get_attr "layer.weight" : !fx.tensor<f32[3, 3], cpu>'
        "\n  %r = pyfn.torch.mm %x, %w : !fx.tensor<f32[2, 3], cpu>"
        "\n  fx.output (%r,)\n}"
    )
    attributes = sample_attributes(module)
    assert attributes["layer.weight"].shape == (3, 3)
    (found,) = run(module, *sample_inputs(graph), attributes=attributes)
    assert math.isfinite(found.sum().item())
