"""The files of pages: one for each compile of each process, none of which overwrites another's."""

from __future__ import annotations

import os
from pathlib import Path
from weakref import WeakKeyDictionary

from xductor.backend.report.compile_data import CompileData
from xductor.backend.report.page import page_text

SUFFIX = ".html"

_written: WeakKeyDictionary[CompileData, Path] = WeakKeyDictionary()


def write_page(data: CompileData, folder: str | Path) -> Path:
    """Write the page of a compile, or write it anew; returns its path. The file is always whole.

    The name has the number of the process and of the compile in it. If another process has left a
    file of that name, on this or another machine, a number is added.

    Raises OSError if it cannot be written.
    """
    path = _written.get(data)
    if path is None or path.parent != Path(folder).absolute():
        path = _written[data] = _new_file(data, Path(folder).absolute())
    part = path.with_suffix(".part")
    part.write_text(page_text(data), encoding="utf-8")
    part.replace(path)
    return path


def _new_file(data: CompileData, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rank = "" if data.rank is None else f"rank{data.rank}-"
    base = f"compile-{rank}{data.process}-{data.number}"
    count = 1
    while True:
        path = folder / f"{base}{f'-{count}' if count > 1 else ''}{SUFFIX}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            return path
        except FileExistsError:
            count += 1


__all__ = ["SUFFIX", "write_page"]
