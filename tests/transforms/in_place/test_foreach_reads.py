"""In generated code calls on lists read what was there before they write, or stay functional."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.transforms.in_place import reinplace_inplaceable_ops as module

foreach: Any = torch  # its `_foreach_` functions are not among torch's names
Program = Callable[[Any, Any], object]

#: Programs that read other elements than the loop of the call writes, or another tensor of it.
ELSEWHERE: dict[str, Program] = {
    "flipped": lambda x, y: foreach._foreach_add_([x, y], [x.flip(0), y.flip(1)]),
    "flipped both ways": lambda x, y: foreach._foreach_mul_([x, y], [x.flip(0, 1), y]),
    "flipped, and computed": lambda x, y: foreach._foreach_add_([x, y], [x.flip(0).exp(), y]),
    "rolled": lambda x, y: foreach._foreach_mul_([x, y], [x.roll(1, 0), y.roll(2, 1)]),
    "rolled, with alpha": lambda x, y: foreach._foreach_add_([x, y], [x.roll(1, 0), y], alpha=3),
    "divided by another row": lambda x, y: foreach._foreach_div_([x, y], [x, y.roll(1, 0)]),
    "transposed": lambda x, y: foreach._foreach_add_([x, y], [x, y.t().clone()]),
    "transposed, and computed": lambda x, y: foreach._foreach_mul_([x, y], [x, y.t().sin()]),
    "rows by index": lambda x, y: foreach._foreach_add_([x, y], [x[[4, 3, 2, 1, 0]], y]),
    "gathered": lambda x, y: foreach._foreach_mul_(
        [x, y], [x, y.gather(0, (y > 2).long() + 1)]
    ),
    "a row": lambda x, y: foreach._foreach_add_([x, y], [x, (y[1] * 2).expand(4, 4)]),
    "another offset": lambda x, y: foreach._foreach_add_(
        [x, y], [torch.cat([x[2:] * 2, x[:2] + 1]), y]
    ),
    "an element": lambda x, y: foreach._foreach_mul_([x, y], [x[3, 2].exp().expand(5, 4), y]),
    "a short sum": lambda x, y: foreach._foreach_add_([x, y], [x.sum(0, True).expand(5, 4), y]),
    "copied": lambda x, y: foreach._foreach_copy_([x, y], [x.flip(0), y.t().clone()]),
    "one of three lists": lambda x, y: foreach._foreach_addcmul_(
        [x, y], [x.flip(1), y], [y[:1].expand(5, 4), y], 0.5
    ),
    "divided by one of three": lambda x, y: foreach._foreach_addcdiv_(
        [x, y], [x, y], [x.roll(2, 0), y + 9], 2.0
    ),
    "through a list": lambda x, y: foreach._foreach_add_(
        [x, y], foreach._foreach_mul([x.flip(0), y], 2.0)
    ),
    "one tensor": lambda x, y: foreach._foreach_add_([x], [x.flip(0)]),
    "another of the list": lambda x, y: foreach._foreach_add_([x, y], [y[0].exp(), x[0].exp()]),
    "another of the list, copied back": lambda x, y: (
        results := foreach._foreach_mul([x, y], [y[:1], x[:1]]),
        foreach._foreach_copy_([x, y], results),
    ),
}  # fmt: skip

#: Programs of which each loop reads the element that it writes, and what is in memory.
IN_STEP: dict[str, Program] = {
    "a number": lambda x, y: foreach._foreach_add_([x, y], 1.5),
    "themselves": lambda x, y: foreach._foreach_mul_([x, y], [x, y]),
    "computed of themselves": lambda x, y: foreach._foreach_add_([x, y], [x.exp(), y.sin() + y]),
    "broadcast numbers": lambda x, y: foreach._foreach_add_([x, y], [torch.ones(4), x.new_ones(1)]),
    "a chain of lists": lambda x, y: foreach._foreach_addcmul_(
        [x, y], foreach._foreach_mul([x, y], 2.0), foreach._foreach_add([x, y], [x, y]), 0.1
    ),
    "running sums": lambda x, y: foreach._foreach_add_([x, y], [x.cumsum(0), y]),
    "a product": lambda x, y: foreach._foreach_add_([x, y], [x @ y, y @ y]),
    "clones": lambda x, y: foreach._foreach_div_([x, y], [x.clone() + 9, y.clone() + 9]),
    "masks": lambda x, y: foreach._foreach_copy_([x, y], [x.where(x > 1, 0.0), y.clamp(min=1)]),
}  # fmt: skip


def _inputs() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(20.0).view(5, 4) / 7 - 1, torch.arange(16.0).view(4, 4).sin() + 2


def _all(programs: dict[str, Program]) -> Callable[..., object]:
    """All the programs in one graph, each with inputs of its own, so that one kernel is built."""

    def function(*inputs: torch.Tensor) -> list[torch.Tensor]:
        for place, program in enumerate(programs.values()):
            program(*inputs[2 * place : 2 * place + 2])
        return [one.sum() for one in inputs]

    return function


def _split(programs: dict[str, Program], inputs: Any) -> dict[str, Any]:
    return {name: inputs[2 * place : 2 * place + 2] for place, name in enumerate(programs)}


#: Some of each kind, since building code takes long.
BUILT = ("flipped", "rolled, with alpha", "transposed, and computed", "rows by index",
         "another offset", "a short sum", "one of three lists", "through a list",
         "another of the list", "computed of themselves", "a product")  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_generated_code_gives_what_eager_gives(dynamic: bool) -> None:
    torch._dynamo.reset()
    programs = {name: (ELSEWHERE | IN_STEP)[name] for name in BUILT}
    inputs = [one for _ in programs for one in _inputs()]
    wanted = copy.deepcopy(inputs)
    function = _all(programs)
    options: Any = {"xductor.on_error": "raise", "fx_graph_cache": False}
    with torch.no_grad():
        sums = function(*wanted)
        compiled = torch.compile(function, backend="xductor", dynamic=dynamic, options=options)
        found = compiled(*inputs)
    for name, (ours, eager) in _pairs(programs, inputs, wanted):
        torch.testing.assert_close(ours, eager, msg=lambda text, name=name: f"{name}: {text}")
    torch.testing.assert_close(found, sums)


def _pairs(programs: dict[str, Program], found: Any, wanted: Any) -> Any:
    ours, eager = _split(programs, found), _split(programs, wanted)
    return [(name, (ours[name], eager[name])) for name in programs]


def _written_in_place(program: Program, dynamic: bool | None = None) -> int:
    with torch.no_grad(), stage_records.record() as records, without_codegen():
        torch.compile(program, backend="xductor", dynamic=dynamic)(*_inputs())
    return sum(one.applications("reinplace_inplaceable_ops") for one in records)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_stays_functional(name: str) -> None:
    assert _written_in_place(ELSEWHERE[name]) == 0


@pytest.mark.parametrize("name", IN_STEP)
def test_writes_in_place(name: str) -> None:
    assert _written_in_place(IN_STEP[name]) == 1


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9}, "Adam": {}, "AdamW": {"amsgrad": True}, "RMSprop": {"momentum": 0.9},
    "Adagrad": {}, "Adadelta": {}, "NAdam": {}, "RAdam": {}, "Adamax": {}, "Rprop": {}, "ASGD": {},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers_stay_grouped_in_place(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call of a step is kept from writing by what it reads."""
    decide, refused = module.reads_elsewhere, []

    def noted(*args: Any) -> str | None:
        refused.append(decide(*args))
        return refused[-1]

    monkeypatch.setattr(module, "reads_elsewhere", noted)
    parameters = [torch.nn.Parameter(torch.ones(3, 4)) for _ in range(3)]
    for one in parameters:
        one.grad = torch.ones_like(one)
    optimizer = getattr(torch.optim, name)(parameters, lr=0.01, foreach=True, **OPTIMIZERS[name])
    with without_codegen():
        torch.compile(optimizer.step, backend="xductor")()
    assert refused
    assert set(refused) == {None}
