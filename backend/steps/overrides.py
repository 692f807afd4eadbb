"""Puts graphs that were dumped and edited back into a compile: `XDUCTOR_OVERRIDE=folder`.

`000_joint.before.mlir` in the folder takes the place of what goes into the joint stage of the first
graph of the process, `000_joint.after.mlir` of what comes out, and `000_joint/02_bmm_to_mm.mlir` of
what a pass made of it. They have the names and the form in which `xductor capture --passes` writes
them. Of a folder that it wrote only the files that were edited since count. Nothing is read from
caches or stored in them meanwhile.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from xdsl.utils.exceptions import ParseError

from xductor.backend.config.environment import override_folder
from xductor.backend.config.warn_once import warn_once
from xductor.backend.stage_runs.graph_names import INDEX, GraphNames, digest, pass_files
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import value_updates
from xductor.ir import GraphOp, OutputOp, entry_graph, parse_ir, same, verify

When = Literal["before", "after"]

_KEPT = "override"

#: The names of dumps, and of the folders of those behind each pass.
_NAMES = r"[0-9]{3,}_(pre_grad|joint|post_grad)(_[a-z]+)?(_[0-9]+)?(\.(before|after)\.mlir)?"


@dataclass
class _Call:
    """A stage call: its name, how often each pass changed its graph, and the files looked at."""

    name: str
    changed: Counter[str] = field(default_factory=Counter[str])
    seen: set[Path] = field(default_factory=set[Path])


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
        _warn_of_other_names(folder)
        with _lock:
            run.kept[_KEPT] = _Call(_names.setdefault(folder, GraphNames()).name(run)[0])
    call: _Call = run.kept[_KEPT]
    path = folder / f"{call.name}.{when}.mlir"
    if path.is_file() and (text := _edited(path, folder)) is not None:
        _take_from(path, text, run)
    if when == "after":
        _warn_of_unseen(folder, call)


def take_pass(run: StageRun, name: str) -> None:
    """Replace what the pass `name` has just made of the graph by what its file has, if it differs.

    A file stands for the pass in its name, the second of the same for the second time that this
    pass changes the graph: that other passes change it more or less often does not matter.

    Raises OverrideError like `take`.
    """
    folder = override_folder()
    call: _Call | None = run.kept.get(_KEPT)
    if folder is None or call is None:
        return
    call.changed[name] += 1
    paths = pass_files(folder / call.name, name)[call.changed[name] - 1 :]
    if not paths:
        return
    call.seen.add(paths[0])
    text = _edited(paths[0], folder)
    if text is None:
        return
    if run.group is not None:
        run.group.flush()
    if not run.degraded:
        _take_from(paths[0], text, run)
        value_updates.raised(run)


def _warn_of_unseen(folder: Path, call: _Call) -> None:
    for path in pass_files(folder / call.name):
        if path not in call.seen and _edited(path, folder) is not None:
            name = path.stem.partition("_")[2]
            close = get_close_matches(name, call.changed, n=1)
            hint = f"; did you mean {close[0]!r}?" if close and close[0] != name else ""
            _warn_of(path, f"no pass {name!r} changed the graph of {call.name} so often{hint}")


def _warn_of_other_names(folder: Path) -> None:
    """Warn of files and folders whose names no graph of any compile has."""
    for path in folder.iterdir():
        is_graph = path.suffix == ".mlir" or path.is_dir()
        if is_graph and re.fullmatch(_NAMES, path.name) is None:
            _warn_of(path, "graphs are called like 000_joint.before.mlir and 000_joint/01_dce.mlir")


def _warn_of(path: Path, why: str) -> None:
    warn_once(
        OverrideWarning,
        f"unseen {path}",
        f"{path} has no effect (XDUCTOR_OVERRIDE): {why}",
        stacklevel=2,
    )


def _take_from(path: Path, text: str, run: StageRun) -> None:
    from xductor.backend.fx.export import to_fx
    from xductor.frontend import from_fx

    try:
        module = parse_ir(text, str(path))
    except ParseError as error:  # xDSL's, with the file and line in its message
        raise OverrideError(f"{path} cannot be read: {error}") from error
    present = from_fx(run.gm, run.stage, example_inputs=run.example_inputs)
    if same(module, present):
        return
    _check_signature(entry_graph(module), entry_graph(present), path, text)
    try:
        level = run.verify_level
        verify(module, "types" if level == "structure" else level)
        to_fx(module, into=run.gm)
    except Exception as error:  # the file is the user's: it may hold any graph
        raise OverrideError(f"{path} cannot take the place of the graph: {error}") from error
    warn_once(
        OverrideWarning,
        f"{path}",
        f"the graph {_shown(path)} of this compile was taken from {path} (XDUCTOR_OVERRIDE)",
        stacklevel=2,
    )


def _shown(path: Path) -> str:
    """What a file stands for: `000_joint.before`, `000_joint/02_bmm_to_mm`."""
    return path.stem if path.stem.partition(".")[2] else f"{path.parent.name}/{path.stem}"


def _edited(path: Path, folder: Path) -> str | None:
    """The text of a file; None if it is as `xductor capture` wrote it.

    Such a file would undo what an earlier edit does.
    """
    text = _read(path)
    index = folder / INDEX
    if not index.is_file():
        return text
    try:
        found: Any = json.loads(_read(index))
    except json.JSONDecodeError as error:
        raise OverrideError(f"{index} is not as `xductor capture` wrote it: {error}") from error
    name = path.relative_to(folder).as_posix()
    return None if found.get("digests", {}).get(name) == digest(text) else text


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise OverrideError(f"{path} cannot be read: it is no text ({error})") from error


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


__all__ = ["OverrideError", "OverrideWarning", "take", "take_pass"]
