"""Which ops are a group: what their options mean, what keeps ops apart, and what it costs."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from tests.specimens.group_specimens import fbgemm_as_a_loop
from xductor.backend.fx.export import to_fx
from xductor.ir import entry_graph, parse_ir, verify
from xductor.transforms.groups.batch_linear_post_grad import BatchLinearPostGrad
from xductor.transforms.groups.group_linear import GroupLinear
from xductor.transforms.groups.post_grad_pointwise import BatchAtenAdd, BatchAtenMul, BatchAtenTanh
from xductor.transforms.rewriting import legality
from xductor.transforms.rewriting.contracts import Declined

TWO: dict[str, Any] = {"min_fuse_set_size": 2}


def _count(case: Any, name: str) -> int:
    return sum(op == name for op in case.ops)


def _close(case: Any, function: Any, *given: torch.Tensor) -> None:
    """With the graph verified, and outputs that share no storage."""
    verify(case.module, "types")
    found = to_fx(case.module)(*[one.clone() for one in given])
    wanted = function(*[one.clone() for one in given])
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)
        assert one.stride() == other.stride()
    storages = [one.untyped_storage().data_ptr() for one in found if one.numel()]
    assert len(set(storages)) == len(storages)


def test_values_are_those_of_each(trace: Any, special: Any) -> None:
    """NaN, infinities, -0.0 and denormals; empty tensors and those of one element."""
    for sizes in ((3, 5), (0, 4), (1,), (), (1, 1, 2)):

        def function(x: Any) -> Any:
            return (*(torch.tanh(x + n) for n in range(3)), torch.tanh(x).sum())

        given = special(*sizes) if sizes else torch.tensor(-0.0)
        case = trace(function, given, stage="post_grad")
        assert case.run(BatchAtenTanh(**TWO)) == 1
        assert _count(case, "aten.tanh.default") == 1
        case.check_values(given)


def test_members_above_one_another_are_levels(trace: Any) -> None:
    """Those above which equally many stand are independent, and the next level finds them fused."""

    def function(x: Any) -> Any:
        rows = [x[n] for n in range(4)]
        for _ in range(3):
            rows = [torch.tanh(row * 2) for row in rows]
        return (torch.stack(rows).sum(),)

    given = torch.randn(4, 5)
    case = trace(function, given, stage="post_grad")
    assert case.run(BatchAtenTanh(**TWO)) == 3
    assert _count(case, "aten.tanh.default") == 3
    _close(case, function, given)


def test_groups_that_depend_on_each_other_across(trace: Any) -> None:
    """a before d, b before c: a with b leaves c with d, a with c nothing."""

    def function(x: Any) -> Any:
        a, b = torch.tanh(x), torch.tanh(x + 1)
        c, d = torch.tanh(b * 2), torch.tanh(a * 3)
        return ((a + c).sum() + (b + d).sum(),)

    given = torch.randn(4, 5)
    for depth in range(1, 8):
        case = trace(function, given, stage="post_grad")
        assert case.run(BatchAtenTanh(**TWO, max_fuse_search_depth=depth)) >= 1
        assert _count(case, "aten.tanh.default") >= 2
        _close(case, function, given)


def test_the_sizes_of_groups(trace: Any) -> None:
    def function(x: Any) -> Any:
        return (torch.stack([torch.tanh(x + n) for n in range(7)]).sum(),)

    given = torch.randn(4, 5)
    for options, groups, left in (
        ({}, 1, 1),
        ({"min_fuse_set_size": 8}, 0, 7),
        ({"min_fuse_set_size": 2, "max_fuse_set_size": 3}, 2, 3),
        ({"min_fuse_set_size": 1, "max_fuse_set_size": 3}, 3, 3),
    ):
        case = trace(function, given, stage="post_grad")
        assert case.run(BatchAtenTanh(**options)) == groups
        assert _count(case, "aten.tanh.default") == left
        _close(case, function, given)


def test_how_far_a_consumer_looks(trace: Any) -> None:
    def function(x: Any) -> Any:
        a, b = (torch.tanh(x + n).sin().cos() for n in range(2))
        return (a + b,)

    given = torch.randn(4, 5)
    for depth, groups in ((2, 0), (3, 1), (5, 1)):
        case = trace(function, given, stage="post_grad")
        assert case.run(BatchAtenTanh(**TWO, max_fuse_search_depth=depth)) == groups


def test_the_same_parent_and_the_same_users(trace: Any) -> None:
    def function(x: Any) -> Any:
        tanhs = [torch.tanh(x + 1), torch.tanh(x * 2), torch.tanh(x * 3)]
        return (torch.stack(tanhs).sum(),)

    given = torch.randn(4, 5)
    for options, left in ((TWO, 1), ({**TWO, "fuse_nodes_with_same_parent": True}, 2)):
        case = trace(function, given, stage="post_grad")
        assert case.run(BatchAtenTanh(**options)) == 1
        assert _count(case, "aten.tanh.default") == left

    def products(x: Any) -> Any:
        a, b, c = (x @ (x + n) for n in range(3))
        return (torch.stack([a.sin(), b.sin(), c.cos()]).sum(),)

    given = torch.randn(4, 4)
    for options, left in ((TWO, 0), ({**TWO, "fuse_nodes_with_same_users": True}, 1)):
        case = trace(products, given, stage="post_grad")
        assert case.run(BatchLinearPostGrad(**options)) == 1
        assert _count(case, "aten.mm.default") == left
        _close(case, products, given)


def test_sums_of_rows_of_one_tensor(trace: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        rows = [one.select(0, n) for one in (x * 2, y * 2) for n in range(2)]
        return (torch.stack([row + x[0] for row in rows]).sum(),)

    given = torch.randn(2, 3), torch.randn(2, 3)
    for options, groups in ((TWO, 1), ({**TWO, "fuse_nodes_with_same_parent": True}, 2)):
        case = trace(function, *given, stage="post_grad")
        assert case.run(BatchAtenAdd(**options)) == groups
        _close(case, function, *given)


def test_an_offset_is_no_part_of_the_form(trace: Any) -> None:
    """Rows of one tensor begin elsewhere, and are of one form."""

    def function(x: Any) -> Any:
        return (torch.stack([torch.tanh(x[n]) for n in range(3)]).sum(),)

    assert trace(function, torch.randn(3, 4), stage="post_grad").run(BatchAtenTanh(**TWO)) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sizes", [(3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5)])
@pytest.mark.parametrize("bias", [None, (), (5,), (1, 5), (3, 1), (3, 5)])
@pytest.mark.parametrize("broadcast", [False, True])
def test_products(trace: Any, dtype: torch.dtype, sizes: Any, bias: Any, broadcast: bool) -> None:
    m, k, n = sizes
    bias = tuple(min(size, (m, n)[place - len(bias)]) for place, size in enumerate(bias or ()))

    def function(c: Any, x: Any, w: Any) -> Any:
        pairs = [(x * number, w + number) for number in range(3)]
        if bias is None:
            made = [torch.mm(a, b) for a, b in pairs]
        else:
            made = [torch.addmm(c + 1, a, b) for a, b in pairs]
        return (made[0], torch.cat(made).sum())

    given = [torch.randn(one).to(dtype) for one in (bias, (m, k), (k, n))]
    case = trace(function, *given, stage="post_grad")
    one = BatchLinearPostGrad(**TWO, shape_broadcast_batch_linear=broadcast)
    assert case.run(one) == 1
    found, wanted = to_fx(case.module)(*given), function(*given)
    slack = {torch.bfloat16: 5e-2, torch.float16: 5e-3}.get(dtype, 1e-5)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a.double(), b.double(), rtol=slack, atol=10 * slack)


def test_sixteen_bits_are_rounded_as_often_as_before(trace: Any) -> None:
    def function(c: Any, x: Any, w: Any) -> Any:
        return tuple(torch.addmm(c, x, w + n) for n in range(2))

    torch.manual_seed(0)
    errors = [0.0, 0.0]
    for _ in range(20):
        given = [torch.randn(one).bfloat16() * 4 for one in ((64,), (16, 64), (64, 64))]
        case = trace(function, *given, stage="post_grad")
        assert case.run(BatchLinearPostGrad(**TWO)) == 1
        c, x = given[0].double(), given[1].double()
        exact = [c + x @ (given[2] + n).double() for n in range(2)]
        for place, got in enumerate((function(*given), to_fx(case.module)(*given))):
            errors[place] += sum(
                float((a.double() - b).abs().sum()) for a, b in zip(got, exact, strict=True)
            )
    assert errors[1] <= 1.02 * errors[0]


WRITTEN = """
fx.graph @forward stage(post_grad) symbols() (
    %x : !fx.tensor<f32[4], cpu>, %y : !fx.tensor<f32[4], cpu>) {
  %a = aten.tanh.default %x : !fx.tensor<f32[4], cpu>
  %b = aten.neg.default %a : !fx.tensor<f32[4], cpu>
  %c = aten.copy_.default %x, %y : !fx.tensor<f32[4], cpu>
  %d = aten.sin.default %x : !fx.tensor<f32[4], cpu>
  %e = aten.tanh.default %OPERAND : !fx.tensor<f32[4], cpu>
  %f = aten.add.Tensor %e, %b : !fx.tensor<f32[4], cpu>
  %g = aten.add.Tensor %f, %d : !fx.tensor<f32[4], cpu>
  fx.output (%g)
}
"""


@pytest.mark.parametrize(("operand", "groups"), [("y", 1), ("x", 0), ("d", 0)])
def test_a_write_stays_behind_what_reads_before_it(operand: str, groups: int) -> None:
    """What is made at the second place reads what the first one read; the write goes below."""
    text = WRITTEN.replace("%OPERAND", f"%{operand}")
    module = parse_ir(text)
    given = torch.randn(4), torch.randn(4)
    assert BatchAtenTanh(**TWO).rewrite(module) == groups
    verify(module, "types")
    before, after = [one.clone() for one in given], [one.clone() for one in given]
    wanted = to_fx(parse_ir(text))(*before)
    found = to_fx(module)(*after)
    for one, other in zip((*found, *after), (*wanted, *before), strict=True):
        assert torch.equal(one, other)


def test_what_is_written_is_in_no_group(trace: Any) -> None:
    def function(x: Any) -> Any:
        a, b = torch.tanh(x), torch.tanh(x + 1)
        a.mul_(2)
        return ((a + b).sum(),)

    case = trace(function, torch.randn(4), stage="post_grad")
    assert case.run(BatchAtenTanh(**TWO)) == 0


def test_a_group_that_is_refused_leaves_the_graph_as_it_was(
    parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ops that had been moved out of the way stand where they stood."""
    case = parse(WRITTEN.replace("%OPERAND", "%y"))

    def refuse(*args: Any) -> None:
        raise Declined("it would cross something")

    monkeypatch.setattr(legality, "check_order", refuse)
    told: list[str] = []
    before = case.text
    one = BatchAtenTanh(**TWO)
    one.explained(case.module, lambda op, reason: told.append(reason))
    assert case.text == before
    assert set(told) == {"it would cross something"}
    assert case.run(one) == 0


