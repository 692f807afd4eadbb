"""`xductor.explain`: the nearest match, the first difference, and what would let it match."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

import xductor
from xductor import EXACT, Rewrite, Scalar, Tensor, in_order, no
from xductor.backend.explaining import Explanation, explain
from xductor.ir import aten, ops


class Attention(Rewrite):
    """Attention with a mask, its operands in one order."""

    stage = "joint"
    numerics = EXACT

    def pattern(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, s: Scalar) -> Any:
        scores = in_order(aten.add(aten.mul(aten.bmm(q, k), s), mask))
        return aten.bmm(aten._softmax(scores, -1, False), v)

    def where(self, q: Tensor) -> Any:
        return q.ndim == 3 and q.dtype == torch.float32

    def replacement(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, s: Scalar) -> Any:
        scores = aten.add(aten.mul(aten.bmm(q, k), s), mask)
        return aten.bmm(aten._softmax(scores, -1, False), v)


class ReluOfView(Rewrite):
    """Matches `view`, not what means the same."""

    stage = "joint"

    def pattern(self, x: Tensor, size: list[int]) -> Any:
        return aten.relu(aten.view(x, size))

    def replacement(self, x: Tensor, size: list[int]) -> Any:
        return aten.view(aten.relu(x), size)


class OneRow(Rewrite):
    """Refuses in each of the ways that `where` has."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.relu(x)

    def where(self, x: Tensor) -> Any:
        if x.ndim == 3:
            return no("three dims are one too many")
        return x.shape[0] == 4

    def replacement(self, x: Tensor) -> Any:
        return aten.relu(x)


class WrongSize(Rewrite):
    """Breaks a contract."""

    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.unsqueeze(x, 0)


def explained(
    rewrite: type[Rewrite],
    function: Callable[..., Any],
    *inputs: torch.Tensor,
    dynamic: bool = False,
) -> Explanation:
    mode = "symbolic" if dynamic else "fake"
    return explain(rewrite, make_fx(function, tracing_mode=mode)(*inputs))


