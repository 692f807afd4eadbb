"""What the subcommands of `xductor` share: the type of their parsers, and their errors."""

from __future__ import annotations

import argparse

Subparsers = argparse._SubParsersAction  # the type of what `add_subparsers` returns

#: The exit status after Ctrl-C, as in shells.
INTERRUPTED = 130


def add_import_option(parser: argparse.ArgumentParser) -> None:
    """Add `--import`, for modules that register the operators named in IR text."""
    parser.add_argument(
        "--import",
        action="append",
        default=[],
        dest="imports",
        metavar="MODULE",
        help="import a module first (a name, or a path ending in .py), for the ops it registers",
    )


class CommandError(Exception):
    """The command cannot be carried out; the message is for the person who typed it."""