def test_sizes_that_depend_on_data_are_in_no_group(parse: Any) -> None:
    text = """
    fx.graph @forward stage(post_grad) symbols(%S) (%x : !fx.tensor<f32[S], cpu>) {
      %a = aten.tanh.default %x : !fx.tensor<f32[S], cpu>
      %b = aten.tanh.default %x : !fx.tensor<f32[S], cpu>
      %c = aten.add.Tensor %a, %b : !fx.tensor<f32[S], cpu>
      fx.output (%c)
    }
    """
    for name, info, groups in (("s0", "int [2, 9]", 1), ("u0", "int unbacked [2, 9]", 0)):
        given = text.replace("%S", f"{name} : {info}").replace("S]", f"{name}]")
        assert parse(given).run(BatchAtenTanh(**TWO)) == groups


def test_a_factor_stays_with_its_sum(trace: Any) -> None:
    """Inductor leaves the factor of a difference out."""

    def function(x: Any, y: Any) -> Any:
        return (torch.stack([torch.add(x + n, y, alpha=3) for n in range(2)]),)

    given = torch.randn(4), torch.randn(4)
    case = trace(function, *given, stage="post_grad")
    assert case.run(BatchAtenAdd(**TWO)) == 1
    _close(case, function, *given)
    assert trace(function, *given, stage="post_grad").run(BatchAtenMul(**TWO)) == 0


