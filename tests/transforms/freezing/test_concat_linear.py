"""Products of one tensor with constants: which become one, and which must not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.transforms.freezing.random_constant_graphs import Held
from xductor.backend.fx.export import to_fx
from xductor.frontend import from_fx
from xductor.ir import entry_graph, parse_ir, print_ir, same, verify
from xductor.transforms.freezing.concat_linear import (
    AddmmFusePatternSecond,
    ConcatLinear,
    MatmulFusePattern,
)
from xductor.transforms.freezing.unnecessary_dtype_convert import UnnecessaryDtypeConvert
from xductor.transforms.rewriting.rewrite_pass import RewritePass

aten = torch.ops.aten
X = torch.linspace(-1, 1, 12).view(3, 4)
WEIGHTS = [torch.randn(4, columns) for columns in (2, 3, 1)]
BIASES = [torch.randn(columns) for columns in (2, 3, 1)]
PASSES: dict[str, type[ConcatLinear]] = {"mm": MatmulFusePattern, "addmm": AddmmFusePatternSecond}


def fused(
    kind: str, program: Callable[..., Any], *constants: torch.Tensor, x: Any = X, **options: Any
) -> tuple[int, list[str]]:
    """How many groups became one product, and the names of the ops after it."""
    module = Held(program, list(constants))
    dynamic = options.pop("dynamic", False)
    mode = "symbolic" if dynamic else "fake"
    gm = make_fx(module, tracing_mode=mode, _allow_non_fake_inputs=True)(x)
    lowered = from_fx(gm, "post_grad")
    before = print_ir(lowered)
    count = PASSES[kind](**{"enable_concat_linear": True, **options}).rewrite(lowered)
    verify(lowered, "types")
    assert same(parse_ir(print_ir(lowered)), lowered)
    assert (print_ir(lowered) == before) == (count == 0)
    after = to_fx(lowered)
    for given in (x, torch.cat([x, x]) if dynamic else x + 1):
        _close(after(given), module(given))
    return count, [op.name for op in entry_graph(lowered).block.ops]


def _close(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5, equal_nan=True)
        assert one.stride() == other.stride()
    storages = [[one.untyped_storage().data_ptr() for one in side] for side in (found, expected)]
    places = [[side.index(one) for one in side] for side in storages]
    assert places[0] == places[1]


def mms(x: Any, *weights: Any) -> list[Any]:
    return [x @ weight for weight in weights]


def addmms(x: Any, *given: Any, **factors: Any) -> list[Any]:
    half = len(given) // 2
    pairs = zip(given[:half], given[half:], strict=True)
    return [torch.addmm(bias, x, weight, **factors) for weight, bias in pairs]


def relus(values: list[Any]) -> tuple[Any, ...]:
    return tuple(value.relu() for value in values)


def test_a_returned_product_of_one_row_keeps_its_strides() -> None:
    count, _ = fused("mm", lambda x, *w: tuple(mms(x, *w)), *WEIGHTS, x=X[:1])
    assert count == 1


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("number", [2, 3])
def test_products_of_one_tensor(number: int, dynamic: bool) -> None:
    count, names = fused("mm", lambda x, *w: relus(mms(x, *w)), *WEIGHTS[:number], dynamic=dynamic)
    assert count == 1
    assert names.count("aten.mm.default") == 1
    assert names.count("aten.slice.Tensor") == number
    assert "aten.clone.default" not in names


@pytest.mark.parametrize("dynamic", [False, True])
def test_linears_of_one_tensor(dynamic: bool) -> None:
    count, names = fused(
        "addmm", lambda x, *given: relus(addmms(x, *given)), *WEIGHTS, *BIASES, dynamic=dynamic
    )
    assert count == 1
    assert names.count("aten.addmm.default") == 1
    assert names.count("aten.cat.default") == 2


def test_more_than_three_are_one_too() -> None:
    count, names = fused("mm", lambda x, *w: relus(mms(x, *w)), *WEIGHTS, torch.randn(4, 5))
    assert count == 1
    assert names.count("aten.mm.default") == 1


def test_heads_follow_to_other_strides_and_outputs_are_copied() -> None:
    def heads(x: Any, *weights: Any) -> tuple[Any, ...]:
        q, k, v = (y.view(2, 3, 2, 2).permute(0, 2, 1, 3) for y in mms(x, *weights))
        return ((q @ k.transpose(-1, -2)) @ v,)

    wide = [torch.randn(4, 4) for _ in range(3)]
    count, names = fused("mm", heads, *wide, x=torch.randn(6, 4))
    assert count == 1
    three = [name for name in names if name in ("aten.slice.Tensor", "aten.view.default")]
    assert three[:6] == ["aten.slice.Tensor"] * 3 + ["aten.view.default"] * 3

    count, names = fused("mm", lambda x, *w: tuple(mms(x, *w)), *WEIGHTS)
    assert count == 1
    assert names.count("aten.clone.default") == 3
    count, names = fused("mm", lambda x, v, w: (x @ v, (x @ w).t()), *WEIGHTS[:2])
    assert count == 1
    assert names.count("aten.clone.default") == 2


def test_readers_that_need_strides_get_a_copy() -> None:
    def strided(x: Any, v: Any, w: Any) -> tuple[Any, ...]:
        return torch.as_strided(x @ v, (2, 2), (2, 1)) + 1, (x @ w).relu()

    count, names = fused("mm", strided, *WEIGHTS[:2])
    assert count == 1
    assert names.count("aten.clone.default") == 1


def test_a_read_of_a_weight_below_the_first_product_moves_up() -> None:
    text = """
    fx.graph @forward stage(post_grad) symbols() (%x : !fx.tensor<f32[3, 4], cpu>) {
      %v = fx.get_attr "v" : !fx.tensor<f32[4, 2], cpu>
      %a = aten.mm.default %x, %v : !fx.tensor<f32[3, 2], cpu>
      %sum = aten.sum.default %a : !fx.tensor<f32[], cpu>
      %w = fx.get_attr "w" : !fx.tensor<f32[4, 3], cpu>
      %b = aten.mm.default %x, %w : !fx.tensor<f32[3, 3], cpu>
      %c = aten.add.Tensor %b, %sum : !fx.tensor<f32[3, 3], cpu>
      fx.output (%c,)
    }
    """
    module = parse_ir(text)
    assert MatmulFusePattern(enable_concat_linear=True).rewrite(module) == 1
    verify(module, "types")
    names = [op.name for op in entry_graph(module).block.ops]
    assert names[:4] == ["fx.get_attr", "fx.get_attr", "aten.cat.default", "aten.mm.default"]


@pytest.mark.parametrize(
    ("kind", "program", "constants"),
    [
        ("mm", lambda x, v, w: relus([x @ v, (x + 1) @ w]), WEIGHTS[:2]),
        ("mm", lambda x, v: relus([x @ v]), WEIGHTS[:1]),
        ("mm", lambda x, v: relus([x @ v, x.neg() @ v]), WEIGHTS[:1]),
        ("mm", lambda x, v: relus([x @ v, x @ v.clone()]), WEIGHTS[:1]),
        ("mm", lambda x, v: relus([x @ v, x @ x.t()]), WEIGHTS[:1]),
        ("mm", lambda x, v, w: relus([x @ v, x @ w, w + 1]), WEIGHTS[:2]),
        ("mm", lambda x, v, w: relus([x @ v, (x.sum() * x) @ w]), WEIGHTS[:2]),
        ("addmm", lambda x, *given: relus(addmms(x, *given)), [*WEIGHTS[:2], *BIASES[:2]]),
        ("addmm", lambda x, *given: relus(addmms(x, *given, beta=2)), [*WEIGHTS, *BIASES]),
        ("addmm", lambda x, *given: relus(addmms(x, *given, alpha=0.5)), [*WEIGHTS, *BIASES]),
        ("addmm", lambda x, *given: relus(addmms(x, *given)), [*WEIGHTS, *[BIASES[2]] * 3]),
        (
            "addmm",
            lambda x, *given: relus(addmms(x, *given)),
            [*WEIGHTS, *[torch.randn(3, one.shape[0]) for one in BIASES]],
        ),
    ],
)
def test_which_stay_apart(kind: str, program: Any, constants: list[torch.Tensor]) -> None:
    assert fused(kind, program, *constants)[0] == 0


def test_a_product_of_a_product_is_not_of_one_tensor() -> None:
    square = [torch.randn(4, 4), torch.randn(4, 4)]
    assert fused("mm", lambda x, v, w: relus([x @ v, (x @ v) @ w]), *square)[0] == 0


def test_a_cpu_has_to_ask_for_it() -> None:
    program = lambda x, *w: relus(mms(x, *w))  # noqa: E731
    assert fused("mm", program, *WEIGHTS, enable_concat_linear=False)[0] == 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_dtypes(dtype: torch.dtype) -> None:
    weights = [one.to(dtype) for one in WEIGHTS]
    count, _ = fused("mm", lambda x, *w: relus(mms(x.to(dtype), *w)), *weights)
    assert count == 1


def test_random_groups() -> None:
    fired = 0
    for seed in range(100):
        fired += check_random_groups(Random(seed))
    assert fired > 80


_READERS: tuple[Callable[[Any], Any], ...] = (
    lambda y: y.relu(), lambda y: y, lambda y: y.t(), lambda y: y.reshape(-1) * 2,
    lambda y: y.view(-1, 1), lambda y: y.sum(0), lambda y: y.unsqueeze(1).permute(2, 1, 0) + 1,
    lambda y: y[:, :1].expand(-1, 2) * 3, lambda y: y @ y.t(), lambda y: y.chunk(2, 0)[0].exp(),
    lambda y: torch.as_strided(y, (2, 1), (1, 1)) + 0, lambda y: torch.cumsum(y, 1),
)  # fmt: skip


def check_random_groups(rng: Random) -> int:
    """Products of a few tensors with readers of many kinds, against eager; how many were fused."""
    torch.manual_seed(rng.randrange(1 << 30))
    kind, number = rng.choice(("mm", "addmm")), rng.randint(2, 6)
    rows = rng.randint(1, 4)
    widths = [rng.randint(2, 4) for _ in range(number)]
    weights = [torch.randn(width, 4).t() if rng.random() < 0.5 else torch.randn(4, width)
               for width in widths]  # fmt: skip
    biases = [torch.randn(width) for width in widths] if kind == "addmm" else []
    sources = [rng.random() < 0.8 for _ in range(number)]
    readers = [rng.choice(_READERS) for _ in range(number)]
    joins = rng.random() < 0.5

    def program(x: Any, *given: Any) -> tuple[Any, ...]:
        other = x * 2
        made = []
        for place in range(number):
            source = x if sources[place] else other
            weight = given[place]
            made.append(
                torch.addmm(given[number + place], source, weight) if biases else source @ weight
            )
        read = [reader(y) for reader, y in zip(readers, made, strict=True)]
        same_width = [y for y in made if y.shape == made[0].shape]
        return (*read, sum(same_width)) if joins else tuple(read)

    return fused(kind, program, *weights, *biases, x=torch.randn(rows + 1, 4))[0]


def cast(x: Any, w: Any) -> tuple[Any, ...]:
    convert = torch.ops.prims.convert_element_type
    return convert(x, torch.float32) @ convert(w, torch.float32), convert(x, torch.float64) + 1


def test_unnecessary_casts() -> None:
    gm = make_fx(Held(cast, [WEIGHTS[0]]), tracing_mode="fake", _allow_non_fake_inputs=True)(X)
    lowered = from_fx(gm, "post_grad")
    assert RewritePass.of([UnnecessaryDtypeConvert]).rewrite(lowered) == 2
    names = [op.name for op in entry_graph(lowered).block.ops]
    assert names.count("prims.convert_element_type.default") == 1
    for one, other in zip(to_fx(lowered)(X), cast(X, WEIGHTS[0]), strict=True):
        assert torch.equal(one, other)


def test_a_cast_that_an_output_is_stays() -> None:
    """It is a copy: the caller may write to it."""
    convert = torch.ops.prims.convert_element_type
    gm = make_fx(lambda x: (convert(x, torch.float32), convert(x + 1, torch.float32)))(X)
    lowered = from_fx(gm, "post_grad")
    assert RewritePass.of([UnnecessaryDtypeConvert]).rewrite(lowered) == 1
