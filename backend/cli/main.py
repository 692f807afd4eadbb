"""The `xductor` command: one module for each subcommand, imported when it is used.

A subcommand `name` is the module `xductor.backend.cli.commands.name` (with `_` for `-`). It has two
functions: `add_parser` adds its parser, with its arguments, to those of the command; `run` takes
the parsed arguments and returns the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

import xductor
from xductor.backend.cli.command import INTERRUPTED, CommandError, Subparsers

# Shown by `--help`, so that it imports none of the modules.
COMMANDS: dict[str, str] = {
    "demo": "compile a small GPT-2-like model and compare it with eager",
    "capture": "run a script and write each stage's graphs as text, before and after",
    "report": "run a script and write a page for each compile: graphs, passes, times",
    "check": "verify IR files, or all graphs that a script compiles",
    "run": "run a graph of a file on generated or given inputs",
    "diff": "compare the graphs of two files by structure",
    "tv": "compare two files by running them on many generated inputs",
    "validate": "run rewrites and passes on generated graphs",
    "prove": "prove rewrites for all sizes and bits, or refute them by an example",
    "passes": "the passes of the three stages, in order",
    "rewrite": "write a new rewrite with its tests, from a function if one is given",
    "reduce": "shrink a failing file of IR to a few ops",
    "bisect": "find the application of a rewrite that makes a script's result wrong",
}


class Subcommand(Protocol):
    """The functions that a subcommand's module has."""

    def add_parser(self, subparsers: Subparsers[argparse.ArgumentParser]) -> None:
        """Add the parser of the subcommand under its name."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Do the work and return the exit status."""
        ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except BrokenPipeError:  # the reader had enough, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CommandError as error:
        print(f"xductor: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("xductor: interrupted", file=sys.stderr)
        return INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["opt"]:
        from xductor.backend.cli.opt import main

        return main.main(arguments[1:])
    arguments, for_script = _split_script_arguments(arguments)
    asked = arguments[0] if arguments and arguments[0] in COMMANDS else None
    module = _module(asked) if asked is not None else None
    parser = _parser(module, asked)
    options = parser.parse_args(arguments)
    if for_script is not None:
        if not hasattr(options, "script_arguments"):
            parser.error("only the commands that run a script take arguments behind --")
        options.script_arguments = for_script
    if module is None:  # argparse left already, for a command that does not exist
        return 2
    _import(getattr(options, "imports", ()))
    return module.run(options)


def _import(names: Sequence[str]) -> None:
    """Import the modules given by `--import`."""
    if not names:
        return
    from xductor.backend.cli.opt import pass_plugins

    pass_plugins.load(names)


def _split_script_arguments(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """Split off the arguments after `--`, which are those of a user's script."""
    if "--" not in arguments:
        return arguments, None
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _module(name: str) -> Subcommand:
    return cast(Subcommand, import_module(f"xductor.backend.cli.commands.{name.replace('-', '_')}"))


def _parser(module: Subcommand | None, asked: str | None) -> argparse.ArgumentParser:
    """The parser with the arguments of the given command, and only the names of the others."""
    parser = argparse.ArgumentParser(
        prog="xductor", description="A typed intermediate IR for PyTorch compiler passes."
    )
    parser.add_argument("--version", action="version", version=f"xductor {xductor.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if module is not None and name == asked:
            module.add_parser(commands)
        else:
            commands.add_parser(name, help=summary)
    commands.add_parser(
        "opt", help="the same as xductor-opt: parse, run passes, verify, print", add_help=False
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