def qkvm(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return [torch.randn(2, 4, 4, dtype=dtype) for _ in range(3)] + [torch.randn(4, 4, dtype=dtype)]


def attend(scores: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.bmm(torch.softmax(scores, -1), v)


def test_what_matches_is_listed_last() -> None:
    said = explained(Attention, lambda q, k, v, m: attend(torch.bmm(q, k) * 0.5 + m, v), *qkvm())
    (entry,) = said.matched
    assert entry.calls == entry.of == 5
    assert said.entries[-1] is entry
    assert str(said).splitlines()[-1].startswith("matched: %bmm_1 = aten.bmm.default")
    assert "aten.add(aten.mul(aten.bmm(q, k), s), mask)" in said.pattern


@pytest.mark.parametrize(
    ("function", "calls", "pattern", "graph", "remedy"),
    [
        pytest.param(
            lambda q, k, v, m: attend(m + torch.bmm(q, k) * 0.5, v),
            5,
            "aten.mul(aten.bmm(q, k), s)",
            "%m_1: !fx.tensor<f32[4, 4], cpu>, an input, in %add = aten.add.Tensor %m_1, %mul",
            "the operands of aten.add.Tensor in either order (no `in_order`)",
            id="operands exchanged",
        ),
        pytest.param(
            lambda q, k, v, m: attend(torch.bmm(q, k) / 2 + m, v),
            4,
            "aten.mul(aten.bmm(q, k), s)",
            "%div = aten.div.Tensor %bmm, 2",
            None,
            id="div for mul",
        ),
        pytest.param(
            lambda q, k, v, m: attend(torch.add(torch.bmm(q, k) * 0.5, m, alpha=2), v),
            5,
            "alpha = 1 of aten.add.Tensor (its default, which the pattern does not mention)",
            "2, in %add = aten.add.Tensor %mul, %m_1, alpha = 2",
            "alpha = 2 in aten.add",
            id="another alpha",
        ),
        pytest.param(
            lambda q, k, v, m: (lambda s: (attend(s * 0.5 + m, v), s))(torch.bmm(q, k)),
            5,
            "aten.bmm(q, k), with no user outside of the match",
            "fx.output (%bmm_1, %bmm)",
            "`shared` around aten.bmm, which fx.output uses too",
            id="another user",
        ),
    ],
)
def test_near_misses_of_attention(
    function: Any, calls: int, pattern: str, graph: str, remedy: str | None
) -> None:
    said = explained(Attention, function, *qkvm())
    nearest = said.near[0]
    assert not said.matched
    assert nearest.outcome == "near miss"
    assert nearest.root.startswith("%bmm_1 = aten.bmm.default %_softmax")
    assert nearest.calls == calls
    assert nearest.difference is not None
    assert nearest.difference.pattern == pattern
    assert nearest.difference.graph.startswith(graph)
    assert nearest.remedies == ((remedy,) if remedy else ())


def test_the_clause_of_where_that_says_no() -> None:
    said = explained(
        Attention, lambda q, k, v, m: attend(torch.bmm(q, k) * 0.5 + m, v), *qkvm(torch.float64)
    )
    nearest = said.near[0]
    assert nearest.outcome == "refused"
    assert "`where` says no: q.dtype == torch.float32 (" in nearest.reason
    assert __file__ in nearest.reason


def test_what_where_cannot_decide_and_what_it_says() -> None:
    relu = torch.relu
    said = explained(OneRow, relu, torch.randn(3, 4), dynamic=True)
    assert "cannot decide: not known whether s" in said.near[0].reason
    assert "not true that 3 == 4" in explained(OneRow, relu, torch.randn(3, 4)).near[0].reason
    assert (
        "three dims are one too many"
        in explained(OneRow, relu, torch.randn(1, 3, 4)).near[0].reason
    )


def test_the_spelling_that_would_match() -> None:
    x = torch.randn(4, 6)
    said = explained(ReluOfView, lambda x: torch.ops.aten._unsafe_view.default(x, [24]).relu(), x)
    assert said.near[0].remedies == ("looking through VIEW_OR_RESHAPE (`through`)",)


def test_the_contract_that_declined() -> None:
    said = explained(WrongSize, torch.neg, torch.randn(3))
    (entry,) = said.near
    assert entry.outcome == "declined"
    assert "expected sizes [3], found [1, 3]" in entry.reason


def test_nothing_near() -> None:
    said = explained(Attention, torch.sin, torch.randn(3))
    assert said.entries == ()
    assert "no op of the graphs is a root" in str(said)


def test_modules_with_several_graphs_are_left_as_they_are() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: -x, lambda x: -x.sin(), (x,))

    gm = make_fx(function, tracing_mode="fake")(torch.randn(3))
    module = xductor.from_fx(gm, "joint")
    before = xductor.print_ir(module)
    said = xductor.explain(WrongSize, module)
    assert len({entry.graph for entry in said.entries}) == 2
    assert xductor.print_ir(module) == before


def test_the_users_line_is_shown() -> None:
    seen: list[Explanation] = []

    def backend(gm: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        seen.append(explain(LinearOnly, gm, stage="pre_grad"))
        return gm.forward

    torch._dynamo.reset()
    torch.compile(lambda x: F.relu(x), backend=backend)(torch.randn(3))
    (entry,) = seen[0].near
    assert entry.location is not None
    assert entry.location[0] == __file__


class LinearOnly(Rewrite):
    """A rewrite of Python calls."""

    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        from xductor.ir.functions.op_functions import RawFunction

        return RawFunction("pyfn.torch.nn.functional.relu")(x, ...)

    def where(self) -> Any:
        return no("never")

    def replacement(self, x: Tensor) -> Any:
        return x


# Compiles.


def _scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return y + x * 2.0


class ScaledAdd(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor, y: Tensor, s: Scalar) -> Any:
        return in_order(aten.add(aten.mul(x, s), y))

    def replacement(self, x: Tensor, y: Tensor, s: Scalar) -> Any:
        return aten.add(y, x, alpha=s)


class ReluBeforeAutograd(Rewrite):
    stage = "pre_grad"

    def pattern(self, x: Tensor) -> Any:
        return ops.pyfn.torch.nn.functional.relu(x)

    def replacement(self, x: Tensor) -> Any:
        return ops.pyfn.torch.relu(x)


class GradientOfRelu(Rewrite):
    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.where(aten.le(x, 0), aten.full([], 0.0), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return aten.threshold_backward(y, x, 0)


class MulAfterNoOps(Rewrite):
    """Fires where the copy between the two is gone, and not before."""

    stage = "post_grad"

    def pattern(self, x: Tensor) -> Any:
        return aten.mul(aten.mul(x, 2.0), 3.0)

    def replacement(self, x: Tensor) -> Any:
        return aten.mul(x, 6.0)


def test_a_function_is_compiled_up_to_the_stage_of_the_rewrite() -> None:
    said = explain(ScaledAdd, _scaled, torch.ones(3), torch.ones(3))
    (entry,) = said.near
    assert "in either order" in entry.remedies[0]
    assert entry.location is not None
    assert entry.location[0] == __file__
    (matched,) = explain(ScaledAdd, lambda x, y: x * 2.0 + y, torch.ones(3), torch.ones(3)).matched
    assert "aten.add.Tensor" in matched.root


def test_a_stage_before_autograd() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    assert len(explain(ReluBeforeAutograd, model, torch.ones(2, 3)).matched) == 1
    assert explain(ScaledAdd, model, torch.ones(2, 3)).matched == []


def test_the_graphs_of_both_directions() -> None:
    x = torch.randn(3, requires_grad=True)
    assert explain(GradientOfRelu, torch.relu, x.detach()).matched == []
    assert len(explain(GradientOfRelu, lambda x: torch.relu(x), x).entries) > 0
    assert x.grad is None


def test_graphs_are_as_they_are_where_the_rewrite_runs() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x * 2.0).clone() * 3.0

    x = torch.randn(3)
    assert len(explain(MulAfterNoOps, function, x).matched) == 1
    assert explain(MulAfterNoOps, make_fx(function, tracing_mode="fake")(x)).matched == []


def test_a_pass_of_ours_by_its_name() -> None:
    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.tanh(q @ k.mT / 30.0) * 30.0, -1) @ v

    said = explain("fuse_attention", attend, *(torch.randn(1, 2, 4, 4) for _ in "qkv"))
    (entry,) = said.near
    assert entry.reason == "the scores go through pyfn.torch.tanh"


def test_what_is_given_stays_as_it_is() -> None:
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.ReLU(inplace=True))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = torch.random.get_rng_state()
    x = torch.randn(2, 3)
    kept = x.clone()
    explain(ScaledAdd, model, x)
    explain(ScaledAdd, lambda x: x.add_(torch.rand(3)), x)
    torch.testing.assert_close(x, kept)
    torch.testing.assert_close(dict(model.state_dict()), before)
    assert all(one.grad is None for one in model.parameters())
    torch.random.set_rng_state(state)


