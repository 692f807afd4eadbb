"""The backend that `torch.compile(model, backend="xductor")` finds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from xductor.backend.config import cache_keys, compile_state, coverage_warnings, versions
from xductor.backend.config.compile_state import CompileState
from xductor.backend.config.settings import PREFIX, SettingsError, split_options
from xductor.backend.seam import dispatch
from xductor.backend.seam.checked_options import checked_settings

_MEMO_SIZE = 64
_AOT_INDUCTOR = "aotinductor"


class Backend:
    """A backend for `torch.compile`: Inductor, with our three stages in place of its own.

    `mode` and `options` mean what they mean to `torch.compile`, and may be combined. So does
    `use_aoti`, which `torch.compile` drops for backends that it does not know by name.
    The `xductor.*` options may also be given by name, without the prefix:

        torch.compile(model, backend=xductor.Backend(mode="max-autotune", on_error="raise"))

    Raises:
        SettingsError: For an `xductor` option with a wrong name or value.
        RuntimeError: From Inductor, for a mode or an option that it does not know.
    """

    compiler_name = "xductor"
    __name__ = "xductor"

    def __init__(
        self,
        *,
        mode: str | None = None,
        options: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        named = {PREFIX + name: value for name, value in settings.items()}
        ours, rest = split_options(options)
        if twice := sorted(ours.keys() & named.keys()):
            raise SettingsError(f"given twice, by name and among the options: {', '.join(twice)}")
        self._mode = None if mode == "default" else mode
        self._ours = {**ours, **named}
        self._rest = rest
        self._memo: list[tuple[str | None, dict[str, Any], Any]] = []
        self._check()

    def _check(self) -> None:
        """Fail when the backend is made, not when it is first called."""
        checked_settings(self._ours)
        if self._mode or self._rest:
            self._inductor(self._mode, self._rest)

    def __call__(
        self,
        gm: GraphModule,
        inputs: Sequence[Any],
        *,
        mode: str | None = None,
        options: Mapping[str, Any] | None = None,
        config_patches: Mapping[str, Any] | None = None,
    ) -> Any:
        """Compile `gm` for `inputs`; the forward now, the backward now or when it first runs.

        `mode` and `options` override those that the backend was made with.
        """
        ours, rest = split_options(options)
        settings = checked_settings({**self._ours, **ours})
        inductor = self._inductor(mode or self._mode, {**self._rest, **rest})
        patches = {**inductor.config, **(config_patches or {})}
        try:
            dispatch.attach()
        except versions.UnsupportedTorchError as error:
            coverage_warnings.say_unsupported_torch(error)
            return versions.compile_fx_module().compile_fx(gm, inputs, config_patches=patches)
        state = compile_state.begin(settings)
        with compile_state.entered(state), cache_keys.tagged():
            if inductor.compiler_name == _AOT_INDUCTOR:  # it enters Inductor in its own way
                given = {"config_patches": config_patches} if config_patches else {}
                return inductor(gm, inputs, **given)
            return versions.compile_fx_module().compile_fx(
                gm, inputs, inner_compile=_inner_compile(state), config_patches=patches
            )

    def get_compiler_config(self) -> dict[str, Any]:
        """Inductor's configuration as this backend compiles with it."""
        return self._inductor(self._mode, self._rest).get_compiler_config()

    def reset(self) -> None:
        """Inductor's own reset, which `torch._dynamo.reset()` calls."""
        self._inductor(self._mode, self._rest).reset()
        for _, _, inductor in self._memo:
            inductor.reset()

    def _inductor(self, mode: str | None, options: dict[str, Any]) -> Any:
        """Inductor's own backend for `mode` and `options`, which validates and resets."""
        for known_mode, known_options, inductor in self._memo:
            if known_mode == mode and known_options == options:
                return inductor
        rest = dict(options)
        wrapper: Any = torch._TorchCompileInductorWrapper
        if rest.pop("use_aoti", False):  # not an option of Inductor's: torch.compile reads it
            wrapper = torch._TorchCompileAOTInductorWrapper
        inductor = wrapper(mode, rest, dynamic=None)
        if not _bisecting():
            self._memo = [*self._memo[1 - _MEMO_SIZE :], (mode, options, inductor)]
        return inductor

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Backend)
            and self._mode == other._mode
            and self._ours == other._ours
            and self._rest == other._rest
        )

    def __hash__(self) -> int:
        # Values of options need not be hashable.
        return hash((self._mode, frozenset(self._ours), frozenset(self._rest)))

    def __repr__(self) -> str:
        options = {**self._ours, **self._rest}
        given = {"mode": self._mode, "options": options or None}
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items() if value)
        return f"xductor.Backend({shown})"


def _inner_compile(state: CompileState) -> Callable[..., Any]:
    """Inductor's compile of one graph, under `state` in whatever thread and whenever it runs."""
    module = versions.compile_fx_module()

    @functools.wraps(module.compile_fx_inner)
    def inner_compile(*args: Any, **kwargs: Any) -> Any:
        with compile_state.entered(state), cache_keys.tagged():
            return module.compile_fx_inner(*args, **kwargs)

    return inner_compile


def _bisecting() -> bool:
    """Whether the bisector runs, which changes an option's value from compile to compile."""
    from torch._inductor.compiler_bisector import CompilerBisector

    return bool(CompilerBisector.bisection_enabled)


xductor_backend = Backend()
