"""The pytest plugin, used by tests as its users write them."""

from __future__ import annotations

import json
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


def test_inputs_by_keyword(xductor_capture):
    def scaled(x, *, by, scale=1.0):
        return f(x) * by * scale

    x = torch.randn(4)
    stages = xductor_capture(scaled, x, by=x, scale=2.0, rewrites=[NegNeg])
    torch.testing.assert_close(stages.output, scaled(x, by=x, scale=2.0))
    with pytest.raises(TypeError, match="rewrite"):
        xductor_capture(scaled, x, by=x, rewrite=[NegNeg])


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
    result.assert_outcomes(passed=7, failed=3)
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


def test_the_level_can_stand_in_the_ini_file(pytester: pytest.Pytester) -> None:
    """The command line goes before it."""
    pytester.makeini("[pytest]\nxductor_verify = types\n")
    run(pytester, VERIFY).assert_outcomes(passed=1, failed=2)
    run(pytester, VERIFY, "--xductor-verify=off").assert_outcomes(passed=3)


def test_an_unknown_level_in_the_ini_file_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nxductor_verify = type\n")
    result = pytester.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*xductor_verify: expected one of structure, types, stage, off, found 'type'"]
    )


# Products alone are computed by a library, so that no compiler runs.
COUNTS = """
import pytest
import torch
from dataclasses import dataclass
from xdsl.dialects.builtin import ModuleOp
from xductor import REASSOCIATES, Rewrite, Tensor
from xductor.ir import aten
from xductor.transforms import TypedPass
from xductor.transforms.analysis.graphs import graphs_of


class ChainOfProducts(Rewrite):
    stage = "joint"
    numerics = REASSOCIATES

    def pattern(self, x: Tensor, y: Tensor):
        return aten.mm(aten.mm(x, y), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mm(x, aten.mm(y, y))


@dataclass(frozen=True)
class SecondTransposeGone(TypedPass):
    name = "second_transpose_gone"
    stage = "joint"
    numerics = "exact"
    position = "first"
    roots = frozenset(("aten.permute.default",))

    def rewrite(self, module: ModuleOp) -> int:
        changed = 0
        for graph in graphs_of(module):
            for op in list(graph.body.block.ops):
                if op.name in self.roots and getattr(op.self_.owner, "name", "") in self.roots:
                    op.results[0].replace_all_uses_with(op.self_.owner.self_)
                    op.detach()
                    op.erase()
                    changed += 1
        return changed


def chain(x, y):
    return torch.mm(torch.mm(x.t().t(), y), y)


def run(*inputs, function=chain, rewrites=(ChainOfProducts, SecondTransposeGone)):
    options = {"xductor.rewrites": list(rewrites)}
    return torch.compile(function, backend="xductor", options=options)(*inputs)


X = torch.randn(4, 4)


def test_twice():
    run(X, X + 1)
    run(X, X + 1)


def test_once_more():
    run(X, X + 1)


@pytest.mark.parametrize("many", [1, 2])
def test_many(many):
    def several(x):
        return [chain(x, x + one) for one in range(many)]

    run(X, function=several, rewrites=[ChainOfProducts])


def test_none():
    run(X, function=torch.neg, rewrites=[])


def test_failing():
    run(X, X + 1)
    assert WORKS


WORKS = True
"""
INI = "[pytest]\nxductor_counts = counts.json\n"


def counts(
    pytester: pytest.Pytester, *options: str, text: str = COUNTS
) -> tuple[dict[str, int], str]:
    pytester.makepyfile(test_counts=text)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
    return result.parseoutcomes(), result.stdout.str()


def test_counts(pytester: pytest.Pytester) -> None:
    """They are recorded, hold in another run, and do not hold for other code."""
    pytester.makeini(INI)
    found, shown = counts(pytester, "--xductor-update-counts")
    assert found["passed"] == 6, shown
    assert "xductor: counts.json has other counts for 5 tests now" in shown
    file = pytester.path / "counts.json"
    both = {"chain_of_products": 1, "second_transpose_gone": 1}
    recorded = {
        "test_counts.py::test_failing": both,
        "test_counts.py::test_many[1]": {"chain_of_products": 1},
        "test_counts.py::test_many[2]": {"chain_of_products": 2},
        "test_counts.py::test_once_more": both,
        "test_counts.py::test_twice": both,
    }
    assert json.loads(file.read_text()) == recorded

    # With other tests before, and with results from caches.
    found, shown = counts(pytester, "-k", "once_more or many")
    assert found["passed"] == 3, shown

    changed = COUNTS.replace("x.t().t()", "x").replace("range(many)", "range(1)")
    changed = changed.replace("def test_once_more", "def test_other")
    found, shown = counts(pytester, text=changed)
    assert (found["passed"], found["failed"]) == (2, 4), shown
    assert "rewrites were not applied as often as counts.json says:" in shown
    assert "  second_transpose_gone: expected 1, found 0" in shown
    assert "  chain_of_products: expected 2, found 1" in shown
    assert "  chain_of_products: expected 0, found 1" in shown
    assert "pytest --xductor-update-counts" in shown

    # What fails is not recorded, what was not run stays, what is gone goes.
    changed = changed.replace("WORKS = True", "WORKS = False")
    found, shown = counts(pytester, "--xductor-update-counts", "-k", "not twice", text=changed)
    assert (found["passed"], found["failed"], found["deselected"]) == (4, 1, 1), shown
    del recorded["test_counts.py::test_once_more"]
    one = {"chain_of_products": 1}
    recorded |= {"test_counts.py::test_other": one, "test_counts.py::test_many[2]": one}
    assert json.loads(file.read_text()) == recorded


def test_counts_of_named_passes(pytester: pytest.Pytester) -> None:
    """Those of xductor too, and none of one's own that is not named."""
    pytester.makeini(INI + "xductor_counts_of = pointless_* chain_of_*\n")
    text = COUNTS.replace("(ChainOfProducts, SecondTransposeGone)", "[ChainOfProducts]")
    counts(pytester, "--xductor-update-counts", "-n", "2", text=text)
    recorded = json.loads((pytester.path / "counts.json").read_text())
    assert recorded["test_counts.py::test_twice"] == {
        "chain_of_products": 1,
        "pointless_permute_pair": 1,
    }


def test_counts_that_cannot_be_read_or_written(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--xductor-update-counts")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*put xductor_counts = FILE.json into the ini file*"])
    pytester.makeini(INI)
    for text, message in (("[", "no JSON"), ('{"test": 1}', "expected {*{*count}}")):
        (pytester.path / "counts.json").write_text(text)
        result = pytester.runpytest_subprocess()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*counts.json: {message}*"])
