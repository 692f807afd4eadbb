"""Runs kernels under a fake mode alone, without torch's reports of failures."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch.utils._python_dispatch import _disable_current_modes

from xductor.ir.inference.fake_values import FakeEnvironment

_running: ContextVar[bool] = ContextVar("xductor_inference_running", default=False)


def _not_ours(record: logging.LogRecord) -> bool:
    return not _running.get()


@contextmanager
def _without_reports() -> Iterator[None]:
    """Silence torch's log of a failing meta kernel: here the failure is the answer."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    if _not_ours not in logger.filters:
        logger.addFilter(_not_ours)
    token = _running.set(True)
    try:
        yield
    finally:
        _running.reset(token)


@contextmanager
def only_fake(fake: FakeEnvironment, with_grad: bool) -> Iterator[None]:
    """Let only the fake mode act; after autograd, also turn off autocast and gradients."""
    with _disable_current_modes(), _without_reports():
        if with_grad:
            with fake.mode:
                yield
            return
        with (
            torch._C.DisableTorchFunction(),
            torch._C._DisableAutocast(),
            torch.no_grad(),
            fake.mode,
        ):
            yield


__all__ = ["only_fake"]
