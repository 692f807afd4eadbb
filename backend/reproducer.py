"""Writes files that reproduce a failing pass: the typed IR before it, and the command to run.

They are in `$XDUCTOR_DEBUG_DIR`, or else in a folder of the system's temporary directory; no file
is ever overwritten. If the graph could not be lowered at all, the readable FX graph is written.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xductor.transforms import Stage, TypedPass
from xductor.transforms.rewriting.rewrite_pass import RewritePass

if TYPE_CHECKING:
    from torch.fx import GraphModule

_LOWERING_FAILED = "The graph could not be lowered; this is the FX graph."


def write(
    gm: GraphModule,
    *,
    stage: Stage,
    passes: Sequence[TypedPass],
    error: Exception,
    verify_level: str,
    example_inputs: Sequence[Any] | None = None,
    culprit: str = "from_fx",
) -> Path:
    """Write a reproducer for `passes` failing with `error` on `gm`; returns its path.

    `gm` must be as it was when the passes started: it is lowered again to be printed, unless
    lowering (`"from_fx"`) is what failed.
    """
    body, suffix, note = _readable(gm), ".py.txt", _LOWERING_FAILED
    if culprit != "from_fx":
        try:
            body, suffix, note = _typed_text(gm, stage, example_inputs), ".mlir", None
        except Exception as second:  # the first error is reported; this one becomes a line of it
            note = f"The graph could not be printed as typed IR ({second!r}); this is the FX graph."
    pipeline = ",".join(spec for one in passes for spec in _specs(one))
    path = _new_file(stage, passes[-1].name if passes else culprit, suffix)
    run = f" -p '{pipeline}'" if pipeline else ""
    command = f"xductor-opt {path}{run}{_plugins(passes)} --verify-level {verify_level}"
    header = [
        command if suffix == ".mlir" else (note or ""),
        f"stage: {stage}",
        f"passes: {pipeline or 'none'}",
        f"error: {type(error).__name__}: {error}",
        f"versions: {_versions()}",
    ]
    comment = "//" if suffix == ".mlir" else "#"
    lines = [f"{comment} {line}" for entry in header for line in entry.splitlines()]
    path.write_text("\n".join([*lines, "", body, ""]), encoding="utf-8")
    return path


def _specs(one: TypedPass) -> list[str]:
    """A pass as `-p` takes it; declared rewrites become passes of their own, each with a walk."""
    if isinstance(one, RewritePass):
        options = "" if one.policy == "default" else f"{{policy={one.policy}}}"
        return [f"{rewrite.name}{options}" for rewrite in one.rewrites]
    return [str(one.spec())]


def _plugins(passes: Sequence[TypedPass]) -> str:
    """The flags that load the modules of passes that are not our own."""
    ones = [
        part
        for one in passes
        for part in (one.rewrites if isinstance(one, RewritePass) else (one,))
    ]
    modules = dict.fromkeys(type(one).__module__ for one in ones)
    files = [
        getattr(sys.modules.get(name), "__file__", None) or name
        for name in modules
        if name.partition(".")[0] != "xductor"
    ]
    return "".join(f" --load-pass-plugin {file}" for file in files)


def _typed_text(gm: GraphModule, stage: Stage, example_inputs: Sequence[Any] | None) -> str:
    from xductor.frontend import from_fx
    from xductor.ir import print_ir

    module = from_fx(gm, stage, example_inputs=example_inputs, subgraphs="declare")
    return print_ir(module)


def _readable(gm: GraphModule) -> str:
    try:
        return gm.print_readable(print_output=False, include_stride=True, include_device=True)
    except Exception as error:  # a graph too broken for code generation still has its nodes
        return f"{gm.graph}\n# not printable as code: {error!r}"


def _versions() -> str:
    names = ("xductor", "torch", "xdsl")
    return ", ".join(f"{name} {metadata.version(name)}" for name in names)


def _new_file(stage: str, culprit: str, suffix: str) -> Path:
    folder = os.environ.get("XDUCTOR_DEBUG_DIR") or os.path.join(tempfile.gettempdir(), _folder())
    os.makedirs(folder, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{stage}-{culprit}-", suffix=suffix, dir=folder)
    os.close(handle)
    return Path(name)


def _folder() -> str:
    return f"xductor-{os.getuid()}" if hasattr(os, "getuid") else "xductor"
