"""What the subcommands of ``xductor`` share: their parsers' type, and how they end in an error."""

from __future__ import annotations

import argparse

Subparsers = argparse._SubParsersAction  # the type of what `add_subparsers` returns


class CommandError(Exception):
    """The command cannot be carried out; the message is for the person who typed it."""
