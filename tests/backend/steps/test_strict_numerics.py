"""Under strict numerics generated code gives eager's bits, where Inductor has a switch for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._inductor import config

import xductor
from xductor.backend.config import strict_numerics, versions
from xductor.backend.run_as_fx.without_codegen import without_codegen

STRICT: dict[str, Any] = {"xductor.numerics": "strict"}
DEFAULT: dict[str, Any] = {"xductor.numerics": "default"}
casts_are_kept = pytest.mark.skipif(
    versions.torch_release() < (2, 13), reason="code for CPU knows no emulate_precision_casts"
)
pytestmark = pytest.mark.usefixtures("empty_cache")


def _through_half(x: Any) -> Any:
    return x.half().float() + 1


def _bfloat16(x: Any) -> Any:
    y = x.bfloat16()
    return (y * y + y) * y - y


def _half(x: Any) -> Any:
    y = x.half()
    return torch.sigmoid(y * y) + y


def _softmax(x: Any) -> Any:
    return torch.softmax(x.bfloat16() * 2, 0).sqrt() * 3


def _drawn(x: Any) -> Any:
    return torch.nn.functional.dropout(x, 0.5, True) + torch.rand_like(x)


def _with_bias(x: Any) -> Any:
    rows = x[: 64 * 63].view(63, 64)
    return rows @ rows.t() + rows[0, :63]


def _small_product(x: Any) -> Any:
    return x[:16].view(1, 16) @ x[16:144].view(16, 8)


def _two_products(x: Any) -> Any:
    rows = x[: 64 * 63].view(63, 64)
    return rows @ rows.t() + rows @ (rows.t() * 2)


KINDS = (
    _through_half, _bfloat16, _half, _softmax, _drawn, _with_bias, _small_product, _two_products,
)  # fmt: skip


def _all(x: Any) -> Any:
    return [kind(x) for kind in KINDS]


def _run(function: Callable[..., Any], *inputs: Any) -> Any:
    torch.manual_seed(3)
    return function(*inputs)


def _x() -> torch.Tensor:
    return torch.randn(4096, generator=torch.Generator().manual_seed(0))


@casts_are_kept
def test_bits() -> None:
    x = _x()
    compiled = torch.compile(_all, backend="xductor", options=STRICT)
    found, expected = _run(compiled, x), _run(_all, x)
    assert [torch.equal(*pair) for pair in zip(found, expected, strict=True)] == [True] * len(KINDS)


@casts_are_kept
def test_bits_in_training() -> None:
    """The backward is compiled later, in a thread of its own."""

    def f(x: Any) -> Any:
        y = x.bfloat16()
        return ((y * y + y) * y - y).float() + x.half().float()

    gradients = []
    for function in (f, torch.compile(f, backend="xductor", options=STRICT)):
        x = _x().requires_grad_()
        loss = function(x)
        thread = threading.Thread(target=lambda loss=loss: loss.backward(torch.ones(4096)))
        thread.start()
        thread.join()
        gradients.append((loss, x.grad))
    for found, expected in zip(*gradients, strict=True):
        assert torch.equal(found, expected)


# ------------------------------------------------------------------------ what is switched where


class Seen(list[tuple[str, bool]]):
    """(the thread's name, whether casts were kept) of each post-grad stage."""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    found = Seen()
    module: Any = versions.compile_fx_module()
    passes = module._recursive_post_grad_passes

    def recorded(*args: Any) -> None:
        found.append((threading.current_thread().name, config.emulate_precision_casts))
        passes(*args)

    monkeypatch.setattr(module, "_recursive_post_grad_passes", recorded)
    with without_codegen():
        yield found


def _kept(seen: Seen) -> list[bool]:
    return [kept for _, kept in seen]


def _square(x: Any) -> Any:
    return x * x


def _compiled(options: dict[str, Any]) -> Any:
    torch._dynamo.reset()
    return torch.compile(_square, backend="xductor", options=options)


def test_other_compiles_are_left_alone(seen: Seen) -> None:
    """Before and after, in this thread and in another that compiles meanwhile."""
    x = torch.ones(4)
    _compiled(DEFAULT)(x)
    _compiled(STRICT)(x)
    torch._dynamo.reset()
    torch.compile(_square)(x)
    _compiled(DEFAULT)(x)
    _compiled(STRICT)(x)
    assert _kept(seen) == [False, True, False, False, True]
    assert not config.emulate_precision_casts


def test_a_backward_that_is_compiled_in_another_thread(seen: Seen) -> None:
    loss = _compiled(STRICT)(torch.ones(4, requires_grad=True)).sum()
    thread = threading.Thread(target=loss.backward, name="backward")
    thread.start()
    thread.join()
    assert _kept(seen) == [True, True]


@pytest.mark.parametrize("value", [False, True])
def test_an_option_of_the_compile_stays(seen: Seen, value: bool) -> None:
    _compiled({**STRICT, "emulate_precision_casts": value})(torch.ones(4))
    assert _kept(seen) == [value]


def test_what_the_user_configured_stays(seen: Seen) -> None:
    with config.patch({"fallback_random": True, "online_softmax": False}):
        assert not {"fallback_random", "online_softmax"} & strict_numerics.config_patches({}).keys()
    with config.patch({"emulate_precision_casts": True}):
        _compiled(DEFAULT)(torch.ones(4))
    assert _kept(seen) == [True]


def test_a_variable_of_the_environment_stays(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_EMULATE_PRECISION_CASTS", "0")
    _compiled(STRICT)(torch.ones(4))
    assert _kept(seen) == [False]


def test_an_option_that_was_patched_before_is_not_taken_for_the_users(seen: Seen) -> None:
    with config.patch({"emulate_precision_casts": True}):
        pass
    _compiled(STRICT)(torch.ones(4))
    assert _kept(seen) == [True]


def test_installed(seen: Seen) -> None:
    torch._dynamo.reset()
    with xductor.installed(STRICT):
        torch.compile(_square)(torch.ones(4))
    torch._dynamo.reset()
    torch.compile(_square)(torch.ones(4))
    assert _kept(seen) == [True, False]


def test_every_switch_exists() -> None:
    """In this torch; one of another version that is absent here is left out."""
    known = set(config._config)  # type: ignore[attr-defined]
    newer = {"eager_numerics.use_pytorch_libdevice"} - known
    assert strict_numerics.config_patches({}).keys() | newer == strict_numerics._SWITCHES.keys()


@casts_are_kept
def test_keys_of_caches_differ() -> None:
    """A result of default numerics is not served to a strict compile, nor the other way round."""
    x = _x()
    results = [
        torch.compile(_through_half, backend="xductor", options=options)(x)
        for options in (DEFAULT, STRICT, DEFAULT, STRICT)
        if torch._dynamo.reset() is None
    ]
    expected = _through_half(x)
    assert [torch.equal(one, expected) for one in results] == [False, True, False, True]
