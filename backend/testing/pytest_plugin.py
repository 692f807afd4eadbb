"""The pytest plugin: fixtures to inspect what is compiled, and checks of a whole run.

It is loaded in every run of pytest wherever xductor is installed; torch is not imported before a
fixture or an option is used. `.mlir` files with `RUN:` lines are collected by `filecheck_files`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xductor.backend.records.stage_records import StageRecord
    from xductor.backend.testing.captured_stages import Stages
    from xductor.backend.testing.recorded_counts import CountsFile
    from xductor.backend.testing.verified_stages import VerifiedStages
    from xductor.transforms import Rewrite

LEVELS = ("structure", "types", "stage")
OFF = "off"

pytest_plugins = ("xductor.backend.cli.filecheck_files",)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xductor")
    group.addoption(
        "--xductor-verify",
        choices=(*LEVELS, OFF),
        metavar="LEVEL",
        help="verify the graphs that go into and come out of each stage of every compile of the "
        "run, of stock Inductor too; LEVEL is structure, types, stage or off. A wrong graph fails "
        "the test that compiled it. What comes from a cache is not compiled.",
    )
    group.addoption(
        "--xductor-update-counts",
        action="store_true",
        help="record how often rewrites are applied in the tests that run and pass, in the file "
        "that the ini option xductor_counts names",
    )
    parser.addini("xductor_verify", "the level of --xductor-verify if it is not given", default="")
    parser.addini(
        "xductor_counts",
        "a JSON file, from the folder of the ini file: how often rewrites are applied in each "
        "test. A test in which they are applied otherwise fails",
        default="",
    )
    parser.addini(
        "xductor_counts_of",
        "the rewrites and passes to count, as names or patterns such as silu_*; by default all "
        "that are no part of xductor",
        type="args",
    )


def pytest_configure(config: pytest.Config) -> None:
    level = config.getoption("--xductor-verify") or config.getini("xductor_verify") or OFF
    if level not in (*LEVELS, OFF):
        known = ", ".join((*LEVELS, OFF))
        raise pytest.UsageError(f"xductor_verify: expected one of {known}, found {level!r}")
    if level != OFF:
        config.pluginmanager.register(_Verifying(level), "xductor-verifying")
    if (counts := _counts_file(config)) is not None:
        config.pluginmanager.register(_Counting(config, counts), "xductor-counting")


def _counts_file(config: pytest.Config) -> CountsFile | None:
    from xductor.backend.testing.recorded_counts import CountsFile, NoCounts

    name = config.getini("xductor_counts")
    if not name:
        if config.getoption("--xductor-update-counts"):
            raise pytest.UsageError(
                "--xductor-update-counts: no file is named; put xductor_counts = FILE.json into "
                "the ini file of pytest"
            )
        return None
    folder = config.rootpath if config.inipath is None else config.inipath.parent
    try:
        return CountsFile(folder / name, name)
    except NoCounts as error:
        raise pytest.UsageError(f"xductor_counts: {error}") from error


class _Verifying:
    """What the option adds to a run."""

    def __init__(self, level: Any) -> None:
        self.level = level
        self.stack = ExitStack()
        self.stages: VerifiedStages | None = None
        self.left: list[str] = []

    def pytest_sessionstart(self) -> None:
        from xductor.backend.testing.verified_stages import verifying

        self.stages = self.stack.enter_context(verifying(self.level))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.stack.close()
        assert self.stages is not None
        self.left = self.stages.take()  # compiled after the last test
        if self.left:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None]:
        """Fail the test for what it compiled, and its fixtures before it."""
        assert self.stages is not None
        try:
            yield
        finally:
            problems = self.stages.take()
        if problems:
            raise pytest.fail.Exception(self._text(problems), pytrace=False)

    def _text(self, problems: list[str]) -> str:
        many = "s" * (len(problems) > 1)
        first = f"--xductor-verify={self.level}: {len(problems)} wrong graph{many}"
        return "\n\n".join([first, *problems])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.stages is not None and self.stages.graphs:
            terminalreporter.write_line(
                f"xductor: {self.stages.graphs} graphs verified at level {self.level}"
            )
        if self.left:
            terminalreporter.write_line(self._text(self.left))


class _Counting:
    """What the ini option `xductor_counts` adds to a run.

    A test is found different, or its counts are reported, where it runs; the file is written by
    the process that hears of all tests, which with pytest-xdist is another one.
    """

    def __init__(self, config: pytest.Config, counts: CountsFile) -> None:
        self.config = config
        self.counts = counts
        self.updates = bool(config.getoption("--xductor-update-counts"))
        self.patterns: list[str] = config.getini("xductor_counts_of")
        self.collected: set[str] = set()
        self.changed: int | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Count what the test itself compiles, with nothing that is compiled before."""
        from xductor.backend.records import stage_records

        _forget_compiled()
        with stage_records.record(detailed=False, cached=True) as records:
            yield
        self._compare(item, records)

    def _compare(self, item: pytest.Item, records: list[StageRecord]) -> None:
        from xductor.backend.testing.recorded_counts import counts_of

        found = counts_of(records, self.patterns)
        if self.updates:
            item.user_properties.append((_COUNTS, found))
        elif difference := self.counts.difference(item.nodeid, found):
            raise pytest.fail.Exception(difference, pytrace=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            found = dict(report.user_properties).get(_COUNTS)
            if isinstance(found, dict):
                self.counts.found[report.nodeid] = found

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.collected.update(item.nodeid for item in items)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.collected.update(item.nodeid for item in items)

    def pytest_sessionfinish(self) -> None:
        if self.updates and not hasattr(self.config, "workerinput"):
            self.changed = self.counts.update(self.collected if self._collects_whole() else None)

    def _collects_whole(self) -> bool:
        """Whether the files that were collected were collected with all of their tests."""
        chosen = any("::" in argument for argument in self.config.args)
        return bool(self.collected) and not chosen and not self.config.getoption("lf", False)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.changed is not None:
            terminalreporter.write_line(
                f"xductor: {self.counts.shown} has other counts for {self.changed} tests now"
                if self.changed
                else f"xductor: {self.counts.shown} is as it was"
            )


_COUNTS = "xductor_counts"


def _forget_compiled() -> None:
    """What an earlier test compiled would not be compiled, and not be counted."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()


@pytest.fixture
def xductor_capture() -> Callable[..., Stages]:
    """`xductor_capture(function, *inputs, backend=, rewrites=, ...)`: the graphs of the stages.

    See `xductor.backend.testing.captured_stages.capture`.
    """
    from xductor.backend.testing.captured_stages import capture

    return capture


@pytest.fixture
def xductor_filecheck() -> Callable[[str | ModuleOp, str], None]:
    """`xductor_filecheck(module_or_text, checks)`: run FileCheck's `CHECK:` lines on the text.

    The lines of `checks` may begin with `//` or not. Fails with FileCheck's message.
    """
    from xductor.backend.testing.text_checks import FileCheckFailed, filecheck

    def check(module_or_text: str | ModuleOp, checks: str) -> None:
        __tracebackhide__ = True
        try:
            filecheck(module_or_text, checks)
        except FileCheckFailed as error:
            pytest.fail(str(error), pytrace=False)

    return check


@pytest.fixture
def xductor_fired() -> Iterator[Callable[..., None]]:
    """`xductor_fired(MyRewrite, times)`: assert how often it was applied since the test began.

    A rewrite or pass is given as a class or by name; without `times`, at least once is enough.
    """
    from xductor.backend.records import stage_records
    from xductor.backend.records.fired_rewrites import times_fired

    with stage_records.record() as records:

        def fired(rewrite: type[Rewrite] | Rewrite | str, times: int | None = None) -> None:
            __tracebackhide__ = True
            found, text = times_fired(records, rewrite)
            if found != times if times is not None else not found:
                wanted = "at least once" if times is None else f"{times} times"
                pytest.fail(f"expected to be applied {wanted}, found {text}", pytrace=False)

        yield fired
