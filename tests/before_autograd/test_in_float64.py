"""The numbers that random programs are compared with where values are rounded."""

from __future__ import annotations

import torch

from tests.before_autograd.in_float64 import in_float64
from tests.before_autograd.observation import differences, numbers, observe, observe_exact
from tests.before_autograd.programs import program


def test_they_are_eagers_but_for_rounding() -> None:
    """Of programs of float32 that view, write, draw and compute again."""
    compared = 0
    for seed in range(60):
        one = program(seed, attends=seed % 2 == 0)
        if one.rounds:
            continue
        try:
            expected = observe(one.function(), one.leaves)
        except RuntimeError:
            continue  # eager refuses its backward
        exact = observe_exact(one.function(), one.leaves)
        for right, (part, found) in zip(exact, numbers(expected).items(), strict=True):
            if found is not None:
                assert right is not None
                assert right.dtype in (torch.float64, found.dtype)
                torch.testing.assert_close(
                    found.double(), right.double(), atol=2e-5, rtol=2e-5, equal_nan=True, msg=part
                )
        compared += 1
    assert compared > 20


def test_casts_round_nothing() -> None:
    x = torch.tensor([1.0, 1 / 3], requires_grad=True)
    with in_float64() as exact:
        y = x.bfloat16().float() * 3
        y.sum().backward()
        assert x.grad is not None
        seen = exact(y), exact(x.grad)
    assert y[1] != 1
    third = torch.tensor([1.0, float(torch.tensor(1 / 3))], dtype=torch.float64)
    torch.testing.assert_close(seen, (3 * third, torch.full((2,), 3.0, dtype=torch.float64)))


def test_views_and_writes_are_followed() -> None:
    x = torch.zeros(4)
    with in_float64() as exact:
        x[::2].add_(0.1)
        torch.mul(x, 3, out=x)
        wide = exact(x)
    torch.testing.assert_close(wide, torch.tensor([0.3, 0, 0.3, 0], dtype=torch.float64))
    assert wide[0] != x[0].double()


def test_what_is_farther_than_eager_is_told() -> None:
    """An error within the old bound of 4e-2, in a value that eager has nearly right."""

    def function(a: torch.Tensor) -> torch.Tensor:
        return (a.bfloat16() * 0.5).float()

    leaves = [torch.linspace(0, 1, 16)]
    expected, found = observe(function, leaves), observe(function, leaves)
    exact = observe_exact(function, leaves)
    rounded = 4 * 2**-8
    found.tensors[0] = found.tensors[0] + 2**-9
    assert not list(differences(expected, found, rounded, exact))
    found.tensors[0] = found.tensors[0] + 0.03
    assert [part for part, _ in differences(expected, found, rounded, exact)] == ["tensor 0"]
