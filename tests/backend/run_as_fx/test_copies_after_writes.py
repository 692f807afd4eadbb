"""A copy of an input that was written through a view is a tensor of its own, as in eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import torch

from xductor.backend.run_as_fx.without_codegen import without_codegen


def _returned(a: Any, b: Any) -> Any:
    a[1:].add_(1)
    return a.clone()


def _written_later(a: Any, b: Any) -> Any:
    a[2:].add_(1)
    d = a.clone()
    a.mul_(2)
    return d


def _overwritten(a: Any, b: Any) -> Any:
    a[2:].add_(1)
    d = a.clone()
    d[0] = 5
    a.copy_(b)
    return d


def _view_of_copy(a: Any, b: Any) -> Any:
    a[2:].add_(1)
    return a.clone()[1:]


def _put_by_index(a: Any, b: Any) -> Any:
    a[torch.tensor([1, 2])] = 7.0
    return a.clone()


def _cast_and_back(a: Any, b: Any) -> Any:
    a[2:].add_(1)
    return a.double().float()


def _times_ones(a: Any, b: Any) -> Any:
    a[2:].add_(1)
    return a * torch.ones(4)


def _copied_back(a: Any, b: Any) -> Any:
    d = a.clone()
    d[1:] = 3
    a.copy_(d)
    return d


def _two_inputs(a: Any, b: Any) -> Any:
    a[2:].add_(b[2:])
    b[:2].mul_(a[2:])
    return a.clone(), b.clone(), a + b


def _custom(a: Any, b: Any) -> Any:
    torch.ops.xductor_copies.bump(a)
    d = a.clone()
    a.mul_(2)
    return d


FORMS = (
    _returned, _written_later, _overwritten, _view_of_copy, _put_by_index, _cast_and_back,
    _times_ones, _copied_back, _two_inputs, _custom,
)  # fmt: skip
GENERATED = (_returned, _written_later, _custom)


def _bump(x: torch.Tensor) -> None:
    x.add_(1)


@pytest.fixture(scope="module", autouse=True)
def bump() -> Iterator[None]:
    with torch.library._scoped_library("xductor_copies", "FRAGMENT") as library:
        library.define("bump(Tensor(a!) x) -> ()")
        library.impl("bump", _bump, "CPU")
        library.impl("bump", lambda x: None, "Meta")
        yield


def _check(form: Callable[..., Any], make: Callable[[], Any], **options: Any) -> None:
    theirs, ours = make(), make()
    expected = form(*theirs)
    compiled = torch.compile(
        form, backend="xductor", options={"xductor.on_error": "raise", **options}
    )
    found = compiled(*ours)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    outputs = found if isinstance(found, tuple) else (found,)
    storages = {one.untyped_storage().data_ptr() for one in ours}
    for output in outputs:
        assert output.untyped_storage().data_ptr() not in storages


def _apart() -> Any:
    return torch.arange(4.0), torch.ones(4)


@pytest.mark.parametrize("numerics", ["strict", "default", "fast"])
@pytest.mark.parametrize("form", FORMS)
def test_is_of_its_own(form: Callable[..., Any], numerics: str) -> None:
    with without_codegen():
        _check(form, _apart, **{"xductor.numerics": numerics})


@pytest.mark.parametrize("form", GENERATED)
def test_with_generated_code(form: Callable[..., Any]) -> None:
    _check(form, _apart)


def _overlapping() -> Any:
    base = torch.arange(8.0)
    return base, base[2:], base.view(2, 4)


def _through_another(a: Any, b: Any, c: Any) -> Any:
    b.add_(1)
    d = a.clone()
    c.mul_(2)
    return d


@pytest.mark.parametrize("generated", [False, True], ids=["without code", "with code"])
def test_inputs_that_overlap(generated: bool) -> None:
    with nullcontext() if generated else without_codegen():
        _check(_through_another, _overlapping)
