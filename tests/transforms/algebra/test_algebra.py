"""The passes of `transforms/algebra`: where they apply, where they must not, and the values."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._functorch import config as functorch_config

import xductor
from tests.transforms.algebra.programs import BY_DEFAULT, PROGRAMS, operands
from xductor.backend.run_as_fx.without_codegen import without_codegen

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def _graphs_only() -> Iterator[None]:
    torch._dynamo.reset()
    with without_codegen(), functorch_config.patch(enable_autograd_cache=False):
        yield
    torch._dynamo.reset()


def compiled(program: Any, numerics: str = "fast", **how: Any) -> Any:
    options: dict[str, Any] = {"xductor.numerics": numerics, "xductor.on_error": "raise"}
    return torch.compile(program, backend="xductor", options=options, **how)


def applications(name: str) -> int:
    record = xductor.last_compile()
    assert record is not None
    return record.count(name)


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_values_are_those_of_eager(what: str, dynamic: bool) -> None:
    name, program = PROGRAMS[what]
    given = operands(12)
    found = compiled(program, dynamic=dynamic)(*given)
    torch.testing.assert_close(found, program(*given), rtol=1e-4, atol=1e-4)
    assert applications(name) >= 1 or (dynamic and name == "sum_of_product")


@pytest.mark.parametrize("what", PROGRAMS)
def test_default_admits_what_is_no_less_accurate(what: str) -> None:
    name, program = PROGRAMS[what]
    given = operands(12)
    found = compiled(program, "default")(*given)
    torch.testing.assert_close(found, program(*given))
    assert (applications(name) > 0) == (name in BY_DEFAULT)


@pytest.mark.parametrize("what", [one for one in PROGRAMS if PROGRAMS[one][0] in BY_DEFAULT])
@pytest.mark.parametrize("special", [float("nan"), -float("inf")])
def test_what_is_not_finite_stays_by_default(what: str, special: float) -> None:
    _, program = PROGRAMS[what]
    for place in (0, 1, 3):
        given = operands(6)
        given[place].view(-1)[2] = special
        found = compiled(program, "default")(*given)
        torch.testing.assert_close(found, program(*given), equal_nan=True)


@pytest.mark.parametrize("what", PROGRAMS)
def test_no_elements_and_one(what: str) -> None:
    _, program = PROGRAMS[what]
    size = list(PROGRAMS).index(what) % 2
    given = operands(size)
    try:
        expected = program(*given)
    except (IndexError, RuntimeError):
        pytest.skip("eager refuses it")
    torch.testing.assert_close(compiled(program)(*given), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("what", PROGRAMS)
def test_gradients_are_those_of_eager(what: str) -> None:
    _, program = PROGRAMS[what]

    def gradients(run: Any) -> list[Any]:
        given = [one.requires_grad_() for one in operands(8)]
        result = run(*given)
        (result * torch.arange(result.numel()).view(result.shape)).sum().backward()
        return [result.detach(), *[one.grad for one in given]]

    found, expected = gradients(compiled(program)), gradients(program)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


DTYPES = (torch.bfloat16, torch.float16, torch.complex64, torch.int64)


@pytest.mark.parametrize("what", PROGRAMS)
def test_other_dtypes_stay(what: str) -> None:
    name, program = PROGRAMS[what]
    dtype = DTYPES[list(PROGRAMS).index(what) % 4]
    given = [(one * 4).to(dtype) for one in operands(6)]
    try:
        program(*given)
    except (NotImplementedError, RuntimeError):
        pytest.skip("eager refuses it")
    compiled(program)(*given)
    assert applications(name) == 0


STAY = {
    "product read elsewhere": lambda a, b, c, v: ((p := a @ b), p.sum(1), torch.diag(p)),
    "another diagonal": lambda a, b, c, v: torch.diag(a @ b, 1),
    "a view of the diagonal written to": lambda a, b, c, v: torch.diagonal(a @ b).mul_(2),
    "sum in another dtype": lambda a, b, c, v: (a @ b).sum(1, dtype=torch.float64),
    "kept dim": lambda a, b, c, v: (a @ b).sum(1, keepdim=True),
    "columns scaled": lambda a, b, c, v: (a * v) @ b,
    "sum with a factor": lambda a, b, c, v: torch.add(a @ b, a @ c, alpha=2),
    "another element of the running sum": lambda a, b, c, v: a.cumsum(0)[-2] * v,
    "running sum along the other dim": lambda a, b, c, v: a.cumsum(1).sum(0),
    "minimum of exp": lambda a, b, c, v: a.exp().amin(1),
    "distances of a power of three": lambda a, b, c, v: ((a[:, None] - b[None]) ** 3).sum(-1),
    "exp of other sizes": lambda a, b, c, v: a.exp() * v.exp(),
    "exp read elsewhere": lambda a, b, c, v: ((e := a.exp()), e * b.exp()),
    "cheapest already": lambda a, b, c, v: (a[:2] @ b) @ c,
}


@pytest.mark.parametrize("what", STAY)
def test_what_stays(what: str) -> None:
    given = operands(6)
    found = compiled(STAY[what])(*given)
    torch.testing.assert_close(found, STAY[what](*given))
    assert not any(applications(name) for name in {name for name, _ in PROGRAMS.values()})


STEPS: tuple[Any, ...] = (
    lambda a, b, v: a @ b,
    lambda a, b, v: a @ b.t(),
    lambda a, b, v: a + b,
    lambda a, b, v: torch.diag(v) @ a,
    lambda a, b, v: torch.outer(v, b[0]) @ a / 8,
    lambda a, b, v: a.tanh(),
    lambda a, b, v: (a / 8).exp() * (b / 8).exp(),
    lambda a, b, v: v.expand(a.shape) + a,
    lambda a, b, v: (a @ b).sum(1)[:, None] + b,
    lambda a, b, v: (b @ a).sum(0) + a,
    lambda a, b, v: torch.diag(a @ b) * b,
    lambda a, b, v: a.cumsum(0)[-1] + b,
    lambda a, b, v: a.cumsum(0).sum(0) + b,
    lambda a, b, v: a.exp().amax(1)[:, None] / 8 + b,
    lambda a, b, v: (a @ b) @ v + b,
)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    """Programs of four to nine steps, kept of ordinary size, against eager in float64."""

    def run(a: Any, b: Any, c: Any, v: Any) -> Any:
        chance = random.Random(seed)
        values = [a, b, c]
        for _ in range(chance.randint(4, 9)):
            made = chance.choice(STEPS)(chance.choice(values), chance.choice(values), v)
            values.append(made / (1 + made.abs().amax()))
        return tuple(chance.sample(values[3:], 3))

    given = operands(7, seed, torch.float64)
    torch.testing.assert_close(compiled(run)(*given), run(*given), rtol=1e-6, atol=1e-6)