def test_several_times_the_same_function() -> None:
    """Each time it is compiled anew."""
    for _ in range(10):
        assert len(explain(ScaledAdd, _scaled, torch.ones(3), torch.ones(3)).near) == 1


def test_no_graph_of_the_stage() -> None:
    said = explain(ScaledAdd, lambda x: x, torch.ones(3))
    assert said.entries == ()
    assert "no graph of the joint stage" in str(said)


def test_inputs_by_keyword() -> None:
    """Also those that are called like an option of what compiles it; they stay as they are."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor, *, y: torch.Tensor, backend: float = 1.0, options: bool = False
        ) -> torch.Tensor:
            return (x * backend).add_(y) if options else x

    x, y = torch.ones(3), torch.ones(3)
    said = explain(ScaledAdd, Model(), x, y=y, backend=2.0, options=True)
    assert len(said.matched) + len(said.near) == 1
    assert explain(ScaledAdd, Model(), x, y=y).entries == ()
    torch.testing.assert_close(x, torch.ones(3))
    explain(ScaledAdd, lambda *, x: x.add_(1.0), x=x)
    torch.testing.assert_close(x, torch.ones(3))


def test_a_class_without_a_replacement_is_refused() -> None:
    made = xductor.pattern_from(lambda x: x.sin().cos(), torch.randn(4), name="SinCos")
    with pytest.raises(TypeError, match="SinCos has no `replacement`"):
        explain(made.rewrite, torch.sin, torch.ones(3))
    with pytest.raises(TypeError, match=r"give its `\.rewrite`"):
        explain(made, torch.sin, torch.ones(3))  # type: ignore[arg-type]


def test_a_module_of_the_ir_takes_no_inputs() -> None:
    module = xductor.from_fx(make_fx(_scaled)(torch.ones(3), torch.ones(3)), "joint")
    with pytest.raises(TypeError, match="takes no inputs"):
        explain(ScaledAdd, module, torch.ones(3))
    with pytest.raises(TypeError, match="takes no inputs"):
        explain(ScaledAdd, module, x=torch.ones(3))
