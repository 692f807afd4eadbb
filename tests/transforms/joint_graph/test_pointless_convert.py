"""`pointless_convert`: which casts in the middle lose nothing."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch._inductor import config
from torch._inductor.fx_passes import joint_graph
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.transforms.joint_graph.pointless_convert import is_lossless
from xductor.transforms.rows.registry import typed_class

prims = torch.ops.prims
PointlessConvert: Any = typed_class("pointless_convert")
CONVERT = "prims.convert_element_type.default"
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
TRIPLES = list(itertools.product(FLOATS, repeat=3))


def _cast(x: Any, *dtypes: torch.dtype) -> Any:
    for dtype in dtypes:
        x = prims.convert_element_type(x, dtype)
    return x


def _all_values(dtype: torch.dtype) -> torch.Tensor:
    """All values of a 16-bit dtype; of a wider one, those and their neighbours."""
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    half, brain = bits.view(torch.float16), bits.view(torch.bfloat16)
    if dtype.itemsize == 2:
        return bits.view(dtype)
    every = torch.cat([half.to(dtype), brain.to(dtype)])
    return torch.cat([every, torch.nextafter(every, torch.full_like(every, float("inf")))])


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    both_nan = a.isnan() & b.isnan()
    return bool((both_nan | (a.view(width) == b.view(width))).all())


@pytest.mark.parametrize(("source", "middle", "last"), TRIPLES)
def test_lossless_casts_give_the_same_bits(
    source: torch.dtype, middle: torch.dtype, last: torch.dtype
) -> None:
    """The predicate against every value: right where it says yes, and never needlessly no."""
    x = _all_values(source)
    round_trip = _same_bits(_cast(x, middle, source), x)
    assert is_lossless(source, middle) == round_trip
    if is_lossless(source, middle):
        assert _same_bits(_cast(x, middle, last), _cast(x, last))


@pytest.mark.parametrize(("source", "middle", "last"), TRIPLES)
@pytest.mark.parametrize("emulate", [False, True])
@pytest.mark.parametrize("policy", ["strict", "default", "fast"])
def test_policies(
    trace: Any,
    special: Any,
    source: torch.dtype,
    middle: torch.dtype,
    last: torch.dtype,
    emulate: bool,
    policy: Any,
) -> None:
    x = special(3, 4, dtype=source)
    case = trace(lambda x: _cast(x, middle, last), x)
    admitted = middle.itemsize >= last.itemsize
    if policy != "fast" or emulate:
        admitted = admitted and is_lossless(source, middle)
    assert case.run(PointlessConvert(policy, emulate)) == int(admitted)
    assert case.ops == [CONVERT] * (2 - admitted)
    if policy != "fast":
        case.check_values(x)


@pytest.mark.parametrize("emulate", [False, True])
def test_fast_is_inductors(trace: Any, emulate: bool) -> None:
    def f(*inputs: Any) -> Any:
        return [
            _cast(x, middle, last)
            for x, (middle, last) in itertools.product(inputs, itertools.product(FLOATS, FLOATS))
        ]

    inputs = [torch.randn(3).to(dtype) for dtype in FLOATS]
    case = trace(f, *inputs)
    stock = make_fx(f, tracing_mode="fake")(*inputs)
    joint_graph.lazy_init()
    with config.patch(emulate_precision_casts=emulate):
        joint_graph.patterns.apply(stock.graph)
    case.run(PointlessConvert("fast", emulate))
    target = torch.ops.prims.convert_element_type.default
    assert len(case.ops) == len(stock.graph.find_nodes(op="call_function", target=target))


REPORTED = {
    "an overflow in the middle": (torch.bfloat16, torch.float16, torch.bfloat16),
    "a rounding in the middle": (torch.float32, torch.bfloat16, torch.float16),
}


@pytest.mark.parametrize("why", REPORTED)
def test_what_the_middle_loses_is_lost(trace: Any, why: str) -> None:
    source, middle, last = REPORTED[why]
    x = torch.tensor([1e30, 1.001, 70000.0, 3.1415]).to(source)
    case = trace(lambda x: _cast(x, middle, last), x)
    assert case.run(PointlessConvert()) == 0
    case.check_values(x)
    assert not _same_bits(_cast(x, middle, last), _cast(x, last))


@pytest.mark.parametrize("other", [torch.int32, torch.bool, torch.complex64, torch.float8_e5m2])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_other_dtypes(trace: Any, other: torch.dtype, place: int) -> None:
    dtypes = [torch.float16, torch.float32, torch.float32]
    dtypes[place] = other
    case = trace(lambda x: _cast(x, *dtypes[1:]), torch.zeros(3).to(dtypes[0]))
    assert case.run(PointlessConvert("fast")) == 0


def test_a_cast_with_other_users_stays(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        wide = _cast(x, torch.float32)
        return _cast(wide, torch.float16), wide + 1

    x = special(3, dtype=torch.bfloat16)
    case = trace(f, x)
    assert case.run(PointlessConvert()) == 0
    case.check_values(x)


def test_chains(trace: Any, special: Any) -> None:
    x = special(3, 4, dtype=torch.bfloat16)
    chain = (torch.float32, torch.float64, torch.float32, torch.float16)
    case = trace(lambda x: _cast(x, *chain), x)
    assert case.run(PointlessConvert()) == 3
    assert case.ops == [CONVERT]
    case.check_values(x)


def test_a_cast_to_the_first_dtype_is_left_for_the_noops(trace: Any, special: Any) -> None:
    x = special(3, 4, dtype=torch.float16)
    case = trace(lambda x: _cast(x, torch.float32, torch.float16) * 2, x)
    assert case.run(PointlessConvert()) == 1
    assert case.ops == [CONVERT, "aten.mul.Tensor"]
    case.check_values(x)


def test_a_write_between_the_casts(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        wide = _cast(x, torch.float32)
        x.fill_(2)
        return _cast(wide, torch.float16)

    x = special(3, 4, dtype=torch.bfloat16)
    case = trace(f, x)
    assert case.run(PointlessConvert()) == 0
    case.check_values(x)


def test_a_write_after_the_casts(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = _cast(x, torch.float32, torch.float16)
        x.fill_(2)
        return y

    x = special(3, 4, dtype=torch.bfloat16)
    case = trace(f, x)
    assert case.run(PointlessConvert()) == 1
    case.check_values(x)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), ()])
def test_empty_and_size_one(trace: Any, special: Any, shape: tuple[int, ...]) -> None:
    x = special(*shape, dtype=torch.bfloat16)
    case = trace(lambda x: _cast(x, torch.float32, torch.float16), x)
    assert case.run(PointlessConvert()) == 1
    case.check_values(x)


@pytest.mark.parametrize("layout", ["permuted", "expanded", "sliced"])
def test_layouts(trace: Any, special: Any, layout: str) -> None:
    x = special(2, 3, 4, dtype=torch.bfloat16)
    views = {
        "permuted": lambda x: x.permute(2, 0, 1),
        "expanded": lambda x: x[:, :1].expand(2, 3, 4),
        "sliced": lambda x: x[:, :, ::2],
    }
    case = trace(lambda x: _cast(views[layout](x), torch.float32, torch.float16), x)
    assert case.run(PointlessConvert()) == 1
    case.check_values(x)


def test_symbolic_shapes(trace: Any, special: Any) -> None:
    case = trace(
        lambda x: _cast(x, torch.float32, torch.float16),
        special(3, 4, dtype=torch.bfloat16),
        dynamic=True,
    )
    assert case.run(PointlessConvert()) == 1
    case.check_values(special(5, 2, dtype=torch.bfloat16))


def test_place_is_inherited(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<bf16[4], cpu>) {
          %a = prims.convert_element_type.default %x, f32 : !fx.tensor<f32[4], cpu>
          %b = prims.convert_element_type.default %a, f16 : !fx.tensor<f16[4], cpu>
            {tag = "is_backward"} loc("model.py":7)
          fx.output (%b)
        }""")
    assert case.run(PointlessConvert()) == 1
    assert "%b = prims.convert_element_type.default %x, f16" in case.text
    assert "is_backward" in case.text
    assert '"model.py":7' in case.text
