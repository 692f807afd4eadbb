"""Runs a user's script under xductor, for the subcommands that look at what it compiles."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType

from xductor.backend.cli.command import CommandError
from xductor.backend.config import cache_keys
from xductor.backend.records import stage_records
from xductor.backend.seam import dispatch
from xductor.backend.stage_runs import stage_watch


def add_script_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a script is compiled; its own arguments follow `--`."""
    parser.set_defaults(script_arguments=[])
    parser.add_argument(
        "--no-codegen",
        action="store_true",
        help="run the graphs as FX after the post-grad stage, which is quicker than to compile "
        "kernels for them",
    )


def check_readable(path: str) -> None:
    """Raise CommandError if a script cannot be read."""
    if os.path.isdir(path):
        raise CommandError(f"{path} is a directory; expected a Python script")
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        raise CommandError(f"{path}: no script that can be read ({error.strerror})") from error


def run_script(
    path: str,
    arguments: Sequence[str],
    watcher: stage_watch.StageWatcher | None = None,
    *,
    codegen: bool = True,
) -> int:
    """Run a script as `python path arguments` would, with our stages in each of its compiles.

    Nothing is read from caches, so every stage of every compile runs, and `watcher`, if there is
    one, is called for it. Returns the script's exit status; its exceptions are printed as Python
    would.

    Raises CommandError if the file cannot be read.
    """
    check_readable(path)
    with ExitStack() as stack:
        stack.enter_context(_installed(codegen))
        if watcher is not None:
            stack.enter_context(stage_watch.watching(watcher))
        stack.enter_context(stage_records.record())  # so that records have the details
        return run_as_main(path, arguments)


def run_as_main(path: str, arguments: Sequence[str]) -> int:
    """Run a script as `python path arguments` would and return its exit status."""
    with _as_main(path, arguments):
        return _status(path)


@contextmanager
def _installed(codegen: bool) -> Iterator[None]:
    from torch._functorch import config as functorch_config
    from torch._inductor import config

    from xductor.backend.run_as_fx.without_codegen import without_codegen

    dispatch.install()
    try:
        with ExitStack() as stack:
            # Not `force_disable_caches`: it warns, and disables what Dynamo learns about sizes.
            stack.enter_context(config.patch(fx_graph_cache=False, fx_graph_remote_cache=False))
            stack.enter_context(functorch_config.patch(enable_autograd_cache=False))
            stack.enter_context(cache_keys.out_of_caches())  # in the script's threads too
            if not codegen:
                stack.enter_context(without_codegen())
            yield
    finally:
        dispatch.uninstall()


@contextmanager
def _as_main(path: str, arguments: Sequence[str]) -> Iterator[None]:
    argv, search = sys.argv, list(sys.path)
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, search


def _status(path: str) -> int:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as leaving:
        return _exit_status(leaving.code)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return 130
    except BaseException as error:  # the script is the user's
        _print(error, path)
        return 1
    finally:
        if not sys.stdout.closed:
            sys.stdout.flush()
    return 0


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _print(error: BaseException, path: str) -> None:
    """Print a traceback that begins in the script, as Python's would."""
    frame: TracebackType | None = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != path:
        frame = frame.tb_next
    # Without a frame of the script, it could not be read as Python.
    traceback.print_exception(type(error), error, frame)
