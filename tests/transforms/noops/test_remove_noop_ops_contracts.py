"""`remove_noop_ops`: copies that stay for the sake of aliases, writes and visible layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._inductor.fx_passes import post_grad
from torch.fx.experimental.proxy_tensor import make_fx

from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

aten = torch.ops.aten
END = 2**63 - 1

# --------------------------------------------------------------------------------- aliases

STAYING: dict[str, Callable[..., Any]] = {
    "a returned clone of an input": lambda x: aten.clone(x),
    "through a view": lambda x: aten.clone(x).view(-1),
    "of a view of an input": lambda x: aten.clone(x.t()),
    "a cat of an input alone": lambda x: torch.cat([x]),
    "a full slice of an input": lambda x: aten.slice.Tensor(x, 0, 0, END),
    "an alias of an input": lambda x: aten.alias(x),
}


@pytest.mark.parametrize("why", STAYING)
def test_outputs_keep_apart_from_inputs(trace: Any, special: Any, why: str) -> None:
    x = special(3, 4)
    case = trace(STAYING[why], x)
    assert case.run(RemoveNoopOps()) == 0
    case.check_values(x)


def test_outputs_keep_apart_from_each_other(trace: Any, special: Any) -> None:
    x = special(3, 4)
    case = trace(lambda x: (lambda y: (y, aten.clone(y)))(x + 1), x)
    assert case.run(RemoveNoopOps()) == 0
    # Two copies of one value: the first may be the value, then the second may not.
    case = trace(lambda x: (lambda y: (aten.clone(y), aten.clone(y)))(x + 1), x)
    assert case.run(RemoveNoopOps()) == 1
    assert case.ops == ["aten.add.Tensor", "aten.clone.default"]
    case.check_values(x)


def test_two_copies_that_share_are_two_outputs(trace: Any, special: Any) -> None:
    """Inductor makes one tensor of these two: its list of output storages goes stale."""
    x = special(3, 4)

    def f(x: Any) -> Any:
        y = x + 1
        return aten.clone(y), aten.clone(y)

    gm = make_fx(f, tracing_mode="fake")(x)
    post_grad.remove_noop_ops(gm.graph)
    gm.recompile()
    stock = gm(x)
    assert stock[0].data_ptr() == stock[1].data_ptr()


def test_a_returned_copy_of_an_intermediate_goes(trace: Any, special: Any) -> None:
    x = special(3, 4)
    case = trace(lambda x: aten.clone(x + 1), x)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


def test_a_constant_of_the_module_is_not_handed_out(parse: Any) -> None:
    case = parse("""
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {
          %c = fx.get_attr "_tensor_constant0" : !fx.tensor<f32[4], cpu>
          %y = aten.clone.default %c : !fx.tensor<f32[4], cpu>
          %z = aten.clone.default %c : !fx.tensor<f32[4], cpu>
          %w = aten.add.Tensor %z, %x : !fx.tensor<f32[4], cpu>
          fx.output (%y, %w)
        }""")
    assert case.run(RemoveNoopOps()) == 1
    assert "%y = aten.clone.default %c" in case.text
    assert "aten.add.Tensor %c, %x" in case.text


def test_a_copy_into_pinned_memory_stays(parse: Any) -> None:
    text = """
        fx.graph @g stage(joint) symbols() (%x : !fx.tensor<f32[4], cpu>) {{
          %e = aten.empty.memory_format [4], pin_memory = {pinned} : !fx.tensor<f32[4], cpu>
          %y = aten.copy.default %e, %x : !fx.tensor<f32[4], cpu>
          %z = aten.neg.default %y : !fx.tensor<f32[4], cpu>
          fx.output (%z)
        }}"""
    assert parse(text.format(pinned="true")).run(RemoveNoopOps()) == 0
    assert parse(text.format(pinned="false")).run(RemoveNoopOps()) == 1


# --------------------------------------------------------------------------------- mutation


def test_a_copy_of_what_is_written_later_stays(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = aten.clone(x)
        x.add_(1)
        return y * 2

    x = special(3, 4)
    case = trace(f, x)
    assert case.run(RemoveNoopOps()) == 0
    case.check_values(x)


def test_a_copy_that_is_read_before_the_write_goes(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = aten.clone(x) * 2
        x.add_(1)
        return y

    x = special(3, 4)
    case = trace(f, x)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


def test_epilogue(trace: Any, special: Any) -> None:
    """`copy_` at the end writes an input: what reads before may read the input itself."""

    def before(x: Any) -> Any:
        y = aten.clone(x)
        z = y + 1
        x.copy_(z)
        return z * 2

    def after(x: Any) -> Any:
        y = aten.clone(x)
        x.copy_(y + 1)
        return y * 2

    x = special(3, 4)
    case = trace(before, x)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)
    case = trace(after, x)
    assert case.run(RemoveNoopOps()) == 0
    case.check_values(x)


WRITES: dict[str, Callable[..., Any]] = {
    "through a view of the source": lambda x, y: (x.view(-1).fill_(3), y * 2),
    "the copy, and the source is read": lambda x, y: (y.fill_(3), x * 2),
    "the copy through a view": lambda x, y: (y.t().fill_(3), x * 2),
    "the copy, and the caller sees the input": lambda x, y: (y.fill_(3), y * 2),
    "the source, and a view of the copy is read": lambda x, y: (x.fill_(3), y.view(-1) * 2),
    "the source from the copy reversed": lambda x, y: (x.copy_(y.flip(0)), x * 2),
    "out=": lambda x, y: (aten.add.out(x, y, out=x), y * 2),
    "one call that reads and writes": lambda x, y: (aten.add_.Tensor(x, y), x * 2),
}


@pytest.mark.parametrize("why", WRITES)
def test_writes_keep_copies(trace: Any, special: Any, why: str) -> None:
    def f(x: Any) -> Any:
        return WRITES[why](x, aten.clone(x))[1]

    x = special(3, 4)
    case = trace(f, x)
    case.run(RemoveNoopOps())
    case.check_values(x)
    if why != "the source from the copy reversed":  # the flip reads in time
        assert "aten.clone.default" in case.ops


def test_a_copy_of_a_fresh_value_may_be_written(trace: Any, special: Any) -> None:
    """The source is read no more, so the write may go to it."""

    def f(x: Any) -> Any:
        y = aten.clone(x + 1)
        y.fill_(3)
        return y * 2

    x = special(3, 4)
    case = trace(f, x)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


def test_views_share_writes_anyway(trace: Any, special: Any) -> None:
    def f(x: Any) -> Any:
        y = aten.alias(x)
        y.add_(1)
        return x * y.view(3, 4)

    x = special(3, 4)
    case = trace(f, x)
    assert case.run(RemoveNoopOps()) == 2
    case.check_values(x)


def test_merged_storages_are_remembered(trace: Any, special: Any) -> None:
    """After the first copy goes, its views are views of the input, which is written."""

    def f(x: Any) -> Any:
        y = aten.clone(x).view(-1)
        z = aten.clone(y)
        x.fill_(1)
        return z * 2

    x = special(3, 4)
    case = trace(f, x)
    assert case.run(RemoveNoopOps()) == 1
    case.check_values(x)


def test_custom_op_that_writes(trace: Any) -> None:
    with torch.library._scoped_library("xductor_noops", "FRAGMENT") as library:
        library.define("reverse_into(Tensor src, Tensor(a!) dst) -> ()")
        library.impl("reverse_into", _reverse_into, "CompositeExplicitAutograd")

        def f(x: Any) -> Any:
            y = aten.clone(x)
            torch.ops.xductor_noops.reverse_into(y, x)
            return x * 2

        x = torch.arange(6.0)
        case = trace(f, x)
        assert case.run(RemoveNoopOps()) == 0
        case.check_values(x)


def _reverse_into(src: torch.Tensor, dst: torch.Tensor) -> None:
    for index in range(src.shape[0]):
        dst[-1 - index] = src[index]


def test_collective_reads_until_it_is_waited_for(parse: Any) -> None:
    text = """
        fx.graph @g stage(post_grad) symbols() (%x : !fx.tensor<f32[4], cpu>) {{
          %y = aten.clone.default %x : !fx.tensor<f32[4], cpu>
          %r = {call} %y{rest} : !fx.tensor<f32[{size}], cpu>
          %z = aten.fill_.Scalar %x, 1 : !fx.tensor<f32[4], cpu>
          %w = aten.neg.default %r : !fx.tensor<f32[{size}], cpu>
          fx.output (%w,)
        }}"""
    gather = "_c10d_functional.all_gather_into_tensor.default"
    case = parse(text.format(call=gather, rest=', 2, "0"', size=8))
    assert case.run(RemoveNoopOps()) == 0
    case = parse(text.format(call="aten.exp.default", rest="", size=4))
    assert case.run(RemoveNoopOps()) == 1


# ------------------------------------------------------------------- layouts seen from outside


def test_offsets_are_seen(trace: Any, special: Any) -> None:
    """A copy of rows one and two begins at zero; the rows themselves do not."""

    def returned(x: Any) -> Any:
        return aten.clone((x + 1)[1:])

    def strided(x: Any) -> Any:
        return torch.as_strided(aten.clone((x + 1)[1:]), (8,), (1,), 0) * 2

    def viewed(x: Any) -> Any:
        return aten.clone((x + 1)[1:]).view(-1) * 2

    def plain(x: Any) -> Any:
        return aten.clone((x + 1)[1:]) * 2

    x = special(3, 4)
    for function, removed in ((returned, 0), (strided, 0), (viewed, 0), (plain, 1)):
        case = trace(function, x)
        case.run(RemoveNoopOps())
        assert case.ops.count("aten.clone.default") == 1 - removed
        case.check_values(x)
