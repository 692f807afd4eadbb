"""Collects ``*.mlir`` files with ``RUN:`` lines and runs them inside this process.

A line is a pipeline of the commands ``xductor-opt``, ``filecheck`` and ``cat``, each perhaps
behind ``not``, with ``2>&1``, ``%s`` (this file), ``%S`` (its folder) and ``%t`` (a scratch file).
A line that ends in a backslash goes on in the next ``RUN:`` line. The files mean the same under
lit, which pays two processes a file.
"""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(.*?)\s*$")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if file_path.suffix == ".mlir":
        return MlirFile.from_parent(parent, path=file_path)
    return None


def run_lines(text: str) -> list[str]:
    """The commands of a test file, continuation lines joined."""
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


class MlirFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        lines = run_lines(self.path.read_text(encoding="utf-8"))
        if not lines:
            raise self.CollectError(f"{self.path}: no RUN: line")
        for index, line in enumerate(lines):
            yield RunLine.from_parent(self, name=f"run{index}", line=line)


class RunLineFailed(Exception):
    """A command of a RUN line ended otherwise than the line says."""


class RunLine(pytest.Item):
    def __init__(self, *, line: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.line = line

    def runtest(self) -> None:
        scratch = self.config.stash.setdefault(_SCRATCH, Scratch())
        piped = ""
        for part in split_pipeline(self.line):
            words = [self._substitute(word, scratch) for word in part.words]
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

    def _substitute(self, word: str, scratch: "Scratch") -> str:
        word = word.replace("%s", str(self.path)).replace("%S", str(self.path.parent))
        return word.replace("%t", scratch.file_for(self)) if "%t" in word else word

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, RunLineFailed):
            return f"{self.path}\nRUN: {self.line}\n\n{excinfo.value}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"RUN: {self.line}"


class Scratch:
    """Scratch files named ``%t``, removed with the session."""

    def __init__(self) -> None:
        import tempfile

        self._folder = tempfile.TemporaryDirectory(prefix="xductor-filecheck-")

    def file_for(self, item: RunLine) -> str:
        stem = re.sub(r"\W+", "_", str(item.path))
        return str(Path(self._folder.name) / stem)


_SCRATCH = pytest.StashKey[Scratch]()


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    negated: bool
    merge_stderr: bool


def split_pipeline(line: str) -> list[Command]:
    """Split a RUN line at its pipes.

    Raises:
        ValueError: the line uses shell syntax this collector does not know.
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


def run_command(words: list[str], stdin: str) -> tuple[int, str, str]:
    """Run one command in this process; returns exit status, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    name, *arguments = words
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            match name:
                case "xductor-opt":
                    status = _opt(arguments, stdin)
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


def _opt(arguments: list[str], stdin: str) -> int:
    from xdsl.ir import Attribute
    from xdsl.utils.diagnostic import Diagnostic

    from xductor.backend.cli import opt_main

    # xDSL's --disable-verify and --syntax-highlight set these for the whole process.
    verify_attribute, colored = Attribute.__post_init__, Diagnostic.colored
    real_stdin = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    try:
        return opt_main.main(arguments)
    finally:
        sys.stdin = real_stdin
        Attribute.__post_init__ = verify_attribute
        Diagnostic.colored = colored


def _filecheck(arguments: list[str], stdin: str) -> int:
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    options = parse_argv_options(["filecheck", *arguments])
    return Matcher(options, FInput("<stdin>", stdin), Parser.from_opts(options)).run()
