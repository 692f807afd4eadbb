"""MkDocs hooks: pages that are made while the site is built, and colours for our IR.

`make docs` runs them in the environment in which xductor is installed.
"""

from __future__ import annotations

from typing import Any

import pass_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from xductor.backend.cli.passes_page import page as passes_page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each pass."""
    for path, text in pass_pages.pages():
        made = File.generated(config, path, content=text)
        made.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(made)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Link the names in the table of passes to their pages."""
    if page.file.src_uri != "passes.md":
        return markdown
    return passes_page(pass_pages.linked)
