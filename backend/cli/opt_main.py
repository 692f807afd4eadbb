"""``xductor-opt``: parse text, run a pipeline of passes, verify between them, print.

Built on xDSL's driver, whose flags, pipeline syntax and own passes it keeps. It adds our Context
(ops are looked up one at a time in PyTorch's registry), our passes and ``--verify-level``.
"""

import argparse
import dataclasses
import difflib
import sys
from collections.abc import Sequence
from typing import IO, Literal, cast, get_args

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    UnregisteredConstructException,
)
from xdsl.xdsl_opt_main import xDSLOptMain

from xductor.ir.context import XductorContext
from xductor.ir.verifier import verify
from xductor.transforms.registry import passes_for_cli
from xductor.transforms.universe import UNIVERSE

VerifyLevel = Literal["structure", "types", "stage"]


class UsageError(Exception):
    """The command line asks for something that does not exist."""


class XductorOptMain(xDSLOptMain):
    """xDSL's driver over our Context and passes."""

    version_format = "xductor-opt on xdsl {xdsl_version}"

    def __init__(self, args: Sequence[str] | None = None) -> None:
        super().__init__(description="xductor's modular optimizer driver", args=args)

    def register_all_dialects(self) -> None:
        # The first hook xDSL's constructor calls after it has made a plain Context.
        self.ctx = XductorContext()
        known = {*self.ctx.registered_dialect_names, *UNIVERSE.all_dialects}
        for name, factory in Universe.get_multiverse().all_dialects.items():
            if name not in known:
                self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        super().register_all_passes()
        for name, factory in passes_for_cli().items():
            self.register_pass(name, factory)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.add_argument(
            "--verify-level",
            choices=get_args(VerifyLevel),
            default="structure",
            help="what is checked after parsing and after each pass: the form of every op and of "
            "the graph (structure, the default), every result type against PyTorch's own "
            "inference (types), the rules of the graph's stage (stage)",
        )

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        try:
            return super().prepare_input()
        except ValueError as error:  # no frontend reads such a file
            raise UsageError(f"{error}; name the format with --frontend") from error

    def setup_pipeline(self) -> None:
        self._refuse_unknown_passes()
        try:
            super().setup_pipeline()
        except ValueError as error:  # an option the pass does not have, or of another type
            raise UsageError(str(error)) from error
        if self.args.disable_verify:
            return
        level = cast(VerifyLevel, self.args.verify_level)
        xdsl_callback = self.pipeline.callback

        def callback(
            previous_pass: ModulePass | None, module: ModuleOp, next_pass: ModulePass | None
        ) -> None:
            try:
                verify(module, level=level)
                if xdsl_callback is not None:
                    xdsl_callback(previous_pass, module, next_pass)
            except DiagnosticException as error:
                if previous_pass is not None:
                    error.add_note(f"found after pass '{previous_pass.name}'")
                raise

        self.pipeline = dataclasses.replace(self.pipeline, callback=callback)

    def _refuse_unknown_passes(self) -> None:
        for spec in parse_pipeline(self.args.passes):
            if spec.name in self.available_passes:
                continue
            close = difflib.get_close_matches(spec.name, self.available_passes, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else "; --help lists the passes"
            raise UsageError(f"no pass is called '{spec.name}'{hint}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit status.

    What the input or the command line got wrong is one message on stderr and status 1. A traceback
    means that a pass, or xductor itself, failed.
    """
    try:
        XductorOptMain(args=argv).run()
    except (UsageError, ParseError, UnregisteredConstructException, ArgSpecParseError) as error:
        print(error, file=sys.stderr)
    except DiagnosticException as error:
        print(error, *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
    except OSError as error:
        print(f"xductor-opt: {error.filename}: {error.strerror}", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
