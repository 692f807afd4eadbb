"""Runs the `RUN:` lines of FileCheck tests inside this process.

A line is a pipeline of the commands `xductor-opt`, `xductor`, `filecheck` and `cat`, each
perhaps behind `not`, with `2>&1`, `%s` (the file), `%S` (its folder) and `%t` (a scratch
file). A line that ends in a backslash goes on in the next `RUN:` line. The files mean the same
under lit, which pays two processes a file.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(.*?)\s*$")
_OURS = re.compile(r"^\s*(?://|#)\s*RUN:.*\bxductor(?:-opt)?(?=\s|$)", re.MULTILINE)


def calls_ours(text: str) -> bool:
    """Whether a `RUN:` line calls `xductor-opt` or `xductor`."""
    return _OURS.search(text) is not None


def run_lines(text: str) -> list[str]:
    """The commands of a test file, continuation lines joined.

    Raises:
        ValueError: the last line is to be continued.
    """
    lines: list[str] = []
    unfinished = ""
    for line in text.splitlines():
        match = _RUN.match(line)
        if match is None:
            continue
        unfinished += match[1]
        if unfinished.endswith("\\"):
            unfinished = unfinished[:-1] + " "
        else:
            lines.append(unfinished)
            unfinished = ""
    if unfinished:
        raise ValueError("the last RUN line ends in a backslash")
    return lines


@dataclass(frozen=True)
class Command:
    """One command of a pipeline."""

    words: tuple[str, ...]
    negated: bool
    merge_stderr: bool


def split_pipeline(line: str) -> list[Command]:
    """Split a RUN line at its pipes.

    Raises:
        ValueError: the line uses shell syntax that is not known here.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&<>;")
    lexer.whitespace_split = True
    commands: list[Command] = []
    words: list[str] = []
    merge = False
    tokens = [*lexer, "|"]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "|":
            negated = words[:1] == ["not"]
            words = words[1:] if negated else words
            if not words:
                raise ValueError(f"an empty command in RUN line: {line}")
            commands.append(Command(tuple(words), negated, merge))
            words, merge = [], False
        elif token == "2" and tokens[at + 1 : at + 3] == [">&", "1"]:
            merge = True
            at += 2
        elif token and set(token) <= set("|&<>;"):
            raise ValueError(f"'{token}' is not supported in a RUN line: {line}")
        else:
            words.append(token)
        at += 1
    return commands


class RunLineFailed(Exception):
    """A command of a RUN line ended otherwise than the line says."""


def run_pipeline(commands: list[Command], path: Path, scratch: str, piped: str = "") -> str:
    """Run the commands of a line for the file `path`; what the last one printed.

    Raises:
        RunLineFailed: a command failed, or one behind `not` did not.
    """
    for part in commands:
        words = [substitute(word, path, scratch) for word in part.words]
        status, out, err = run_command(words, piped)
        if part.merge_stderr:
            out += err
        if (status != 0) != part.negated:
            raise RunLineFailed(
                f"{' '.join(part.words)}\nexit status {status}, "
                f"expected {'a failure' if part.negated else 'success'}\n"
                f"--- stdout\n{out}\n--- stderr\n{err}\n--- stdin\n{piped}"
            )
        piped = out
    return piped


def substitute(word: str, path: Path, scratch: str) -> str:
    """A word of a command with lit's names for files filled in."""
    return word.replace("%s", str(path)).replace("%S", str(path.parent)).replace("%t", scratch)


def run_command(words: list[str], stdin: str) -> tuple[int, str, str]:
    """Run one command in this process; returns exit status, stdout and stderr.

    Raises:
        ValueError: a command that RUN lines do not have.
    """
    out, err = io.StringIO(), io.StringIO()
    name, *arguments = words
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            match name:
                case "xductor-opt":
                    status = _opt(arguments, stdin)
                case "xductor":
                    status = _xductor(arguments, stdin)
                case "filecheck":
                    status = _filecheck(arguments, stdin)
                case "cat":
                    out.write("".join(Path(path).read_text() for path in arguments) or stdin)
                    status = 0
                case _:
                    raise ValueError(f"unknown command '{name}' in a RUN line")
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return status, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def _standard_input(text: str) -> Iterator[None]:
    real = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = real


def _opt(arguments: list[str], stdin: str) -> int:
    from xdsl.ir import Attribute
    from xdsl.utils.diagnostic import Diagnostic

    from xductor.backend.cli.opt import main

    # xDSL's --disable-verify and --syntax-highlight set these for the whole process.
    verify_attribute, colored = Attribute.__post_init__, Diagnostic.colored
    with _standard_input(stdin):
        try:
            return main.main(arguments)
        finally:
            Attribute.__post_init__ = verify_attribute
            Diagnostic.colored = colored


def _xductor(arguments: list[str], stdin: str) -> int:
    from xductor.backend.cli import main

    with _standard_input(stdin):
        return main.main(arguments)


def _filecheck(arguments: list[str], stdin: str) -> int:
    try:
        from filecheck.finput import FInput
        from filecheck.matcher import Matcher
        from filecheck.options import parse_argv_options
        from filecheck.parser import Parser
    except ModuleNotFoundError as error:
        raise RunLineFailed(
            "RUN lines need the package 'filecheck': pip install filecheck"
        ) from error

    options = parse_argv_options(["filecheck", *arguments])
    return Matcher(options, FInput("<stdin>", stdin), Parser.from_opts(options)).run()
