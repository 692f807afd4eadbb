"""The names of the graphs of a process, by which their dumps and overrides are called."""

from __future__ import annotations

import hashlib
import re
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from xductor.backend.stage_runs.stage_run import StageRun

#: The file beside dumps that lists them; `digests` tells which of them were edited.
INDEX = "index.json"


def digest(text: str) -> str:
    """What the index of a folder of dumps holds of the text of each."""
    return hashlib.sha256(text.encode()).hexdigest()


class GraphNumbers:
    """Numbers the graphs that Dynamo hands over; the stages of a graph share its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._contexts: dict[str, Callable[[], object]] = {}
        self._count = 0

    def number(self, run: StageRun) -> tuple[int, str]:
        """The number of the graph of a stage call, and Dynamo's id of its compile (`0/1` is the
        first recompile of frame 0).

        Without such an id, as in AOTInductor, a graph is known by the name of its compile.
        """
        from torch._guards import CompileContext

        ident = str(CompileContext.current_compile_id() or "")
        key = ident or run.record.graph
        # Ids start over after a reset: then another context compiles a forward under a known id.
        context = CompileContext.try_get()
        begins = run.stage == "pre_grad" and context is not None
        if begins and self._contexts.get(key, lambda: None)() is not context:
            self._contexts[key] = weakref.ref(context)
            self._numbers.pop(key, None)
        if key not in self._numbers:
            self._numbers[key] = self._count
            self._count += 1
        return self._numbers[key], ident


class GraphNames:
    """The names of stage calls: `000_joint`, `000_post_grad_backward`, `001_joint`."""

    def __init__(self) -> None:
        self._numbers = GraphNumbers()
        self._counts: Counter[str] = Counter()

    def name(self, run: StageRun) -> tuple[str, int, str]:
        """The name of a stage call, with its graph's number and Dynamo's id of its compile.

        To be asked once for each call: further calls of the same kind get a number behind it.
        """
        number, ident = self._numbers.number(run)
        name = f"{number:03d}_{run.stage}"
        if run.stage == "post_grad" and run.record.direction != "unknown":
            name += f"_{run.record.direction}"
        self._counts[name] += 1
        count = self._counts[name]
        return (name if count == 1 else f"{name}_{count}"), number, ident


def pass_file(number: int, name: str) -> str:
    """The name of the dump of a graph after a pass, the `number`-th that changed it in its stage.

    It lies in a folder with the name of the stage call.
    """
    return f"{number:02d}_{_plain(name)}.mlir"


def pass_files(folder: Path, name: str | None = None) -> list[Path]:
    """The dumps behind a pass, or behind any, in a folder of a stage call, in their order."""
    wanted = r".+" if name is None else re.escape(_plain(name))
    found = [
        (int(named[1]), path)
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (named := re.fullmatch(rf"([0-9]{{1,6}})_{wanted}\.mlir", path.name)) and path.is_file()
    ]
    return [path for _, path in sorted(found)]


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


__all__ = ["INDEX", "GraphNames", "GraphNumbers", "digest", "pass_file", "pass_files"]
