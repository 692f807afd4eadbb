"""Verification level `types`: right graphs pass untouched, stale metadata is named."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.fx as fx
import torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tests.thread_time import least_seconds
from xductor.frontend import from_fx
from xductor.ir import GraphOp, TensorType, entry_graph, parse_ir, print_ir
from xductor.ir.symbolic.expression_arithmetic import mul
from xductor.ir.symbolic.expression_parser import parse_expr
from xductor.ir.verification.type_check import Summary, check_types


def traced(function: Callable[..., Any], *args: Any, symbolic: bool = False) -> fx.GraphModule:
    return make_fx(function, tracing_mode="symbolic" if symbolic else "fake")(*args)


def dynamo(function: Callable[..., Any], *args: Any, dynamic: bool | None = None) -> ModuleOp:
    """The pre-grad module of a function, lowered while the graph is handed over."""
    found: list[ModuleOp] = []

    def backend(gm: fx.GraphModule, inputs: Any) -> Any:
        found.append(from_fx(gm, "pre_grad"))
        return gm.forward

    torch.compile(function, backend=backend, dynamic=dynamic, fullgraph=True)(*args)
    return found[0]


def checked(module: ModuleOp) -> Summary:
    total = Summary()
    for graph in module.ops:
        assert isinstance(graph, GraphOp)
        total += check_types(graph, module)
    return total


def both(module: ModuleOp) -> Summary:
    """Check the module and what its text says; both must agree."""
    total = checked(module)
    again = checked(parse_ir(print_ir(module)))
    assert (again.checked, again.skipped) == (total.checked, total.skipped)
    return total


def set_type(module: ModuleOp, name: str, **changes: Any) -> None:
    for op in entry_graph(module).block.ops:
        if op.node.node == name:  # type: ignore[attr-defined]
            result = op.results[0]
            result._type = TensorType(result.type.data._replace(**changes))  # type: ignore[attr-defined]
            return
    raise AssertionError(f"no op {name}")


def block(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    q, k, v = (x @ w).split(4, -1)
    scores = (q @ k.transpose(-1, -2)).softmax(-1)
    return (scores @ v).permute(1, 0).contiguous().to(torch.bfloat16)


class TestStaleMetadata:
    @pytest.mark.parametrize(
        ("changes", "facet"),
        [
            ({"dtype": torch.float64}, "dtype"),
            ({"shape": (4, 7)}, "shape"),
            ({"shape": (4, 8, 1), "stride": (8, 1, 1)}, "rank"),
            ({"stride": (1, 4)}, "strides"),
            ({"device": torch.device("cuda:0")}, "device"),
            ({"offset": 3}, "storage offset"),
            ({"flags": ("neg",)}, "neg"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_each_facet_of_a_type(self, changes: dict[str, Any], facet: str) -> None:
        module = from_fx(traced(lambda x: (x + 1).sin(), torch.ones(4, 8)))
        checked(module)
        set_type(module, "sin", **changes)
        with pytest.raises(VerifyException, match=f"{facet} differs"):
            checked(module)

    def test_the_error_names_node_source_line_and_both_types(self) -> None:
        def function(x: torch.Tensor) -> torch.Tensor:
            return x.to(torch.float64) * 2

        captured: list[fx.GraphModule] = []

        def backend(gm: fx.GraphModule, inputs: Any) -> Any:
            captured.append(gm)
            return gm.forward

        torch.compile(function, backend=backend)(torch.ones(3))
        gm = captured[0]
        (to,) = gm.graph.find_nodes(op="call_method", target="to")
        stale = next(iter(gm.graph.find_nodes(op="placeholder"))).meta["example_value"]
        to.meta["example_value"] = stale
        with pytest.raises(VerifyException) as caught:
            checked(from_fx(gm, "pre_grad"))
        text = str(caught.value)
        line = function.__code__.co_firstlineno + 1
        assert f"node {to.name}" in text
        assert f"{__file__}:{line}" in text
        assert "found:    !fx.tensor<f32[3], cpu> (recorded)" in text
        assert "expected: !fx.tensor<f64[3], cpu> (inferred)" in text

    def test_stale_sizes_after_a_changed_argument(self) -> None:
        gm = traced(lambda x: x.unsqueeze(0).sum(1), torch.ones(4, 8))
        (node,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sum.dim_IntList)
        node.args = (node.args[0], [2])
        with pytest.raises(VerifyException, match="shape differs"):
            checked(from_fx(gm))

    def test_operands_that_do_not_fit_an_op(self) -> None:
        gm = traced(lambda x, y: x @ y, torch.ones(4, 8), torch.ones(8, 2))
        (mm,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default)
        mm.args = (mm.args[0], mm.args[0])
        with pytest.raises(VerifyException, match="cannot be applied to operands"):
            checked(from_fx(gm))

    def test_sizes_that_agree_by_chance(self) -> None:
        gm = traced(lambda x, y: (x.sin(), y.cos()), torch.ones(5), torch.ones(6), symbolic=True)
        table = print_ir(from_fx(gm)).replace("hint 6", "hint 5")
        text = table.replace("aten.cos.default %y_1", "aten.add.Tensor %y_1, %x_1, alpha = 1")
        assert text != table
        with pytest.raises(VerifyException, match="can only be applied where"):
            checked(parse_ir(text))

    def test_wrong_number_of_results(self) -> None:
        module = from_fx(traced(lambda x: x.split(2)[0], torch.ones(6, 2)))
        split = next(iter(entry_graph(module).block.ops))
        text = print_ir(module)
        assert len(split.results) == 3
        with pytest.raises(VerifyException, match="number or nesting"):
            checked(parse_ir(text.replace("%x_1, 2 :", "%x_1, 3 :")))


class TestRightGraphs:
    @pytest.mark.parametrize("symbolic", [False, True])
    def test_everything_of_a_block_is_checked(self, symbolic: bool) -> None:
        module = from_fx(traced(block, torch.ones(5, 6), torch.ones(6, 12), symbolic=symbolic))
        total = both(module)
        assert total.checked == len(list(entry_graph(module).block.ops)) - 1
        assert not total.skipped

    def test_strides_that_do_not_matter_may_differ(self) -> None:
        module = from_fx(traced(lambda x: x.sin(), torch.ones(1, 8)))
        set_type(module, "sin", stride=(77, 1))
        checked(module)
        module = from_fx(traced(lambda x: x.sin(), torch.ones(0, 8)))
        set_type(module, "sin", stride=(5, 9))
        checked(module)

    def test_sizes_that_strides_count_as_one_if_zero(self) -> None:
        """They are products of `max(1, size)`, or of sizes where something knows more."""

        def shortened(x: torch.Tensor) -> torch.Tensor:
            return F.pad(x, (0, 0, 0, -3))

        module = from_fx(traced(shortened, torch.randn(2, 9, 4), symbolic=True), "post_grad")
        names = {op.node.node: op for op in entry_graph(module).block.ops}  # type: ignore[attr-defined]
        recorded = names["constant_pad_nd"].results[0].type
        assert isinstance(recorded, TensorType)
        _, rows, columns = recorded.data.shape
        assert recorded.data.stride[0] == mul(parse_expr(f"max(1, {rows})"), columns)
        set_type(module, "constant_pad_nd", stride=(mul(rows, columns), columns, 1))
        checked(module)
        other = parse_expr(f"max(1, {columns} - 3)")
        set_type(module, "constant_pad_nd", stride=(mul(other, columns), columns, 1))
        with pytest.raises(VerifyException, match="strides differs"):
            checked(module)

    @pytest.mark.parametrize("recorded", [0, 16])
    @pytest.mark.parametrize(
        "function",
        [
            lambda x: torch.ops.aten.copy(x[1], x[0]),
            lambda x: torch.ops.aten.slice_scatter(x[1], x[0, 2:4], 0, 2, 4),
            lambda x: torch.ops.aten.select_scatter(x[1:], x[0], 0, 1),
        ],
        ids=["copy", "slice_scatter", "select_scatter"],
    )
    def test_a_tensor_of_its_own_begins_where_it_may(self, function: Any, recorded: int) -> None:
        """Tracing records 0 where the kernel keeps its argument's offset, or the reverse."""
        module = from_fx(traced(function, torch.ones(4, 8)))
        name = list(entry_graph(module).block.ops)[-2].node.node  # type: ignore[attr-defined]
        set_type(module, name, offset=recorded)
        checked(module)

    def test_a_view_begins_where_its_source_says(self) -> None:
        module = from_fx(traced(lambda x: x[1].sin(), torch.ones(4, 8)))
        set_type(module, "select", offset=0)
        with pytest.raises(VerifyException, match="storage offset differs"):
            checked(module)

    def test_data_dependent_sizes(self) -> None:
        def function(x: torch.Tensor) -> Any:
            found = x.nonzero()
            return found.float().sum(1), x[x > 0], found.shape[0] * 2

        with torch._dynamo.config.patch(
            capture_dynamic_output_shape_ops=True, capture_scalar_outputs=True
        ):
            total = both(dynamo(function, torch.ones(4, 4)))
        assert total.checked >= 5

    def test_in_graph_modes(self) -> None:
        weight = torch.nn.Parameter(torch.ones(4, 4))

        def function(x: torch.Tensor) -> Any:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = x @ weight
                with torch.autocast("cpu", enabled=False):
                    z = y.float() @ weight
            with torch.no_grad():
                u = z @ weight
            return y + z * u

        with kept_modes():
            total = both(dynamo(function, torch.ones(4, 4)))
        assert total.skipped == {"change of modes": 6}
        assert total.checked >= 6

    def test_a_mode_that_a_pass_dropped_shows(self) -> None:
        def function(x: torch.Tensor) -> Any:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return x @ x

        text = print_ir(dynamo(function, torch.ones(4, 4)))
        without = "\n".join(line for line in text.splitlines() if "autocast" not in line)
        with pytest.raises(VerifyException, match="dtype differs"):
            checked(parse_ir(without))

    @pytest.mark.parametrize("enabled", [False, True])
    def test_ambient_autocast(self, enabled: bool) -> None:
        weight = torch.nn.Parameter(torch.ones(4, 4))
        with kept_modes():
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
                module = dynamo(lambda x: F.linear(x, weight) + 1, torch.ones(4, 4))
            checked(module)
            with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
                both(module)

    def test_ambient_default_dtype(self) -> None:
        torch.set_default_dtype(torch.float64)
        try:
            gm = traced(lambda x: torch.ones(4) + x, torch.ones(4))
            module = from_fx(gm)
        finally:
            torch.set_default_dtype(torch.float32)
        both(module)
        assert torch.get_default_dtype() is torch.float32

    def test_requires_grad_before_autograd_only(self) -> None:
        weight = torch.nn.Parameter(torch.ones(4, 4))
        module = dynamo(lambda x: (x @ weight).sin(), torch.ones(4, 4))
        both(module)
        set_type(module, "sin", flags=())
        with pytest.raises(VerifyException, match="requires_grad differs"):
            checked(module)

    def test_writes_before_functionalization(self) -> None:
        weight = torch.nn.Parameter(torch.ones(4, 4))

        def function(x: torch.Tensor) -> Any:
            y = torch.zeros(4, 2)
            z = y.t_()
            u = torch.zeros(4, 4)
            v = u[1:]
            v += weight[1:]
            u[0] = 1
            return z.mul_(2), u + x

        both(dynamo(function, torch.ones(4, 4)))

    @pytest.mark.skipif(torch.cuda.is_available(), reason="needs a device that does not exist")
    def test_devices_that_do_not_exist_here(self) -> None:
        weight = torch.nn.Parameter(torch.ones(4, 4))
        module = dynamo(lambda x: (x @ weight).sin().to(torch.bfloat16), torch.ones(4, 4))
        moved = print_ir(module).replace(", cpu", ", cuda:0")
        assert "requires_grad" in moved
        assert checked(parse_ir(moved)).checked == 3
        with pytest.raises(VerifyException, match="device differs"):
            checked(parse_ir(moved.replace("f32[4, 4], cuda:0, requires_grad>", "f32[4, 4], cpu>")))

    def test_complex_bits(self) -> None:
        def function(x: torch.Tensor) -> Any:
            conj = torch.complex(x, x).conj()
            return conj.imag + 1, conj * 2

        both(from_fx(traced(function, torch.ones(3))))

    def test_functorch_levels_are_left_out(self) -> None:
        module = dynamo(
            lambda x: torch.vmap(lambda row: row.sin().sum())(x) + x.sum(), torch.ones(3, 4)
        )
        total = both(module)
        assert total.skipped["within a functorch transform"] >= 2
        assert total.checked == 2

    def test_checkpoint_bodies(self) -> None:
        from torch.utils.checkpoint import checkpoint

        weight = torch.nn.Parameter(torch.ones(4, 4))

        def function(x: torch.Tensor) -> Any:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return checkpoint(lambda y: (y @ weight).relu(), x, use_reentrant=False)

        with kept_modes():
            total = both(dynamo(function, torch.ones(4, 4, requires_grad=True)))
        assert set(total.skipped) == {"change of modes"}


