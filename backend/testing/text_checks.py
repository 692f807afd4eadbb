"""Runs FileCheck on the text of a module, in this process."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile

from xdsl.dialects.builtin import ModuleOp


class FileCheckFailed(AssertionError):
    """The text does not pass the checks; the message is FileCheck's."""


def filecheck(module_or_text: str | ModuleOp, checks: str, prefix: str = "CHECK") -> None:
    """Run FileCheck's checks on text, or on what a module prints.

    Raises:
        FileCheckFailed: If a check fails.
        ModuleNotFoundError: If the package `filecheck` is not installed.
        ValueError: If `checks` has no check.
    """
    try:
        from filecheck.finput import FInput
        from filecheck.matcher import Matcher
        from filecheck.options import parse_argv_options
        from filecheck.parser import Parser
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "checks on text need the package 'filecheck': pip install filecheck"
        ) from error
    if prefix not in checks:
        raise ValueError(f"no line has a {prefix}: {checks!r}")
    from xductor.ir import print_ir

    text = module_or_text if isinstance(module_or_text, str) else print_ir(module_or_text)
    out = io.StringIO()
    handle, path = tempfile.mkstemp(suffix=".checks")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(checks)
        options = parse_argv_options(["filecheck", path, "--check-prefix", prefix])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = Matcher(options, FInput("<text>", text), Parser.from_opts(options)).run()
    finally:
        os.unlink(path)
    if status:
        raise FileCheckFailed(f"{out.getvalue().rstrip()}\n\nthe text:\n{text}")


__all__ = ["FileCheckFailed", "filecheck"]
