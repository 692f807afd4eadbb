"""Puts graphs that were dumped and edited back into a compile: `XDUCTOR_OVERRIDE=folder`.

`000_joint.before.mlir` in the folder takes the place of what goes into the joint stage of the first
graph of the process, and `000_joint.after.mlir` of what comes out. They have the names and the form
in which `xductor capture` writes them. Of a folder that it wrote only the files that were edited
since count. Nothing is read from caches or stored in them meanwhile.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, Literal

from xductor.backend.config.environment import override_folder
from xductor.backend.config.warn_once import warn_once
from xductor.backend.steps.graph_names import INDEX, GraphNames, digest
from xductor.backend.steps.stage_run import StageRun
from xductor.ir import GraphOp, OutputOp, entry_graph, parse_ir, same, verify

When = Literal["before", "after"]

_NAME = "override"


class OverrideError(ValueError):
    """A file that cannot take the place of the graph of its name; the message has file and line."""


class OverrideWarning(UserWarning):
    """A graph of a compile was taken from a file."""


_lock = threading.Lock()
_names: dict[Path, GraphNames] = {}


def take(run: StageRun, when: When) -> None:
    """Replace the graph of a stage call by the one in its file, if there is one that differs.

    Raises OverrideError if the file is no IR, if the verifier refuses it, or if it does not take
    and give what the graph takes and gives.
    """
    folder = override_folder()
    if folder is None:
        return
    if when == "before":
        with _lock:
            run.kept[_NAME] = _names.setdefault(folder, GraphNames()).name(run)[0]
    path = folder / f"{run.kept[_NAME]}.{when}.mlir"
    if path.is_file():
        _take_from(path, run)


def _take_from(path: Path, run: StageRun) -> None:
    from xductor.backend.fx.export import to_fx
    from xductor.frontend import from_fx

    text = path.read_text(encoding="utf-8")
    if _is_as_dumped(path, text):
        return
    try:
        module = parse_ir(text, str(path))
    except Exception as error:  # xDSL's, with the file and line in its message
        raise OverrideError(f"{path} cannot be read: {error}") from error
    present = from_fx(run.gm, run.stage, example_inputs=run.example_inputs)
    if same(module, present):
        return
    _check_signature(entry_graph(module), entry_graph(present), path, text)
    try:
        level = run.settings.verify
        verify(module, "types" if level == "structure" else level)
        to_fx(module, into=run.gm)
    except Exception as error:
        raise OverrideError(f"{path} cannot take the place of the graph: {error}") from error
    warn_once(
        OverrideWarning,
        f"{path}",
        f"the graph {path.stem} of this compile was taken from {path} (XDUCTOR_OVERRIDE)",
        stacklevel=2,
    )


def _is_as_dumped(path: Path, text: str) -> bool:
    """Whether a file is as `xductor capture` wrote it: it would undo what an earlier edit does."""
    index = path.with_name(INDEX)
    if not index.is_file():
        return False
    found: Any = json.loads(index.read_text(encoding="utf-8"))
    return found.get("digests", {}).get(path.name) == digest(text)


def _check_signature(found: GraphOp, wanted: GraphOp, path: Path, text: str) -> None:
    """Raise OverrideError for another stage, or if it does not take or give what it must."""
    head = _line(text, "fx.graph ")
    if found.stage != wanted.stage:
        wanted_stage, found_stage = wanted.stage.data, found.stage.data
        raise OverrideError(
            f"{path}:{head}: expected a graph of stage {wanted_stage}, found {found_stage}"
        )
    _check_types("input", _taken(found), _taken(wanted), f"{path}:{head}")
    tail = _line(text, "fx.output ")
    _check_types("result", _returned(found), _returned(wanted), f"{path}:{tail}")


def _check_types(what: str, found: list[Any], wanted: list[Any], where: str) -> None:
    if len(found) != len(wanted):
        raise OverrideError(f"{where}: expected {len(wanted)} {what}s, found {len(found)}")
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if str(one) != str(other):
            raise OverrideError(f"{where}: {what} {number}: expected {other}, found {one}")


def _taken(graph: GraphOp) -> list[Any]:
    return [one.type for one in graph.arguments]


def _returned(graph: GraphOp) -> list[Any]:
    (output,) = [op for op in graph.block.ops if isinstance(op, OutputOp)]
    return [one.type for one in output.operands]


def _line(text: str, word: str) -> int:
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if line.strip().startswith(word)), 1)


__all__ = ["OverrideError", "OverrideWarning", "take"]