class TestBodies:
    def cond(self) -> ModuleOp:
        return dynamo(
            lambda x: torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,)),
            torch.ones(4),
        )

    def test_results_follow_the_body(self) -> None:
        total = both(self.cond())
        assert not total.skipped

    def test_a_result_that_is_not_the_bodys(self) -> None:
        module = self.cond()
        (call,) = [op for op in entry_graph(module).block.ops if op.name == "higher_order.cond"]
        fields = call.results[0].type.data  # type: ignore[attr-defined]
        call.results[0]._type = TensorType(fields._replace(dtype=torch.float64))
        with pytest.raises(VerifyException, match="is not what @cond_true_0 returns: dtype"):
            check_types(entry_graph(module), module)

    def test_declared_bodies_are_skipped(self) -> None:
        gm = traced(
            lambda x: torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,)),
            torch.ones(4),
        )
        total = checked(from_fx(gm, subgraphs="declare"))
        assert total.skipped == {"subgraphs of cond": 1}


def test_what_is_remembered_costs_little() -> None:
    def deep(x: torch.Tensor) -> torch.Tensor:
        for _ in range(150):
            x = (x.sin() + x).view(8, 4).view(4, 8)
        return x

    module = from_fx(traced(deep, torch.ones(4, 8)))
    graph = entry_graph(module)
    check_types(graph, module)

    def are_remembered() -> None:
        summary = check_types(graph, module)
        assert summary.remembered == summary.checked == 600

    limit = 600 * 200e-6
    assert least_seconds(are_remembered, limit) < limit


@contextlib.contextmanager
def kept_modes() -> Iterator[None]:
    def modes() -> tuple[Any, ...]:
        return (
            torch.is_grad_enabled(),
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.is_autocast_cache_enabled(),
            torch.is_inference_mode_enabled(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
        )

    before = modes()
    yield
    assert modes() == before


def test_what_was_asserted_of_a_size_from_data_counts() -> None:
    """The live ShapeEnv knows that the slice is within bounds; text does not know, nor object."""

    def f(x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        rows = count.item()
        torch._check(rows >= 0)
        torch._check(rows <= x.shape[0])
        return x[:rows] * 2

    found: list[ModuleOp] = []

    def lower(gm: fx.GraphModule, inputs: Any) -> Any:
        found.append(from_fx(gm, "joint"))
        return make_boxed_func(gm.forward)

    backend = aot_autograd(fw_compiler=lower)
    compiled = torch.compile(f, backend=backend, dynamic=True, fullgraph=True)
    with torch._dynamo.config.patch(capture_scalar_outputs=True), torch.no_grad():
        compiled(torch.randn(5, 3), torch.tensor(2))
    assert both(found[0]).checked
