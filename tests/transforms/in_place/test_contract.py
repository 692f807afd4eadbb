"""The contract refuses rewrites that bring writes back otherwise than the functional graph says."""

from __future__ import annotations

import pytest
import torch
from xdsl.utils.exceptions import VerifyException

from xductor.ir import entry_graph, parse_ir, verify
from xductor.transforms.analysis.op_effects import Bodies
from xductor.transforms.in_place.contract import FunctionalContract

X, V, ROW = "!fx.tensor<f32[5, 4], cpu>", "!fx.tensor<f32[2, 4], cpu>", "!fx.tensor<f32[4], cpu>"
PART, LAST = "!fx.tensor<f32[2, 4], cpu, offset 4>", "!fx.tensor<f32[2, 4], cpu, offset 12>"
HEAD = f"(%x : {X}, %y : {X}, %v : {V}, %i : !fx.tensor<i64[2], cpu>)"

PUT = f"%r = aten.index_put.default %x, [%i], %v : {X}"
PUT_ = f"%r = aten.index_put_.default %x, [%i], %v : {X}"
BACK = f"%c = aten.copy_.default %x, %r : {X}"
EXP = f"%a = aten.exp.default %x : {X}"
OF_A, OF_A_ = (
    f"%r = aten.index_put.default %a, [%i], %v : {X}",
    f"%r = aten.index_put_.default %a, [%i], %v : {X}",
)


