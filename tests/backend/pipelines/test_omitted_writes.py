"""Custom ops with optional arguments that they write to, given and left out."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config

import xductor


def _add(x: torch.Tensor, total: torch.Tensor | None = None) -> torch.Tensor:
    if total is not None:
        total.add_(x)
    return x * 2


def _add_both(
    x: torch.Tensor, out: torch.Tensor, total: torch.Tensor | None = None
) -> torch.Tensor:
    out.add_(x)
    return _add(x, total)


@pytest.fixture(scope="module")
def operators() -> None:
    """Operators that write to one optional argument, and to another one too."""
    add = torch.library.custom_op("omitted::add", _add, mutates_args=("total",))
    both = torch.library.custom_op("omitted::add_both", _add_both, mutates_args=("out", "total"))
    add.register_fake(lambda x, total=None: torch.empty_like(x))
    both.register_fake(lambda x, out, total=None: torch.empty_like(x))


def _program(x: torch.Tensor, held: torch.Tensor) -> tuple[torch.Tensor, ...]:
    ops, own = torch.ops.omitted, torch.zeros_like(x)
    left_out = ops.add(x).relu()
    one_of_two = ops.add_both(x, own).neg()
    given = ops.add(x + 1, held)
    both = ops.add_both(x + 2, own, held)
    return left_out, one_of_two, given, both, own.exp()


@pytest.mark.usefixtures("operators")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_as_eager(dynamic: bool) -> None:
    """Inductor fails to compile the call whose only written argument is left out."""
    torch._dynamo.reset()
    x, held = torch.randn(3, 4), torch.randn(3, 4)
    expected_held = held.clone()
    options: Any = {"xductor.on_error": "raise"}
    with inductor_config.patch(force_disable_caches=True):
        compiled = torch.compile(_program, backend="xductor", dynamic=dynamic, options=options)
        found = compiled(x, held)
    torch.testing.assert_close(found, _program(x, expected_held))
    torch.testing.assert_close(held, expected_held)
    assert xductor.last_compile().count("decompose_auto_functionalized") == 4
