"""Splits that are put together again and cats that are cut again: when neither is needed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xductor.ir import aten, parse_ir, prims
from xductor.transforms import Rewrite, Tensor
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.post_grad.cat_and_split import (
    CatSplitwithsizesReplace,
    SplitwithsizesCatReplace,
)
from xductor.transforms.rewriting.rewrite_pass import RewritePass
from xductor.transforms.validation.validate import validate

torch_aten = torch.ops.aten
X, Y = torch.randn(3, 4), torch.randn(2, 4)


def _cut(xs: list[Any], dim: int, sizes: list[int], along: int) -> Any:
    pieces = torch_aten.split_with_sizes(torch.cat(xs, dim), sizes, along)
    return [piece + 1 for piece in pieces]


@pytest.mark.parametrize(
    ("function", "applied"),
    [
        (lambda x, y: _cut([x, y], 0, [3, 2], 0), 1),
        (lambda x, y: _cut([x, y], -2, [3, 2], 0), 1),
        (lambda x, y: _cut([x, y, x], 0, [3, 2, 3], -2), 1),
        (lambda x, y: _cut([x, x], 1, [4, 4], 1), 1),
        (lambda x, y: _cut([x, y], 0, [2, 3], 0), 0),
        (lambda x, y: _cut([x, y], 0, [5], 0), 0),
        (lambda x, y: _cut([x, y], 0, [3, 1, 1], 0), 0),
        (lambda x, y: _cut([x, y[:1]], 0, [2, 2], 1), 0),
        (lambda x, y: _cut([x, y.double()], 0, [3, 2], 0), 0),
        (lambda x, y: _cut([torch.ones(0), x[0]], 0, [0, 4], 0), 1),
        (lambda x, y: _cut([torch.ones(0), x], 0, [0, 3], 0), 0),
    ],
)
def test_cut_at_the_seams(trace: Any, function: Any, applied: int) -> None:
    case = trace(function, X, Y)
    assert case.run(CatSplitwithsizesReplace) == applied
    case.check_values(X, Y)


def test_pieces_that_nobody_reads_do_not_matter(trace: Any) -> None:
    case = trace(lambda x, y: _cut([x, y], 0, [3, 2], 0)[1], X, Y)
    assert case.run(CatSplitwithsizesReplace) == 1
    assert "aten.cat.default" not in case.ops
    case.check_values(X, Y)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: torch_aten.split_with_sizes(torch.cat([x, y]), [3, 2])[0],
        lambda x, y: torch_aten.split_with_sizes(torch.cat([x + 1, y]), [3, 2]),
        lambda x, y: (c := torch.cat([x, y]), torch_aten.split_with_sizes(c, [3, 2])[0] + 1),
        lambda x, y: [p.add_(1) for p in torch_aten.split_with_sizes(torch.cat([x, y]), [3, 2])],
    ],
    ids=["an output would be an input", "two outputs share storage", "another user", "written"],
)
def test_what_somebody_could_see_stays(trace: Any, function: Any) -> None:
    case = trace(function, X.clone(), Y.clone())
    assert case.run(CatSplitwithsizesReplace) == 0
    case.check_values(X.clone(), Y.clone())


def _joined(x: Any, sizes: list[int], dim: int, along: int, order: Any = None) -> Any:
    pieces = torch_aten.split_with_sizes(x, sizes, dim)
    return torch.cat([pieces[k] for k in order or range(len(pieces))], along) + 1


@pytest.mark.parametrize(
    ("function", "applied"),
    [
        (lambda x: _joined(x, [1, 2], 0, 0), 1),
        (lambda x: _joined(x, [1, 2], 0, -2), 1),
        (lambda x: _joined(x, [0, 4], -1, 1), 1),
        (lambda x: _joined(x, [3], 0, 0), 1),
        (lambda x: _joined(x, [1, 2], 0, 0, (1, 0)), 0),
        (lambda x: _joined(x, [1, 1, 1], 0, 1), 0),
        (lambda x: _joined(x, [1, 2], 0, 0, (0,)), 0),
        (lambda x: _joined(x, [2, 2], 1, 1, (0, 1, 1)), 0),
    ],
)
def test_put_together_again(trace: Any, function: Any, applied: int) -> None:
    case = trace(function, X)
    assert case.run(SplitwithsizesCatReplace) == applied
    case.check_values(X)


def test_what_was_put_together_is_no_alias(trace: Any) -> None:
    case = trace(lambda x: torch.cat(torch_aten.split_with_sizes(x, [1, 2])), X)
    assert case.run(SplitwithsizesCatReplace) == 0  # the output would be the input
    case.check_values(X)


@pytest.mark.parametrize("one", [CatSplitwithsizesReplace, SplitwithsizesCatReplace])
def test_they_are_validated(one: type[Rewrite]) -> None:
    found = validate(one, instances=12, rounds=2)
    assert found.status == "validated", str(found)


SYMBOLIC = """
fx.graph @forward stage(post_grad) symbols(s0 : int [1, int_oo], s1 : int [1, int_oo]) (
    %x : !fx.tensor<f32[s0, 4], cpu>, %y : !fx.tensor<f32[s1, 4], cpu>) {{
  %c = aten.cat.default [%x, %y], 0 : !fx.tensor<f32[s0 + s1, 4], cpu>
  %n = aten.sym_size.int %x, 0 : !fx.symint<s0>
  %m = aten.sym_size.int %y, 0 : !fx.symint<s1>
  %p, %q = aten.split_with_sizes.default %c, [%{sizes}], 0
      : !fx.tensor<f32[{first}, 4], cpu>, !fx.tensor<f32[{second}, 4], cpu>
  %u = aten.sin.default %p : !fx.tensor<f32[{first}, 4], cpu>
  %v = aten.sin.default %q : !fx.tensor<f32[{second}, 4], cpu>
  fx.output (%u, %v)
}}
"""


@pytest.mark.parametrize(
    ("sizes", "first", "second", "applied"),
    [("n, %m", "s0", "s1", 1), ("m, %n", "s1", "s0", 0)],
)
def test_symbolic_seams(sizes: str, first: str, second: str, applied: int) -> None:
    module = parse_ir(SYMBOLIC.format(sizes=sizes, first=first, second=second))
    assert RewritePass.of([CatSplitwithsizesReplace]).rewrite(module) == applied


class Halves(Rewrite):
    """Results of any number, of which each is made anew."""

    stage = "joint"

    def pattern(self, x: Tensor, size: int, dim: int) -> Any:
        return aten.split(x, size, dim)

    def replacement(self, x: Tensor, size: int, dim: int) -> Any:
        return [aten.clone(piece) for piece in aten.split(x, size, dim)]


def test_a_replacement_of_too_few_results_is_refused(trace: Any) -> None:
    class TooFew(Halves):
        def replacement(self, x: Tensor, size: int, dim: int) -> Any:
            return aten.split(x, size, dim)[:1]

    case = trace(lambda x: [p + 1 for p in torch.split(x, 1)], X)
    with pytest.raises(Exception, match="`replacement` gives 1 values for 3 outputs"):
        RewritePass.of([TooFew]).rewrite(case.module)


def test_a_list_is_returned_alone() -> None:
    def pattern(self: Any, x: Tensor, size: int) -> Any:
        return aten.split(x, size), aten.sin(x)

    def replacement(self: Any, x: Tensor) -> Any:
        return x

    members = {"pattern": pattern, "replacement": replacement, "__module__": __name__}
    with pytest.raises(PatternError, match="such a call is returned alone"):
        type("Mixed", (Halves,), members)


def test_a_wrong_one_is_refuted_with_a_script_that_runs() -> None:
    pytest.importorskip("z3")
    from xductor.transforms.proving.prover import prove

    class Promotes(CatSplitwithsizesReplace):
        def where(self, xs: list[Tensor], dim: int, sizes: list[int], along: int) -> Any:
            if len(xs) != 2 or len(sizes) != 2 or any(x.ndim != 1 for x in xs):
                return False
            return (xs[0].shape[0] == sizes[0]) & (xs[1].shape[0] == sizes[1])

        def replacement(self, xs: list[Tensor]) -> Any:
            return [prims.convert_element_type(x, x.dtype) for x in xs]

    found = prove(Promotes, seconds=20)
    assert found.status == "refuted", str(found)
    script = found.counter_example.script  # type: ignore[union-attr]
    with pytest.raises(AssertionError):
        exec(script, {})  # noqa: S102
