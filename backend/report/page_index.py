"""The list of the pages in a folder, read from the pages themselves."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from xductor.backend.report.page import index_text
from xductor.backend.report.page_files import SUFFIX

INDEX = f"index{SUFFIX}"

#: The summary stands at the top of a page.
_HEAD = 1 << 16


def summaries(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The pages in a folder and what they say of themselves, by the time at which they began.

    Other files are left out, and so is a page that another process has only begun.
    Raises OSError if the folder cannot be read.
    """
    found: list[tuple[Path, dict[str, Any]]] = []
    for path in sorted(folder.iterdir()):
        if path.suffix == SUFFIX and path.name != INDEX:
            summary = _summary(path)
            if summary is not None:
                found.append((path, summary))
    return sorted(found, key=lambda page: page[1]["started"])


def write_index(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Write `index.html` with a link to each page in a folder; returns the pages.

    Raises OSError if that fails.
    """
    pages = summaries(folder)
    text = index_text([(path.name, summary) for path, summary in pages])
    (folder / INDEX).write_text(text, encoding="utf-8")
    return pages


def _summary(path: Path) -> dict[str, Any] | None:
    with path.open(encoding="utf-8", errors="replace") as file:
        parser = _Head()
        parser.feed(file.read(_HEAD))
    return parser.summary


class _Head(HTMLParser):
    """Finds the summary in the head of a page."""

    summary: dict[str, Any] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "meta" and given.get("name") == "xductor-report":
            self.summary = json.loads(given.get("content") or "null")


__all__ = ["INDEX", "summaries", "write_index"]
