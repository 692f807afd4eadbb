"""Enters the modes under which a pre-grad graph runs: the ambient ones, and those its ops set.

The modes of the process are always restored at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import torch

from xductor.ir.dialect.dtypes import DTYPE_OF_TEXT
from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import TorchOp
from xductor.ir.dialect.symbol_attr import Ambient
from xductor.ir.effects.target_effects import target_effects
from xductor.ir.python.qualified_names import qualified_name

#: Device types with their own autocast mode.
DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia")

_ENTER = frozenset(
    {"torch.amp.autocast_mode._enter_autocast", "torch.autograd.grad_mode._enter_inference_mode",
     "torch.amp._enter_autocast"}
)  # fmt: skip
_EXIT = frozenset(
    {"torch.amp.autocast_mode._exit_autocast", "torch.autograd.grad_mode._exit_inference_mode",
     "torch.amp._exit_autocast"}
)  # fmt: skip
_SET = frozenset(
    {"torch._C._set_grad_enabled", "torch.set_grad_enabled", "torch.set_default_dtype",
     "torch.set_autocast_enabled", "torch.set_autocast_dtype",
     "torch.set_autocast_cache_enabled", "torch.use_deterministic_algorithms",
     "torch._C._set_deterministic_algorithms", "torch.clear_autocast_cache"}
)  # fmt: skip
#: Forward derivatives exist within functorch levels alone, where no call is run.
_WITHOUT_BEARING = frozenset(
    {"torch._C._set_fwd_grad_enabled", "torch.autograd.forward_ad._maybe_load_decompositions",
     "torch._C._autograd._saved_tensors_hooks_disable",
     "torch._C._autograd._saved_tensors_hooks_enable",
     "torch._C._autograd._saved_tensors_hooks_set_tracing"}
)  # fmt: skip


class UnknownMode(ValueError):
    """A call changes modes in an unknown way; the message names it."""


class Modes:
    """The modes at one point of a walk over a graph's ops.

    Use it within `graph_modes`. `functorch` is the number of functorch levels at that point.
    """

    def __init__(self) -> None:
        self.functorch = 0
        self._objects: dict[Any, Any] = {}
        self._entered: list[tuple[Any, Callable[[], None]]] = []
        self._key: tuple[Any, ...] | None = None

    def key(self) -> tuple[Any, ...]:
        """A key for the modes: with equal keys a call has equal results."""
        if self._key is None:
            self._key = (
                torch.is_grad_enabled(),
                torch.is_inference_mode_enabled(),
                torch.get_default_dtype(),
                torch.are_deterministic_algorithms_enabled(),
                str(torch.get_default_device()),
                *[
                    (device, torch.get_autocast_dtype(device))
                    for device in DEVICES
                    if autocast_on(device)
                ],
            )
        return self._key

    def apply(self, op: TorchOp, args: list[Any], kwargs: dict[str, Any]) -> None:
        """Follow an op that changes modes; `args` may hold None for mode objects.

        Raises UnknownMode if it cannot be followed.
        """
        target = op.target
        name = target if isinstance(target, str) else qualified_name(target) or op.name
        call: Any = op.target
        if name in _WITHOUT_BEARING:
            return
        self._key = None
        if "_functorch" in name:
            if "increment_nesting" in name:
                self.functorch += 1
            elif "decrement_nesting" in name:
                self.functorch -= 1
        elif name in _ENTER:
            self._enter(op, call(*args, **kwargs))
        elif name in _EXIT:
            self._exit(op)
        elif name in _SET:
            call(*args, **kwargs)
        else:
            raise UnknownMode(name)

    def _enter(self, op: TorchOp, entered: Any) -> None:
        for result in op.results:
            self._objects[result] = entered
        self._entered.append((entered, lambda: entered.__exit__(None, None, None)))

    def _exit(self, op: TorchOp) -> None:
        entered = self._objects.get(op.operands[0]) if op.operands else None
        if not self._entered or self._entered[-1][0] is not entered:
            raise UnknownMode(f"{op.name} of a mode that is not the innermost one")
        self._entered.pop()[1]()

    def leave(self) -> None:
        """Leave the modes that the graph entered and did not leave."""
        while self._entered:
            self._entered.pop()[1]()


def autocast_on(device: str) -> bool:
    """Whether autocast is on for a device type; False for one that this build does not know."""
    try:
        return torch.is_autocast_enabled(device)
    except RuntimeError:  # a device type this build does not know
        return False


@contextmanager
def graph_modes(ambient: Ambient) -> Iterator[Modes]:
    """Run a block under exactly the modes of `ambient`, and then restore those of the process."""
    modes = Modes()
    with ExitStack() as stack:
        stack.enter_context(_restored())
        stack.callback(modes.leave)
        _set(ambient, stack)
        yield modes


def _set(ambient: Ambient, stack: ExitStack) -> None:
    wanted = dict(ambient.autocast)
    for device in DEVICES:
        if autocast_on(device) or device in wanted:
            torch.set_autocast_enabled(device, device in wanted)
        if device in wanted:
            torch.set_autocast_dtype(device, DTYPE_OF_TEXT[wanted[device]])
    torch.set_autocast_cache_enabled(False)
    default = ambient.default_dtype
    dtype = torch.float32 if default is None else DTYPE_OF_TEXT[default]
    if torch.get_default_dtype() is not dtype:
        torch.set_default_dtype(dtype)
    deterministic = bool(ambient.deterministic)
    if torch.are_deterministic_algorithms_enabled() is not deterministic:
        torch.use_deterministic_algorithms(deterministic, warn_only=True)
    if ambient.default_device is None:
        # Modes of the process that act on Python functions are not part of the graph.
        stack.enter_context(torch._C.DisableTorchFunction())
    else:
        stack.enter_context(torch.device(ambient.default_device))
    if bool(ambient.inference) is not torch.is_inference_mode_enabled():
        stack.enter_context(torch.inference_mode(bool(ambient.inference)))
    torch._C._set_grad_enabled(ambient.grad is not False and not ambient.inference)


@contextmanager
def after_autograd(ambient: Ambient) -> Iterator[None]:
    """Run a block as graphs after autograd run: no gradients, no autocast, its default dtype."""
    current = torch.get_default_dtype()
    named = ambient.default_dtype
    dtype = torch.float32 if named is None else DTYPE_OF_TEXT[named]
    with torch._C._DisableAutocast(), torch.no_grad():
        if dtype is current:
            yield
            return
        torch.set_default_dtype(dtype)
        try:
            yield
        finally:
            torch.set_default_dtype(current)


@contextmanager
def _restored() -> Iterator[None]:
    """Restore the modes at the end of the block."""
    grad = torch.is_grad_enabled()
    autocast = {device: autocast_on(device) for device in DEVICES}
    dtypes = {device: torch.get_autocast_dtype(device) for device in DEVICES if _known(device)}
    cache = torch.is_autocast_cache_enabled()
    dtype = torch.get_default_dtype()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        yield
    finally:
        torch._C._set_grad_enabled(grad)
        for device, on in autocast.items():
            if autocast_on(device) is not on:
                torch.set_autocast_enabled(device, on)
        for device, known in dtypes.items():
            if torch.get_autocast_dtype(device) is not known:
                torch.set_autocast_dtype(device, known)
        torch.set_autocast_cache_enabled(cache)
        if torch.get_default_dtype() is not dtype:
            torch.set_default_dtype(dtype)
        if torch.are_deterministic_algorithms_enabled() is not deterministic:
            torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)


def _known(device: str) -> bool:
    try:
        torch.is_autocast_enabled(device)
    except RuntimeError:  # a device type this build does not know
        return False
    return True


def mode_ops(graph: GraphOp, before: TorchOp | None = None) -> Iterator[TorchOp]:
    """The ops of a graph that change modes, those above `before` if it is given."""
    for op in graph.block.ops:
        if op is before:
            return
        if isinstance(op, TorchOp) and changes_modes(type(op)):
            yield op


@cache
def changes_modes(cls: type[TorchOp]) -> bool:
    """Whether calls of a class change modes, which no registered effect says."""
    return cls.raw_arguments and cls.fx_op != "call_module" and target_effects(cls.target).mode


__all__ = [
    "Modes",
    "UnknownMode",
    "after_autograd",
    "autocast_on",
    "changes_modes",
    "graph_modes",
    "mode_ops",
]
