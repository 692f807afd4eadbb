"""`xductor-opt`: parse text, run a pipeline of passes, verify between them, print.

Built on xDSL's driver, whose flags, pipeline syntax and own passes it keeps. It adds our Context
(ops are looked up one at a time in PyTorch's registry), our passes, `--verify-level`, and what
compiler engineers know from mlir-opt: printing around passes, statistics, timing, debug counters,
expected errors, plugins. What these flags print goes to stderr.
"""

import argparse
import difflib
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO
from typing import IO, Literal, cast, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.frontend.mlir import MLIRFrontend
from xdsl.passes import PassPipeline
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    UnregisteredConstructException,
)
from xdsl.xdsl_opt_main import xDSLOptMain

from xductor.backend.cli.command import INTERRUPTED
from xductor.backend.cli.opt import arguments, pass_errors, pass_plugins
from xductor.backend.cli.opt.expected_diagnostics import Expected, compare, expectations
from xductor.backend.cli.opt.infer_types import InferTypes
from xductor.backend.cli.opt.pass_listeners import PrintIR, TimePasses, count_ops, op_stats
from xductor.backend.explaining import explain
from xductor.ir import GraphOp, XductorContext, verify
from xductor.ir.module_parser import parse_text
from xductor.ir.text.printing import Locations, definitions, printing_locations
from xductor.transforms import Rewrite, TypedPass
from xductor.transforms.passes import debug_counters
from xductor.transforms.passes.instrumentation import InstrumentedPipeline, PassListener
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rows.registry import passes_for_cli, rows
from xductor.transforms.rows.universe import UNIVERSE

VerifyLevel = Literal["structure", "types", "stage"]


class UsageError(Exception):
    """The command line asks for something that does not exist."""


class UnmetExpectations(Exception):
    """There were errors that no comment expects, or expected ones did not come."""


class TextFrontend(MLIRFrontend):
    """The text format, as `parse_ir` reads it."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        implicit = not self.no_implicit_module
        return parse_text(ctx, input.read(), input_name, implicit_module=implicit)


def available_passes() -> dict[str, pass_plugins.PassFactory]:
    """Every pass that a pipeline may name: xDSL's, those of its plugins, and ours."""
    own: dict[str, pass_plugins.PassFactory] = {InferTypes.name: lambda: InferTypes}
    return Universe.get_multiverse().all_passes | passes_for_cli() | own


