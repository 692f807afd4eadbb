"""Makes the repro scripts that Inductor writes for our compiles install xductor first."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xductor.backend.config import compile_state
from xductor.backend.config.settings import Settings

#: (module, function that writes a script); backend-level scripts name their backend.
_WRITERS = (
    ("torch._dynamo.repro.after_aot", "generate_compiler_repro_string"),
    ("torch._dynamo.repro.aoti", "generate_compiler_repro_exported_program"),
)

#: The line after torch's imports and configuration; a script's own lines may follow it.
_MARK = "isolate_fails_code_str = None\n"


def attach() -> None:
    """Make the writers of repro scripts install xductor in those of its compiles."""
    for module_name, name in _WRITERS:
        module = import_module(module_name)
        writer = getattr(module, name, None)
        if writer is not None:
            setattr(module, name, _installing(writer))


def _installing(writer: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(writer)
    def write(*args: Any, **kwargs: Any) -> str:
        text = writer(*args, **kwargs)
        settings = compile_state.current().settings
        if settings is None:
            return text
        before, mark, after = text.partition(_MARK)
        if not mark:
            return f"{installation(settings)}\n{text}"
        return f"{before}{mark}\n{installation(settings)}\n{after}"

    return write


def installation(settings: Settings) -> str:
    """Python text that installs xductor under `settings`, as far as text can express them."""
    options = settings.options()
    rewrites = options.pop("xductor.rewrites", ())
    if "xductor.disabled_passes" in options:
        options["xductor.disabled_passes"] = sorted(options["xductor.disabled_passes"])
    lines = ["import xductor", f"xductor.install({options or ''})"]
    if rewrites:
        shown = ", ".join(r.__qualname__ if isinstance(r, type) else repr(r) for r in rewrites)
        lines.append(f"# add to the options: 'xductor.rewrites': [{shown}]")
    return "\n".join(lines) + "\n"
