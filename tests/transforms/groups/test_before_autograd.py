"""The group fusions before autograd: every spelling, values, gradients, and what is in no group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import xductor
from tests.before_autograd.captured import captured, graph_module
from xductor.ir import entry_graph
from xductor.ir.functions.torch_calls import aten_name
from xductor.transforms import TypedPass
from xductor.transforms.groups.batch_layernorm import BatchLayernorm
from xductor.transforms.groups.batch_linear import BatchLinear
from xductor.transforms.groups.batch_linear_lhs import BatchLinearLhs
from xductor.transforms.groups.pre_grad_pointwise import (
    BatchClamp,
    BatchDetach,
    BatchDropout,
    BatchNanToNum,
    BatchRelu,
    BatchSigmoid,
    BatchTanh,
)

Function = Callable[..., Any]
aten = torch.ops.aten
TWO: dict[str, Any] = {"min_fuse_set_size": 2}


def count(module: Any, name: str) -> int:
    """How many calls of an operator a graph has, in whatever words."""
    return sum(aten_name(op) == f"aten.{name}" for op in entry_graph(module).block.ops)


def tensor(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(sum(shape))
    return torch.randn(shape).to(dtype).requires_grad_()


def check(one: TypedPass, function: Function, groups: int, *inputs: torch.Tensor) -> Any:
    """Apply a fusion so many times; values, layouts and gradients are those of eager."""
    gm, inputs = _captured(function, inputs)
    assert one.may_fire(gm.graph) or not groups
    module = xductor.from_fx(gm, stage="pre_grad")
    assert one.rewrite(module) == groups
    xductor.verify(module, level="types")
    names = [op.name for op in entry_graph(module).block.ops]
    results = len(entry_graph(module).output.operands)
    assert not groups or not [name for name in names if name.startswith("aten.")]
    found, expected = _run(xductor.to_fx(module), inputs), _run(gm, inputs)
    exact = _run(gm, [one.detach().double().requires_grad_(one.requires_grad) for one in inputs])
    for a, b, wanted in zip(found, expected, exact, strict=True):
        assert a.requires_grad == b.requires_grad
        if all(one.dtype.itemsize > 2 for one in inputs):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5, equal_nan=True)
        else:
            rounding = 2**-9 * _error(torch.zeros_like(a), wanted)
            assert _error(a, wanted) <= 1.2 * _error(b, wanted) + rounding
    for a, b in zip(found[:results], expected, strict=False):
        assert a.stride() == b.stride()
    return module


def _error(a: torch.Tensor, exact: torch.Tensor) -> float:
    """By how much finite numbers are off on the whole."""
    a = a.detach().double()
    return float(torch.nan_to_num(a - exact.detach(), 0, 0, 0).abs().sum())


def _captured(function: Function, inputs: Any) -> tuple[Any, tuple[torch.Tensor, ...]]:
    """The graph of a function, and the inputs in the order in which the graph takes them."""
    gm = graph_module(lambda *given: function(*given), *inputs)
    names = [node.name for node in gm.graph.find_nodes(op="placeholder")]
    return gm, tuple([inputs[int(name.strip("_").rpartition("_")[2])] for name in names])


def _run(gm: Any, inputs: Any) -> list[torch.Tensor]:
    copies = [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]
    results = gm(*copies)
    loss: Any = 0
    for place, one in enumerate(results):
        if one.requires_grad:
            weights = torch.arange(1.0, one.numel() + 1).reshape(one.shape).to(one.dtype)
            loss = loss + (one * weights).sum() * (place + 1)
    wanted = [one for one in copies if one.requires_grad]
    if not isinstance(loss, torch.Tensor):
        return [*results]
    grads = torch.autograd.grad(loss, wanted, allow_unused=True)
    return [*results, *[one for one in grads if one is not None]]


UNARY: dict[str, tuple[TypedPass, str, list[Function]]] = {
    "tanh": (BatchTanh(**TWO), "tanh.default",
             [torch.tanh, F.tanh, lambda x: x.tanh(), aten.tanh]),
    "sigmoid": (BatchSigmoid(**TWO), "sigmoid.default",
                [torch.sigmoid, F.sigmoid, lambda x: x.sigmoid(), aten.sigmoid]),
    "relu": (BatchRelu(**TWO), "relu.default",
             [torch.relu, F.relu, lambda x: x.relu(), torch.nn.ReLU()]),
    "nan_to_num": (BatchNanToNum(**TWO), "nan_to_num.default", [
        lambda x: torch.nan_to_num(x, 0.5, 2.0), lambda x: x.nan_to_num(nan=0.5, posinf=2.0),
        lambda x: torch.nan_to_num(input=x, posinf=2.0, nan=0.5),
        lambda x: aten.nan_to_num(x, 0.5, 2.0)]),
    "clamp": (BatchClamp(**TWO), "clamp.default", [
        lambda x: torch.clamp(x, -1, 1), lambda x: x.clamp(max=1, min=-1),
        lambda x: torch.clip(x, min=-1, max=1), lambda x: x.clip(-1, 1)]),
    "layer_norm": (BatchLayernorm(**TWO), "layer_norm.default", [
        lambda x: F.layer_norm(x, (4,)), lambda x: torch.layer_norm(x, [4]),
        lambda x: F.layer_norm(x, normalized_shape=[4], eps=1e-5),
        torch.nn.LayerNorm(4, elementwise_affine=False)]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_every_spelling(name: str) -> None:
    one, operator, ways = UNARY[name]

    def function(x: torch.Tensor) -> Any:
        made = [way(x + number) for number, way in enumerate(ways)]
        return torch.stack(made), made[1], sum(made)

    module = check(one, function, 1, tensor(3, 4))
    assert count(module, operator) == 1


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("sizes", [(3, 4), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_values_of_every_kind(name: str, sizes: Any, dtype: torch.dtype) -> None:
    one, operator, ways = UNARY[name]
    x = tensor(*sizes, dtype=dtype)
    with torch.no_grad():
        x.view(-1)[:3] = torch.tensor([float("nan"), float("inf"), -0.0])[: x.numel()]
    module = check(one, lambda x: torch.stack([way(x) for way in ways[:2]]), 1, x)
    assert count(module, operator) == 1


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "relu", "nan_to_num", "clamp"])
def test_one_number(name: str) -> None:
    one, _, ways = UNARY[name]
    check(one, lambda x: torch.stack([way(x * 2) for way in ways[:2]]), 1, tensor())


def test_what_is_no_group() -> None:
    """Other dtypes and sizes, in place, `out=`, what requires no gradient beside what does."""

    def function(x: Any, y: Any, z: Any) -> Any:
        out = torch.empty(3, 4)
        a, b = torch.tanh(x.detach(), out=out), (z * 1).tanh_()
        made = [torch.tanh(x), torch.tanh(y), torch.tanh(x[:2]), torch.tanh(x.detach()), a, b]
        return torch.stack([one.sum() for one in made])

    check(BatchTanh(**TWO), function, 0, tensor(3, 4), tensor(3, 4).double(), tensor(3, 4))


@pytest.mark.parametrize(
    "bounds",
    [
        [(0.0, 1.0), (-0.0, 1.0)],
        [(0, 1), (0.0, 1.0)],
        [(None, 1.0), (1.0, None)],
        [(0.0, 1.0), (0.0, 2.0)],
    ],
)
def test_bounds_are_compared_bit_for_bit(bounds: Any) -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.stack([x.clamp(low, high) for low, high in bounds])

    check(BatchClamp(**TWO), function, 0, tensor(3, 4))


def test_tensors_as_bounds() -> None:
    """The same one, which is broadcast to all as to one; no group of two."""

    def same(x: torch.Tensor, low: torch.Tensor) -> Any:
        return torch.stack([torch.clamp(x + n, min=low) for n in range(2)])

    def other(x: torch.Tensor, low: torch.Tensor) -> Any:
        return torch.stack([torch.clamp(x + n, min=low + n) for n in range(2)])

    for shape in ((4,), (), (3, 1), (3, 4)):
        check(BatchClamp(**TWO), same, 1, tensor(3, 4), tensor(*shape))
        check(BatchClamp(**TWO), other, 0, tensor(3, 4), tensor(*shape))
    check(BatchClamp(**TWO), same, 0, tensor(4), tensor(3, 4))
    check(BatchClamp(**TWO), same, 0, tensor(), tensor().double())


def _linears(count: int, bias: bool, ways: list[Function]) -> Function:
    def function(x: Any, w: Any, b: Any) -> Any:
        made = [
            ways[n % len(ways)](x * (n + 1), w + n, b - n if bias else None) for n in range(count)
        ]
        return torch.stack(made), made[0]

    return function


LINEAR: list[Function] = [
    F.linear,
    lambda x, w, b: F.linear(input=x, weight=w, bias=b),
    lambda x, w, b: F.linear(x, w, bias=b),
    lambda x, w, b: aten.linear(x, w, b),
]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sizes", [(3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_linears(bias: bool, sizes: Any, dtype: torch.dtype) -> None:
    m, k, n = sizes
    given = [tensor(*one, dtype=dtype) for one in ((m, k), (n, k), (n,))]
    module = check(BatchLinear(**TWO), _linears(4, bias, LINEAR), 1, *given)
    assert count(module, "linear.default") == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_linears_of_one_input(dtype: torch.dtype) -> None:
    """Of several widths; what reads rows of memory gets a copy."""

    def function(x: Any, w: Any, v: Any, b: Any, c: Any) -> Any:
        y, z = F.linear(x, w, b), F.linear(x, v, bias=c)
        return y.view(-1), z.reshape(-1), torch.cat([y.relu(), z.t().t()], 1), z

    sizes = (3, 4), (5, 4), (2, 4), (5,), (2,)
    module = check(BatchLinearLhs(**TWO), function, 1, *[tensor(*s, dtype=dtype) for s in sizes])
    assert count(module, "linear.default") == 1


def test_linears_that_stay() -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        made = [F.linear(x, w, b), F.linear(x, w), F.linear(x[None], w, b)[0]]
        made += [F.linear(x, w, b[:1]), F.linear(x, w[0])[:, None], F.linear(x.detach(), w, b)]
        return torch.cat(made, 1)

    for one in (BatchLinear(**TWO), BatchLinearLhs(**TWO)):
        check(one, function, 0, tensor(3, 4), tensor(5, 4), tensor(5))


def _weights(ways: list[tuple[bool, bool]], eps: float = 1e-5) -> Function:
    def function(x: Any, w: Any, b: Any) -> Any:
        made = [
            F.layer_norm(x + n, w.shape, w * (n + 1) if has_w else None, b if has_b else None, eps)
            for n, (has_w, has_b) in enumerate(ways)
        ]
        return torch.stack(made), made[0]

    return function


@pytest.mark.parametrize("way", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize(
    ("dtype", "over"),
    [
        (torch.float32, (2, 3, 4)),
        (torch.float64, (3, 4)),
        (torch.bfloat16, (4,)),
        (torch.float16, (3, 4)),
    ],
)
def test_layer_norms(way: tuple[bool, bool], dtype: torch.dtype, over: Any) -> None:
    given = [tensor(*one, dtype=dtype) for one in ((2, 3, 4), over, over)]
    module = check(BatchLayernorm(**TWO), _weights([way] * 3), 1, *given)
    assert count(module, "layer_norm.default") == 1


def test_layer_norms_that_stay() -> None:
    given = tensor(2, 4), tensor(4), tensor(4)
    unlike = [(True, True), (True, False), (False, True), (False, False)]
    check(BatchLayernorm(**TWO), _weights(unlike), 0, *given)

    def function(x: Any, w: Any, b: Any) -> Any:
        return F.layer_norm(x, (4,), w, b) + F.layer_norm(x, (4,), w, b, 0.1)

    check(BatchLayernorm(**TWO), function, 0, *given)


def test_a_layer_norm_of_16_bits_is_rounded_once() -> None:
    errors = [0.0, 0.0]
    for seed in range(10):
        torch.manual_seed(seed)
        x, w, b = (torch.randn(one).bfloat16() * 3 for one in ((16, 64), (64,), (64,)))
        function = _weights([(True, True)] * 2)
        gm, given = _captured(function, (x, w, b))
        module = xductor.from_fx(gm, stage="pre_grad")
        assert BatchLayernorm(**TWO).rewrite(module) == 1
        exact = function(x.double(), w.double(), b.double())[0]
        for place, run in enumerate((gm, xductor.to_fx(module))):
            errors[place] += float((run(*given)[0].double() - exact).abs().sum())
    assert errors[1] <= 1.02 * errors[0]


def test_weights_of_a_wider_dtype() -> None:
    """The library takes float32 weights for 16 bits."""
    given = tensor(2, 4, dtype=torch.bfloat16), tensor(4), tensor(4)
    check(BatchLayernorm(**TWO), _weights([(True, True)] * 2), 1, *given)


def test_detach() -> None:
    def function(x: Any) -> Any:
        made = [(x + 1).detach(), torch.detach(x * 2), aten.detach(x - 1), x.detach()]
        return torch.stack(made) * x

    module = check(BatchDetach(**TWO), function, 1, tensor(3, 4))
    assert count(module, "detach.default") == 1


def _input_written(x: Any, y: Any) -> Any:
    made = [x.detach(), y.detach()]
    y.mul_(2)
    return torch.stack(made)


def _made_written(x: Any, y: Any) -> Any:
    a, b = x * 2, y * 2
    made = [a.detach(), b.detach()]
    made[0].add_(1)
    b.add_(1)
    return torch.stack(made) + a


def _returned_detached(x: Any, y: Any) -> Any:
    z = x * 2
    return z, z.detach(), x.detach()


@pytest.mark.parametrize("function", [_input_written, _made_written, _returned_detached])
def test_a_detach_that_somebody_can_tell(function: Function) -> None:
    x, y = tensor(3, 4).detach(), tensor(3, 4).detach()
    check(BatchDetach(**TWO), function, 0, x, y)


def test_a_detach_of_what_may_be_a_view_of_what_is_written() -> None:
    def function(x: Any, y: Any, z: Any) -> Any:
        made = [x.detach(), y.detach()]
        z.add_(1)
        return torch.stack(made) * 2

    x = torch.randn(3, 4)
    check(BatchDetach(**TWO), function, 0, x, x * 2, x.view(3, 4))
    check(BatchDetach(**TWO), function, 1, x, x * 2, x.clone())


def _written(x: Any) -> Any:
    a, b = torch.tanh(x), torch.tanh(x + 1)
    a.mul_(2)
    return a + b


def _view_written(x: Any) -> Any:
    a, b = torch.tanh(x), torch.tanh(x + 1)
    a[0].mul_(2)
    return a + b


def _modes(x: Any) -> Any:
    a = torch.tanh(x)
    with torch.no_grad():
        b = torch.tanh(x + 1)
    return a + b


def _autocast(x: Any) -> Any:
    a = torch.tanh(x)
    with torch.autocast("cpu", torch.bfloat16):
        b = torch.tanh(x + 1)
    return a + b


def _reused(x: Any) -> Any:
    buffer, made = x * 0, []
    for number in range(3):
        buffer = buffer.detach()
        buffer.copy_(x.detach() + number)
        made.append(torch.tanh(buffer))
    return torch.stack(made)


@pytest.mark.parametrize("function", [_written, _view_written, _modes, _autocast, _reused])
def test_members_that_are_kept_apart(function: Function) -> None:
    check(BatchTanh(**TWO), function, 0, tensor(3, 4).detach())


def test_groups_within_a_region() -> None:
    def function(x: Any, w: Any) -> Any:
        with torch.no_grad():
            a = torch.stack([torch.tanh(x + n) for n in range(2)])
        with torch.autocast("cpu", torch.bfloat16):
            b = torch.stack([F.linear(x + n, w) for n in range(2)]).sum()
        return a, b.float()

    check(BatchTanh(**TWO), function, 1, tensor(3, 4), tensor(5, 4))
    gm = graph_module(function, tensor(3, 4), tensor(5, 4))
    module = xductor.from_fx(gm, stage="pre_grad")
    assert BatchLinear(**TWO).rewrite(module) == 1
    xductor.verify(module, level="types")
    for a, b in zip(xductor.to_fx(module)(tensor(3, 4), tensor(5, 4)),
                    gm(tensor(3, 4), tensor(5, 4)), strict=True):  # fmt: skip
        torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-2)


def test_no_gradient_where_there_was_none() -> None:
    """The gradient of a root at 0 is infinite; times one of zeros it would be NaN."""

    def function(x: Any, y: Any) -> Any:
        used, seen = torch.tanh(x.sqrt()), torch.tanh(y.sqrt())
        return used * 2 + seen.detach()

    def without_grad(x: Any, y: Any) -> Any:
        used, seen = torch.tanh(x.sqrt()), torch.tanh(y.sqrt())
        with torch.no_grad():
            clamped = seen.clamp(0)
            clamped *= 2
        return used * 2, clamped

    x, y = (torch.ones(3).requires_grad_(), torch.zeros(3).requires_grad_())
    for one in (function, without_grad):
        check(BatchTanh(**TWO), one, 0, x, y)


def test_an_error_of_the_backward_stays_where_it_was() -> None:
    """The relu needs its result, which is written to since; nobody goes back through it."""

    def function(x: Any, y: Any) -> Any:
        z = torch.relu(y)
        z.mul_(2)
        used, seen = torch.tanh(x), torch.tanh(z)
        return used * 2 + seen.detach()

    check(BatchTanh(**TWO), function, 0, tensor(3), tensor(3))


def test_what_is_saved_and_written_later() -> None:
    """Eager refuses the backward of the first: so does what a pass leaves."""

    def function(x: Any) -> Any:
        y = x * 1
        made = [torch.nan_to_num(y), torch.nan_to_num(x + 1)]
        y.add_(1)
        return torch.stack(made)

    gm = graph_module(function, tensor(3))
    module = xductor.from_fx(gm, stage="pre_grad")
    assert BatchNanToNum(**TWO).rewrite(module) == 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        xductor.to_fx(module)(tensor(3))[0].sum().backward()


def test_bodies_of_checkpoints() -> None:
    """A body is grouped alone; nothing goes from one into another."""

    def body(x: Any) -> Any:
        return torch.tanh(x) + torch.tanh(x + 1)

    def function(x: Any) -> Any:
        return checkpoint(body, x, use_reentrant=False) + checkpoint(
            body, x + 2, use_reentrant=False
        )

    module = captured(function, tensor(3, 4))
    assert BatchTanh(min_fuse_set_size=3).rewrite(module) == 0


def test_functorch_levels_are_left_alone() -> None:
    def function(x: Any) -> Any:
        return torch.func.vmap(lambda row: torch.tanh(row) + torch.tanh(row + 1))(x)

    module = captured(function, torch.randn(3, 4))
    told: list[str] = []
    BatchTanh(**TWO).explained(module.clone(), lambda op, reason: told.append(reason))
    assert BatchTanh(**TWO).rewrite(module) == 0
    assert any("functorch" in reason for reason in told)


def test_symbolic_sizes() -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        rows = [torch.tanh(F.layer_norm(F.linear(x + n, w, b), (b.shape[0],), b)) for n in range(3)]
        return torch.stack(rows).sum(0)

    given = torch.randn(7, 4), torch.randn(5, 4), torch.randn(5)
    gm = graph_module(function, *given, dynamic=True)
    module = xductor.from_fx(gm, stage="pre_grad")
    for one in (BatchLinear(**TWO), BatchLayernorm(**TWO), BatchTanh(**TWO)):
        assert one.rewrite(module) == 1, one.name
        xductor.verify(module, level="types")


def _dropped(ways: list[Function]) -> Function:
    return lambda x: torch.stack([way(x + n) for n, way in enumerate(ways)])


DROPOUTS: list[Function] = [
    lambda x: F.dropout(x, 0.25),
    lambda x: torch.dropout(x, 0.25, True),
    lambda x: F.dropout(x, p=0.25, training=True),
    torch.nn.Dropout(0.25),
]


def test_dropouts_draw_at_once() -> None:
    """As many elements are dropped, each for itself, and their gradients with them."""
    x = torch.ones(100, 100, requires_grad=True)
    module = captured(_dropped(DROPOUTS), x)
    assert BatchDropout(**TWO).rewrite(module) == 1
    assert count(module, "dropout.default") == 1
    (found,) = xductor.to_fx(module)(x)
    kept = found.detach() != 0
    assert 0.74 < kept.double().mean() < 0.76
    assert 0.55 < (kept[0] & kept[1]).double().mean() < 0.575
    torch.testing.assert_close(found[1][kept[1]], torch.full_like(found[1][kept[1]], 2 / 0.75))
    (grad,) = torch.autograd.grad(found.sum(), [x])
    torch.testing.assert_close(grad, kept.sum(0) / 0.75)


@pytest.mark.parametrize(
    "ways",
    [
        [lambda x: F.dropout(x, 0.2), lambda x: F.dropout(x, 0.3)],
        [lambda x: F.dropout(x, 0.2, False), lambda x: F.dropout(x, 0.2, training=False)],
        [lambda x: F.dropout(x, 0.0), lambda x: F.dropout(x, 0.0)],
        [
            lambda x: F.dropout(x * 1, 0.2, inplace=True),
            lambda x: F.dropout(x * 2, 0.2, True, True),
        ],
    ],
)
def test_dropouts_that_stay(ways: list[Function]) -> None:
    assert BatchDropout(**TWO).rewrite(captured(_dropped(ways), tensor(3, 4))) == 0


def test_dropouts_whose_numbers_are_eagers() -> None:
    gm = graph_module(_dropped(DROPOUTS), tensor(3, 4))
    module = xductor.from_fx(gm, stage="pre_grad")
    for option in ("fallback_random", "align_random_eager"):
        one = BatchDropout(**TWO, **{option: True})
        assert not one.may_fire(gm.graph)
        assert one.rewrite(module) == 0
    torch.use_deterministic_algorithms(True)
    try:
        assert BatchDropout(**TWO).rewrite(module) == 0
    finally:
        torch.use_deterministic_algorithms(False)
    assert BatchDropout(**TWO).rewrite(module) == 1


def test_a_gradient_of_what_is_cut_is_one_stack() -> None:
    """Members that are cut from one tensor, and those that are not, are two groups of linears."""

    def function(x: Any, w: Any) -> Any:
        cut = [F.linear(row, w) for row in x.unbind(0)]
        return torch.stack([*cut, F.linear(x[0] + 1, w), F.linear(x[1] + 2, w)])

    check(BatchLinear(**TWO), function, 2, tensor(2, 3, 4), tensor(5, 4))
