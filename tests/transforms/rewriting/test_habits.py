"""Habits of torch users in `pattern` and `where` work, or are answered with the rewrite's line."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor import Rewrite, Tensor
from xductor.ir import Facts, SymbolTable, TensorType, aten
from xductor.transforms.matching.patterns import PatternError


def made(asked: Callable[..., Any], matched: Callable[..., Any] | None = None) -> type[Rewrite]:
    """A rewrite with these methods, whose first parameter is the rewrite."""

    class Habit(Rewrite):
        stage = "joint"
        pattern = matched or product
        where = asked

        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return aten.neg(aten.mul(x, y))

    return Habit


def product(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.neg(x) * y


def explained(asked: Callable[..., Any]) -> Any:
    graph = make_fx(lambda x, y: torch.neg(x) * y)(torch.ones(4, 8), torch.ones(4, 8))
    return xductor.explain(made(asked), graph, stage="joint")


def here(function: Callable[..., Any], line: int = 1) -> str:
    """The place of a line of a function of one statement."""
    code: Any = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + line}"


def by_size(self: Any, x: Tensor) -> Any:
    return x.size(0) == 4


def by_sizes(self: Any, x: Tensor) -> Any:
    return x.size() == (4, 8)


def by_multiple(self: Any, x: Tensor) -> Any:
    return x.size(-1) % 8 == 0


def by_function(self: Any, x: Tensor) -> Any:
    return torch.is_floating_point(x) and not torch.is_complex(x)  # type: ignore[arg-type]


def by_count(self: Any, x: Tensor) -> Any:
    return torch.numel(x) == 32 and torch.numel(input=x) == 32  # type: ignore[arg-type,call-arg]


def by_method(self: Any, x: Tensor, y: Tensor) -> Any:
    return (
        x.is_floating_point()
        and x.is_floating_point
        and x.is_floating_point == y.is_floating_point()
        and x.is_floating_point() is True
        and not x.is_complex()
        and x.is_complex() == y.is_complex
    )


def by_stride(self: Any, x: Tensor) -> Any:
    return x.stride(0) == 8 and x.stride() == (8, 1) and x.stride(dim=-1) == 1 == x.stride[1]


def by_shape(self: Any, x: Tensor) -> Any:
    return x.shape.numel() == 32 and x.size(dim=0) == 4 and list(x.shape) == [4, 8]


def by_format(self: Any, x: Tensor) -> Any:
    return x.is_contiguous(memory_format=torch.contiguous_format) and not x.is_contiguous(
        memory_format=torch.channels_last
    )


def by_arithmetic(self: Any, x: Tensor) -> Any:
    n = x.size(-1)
    return (
        n**-0.5 == 8**-0.5
        and 2**n == 256
        and n & (n - 1) == 0
        and math.sqrt(n) == 8**0.5
        and abs(n) == 8
        and n in (8, 16)
        and float(n) == 8.0
    )


def by_kind(self: Any, x: Tensor) -> Any:
    return isinstance(x, Tensor)


WORKS = [
    by_size,
    by_sizes,
    by_multiple,
    by_function,
    by_count,
    by_method,
    by_stride,
    by_shape,
    by_format,
    by_arithmetic,
    by_kind,
]


@pytest.mark.parametrize("asked", WORKS)
def test_what_works(asked: Callable[..., Any]) -> None:
    assert len(explained(asked).matched) == 1


def no_sizes(self: Any, x: Tensor) -> Any:
    return x.sizes == 4


def far_dim(self: Any, x: Tensor) -> Any:
    return x.shape[3] == 4


def called_property(self: Any, x: Tensor) -> Any:
    return x.requires_grad()  # type: ignore[operator]


def called_shape(self: Any, x: Tensor) -> Any:
    return x.shape(0) == 8  # type: ignore[operator]


def of_data(self: Any, x: Tensor) -> Any:
    return torch.sum(x) == 8  # type: ignore[arg-type]


def of_two(self: Any, x: Tensor) -> Any:
    return torch.equal(x, x)  # type: ignore[arg-type]


def preserved(self: Any, x: Tensor) -> Any:
    return x.is_contiguous(memory_format=torch.preserve_format)


def floating(self: Any, x: Tensor) -> Any:
    return not x.is_floating_point()


def complexes(self: Any, x: Tensor) -> Any:
    return x.is_complex


def other_name(self: Any, x: Tensor) -> Any:
    return x.nelement() > 3


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (no_sizes, "did you mean `shape`"),
        (far_dim, "ask for `x.ndim` first"),
        (called_property, "`requires_grad` is no method"),
        (called_shape, "as in `x.shape[0]`"),
        (of_data, "torch's `sum` needs data, which a tensor variable has not"),
        (of_two, "torch's `equal` needs data"),
        (preserved, "torch.preserve_format is no layout; ask for torch.channels_last"),
        (other_name, "did you mean `numel()`"),
    ],
)
def test_an_error_of_where_is_explained(asked: Callable[..., Any], message: str) -> None:
    (entry,) = explained(asked).near
    assert entry.outcome == "refused"
    assert message in entry.reason
    assert here(asked) in entry.reason


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (floating, "says no: not x.is_floating_point()"),
        (complexes, "not true that torch.float32 is a complex dtype"),
    ],
)
def test_what_is_false_is_told(asked: Callable[..., Any], message: str) -> None:
    (entry,) = explained(asked).near
    assert message in entry.reason


@pytest.mark.parametrize("memory_format", [torch.channels_last, torch.channels_last_3d])
def test_channels_last_is_as_in_eager(memory_format: Any) -> None:
    """On tensors of all kinds of layouts, with dims of size one and none."""
    chance = random.Random(0)
    seen: Counter[bool] = Counter()
    for _ in range(400):
        rank = chance.choice((3, 4, 5))
        x = torch.empty([chance.choice((0, 1, 1, 2, 3)) for _ in range(rank)])
        if chance.random() < 0.7 and rank == (4 if memory_format == torch.channels_last else 5):
            x = x.contiguous(memory_format=memory_format)
        if chance.random() < 0.4:
            x = x[..., ::2] if chance.random() < 0.5 else x.transpose(0, -1)
        type_ = TensorType.get(x.dtype, tuple(x.shape), tuple(x.stride()), x.device)
        said = Tensor(type_, Facts.from_table(SymbolTable())).is_contiguous(
            memory_format=memory_format
        )
        wanted = x.dim() in (4, 5) and x.is_contiguous(memory_format=memory_format)
        assert bool(said) == wanted, (x.shape, x.stride())
        seen[wanted] += 1
    assert min(seen.values()) > 50


def test_symbolic_sizes_stay_facts() -> None:
    graph = make_fx(lambda x, y: torch.neg(x) * y, tracing_mode="symbolic")(
        torch.ones(4, 8), torch.ones(4, 8)
    )

    def unknown(self: Any, x: Tensor) -> Any:
        return x.shape.numel() == 32

    def as_number(self: Any, x: Tensor) -> Any:
        return x.size(-1) ** -0.5 == 8**-0.5

    (entry,) = xductor.explain(made(unknown), graph, stage="joint").near
    assert "not known whether" in entry.reason
    (entry,) = xductor.explain(made(as_number), graph, stage="joint").near
    assert "is symbolic; ask `is_static` first" in entry.reason


def test_strides_and_sizes_can_be_handed_on() -> None:
    class Handed(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor) -> Any:
            return aten.neg(x)

        def replacement(self, x: Tensor) -> Any:
            return aten.neg(aten.as_strided(aten.reshape(x, x.shape), x.shape, x.stride()))

    for mode in ("fake", "symbolic"):
        graph = make_fx(torch.neg, tracing_mode=mode)(torch.ones(4, 8))
        assert len(xductor.explain(Handed, graph, stage="joint").matched) == 1
    assert xductor.validate(Handed).status == "validated"


def device_text(self: Any, x: Tensor) -> Any:
    return x.device == "cpu"


def dtype_text(self: Any, x: Tensor) -> Any:
    return x.dtype == "float32"


def dtype_texts(self: Any, x: Tensor) -> Any:
    return x.dtype in ("float32", "bfloat16")


def uncalled(self: Any, x: Tensor) -> Any:
    return x.is_contiguous and x.ndim == 2


def of_torch(self: Any, x: Tensor) -> Any:
    return isinstance(x, torch.Tensor)


def asked_whether(self: Any, x: Tensor) -> Any:
    return torch.is_tensor(x)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (device_text, "compare `.device.type`"),
        (dtype_text, "compare with torch.float32"),
        (dtype_texts, "compare with torch.float32"),
        (uncalled, "write `is_contiguous\\(\\)`"),
        (of_torch, "ask isinstance\\(x, xductor.Tensor\\)"),
        (asked_whether, "ask isinstance\\(x, xductor.Tensor\\)"),
    ],
)
def test_what_is_always_the_same_is_refused(asked: Callable[..., Any], message: str) -> None:
    with pytest.raises(PatternError, match=message) as raised:
        made(asked)
    assert here(asked) in str(raised.value)


def called(self: Any, x: Tensor) -> Any:
    return x.is_contiguous() and x.dtype == torch.float32 and x.device.type == "cpu"


def test_what_is_right_is_not_refused() -> None:
    assert len(explained(called).matched) == 1


def torch_op(self: Any, x: Tensor, y: Tensor) -> Any:
    return torch.ops.aten.neg.default(x)


def torch_function(self: Any, x: Tensor, y: Tensor) -> Any:
    return torch.neg(x)  # type: ignore[arg-type]


def torch_method(self: Any, x: Tensor, y: Tensor) -> Any:
    return x.neg()  # type: ignore[attr-defined]


def functional(self: Any, x: Tensor, y: Tensor) -> Any:
    return torch.nn.functional.relu(x)  # type: ignore[arg-type]


def indexed(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.neg(x)[0]


def shape(self: Any, x: Tensor, y: Tensor) -> Any:
    return aten.view(x, x.shape)


@pytest.mark.parametrize(
    ("matched", "message"),
    [
        (torch_op, "write aten.neg"),
        (torch_function, "write aten.neg"),
        (torch_method, "as in aten.neg"),
        (functional, "write aten.relu"),
        (indexed, "aten.select"),
        (shape, "conditions belong in `where`"),
    ],
)
def test_a_pattern_in_torchs_words_is_answered(matched: Callable[..., Any], message: str) -> None:
    with pytest.raises(PatternError, match=message) as raised:
        made(lambda self: True, matched)
    assert here(matched) in str(raised.value)


def alike(self: Any, x: Tensor, y: Tensor) -> Any:
    return x.same_shape(y) and x.is_floating_point()


def by_operators(self: Any, x: Tensor, y: Tensor) -> Any:
    return -(x * y) + 0 * x - y / 2 * 0


@pytest.mark.parametrize("stage", ["pre_grad", "joint", "post_grad"])
def test_operators_in_a_replacement_are_calls(stage: Any) -> None:
    members = {"stage": stage, "pattern": product, "replacement": by_operators, "where": alike}
    rewrite = type("Product", (Rewrite,), members)

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.neg(x) * y

    x, y = torch.randn(3, 5), torch.randn(3, 5)
    stages = xductor.capture(f, x, y, rewrites=[rewrite], options={"xductor.on_error": "raise"})
    torch.testing.assert_close(stages.output, f(x, y))
    text = "".join(one.after_text for one in stages if one.stage == stage)
    assert "sub" in text, text


def test_an_operator_without_an_op_says_what_to_write() -> None:
    class Product(Rewrite):
        stage = "joint"
        pattern = product

        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return x @ y

    graph = make_fx(lambda x, y: torch.neg(x) * y)(torch.ones(4, 4), torch.ones(4, 4))
    (entry,) = xductor.explain(Product, graph).near
    assert "write aten.mm(x, y)" in entry.reason


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "has no `stage`; it is one of 'pre_grad', 'joint', 'post_grad'"),
        ({"stage": "joint"}, "has no `pattern`; write a method"),
        ({"stage": "joint", "pattern": product}, "has no `replacement`; write a method"),
    ],
)
def test_what_is_missing_is_named_with_what_to_write(members: Any, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        type("Unfinished", (Rewrite,), members)
