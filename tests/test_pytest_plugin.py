"""The pytest plugin, used by tests as its users write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

# In processes of their own: torch cannot be imported twice in one.
REWRITES = """
import torch
import pytest
from xductor import Rewrite, Tensor
from xductor.ir import aten


class NegNeg(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor):
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor):
        return x


def f(x):
    return torch.sin(torch.neg(torch.neg(x)))

"""


def run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(REWRITES + test)
    return pytester.runpytest_subprocess(*options, "-p", "no:cacheprovider")


def test_nothing_of_torch_is_imported_for_tests_without_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_plain(request):
            assert request.config.pluginmanager.has_plugin("xductor")
            assert "torch" not in sys.modules
            assert "xdsl" not in sys.modules
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


FIXTURES = """
def test_capture(xductor_capture, xductor_filecheck):
    stages = xductor_capture(f, torch.randn(4), rewrites=[NegNeg])
    assert [call.stage for call in stages] == ["pre_grad", "joint", "post_grad"]
    joint = stages.one("joint")
    assert joint.before_text.count("aten.neg.default") == 2
    assert "aten.neg" not in joint.after_text
    xductor_filecheck(joint.after, '''
        CHECK: aten.sin.default
        CHECK-NOT: aten.neg
    ''')
    with pytest.raises(LookupError, match="0 calls of the post_grad backward stage"):
        stages.one("post_grad", "backward")


def test_backward_and_stock(xductor_capture):
    x = torch.randn(4, requires_grad=True)
    stages = xductor_capture(f, x, backend="inductor")
    assert [(call.stage, call.direction) for call in stages] == [
        ("pre_grad", "unknown"),
        ("joint", "joint"),
        ("post_grad", "forward"),
        ("post_grad", "backward"),
    ]
    assert "aten.cos.default" in stages.one("post_grad", "backward").after_text
    torch.testing.assert_close(stages.output, f(x))


def test_text(xductor_filecheck):
    xductor_filecheck("one two", "CHECK: one")
    xductor_filecheck("one two", "// CHECK: one\\n// CHECK-SAME: two")
    with pytest.raises(ValueError, match="no line has a CHECK"):
        xductor_filecheck("one two", "one")


def test_wrong_text(xductor_filecheck):
    xductor_filecheck("one two", "CHECK: three")


class Other(NegNeg):
    name = "neg_neg"


def test_once(xductor_fired, xductor_capture):
    xductor_capture(f, torch.randn(4), rewrites=[NegNeg])
    xductor_fired(NegNeg, 1)
    xductor_fired(NegNeg)
    xductor_fired("neg_neg", 1)
    xductor_fired(Other, 0)


def test_anew(xductor_fired):
    xductor_fired(NegNeg, 0)


def test_not_twice(xductor_fired, xductor_capture):
    xductor_capture(f, torch.randn(4), rewrites=[NegNeg])
    xductor_fired(NegNeg, 2)


def test_never(xductor_fired):
    xductor_fired("neg_neg")
"""


def test_fixtures(pytester: pytest.Pytester) -> None:
    """And what the documentation shows of them."""
    page = (Path(__file__).parents[1] / "docs/verify-in-your-tests.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(test_page="\n\n".join(blocks))
    result = run(pytester, FIXTURES)
    result.assert_outcomes(passed=6, failed=3)
    text = result.stdout.str()
    failed = [name for name in ("wrong_text", "not_twice", "never") if f"_ test_{name} _" in text]
    assert failed == ["wrong_text", "not_twice", "never"]
    result.stdout.fnmatch_lines(["*three*", "the text:", "one two"])
    result.stdout.fnmatch_lines(
        [
            "expected to be applied 2 times, found neg_neg 1 times; what fired: neg_neg 1",
            "*expected to be applied at least once, found neg_neg 0 times; what fired: nothing",
        ]
    )


VERIFY = """
def breaks(graph):
    (sin,) = graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    sin.meta["val"] = sin.meta["val"].to(torch.float64)

def compiled(hook):
    from torch._inductor import config
    from xductor.backend.run_as_fx.without_codegen import without_codegen

    torch._dynamo.reset()
    with config.patch(post_grad_custom_post_pass=hook), without_codegen():
        torch.compile(lambda x, y: torch.mm(torch.sin(x), y))(torch.eye(2), torch.eye(2))

def test_right():
    compiled(None)

def test_wrong():
    compiled(breaks)

@pytest.fixture
def wrong():
    compiled(breaks)

def test_with_a_wrong_fixture(wrong):
    pass
"""


def test_verify_fails_the_test_that_compiled_a_wrong_graph(pytester: pytest.Pytester) -> None:
    """Stock Inductor, with a hook that leaves a wrong dtype in the graph's metadata."""
    result = run(pytester, VERIFY, "--xductor-verify=types")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*_ test_wrong _*",
            "--xductor-verify=types: * wrong graph*",
            "out of the post_grad stage (*aten.sin.default*",
            "*_ test_with_a_wrong_fixture _*",
            "out of the post_grad stage (*aten.sin.default*",
            "xductor: * graphs verified at level types",
        ]
    )


def test_an_unknown_level_is_refused(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--xductor-verify=type")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid choice: 'type'*"])
