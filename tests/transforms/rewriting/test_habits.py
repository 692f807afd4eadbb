"""Habits of torch users in `pattern` and `where` work, or are answered with the rewrite's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor import Rewrite, Tensor
from xductor.ir import aten
from xductor.transforms.rewriting.patterns import PatternError


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


@pytest.mark.parametrize("asked", [by_size, by_sizes, by_multiple])
def test_what_works(asked: Callable[..., Any]) -> None:
    assert len(explained(asked).matched) == 1


def no_sizes(self: Any, x: Tensor) -> Any:
    return x.sizes == 4


def far_dim(self: Any, x: Tensor) -> Any:
    return x.shape[3] == 4


def called_property(self: Any, x: Tensor) -> Any:
    return x.is_floating_point()


def called_stride(self: Any, x: Tensor) -> Any:
    return x.stride(0) == 8


def other_name(self: Any, x: Tensor) -> Any:
    return x.nelement() > 3


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (no_sizes, "did you mean `shape`"),
        (far_dim, "ask for `x.ndim` first"),
        (called_property, "`is_floating_point` and `requires_grad` are no methods"),
        (called_stride, "as in `x.stride[0]`"),
        (other_name, "did you mean `numel()`"),
    ],
)
def test_an_error_of_where_is_explained(asked: Callable[..., Any], message: str) -> None:
    (entry,) = explained(asked).near
    assert entry.outcome == "refused"
    assert message in entry.reason
    assert here(asked) in entry.reason


def device_text(self: Any, x: Tensor) -> Any:
    return x.device == "cpu"


def dtype_text(self: Any, x: Tensor) -> Any:
    return x.dtype == "float32"


def dtype_texts(self: Any, x: Tensor) -> Any:
    return x.dtype in ("float32", "bfloat16")


def uncalled(self: Any, x: Tensor) -> Any:
    return x.is_contiguous and x.ndim == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (device_text, "compare `.device.type`"),
        (dtype_text, "compare with torch.float32"),
        (dtype_texts, "compare with torch.float32"),
        (uncalled, "write `is_contiguous\\(\\)`"),
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