@pytest.fixture
def fbgemm() -> Any:
    with fbgemm_as_a_loop():
        yield


@pytest.mark.usefixtures("fbgemm")
def test_products_of_unlike_sizes_where_fbgemm_is(trace: Any) -> None:
    def function(b: Any, x: Any, y: Any, w: Any) -> Any:
        odd = torch.mm(x[:3], w)
        made = [torch.mm(x, w), torch.mm(y, w), torch.addmm(b, x, w), torch.addmm(b, y, w), odd]
        return (torch.cat(made).sum(), made[0])

    given = [torch.randn(one) for one in ((6,), (4, 8), (2, 8), (8, 6))]
    case = trace(function, *given, stage="post_grad")
    assert case.run(GroupLinear(**TWO)) == 2
    assert _count(case, "aten.mm.default") == 1
    _close(case, function, *given)
    small = GroupLinear(**TWO, max_fuse_tensor_size_group_linear=4)
    assert trace(function, *given, stage="post_grad").run(small) == 0


def _chains(count: int) -> str:
    """As many members, five of which a consumer reaches; four other ops for each."""
    row = "!fx.tensor<f32[4], cpu>"
    lines = []
    for group in range(count // 5):
        for number in range(5):
            above = f"%s{group - 1}" if group else "%x"
            at = f"{group}_{number}"
            lines += [
                f"%a{at} = aten.neg.default {above} : {row}",
                f"%b{at} = aten.sin.default %a{at} : {row}",
                f"%c{at} = aten.tanh.default %b{at} : {row}",
                f"%d{at} = aten.cos.default %c{at} : {row}",
            ]
        total = f"%d{group}_0"
        for number in range(1, 5):
            name = f"%s{group}" if number == 4 else f"%t{group}_{number}"
            lines.append(f"{name} = aten.add.Tensor {total}, %d{group}_{number} : {row}")
            total = name
    body = "\n".join(lines)
    last = count // 5 - 1
    return (
        f"fx.graph @forward stage(post_grad) symbols() (%x : {row}) "
        f"{{\n{body}\nfx.output (%s{last})\n}}"
    )


def test_it_is_linear() -> None:
    """Twice as many ops, with 200 and 400 members: about twice the time, the better of two."""
    seconds = []
    for count in (200, 400, 800):
        times: list[float] = []
        module = parse_ir(_chains(count))
        for one in (module.clone(), module):
            start = time.thread_time()
            assert BatchAtenTanh().rewrite(one) == count // 5
            times.append(time.thread_time() - start)
        seconds.append(min(times))
        names = [op.name for op in entry_graph(module).block.ops]
        assert names.count("aten.tanh.default") == count // 5
    assert seconds[2] < 3.5 * seconds[1] + 0.1
