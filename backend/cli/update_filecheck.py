"""``xductor update-filecheck``: writes the CHECK lines of FileCheck tests from what they print."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from xductor.backend.cli.generated_checks import Chunk, Graph, chunks, graph_checks, text_checks
from xductor.backend.cli.run_lines import (
    Command,
    RunLineFailed,
    run_lines,
    run_pipeline,
    split_pipeline,
)

MARKER = "// NOTE: the checks are written by `xductor update-filecheck`; do not edit them."


class CannotUpdate(Exception):
    """A file whose checks this cannot write; the message says why."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of the subcommand."""
    parser = subparsers.add_parser(
        "update-filecheck",
        help="write the CHECK lines of FileCheck tests",
        description="Run the RUN lines of FileCheck tests and write CHECK lines for what they "
        "print. A file whose checks somebody wrote by hand is left alone, unless --force is given.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; fail if a file with written checks is out of date",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace checks that were written by hand"
    )


def run(options: argparse.Namespace) -> int:
    """Update or check the files; returns the exit status."""
    failed = False
    for path in options.files:
        try:
            failed |= _one(path, check=options.check, force=options.force)
        except (CannotUpdate, RunLineFailed, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            failed = True
    return int(failed)


def _one(path: Path, *, check: bool, force: bool) -> bool:
    """Update one file; True if it is out of date and was only to be checked."""
    text = path.read_text(encoding="utf-8")
    if check and MARKER not in text:
        return False
    made = updated(text, path, force=force)
    if made == text:
        return False
    if check:
        print(f"{path}: out of date; run: xductor update-filecheck {path}", file=sys.stderr)
        difference = difflib.unified_diff(
            text.splitlines(), made.splitlines(), str(path), "updated", lineterm=""
        )
        print("\n".join(difference), file=sys.stderr)
        return True
    path.write_text(made, encoding="utf-8")
    print(f"{path}: updated")
    return False


@dataclass(frozen=True)
class _Run:
    """A RUN line that ends in filecheck: its prefixes, and what filecheck reads."""

    prefixes: tuple[str, ...]
    chunks: list[Chunk]


def updated(text: str, path: Path, *, force: bool = False) -> str:
    """The text of a test with the checks that its RUN lines ask for.

    - `path`: where the text is, or is to be; `%S` is its folder.

    Raises:
        CannotUpdate: no RUN line ends in filecheck, checks were written by hand, or what is printed
            does not pass the checks made from it.
        RunLineFailed: a command before filecheck failed.
    """
    pipelines = [split_pipeline(line) for line in run_lines(text)]
    checked = [commands for commands in pipelines if commands[-1].words[0] == "filecheck"]
    if not checked:
        raise CannotUpdate("no RUN line ends in filecheck")
    prefixes = {prefix for commands in checked for prefix in _prefixes(commands[-1])}
    is_check = re.compile(rf"^\s*(?://|#)\s*(?:{'|'.join(map(re.escape, prefixes))})(?:-[\w-]+)?:")
    lines = text.split("\n")
    bare = [line for line in lines if not is_check.match(line)]
    if MARKER not in text and len(bare) != len(lines) and not force:
        raise CannotUpdate("its checks are written by hand; --force replaces them")
    bare = [line for line in bare if line != MARKER]
    while bare and not bare[-1].strip():
        bare.pop()
    split = any("--split-input-file" in command.words for run in checked for command in run)
    with tempfile.TemporaryDirectory(prefix="xductor-filecheck-") as folder:
        input_file = Path(folder) / path.name
        input_file.write_text("\n".join(bare), encoding="utf-8")
        runs = [_run(commands, input_file, path, split) for commands in checked]
        source = chunks("\n".join(bare), split=split)
        made = _with_checks(bare, source, runs, (f"{folder}/", f"{path.resolve().parent}/"))
        input_file.write_text(made, encoding="utf-8")
        for commands in checked:
            try:
                run_pipeline(_at(commands, path), input_file, f"{folder}/scratch")
            except RunLineFailed as error:
                raise CannotUpdate(f"its output does not pass its own checks: {error}") from error
    return made


def _prefixes(filecheck: Command) -> tuple[str, ...]:
    found: list[str] = []
    words = iter(filecheck.words)
    for word in words:
        name, equals, value = word.partition("=")
        if name.lstrip("-") in ("check-prefix", "check-prefixes"):
            found += (value if equals else next(words, "")).split(",")
    return tuple(filter(None, found)) or ("CHECK",)


def _at(commands: list[Command], path: Path) -> list[Command]:
    """The commands with `%S` for the folder of the test itself, not of the copy that is run."""
    folder = str(path.resolve().parent)
    return [
        Command(
            tuple(word.replace("%S", folder) for word in command.words),
            command.negated,
            command.merge_stderr,
        )
        for command in commands
    ]


def _run(commands: list[Command], input_file: Path, path: Path, split: bool) -> _Run:
    output = run_pipeline(_at(commands[:-1], path), input_file, f"{input_file.parent}/scratch")
    return _Run(_prefixes(commands[-1]), chunks(output, split=split, printed=True))


def _with_checks(
    lines: list[str], source: list[Chunk], runs: list[_Run], folders: tuple[str, ...]
) -> str:
    """The lines of a test with checks above each graph, and for other output behind its chunk."""
    before: dict[int, list[str]] = {}
    for number, chunk in enumerate(source):
        printed = [(run, _nth(run.chunks, number)) for run in runs]
        for index, graph in enumerate(chunk.graphs):
            occurrence = sum(one.name == graph.name for one in chunk.graphs[:index])
            found = [
                (run, None if one is None else _graph(one, graph.name, occurrence))
                for run, one in printed
            ]
            checks = _by_prefix(
                [(run, None if g is None else (g.head, *g.body)) for run, g in found],
                {id(run): g for run, g in found},
                graph,
            )
            before.setdefault(graph.line, []).extend(checks)
        rest = [
            (run, None if one is None or not one.rest else tuple(one.rest)) for run, one in printed
        ]
        end = chunk.last_line if number + 1 < len(source) else len(lines)
        before.setdefault(end, []).extend(_by_prefix(rest, None, folders))
    made: list[str] = []
    for number, line in enumerate(lines):
        made += [f"// {check}" for check in before.get(number, ())]
        made.append(line)
    if at_end := before.get(len(lines)):
        made += ["", *(f"// {check}" for check in at_end)]
    return "\n".join([*_marked(made), ""])


def _nth(items: list[Chunk], number: int) -> Chunk | None:
    return items[number] if number < len(items) else None


def _graph(chunk: Chunk, name: str, occurrence: int) -> Graph | None:
    found = [graph for graph in chunk.graphs if graph.name == name]
    return found[occurrence] if occurrence < len(found) else None


def _by_prefix(
    outputs: list[tuple[_Run, tuple[str, ...] | None]],
    graphs: dict[int, Graph | None] | None,
    context: Graph | tuple[str, ...],
) -> list[str]:
    """Checks under the first prefix of each run whose runs all print the same.

    Raises:
        CannotUpdate: a run prints what no prefix of it can stand for.
    """
    checks: list[str] = []
    done: set[int] = set()
    order = list(dict.fromkeys(prefix for run, _ in outputs for prefix in run.prefixes))
    for prefix in order:
        sharing = [(run, output) for run, output in outputs if prefix in run.prefixes]
        first_run, first = sharing[0]
        if any(output != first for _, output in sharing) or all(id(r) in done for r, _ in sharing):
            continue
        done.update(id(run) for run, _ in sharing)
        if first is None:
            continue
        if graphs is None:
            assert isinstance(context, tuple)
            checks += text_checks(first, prefix, context)
        else:
            assert isinstance(context, Graph)
            graph = graphs[id(first_run)]
            assert graph is not None
            checks += graph_checks(graph, context, prefix)
    for run, output in outputs:
        if output is not None and id(run) not in done:
            raise CannotUpdate(
                f"RUN lines with the prefixes {', '.join(run.prefixes)} print different text; "
                "give each a prefix of its own (--check-prefixes=CHECK,MINE)"
            )
    return checks


def _marked(made: list[str]) -> list[str]:
    """The text with the marker behind the RUN lines."""
    last = max(i for i, line in enumerate(made) if re.match(r"^\s*(?://|#)\s*RUN:", line))
    return [*made[: last + 1], MARKER, *made[last + 1 :]]