class XductorOptMain(xDSLOptMain):
    """xDSL's driver over our Context and passes."""

    version_format = "xductor-opt on xdsl {xdsl_version}"

    def __init__(self, args: Sequence[str] | None = None) -> None:
        given = sys.argv[1:] if args is None else args
        self._plugins = pass_plugins.load(arguments.plugins(given))
        self._expected: list[Expected] = []
        self._errors: list[Exception] = []
        self._checks_expected = False
        self._failed = False
        self._counts_before, self._counts_after = Counter[str](), Counter[str]()
        self.timing: TimePasses | None = None
        self.counters = debug_counters.Counters()
        self._explained: list[type[Rewrite | TypedPass] | str] = []
        super().__init__(description="xductor's modular optimizer driver", args=args)

    def register_all_dialects(self) -> None:
        # The first hook that xDSL's constructor calls after making a plain Context.
        self.ctx = XductorContext()
        known = {*self.ctx.registered_dialect_names, *UNIVERSE.all_dialects}
        for name, factory in Universe.get_multiverse().all_dialects.items():
            if name not in known:
                self.ctx.register_dialect(name, factory)

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        self.available_frontends[TextFrontend.name] = lambda: TextFrontend

    def register_all_passes(self) -> None:
        for name, factory in (available_passes() | self._plugins).items():
            self.register_pass(name, factory)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arguments.add(arg_parser, get_args(VerifyLevel))

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        try:
            chunks, extension = super().prepare_input()
        except ValueError as error:  # no frontend reads such a file
            raise UsageError(f"{error}; name the format with --frontend") from error
        # Each chunk follows as many empty lines as there are lines before it, so that places in
        # it are places in the file.
        texts = [(b"\n" * offset + chunk.read()) for chunk, offset in chunks]
        for text in texts:
            try:
                text.decode()
            except UnicodeDecodeError as error:
                raise UsageError(
                    f"{self.get_input_name()}: not a text file ({error.reason})"
                ) from error
        if self.args.verify_diagnostics:
            self._checks_expected = any(expectations(_decoded(text)) for text in texts)
        return [(BytesIO(text), 0) for text in texts], extension

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        if self._checks_expected:
            text = chunk.read()
            chunk = BytesIO(text)
            self._expected += expectations(_decoded(text))
        try:
            with self._phase("parse"):
                return super().parse_chunk(chunk, file_extension, start_offset)
        except ParseError as error:
            if not self._checks_expected:
                raise
            self._errors.append(error)
            return None

    def apply_passes(self, prog: ModuleOp) -> None:
        self._failed = False
        if self.args.print_op_stats:
            self._counts_before.update(count_ops(prog))
        self._say_of_stages(prog)
        try:
            super().apply_passes(prog)
        except DiagnosticException as error:
            if not self._checks_expected:
                raise
            self._errors.append(error)
            self._failed = True
            return
        if self.args.print_op_stats:
            self._counts_after.update(count_ops(prog))
        for one in self._explained:
            print(explain(one, prog), file=sys.stderr)

    def _say_of_stages(self, module: ModuleOp) -> None:
        """Say of passes that they are for graphs of other stages, and so do nothing here."""
        stages = {graph.stage.data for graph in module.ops if isinstance(graph, GraphOp)}
        for spec in self._specs():
            found = self.available_passes[spec.name]()
            if not issubclass(found, TypedPass) or not stages:
                continue
            wanted = stages_of(found)
            if stages.isdisjoint(wanted):
                here = f"{self.get_input_name()} has graphs of the {' and '.join(sorted(stages))}"
                wrong = f"xductor-opt: {spec.name} is for {' and '.join(wanted)} graphs"
                print(f"{wrong}; {here} stage", file=sys.stderr)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        if self._failed:
            return ""
        with self._phase("print"), printing_locations(self._locations) as aliases:
            return super().output_resulting_program(prog) + definitions(aliases)

    @property
    def _locations(self) -> Locations:
        if self.args.location_aliases:
            return "aliases"
        return not self.args.no_locations

    def run(self) -> None:
        locations = printing_locations(not self.args.no_locations)
        with debug_counters.counting(self.counters), locations:
            super().run()
        if self.args.print_op_stats:
            print(op_stats(self._counts_before, self._counts_after), file=sys.stderr)
        if self.timing is not None:
            print(self.timing.table(), file=sys.stderr)
        if self.args.print_debug_counters:
            print(debug_counters.report(self.counters), file=sys.stderr)
        if self._checks_expected:
            complaints = compare(self._expected, self._errors, self.get_input_name())
            if complaints:
                raise UnmetExpectations("\n".join(complaints))

    def setup_pipeline(self) -> None:
        self._refuse_unknown_passes()
        try:
            passes = PassPipeline.parse_spec(self.available_passes, self.args.passes).passes
        except ValueError as error:  # an option that the pass does not have, or of another type
            raise UsageError(str(error)) from error
        self.counters = self._debug_counters()
        self._explained = [pass_plugins.rewrite_or_pass_named(name) for name in self.args.explain]
        if self.args.time_passes:
            self.timing = TimePasses()
        self.pipeline = InstrumentedPipeline(
            passes,
            listeners=tuple(self._listeners()),
            check=None if self.args.disable_verify else self._check,
            check_each=self.args.verify_each,
        )

    def _listeners(self) -> list[PassListener]:
        args = self.args
        # xDSL's --print-between-passes prints the IR between two passes.
        between = args.print_between_passes and [one.name for one in self._specs()[:-1]]
        after = None if args.print_ir_after_all else [*args.print_ir_after, *(between or ())]
        before = None if args.print_ir_before_all else args.print_ir_before
        listeners: list[PassListener] = [
            PrintIR(
                before,
                after,
                args.print_ir_after_change,
                args.print_ir_after_failure,
                self._locations,
            )
        ]
        return listeners if self.timing is None else [self.timing, *listeners]

    def _check(self, module: ModuleOp) -> None:
        verify(module, level=cast(VerifyLevel, self.args.verify_level))
        for op in module.ops:
            if not isinstance(op, GraphOp):
                op.verify()

    def _debug_counters(self) -> debug_counters.Counters:
        if not self.args.debug_counter:
            return debug_counters.active()
        counters = debug_counters.parse(",".join(self.args.debug_counter))
        for name in counters:
            if name != debug_counters.TOTAL and name not in self.available_passes:
                raise UsageError(f"--debug-counter: {self._unknown_pass(name)}")
        return counters

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext() if self.timing is None else self.timing.phase(name)

    def _specs(self) -> list[ArgSpec]:
        return list(parse_pipeline(self.args.passes))

    def _refuse_unknown_passes(self) -> None:
        named = [*self.args.print_ir_before, *self.args.print_ir_after]
        for name in [*(spec.name for spec in self._specs()), *named]:
            if name not in self.available_passes:
                raise UsageError(self._unknown_pass(name))

    def _unknown_pass(self, name: str) -> str:
        row = next((row for row in rows() if row.name == name), None)
        if row is not None:
            return pass_plugins.not_here(row)
        close = difflib.get_close_matches(name, self.available_passes, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else "; --help lists the passes"
        return f"no pass is called '{name}'{hint}"


def _decoded(text: bytes) -> str:
    return text.decode(errors="replace")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver and return the exit status.

    An error in the input or the command line gives one message on stderr and status 1. A traceback
    means that a pass, or xductor itself, failed; that of a pass begins in the pass.
    """
    try:
        XductorOptMain(args=argv).run()
    except (
        UsageError,
        UnmetExpectations,
        pass_plugins.PluginError,
        debug_counters.CounterError,
        ParseError,
        UnregisteredConstructException,
        ArgSpecParseError,
    ) as error:
        print(error, file=sys.stderr)
    except DiagnosticException as error:
        print(error, *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
    except OSError as error:
        print(f"xductor-opt: {error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("xductor-opt: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # of a pass: shown from its frames on; all others are raised
        within = pass_errors.frames_of_pass(error)
        if within is None:
            raise
        traceback.print_exception(type(error), error, within)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
