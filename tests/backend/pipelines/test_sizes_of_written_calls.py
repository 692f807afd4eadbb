"""Operators that write to an argument, and whose results have sizes that the call finds.

PyTorch does not record that a functionalized call binds the symbols of such sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config

from xductor.backend.run_as_fx.without_codegen import without_codegen

Function = Callable[[torch.Tensor], Any]


def _sizes(count: int) -> list[Any]:
    context: Any = torch.library.get_ctx()
    return [context.new_dynamic_size() for _ in range(count)]


@torch.library.custom_op("xductor_sizes::one", mutates_args=("x",))
def one(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x[:2, None] * torch.ones(3)


@one.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(_sizes(2))


@torch.library.custom_op("xductor_sizes::two", mutates_args=("x",))
def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x.mul_(2)
    return x[:3].clone(), x[:2].sum(0, keepdim=True)


@two.register_fake
def _(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_empty(_sizes(1)), x.new_empty((1,))


def _made_inside(x: torch.Tensor) -> torch.Tensor:
    made = x.sin()
    return one(made).sum() + made


FUNCTIONS: dict[str, Function] = {
    "returned": lambda x: one(x),
    "read": lambda x: one(x) * 2 + 1,
    "reduced": lambda x: one(x).sum(0),
    "of a value that is made inside": _made_inside,
    "twice": lambda x: (one(x) * 2, one(x)),
    "two results": lambda x: [part * 2 for part in two(x)],
    "two results, one unused": lambda x: two(x)[1] * 2,
    "result unused": lambda x: (one(x), x * 3)[1],
    "of a part": lambda x: (one(x[2:]).cos(), x * 2),
}


@pytest.mark.parametrize("v2", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_and_writes_are_those_of_eager(name: str, v2: bool) -> None:
    function, x = FUNCTIONS[name], torch.randn(6)
    eager, ours = x.clone(), x.clone()
    options: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}
    torch._dynamo.reset()
    with (
        torch.no_grad(),
        without_codegen(),
        inductor_config.patch(enable_auto_functionalized_v2=v2),
    ):
        found = torch.compile(function, backend="xductor", options=options, fullgraph=True)(ours)
        torch.testing.assert_close(found, function(eager))
    torch.testing.assert_close(ours, eager)
