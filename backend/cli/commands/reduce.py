"""`xductor reduce`: shrinks a file of IR that makes something fail."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import ArgSpecParseError, ParseError

from xductor.backend.cli.command import INTERRUPTED, add_import_option
from xductor.backend.cli.opt import pass_plugins
from xductor.backend.reduce import predicates, reducer
from xductor.ir import parse_ir, print_ir
from xductor.ir.symbolic.symbol_values import NoSample
from xductor.ir.verification.verifier import LEVELS

_EPILOG = """\
A command is interesting if it exits with status 0; it runs in a shell, and {} is the file to look
at. Examples:

  xductor reduce bad.mlir --test '! xductor-opt {} -p my_pass'
  xductor reduce bad.mlir --pass pointless_view --fails values
  xductor reduce bad.mlir --fails verify --verify-level types
"""


Plugins = dict[str, pass_plugins.PassFactory]


class UsageError(Exception):
    """The command line asks for something impossible."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of the subcommand."""
    parser = subparsers.add_parser(
        "reduce",
        help="shrink a failing file of IR to a few ops",
        description="Shrink a file of IR as long as it shows a failure.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the IR that fails; - is standard input")
    what = parser.add_argument_group("the failure: a command, or a kind of failure of passes")
    what.add_argument("--test", metavar="COMMAND", help="shell command; {} is the file")
    what.add_argument(
        "--timeout", type=float, default=60, help="seconds a command may take (default 60)"
    )
    what.add_argument("--pass", dest="passes", metavar="PIPELINE", default="", help="the passes")
    what.add_argument("--fails", choices=("verify", "crash", "values"))
    what.add_argument("--verify-level", choices=LEVELS, default="types", help="default: types")
    what.add_argument("--rtol", type=float, help="relative tolerance of --fails values")
    what.add_argument("--atol", type=float, help="absolute tolerance of --fails values")
    parser.add_argument(
        "--load-pass-plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module (a name, or a path ending in .py) for its passes and ops",
    )
    add_import_option(parser)
    parser.add_argument("-o", "--output", help="where the result goes; default: standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing on the way")


def run(options: argparse.Namespace) -> int:
    """Reduce the file and return the exit status."""
    interesting: reducer.Interesting | None = None
    try:
        plugins = pass_plugins.load(options.load_pass_plugin)  # the text may name ops of theirs
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text()
        module = parse_ir(text, options.file)
        if options.output is not None:
            with Path(options.output).open("a"):  # before the work, not behind it
                pass
        interesting = _test(options, module, plugins)
        result, done = _reduce(module, interesting, options)
    except reducer.NotInteresting as error:
        told = f": {interesting.last}" if isinstance(interesting, CommandTest) else ""
        print(f"xductor reduce: {error}{told}", file=sys.stderr)
        return 1
    except UnicodeDecodeError as error:
        print(f"xductor reduce: {options.file}: not a text file ({error.reason})", file=sys.stderr)
        return 1
    except (
        UsageError,
        predicates.DoesNotFail,
        NoSample,
        pass_plugins.PluginError,
        ParseError,
        ArgSpecParseError,
    ) as error:
        print(f"xductor reduce: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"xductor reduce: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    if options.output is None:
        print(result, end="")
    else:
        Path(options.output).write_text(result)
    if not done:
        return INTERRUPTED
    if interesting(parse_ir(result)):
        return 0
    print(
        "xductor reduce: asked again, the test does not find the result interesting: it gives "
        "different answers for the same file, and what it was reduced to means little",
        file=sys.stderr,
    )
    return 1


def _reduce(
    module: ModuleOp, interesting: reducer.Interesting, options: argparse.Namespace
) -> tuple[str, bool]:
    reduction = reducer.Reduction(module, interesting)
    before = reduction.ops
    if not options.quiet:
        reduction.on_progress = lambda now: print(
            f"{now.ops} ops after {now.tests} tests", file=sys.stderr
        )
    try:
        reduction.run()
    except KeyboardInterrupt:
        print("xductor reduce: interrupted; this is the smallest so far", file=sys.stderr)
        return print_ir(reduction.module), False
    text = print_ir(reduction.module)
    parse_ir(text)
    if not options.quiet:
        print(
            f"{before} ops -> {reduction.ops} ops, {reduction.tests} tests, "
            f"{reduction.seconds:.1f} s",
            file=sys.stderr,
        )
    return text, True


def _test(
    options: argparse.Namespace, module: ModuleOp, plugins: Plugins
) -> Callable[[ModuleOp], bool]:
    if (options.test is None) == (options.fails is None):
        raise UsageError("give one of --test COMMAND and --fails KIND")
    if options.test is not None:
        if "{}" not in options.test:
            raise UsageError("--test: the command must name the file as {}")
        return CommandTest(options.test, options.timeout)
    passes = _passes(options, plugins)
    if not passes and options.fails != "verify":
        raise UsageError(f"--fails {options.fails} needs --pass PIPELINE")
    match options.fails:
        case "crash":
            return predicates.Crashes.on(module, passes)
        case "verify":
            return predicates.Refused.on(module, passes, options.verify_level)
        case _:
            return predicates.ValuesDiffer.on(module, passes, rtol=options.rtol, atol=options.atol)


def _passes(options: argparse.Namespace, plugins: Plugins) -> tuple[ModulePass, ...]:
    from xductor.backend.cli.opt.main import available_passes

    passes = available_passes() | plugins
    try:
        return PassPipeline.parse_spec(passes, options.passes).passes
    except ValueError as error:
        raise UsageError(str(error)) from error


class CommandTest:
    """A shell command that exits with 0 for interesting files.

    `last` says how it ended for the last file.
    """

    def __init__(self, command: str, timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self.last = ""

    def __call__(self, module: ModuleOp) -> bool:
        with tempfile.TemporaryDirectory(prefix="xductor-reduce-") as folder:
            path = Path(folder) / "candidate.mlir"
            path.write_text(print_ir(module))
            command = self._command.replace("{}", shlex.quote(str(path)))
            try:
                done = subprocess.run(
                    command, shell=True, capture_output=True, timeout=self._timeout, check=False
                )
            except subprocess.TimeoutExpired:
                self.last = f"the command took more than {self._timeout:g} s (--timeout)"
                return False
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            self.last = ": ".join([f"the command ended with status {done.returncode}", *said])
            return done.returncode == 0
