"""The pytest plugin: fixtures to inspect what is compiled, and `--xductor-verify=LEVEL`.

It is loaded in every run of pytest wherever xductor is installed; torch is not imported before a
fixture or the option is used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xductor.backend.testing.captured_stages import Stages
    from xductor.backend.testing.verified_stages import VerifiedStages
    from xductor.transforms import Rewrite

LEVELS = ("structure", "types", "stage")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xductor")
    group.addoption(
        "--xductor-verify",
        choices=LEVELS,
        metavar="LEVEL",
        help="verify the graphs that go into and come out of each stage of every compile of the "
        "run, of stock Inductor too; LEVEL is structure, types or stage. A wrong graph fails the "
        "test that compiled it. What comes from a cache is not compiled.",
    )


def pytest_configure(config: pytest.Config) -> None:
    level = config.getoption("--xductor-verify")
    if level is not None:
        config.pluginmanager.register(_Verifying(level), "xductor-verifying")


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