@torch.library.custom_op("contract_tests::two", mutates_args=("a", "b"))
def two(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    a.add_(c)
    b.mul_(2)


@two.register_fake
def _(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    return None


def _sin(of: str, name: str = "s", type_: str = X) -> str:
    return f"%{name} = aten.sin.default %{of} : {type_}"


def _call(bases: str, view: str = "", clone: str | None = None) -> str:
    said = "" if clone is None else f' {{only_clone = "{clone}"}}'
    return (
        f"%n, %p, %q = higher_order.auto_functionalized_v2 fn<torch.ops.contract_tests.two.default>"
        f", c = %v, _a_base_index = 0, {view}_b_base_index = 1, _all_bases = [{bases}]"
        f" : !fx.none, {X}, {X} as (*, *, *){said}"
    )


SLICED = "_a_slice_dim = 0, _a_slice_start = 1, _a_slice_end = 3, "
SLICE = f"%w = aten.slice.Tensor %x, 0, 1, 3 : {PART}"

WRONG: dict[str, tuple[list[str], list[str], str]] = {
    "the input is not copied back": (
        [PUT, _sin("r"), "fx.output (%s,)"],
        [PUT_, _sin("r"), "fx.output (%s,)"],
        "input 0 holds something else at the end",
    ),
    "the old content is read later": (
        [EXP, OF_A, _sin("a"), "fx.output (%s, %r)"],
        [EXP, OF_A_, _sin("a"), "fx.output (%s, %r)"],
        "result 0 holds something else",
    ),
    "a view of the old content is read later": (
        [SLICE, PUT, _sin("w", type_=V), BACK, "fx.output (%s,)"],
        [SLICE, PUT_, _sin("w", type_=V), "fx.output (%s,)"],
        "result 0 holds something else",
    ),
    "the result is the memory of an input": (
        [PUT, BACK, "fx.output (%r,)"],
        [PUT_, "fx.output (%r,)"],
        "result 0 has the storage",
    ),
    "two results have one memory": (
        [EXP, OF_A, "fx.output (%r, %r)"],
        [EXP, OF_A_, f"%k = aten.clone.default %r : {X}", "fx.output (%r, %k)"],
        "result 1 has the storage",
    ),
    "the old content is returned": (
        [EXP, OF_A, "fx.output (%a, %r)"],
        [EXP, OF_A_, "fx.output (%a, %r)"],
        "result 0 holds something else",
    ),
    "the input gets something else before the result is read": (
        [PUT, f"%c = aten.copy_.default %x, %y : {X}", _sin("r"), "fx.output (%s,)"],
        [PUT_, f"%c = aten.copy_.default %x, %y : {X}", _sin("r"), "fx.output (%s,)"],
        "result 0 holds something else",
    ),
    "a copy back is dropped that is of another value": (
        [PUT, f"%c = aten.copy_.default %x, %y : {X}", "fx.output ()"],
        [PUT_, "fx.output ()"],
        "input 0 holds something else at the end",
    ),
    "the write goes to another input": (
        [PUT, BACK, "fx.output ()"],
        [f"%r = aten.index_put_.default %y, [%i], %v : {X}", "fx.output ()"],
        "holds something else at the end",
    ),
    "other rows are written": (
        [f"%r = aten.slice_scatter.default %x, %v, 0, 1, 3 : {X}", BACK, "fx.output ()"],
        [f"%w = aten.slice.Tensor %x, 0, 3, 5 : {LAST}",
         f"%c = aten.copy_.default %w, %v : {LAST}", "fx.output ()"],
        "input 0 holds something else at the end",
    ),
    "rows that overlap are read after they were written": (
        [SLICE, f"%r = aten.slice_scatter.default %x, %v, 0, 0, 2 : {X}",
         _sin("w", type_=V), BACK, "fx.output (%s,)"],
        [SLICE, f"%u = aten.slice.Tensor %x, 0, 0, 2 : {V}",
         f"%c = aten.copy_.default %u, %v : {V}", _sin("w", type_=V), "fx.output (%s,)"],
        "result 0 holds something else",
    ),
    "a scatter into a part of a part writes the whole part": (
        [SLICE, f"%n = aten.select.int %v, 0, 0 : {ROW}",
         f"%q = aten.select_scatter.default %w, %n, 0, 0 : {V}",
         f"%r = aten.slice_scatter.default %x, %q, 0, 1, 3 : {X}", BACK, "fx.output ()"],
        [SLICE, f"%n = aten.select.int %v, 0, 0 : {ROW}",
         f"%c = aten.copy_.default %w, %n : {PART}", "fx.output ()"],
        "input 0 holds something else at the end",
    ),
    "two writes change places": (
        [PUT, f"%s = aten.slice_scatter.default %r, %v, 0, 1, 3 : {X}",
         f"%c = aten.copy_.default %x, %s : {X}", "fx.output ()"],
        [SLICE, f"%c = aten.copy_.default %w, %v : {PART}", PUT_, "fx.output ()"],
        "input 0 holds something else at the end",
    ),
    "what was accumulated is put": (
        [f"%r = aten.index_put.default %x, [%i], %v, true : {X}", BACK, "fx.output ()"],
        [PUT_, "fx.output ()"],
        "input 0 holds something else at the end",
    ),
    "the lists of a foreach change places": (
        [f"%a, %b = aten._foreach_add.List [%x, %y], [%y, %y] : {X}, {X}",
         f"%c = aten.copy_.default %x, %a : {X}", f"%d = aten.copy_.default %y, %b : {X}",
         "fx.output ()"],
        ["%n = aten._foreach_add_.List [%y, %x], [%y, %y] : !fx.none", "fx.output ()"],
        "holds something else at the end",
    ),
    "the results of a foreach are copied back crosswise": (
        [f"%a, %b = aten._foreach_mul.Scalar [%x, %y], 2.0 : {X}, {X}",
         f"%c = aten.copy_.default %x, %b : {X}", f"%d = aten.copy_.default %y, %a : {X}",
         "fx.output ()"],
        ["%n = aten._foreach_mul_.Scalar [%x, %y], 2.0 : !fx.none", "fx.output ()"],
        "holds something else at the end",
    ),
    "a call writes to an input that is not copied back": (
        [_call("%x, %y"), _sin("p"), "fx.output (%s,)"],
        [_call("%x, %y", clone="[1]"), _sin("p"), "fx.output (%s,)"],
        "input 0 holds something else at the end",
    ),
    "a call writes to what is read later": (
        [EXP, _call("%a, %y"), _sin("a"), "fx.output (%s, %q)"],
        [EXP, _call("%a, %y", clone="[1]"), _sin("a"), "fx.output (%s, %q)"],
        "result 0 holds something else",
    ),
    "a call writes to one tensor twice": (
        [EXP, _call("%a, %a"), "fx.output (%p, %q)"],
        [EXP, _call("%a, %a", clone="[]"), "fx.output (%p, %q)"],
        "holds something else",
    ),
    "the operator gets the whole instead of a part": (
        [EXP, _call("%a, %y", SLICED), "fx.output (%p, %q)"],
        [EXP, f"%k = aten.clone.default %y : {X}",
         "%n = contract_tests.two.default %a, %k, %v : !fx.none", "fx.output (%a, %k)"],
        "result 0 holds something else",
    ),
    "the arguments of the operator change places": (
        [EXP, _call("%a, %y"), "fx.output (%p, %q)"],
        [EXP, f"%k = aten.clone.default %y : {X}",
         "%n = contract_tests.two.default %k, %a, %v : !fx.none", "fx.output (%a, %k)"],
        "result 0 holds something else",
    ),
    "a random draw is gone": (
        ["%d = aten.rand.default [2, 4], dtype = f32, device = device<cpu> : " + V, PUT, BACK,
         "fx.output ()"],
        [PUT_, "fx.output ()"],
        "the other effects of the graph",
    ),
}  # fmt: skip

RIGHT: dict[str, tuple[list[str], list[str]]] = {
    "in place": ([PUT, _sin("r"), BACK, "fx.output (%s,)"], [PUT_, _sin("r"), "fx.output (%s,)"]),
    "read before": (
        [EXP, _sin("a"), OF_A, "fx.output (%s, %r)"],
        [EXP, _sin("a"), OF_A_, "fx.output (%s, %a)"],
    ),
    "an own copy": (
        [EXP, OF_A, _sin("a"), "fx.output (%s, %r)"],
        [EXP, f"%k = aten.clone.default %a : {X}",
         f"%r = aten.index_put_.default %k, [%i], %v : {X}", _sin("a"), "fx.output (%s, %r)"],
    ),
    "rows apart": (
        [SLICE, f"%r = aten.slice_scatter.default %x, %v, 0, 3, 5 : {X}",
         _sin("w", type_=V), BACK, "fx.output (%s,)"],
        [SLICE, f"%u = aten.slice.Tensor %x, 0, 3, 5 : {LAST}",
         f"%c = aten.copy_.default %u, %v : {LAST}", _sin("w", type_=V), "fx.output (%s,)"],
    ),
    "what was there is put back": (
        [SLICE, f"%r = aten.slice_scatter.default %x, %w, 0, 1, 3 : {X}", BACK, "fx.output ()"],
        ["fx.output ()"],
    ),
    "a call in place": (
        [EXP, _call("%a, %y"), "fx.output (%p, %q)"],
        [EXP, _call("%a, %y", clone="[1]"), "fx.output (%a, %q)"],
    ),
    "a call decomposed": (
        [EXP, _call("%a, %y", SLICED), "fx.output (%p, %q)"],
        [EXP, f"%k = aten.clone.default %y : {X}",
         f"%w = aten.slice.Tensor %a, 0, 1, 3 : {PART}",
         "%n = contract_tests.two.default %w, %k, %v : !fx.none", "fx.output (%a, %k)"],
    ),
}  # fmt: skip


def _graph(lines: list[str]) -> str:
    body = "\n".join(lines)
    return f"fx.graph @forward stage(post_grad) symbols() {HEAD} {{\n{body}\n}}"


def _problem(before: list[str], after: list[str]) -> str | None:
    module, other = parse_ir(_graph(before)), parse_ir(_graph(after))
    for one in (module, other):
        verify(one, "structure")
    contract = FunctionalContract(entry_graph(module), Bodies(module))
    assert contract.problem(entry_graph(module)) is None
    return contract.problem(entry_graph(other))


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_refused(name: str) -> None:
    before, after, said = WRONG[name]
    problem = _problem(before, after)
    assert problem is not None
    assert said in problem


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_is_not(name: str) -> None:
    assert _problem(*RIGHT[name]) is None


def test_the_error_names_the_pass_and_what_differs() -> None:
    before, after, said = WRONG["the input is not copied back"]
    module, other = parse_ir(_graph(before)), parse_ir(_graph(after))
    contract = FunctionalContract(entry_graph(module), Bodies(module))
    with pytest.raises(VerifyException, match=f"some_pass: .*{said}"):
        contract.check(entry_graph(other), "some_pass")
