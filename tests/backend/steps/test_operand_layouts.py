"""Kernels of a graph that is run as FX get the layouts that they were chosen for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.steps.operand_layouts import keep_layouts, layouts
from xductor.ir import parse_ir, run

aten = torch.ops.aten
Function = Callable[..., Any]


@pytest.fixture(scope="module")
def contiguous() -> Any:
    """An operator that reads its argument as if it were contiguous."""
    library = torch.library.Library("operand_layouts", "FRAGMENT")
    library.define("flat(Tensor x) -> Tensor", tags=torch.Tag.needs_fixed_stride_order)
    library.define("fill(Tensor(a!) x, Tensor y) -> ()")

    def flat(x: Any) -> Any:
        return x.as_strided((x.numel(),), (1,)).clone()

    def fill(x: Any, y: Any) -> None:
        x.copy_(y.as_strided((y.numel(),), (1,)).view_as(x))

    library.impl("flat", flat, "CPU")
    library.impl("flat", lambda x: x.new_empty(x.numel()), "Meta")
    library.impl("fill", fill, "CPU")
    library.impl("fill", lambda x, y: None, "Meta")
    yield torch.ops.operand_layouts
    library._destroy()


def _sums(z: Any) -> Any:
    """A running sum of ones, which Inductor makes a range that is expanded along columns."""
    return torch.cumsum(torch.ones_like(z), 0)


def _written_out(x: Any, z: Any) -> Any:
    return torch.softmax(_sums(z) @ z.t(), -1) @ x


def _queries(x: Any, z: Any) -> Any:
    return scaled_dot_product_attention(_sums(z)[None, None], z[None, None], x[None, None])


def _keys(x: Any, z: Any) -> Any:
    return scaled_dot_product_attention(x[None, None], _sums(z)[None, None] * 0.1, z[None, None])


def _values(x: Any, z: Any) -> Any:
    return scaled_dot_product_attention(x[None, None], z[None, None], _sums(z)[None, None])


def _all_three(x: Any, z: Any) -> Any:
    s = _sums(z)[None, None]
    return scaled_dot_product_attention(s, s, s) + x


def _returned(x: Any, z: Any) -> Any:
    return _sums(z), x + 1


PROGRAMS = [_written_out, _queries, _keys, _values, _all_three, _returned]


def _inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(8, 16, generator=generator), torch.randn(8, 16, generator=generator)


def _compile(function: Function, dynamic: bool = False) -> Any:
    return torch.compile(function, backend="xductor", dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", PROGRAMS)
def test_inference(function: Function, dynamic: bool) -> None:
    inputs = _inputs()
    with without_codegen():
        found = _compile(function, dynamic)(*inputs)
    expected = function(*inputs)
    torch.testing.assert_close(found, expected)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    assert all(one.stride() == other.stride() for one, other in pairs)


@pytest.mark.parametrize("function", PROGRAMS)
def test_training(function: Function) -> None:
    seen = []
    for compiled in (function, _compile(function)):
        x, z = (one.requires_grad_() for one in _inputs())
        with without_codegen():
            found = compiled(x, z)
            outputs = found if isinstance(found, tuple) else (found,)
            torch.stack([(one * one.detach().cos()).sum() for one in outputs]).sum().backward()
        seen.append((found, x.grad, z.grad))
    torch.testing.assert_close(*seen)


@pytest.mark.parametrize("write", [False, True])
def test_custom_ops(contiguous: Any, write: bool) -> None:
    def f(z: Any) -> Any:
        if not write:
            return contiguous.flat(_sums(z))
        y = z * 1
        contiguous.fill(y, _sums(z))
        return y

    _, z = _inputs()
    with without_codegen():
        torch.testing.assert_close(_compile(f)(z), f(z))


def test_generated_code_is_what_it_was() -> None:
    inputs = _inputs()
    torch.testing.assert_close(_compile(_written_out)(*inputs), _written_out(*inputs))


def _edited(strides: tuple[int, int], other: tuple[int, int]) -> tuple[torch.fx.Graph, int]:
    """A kernel of a tensor of some strides, which is replaced by one of others."""
    from torch._subclasses import FakeTensorMode

    mode, graph = FakeTensorMode(), torch.fx.Graph()
    given = []
    for name, steps in (("x", strides), ("y", other)):
        node = graph.placeholder(name)
        with mode:
            node.meta["val"] = torch.empty_strided((4, 4), steps)
        given.append(node)
    kernel = graph.call_function(aten._cdist_forward.default, (given[0], given[0], 2.0, None))
    add = graph.call_function(aten.add.Tensor, (given[0], 1))
    graph.output((kernel, add))
    before = layouts(graph)
    given[0].replace_all_uses_with(given[1])
    return graph, keep_layouts(graph, before)


@pytest.mark.parametrize(
    ("strides", "other", "made"),
    [((4, 1), (1, 4), 1), ((4, 1), (4, 1), 0), ((1, 4), (1, 0), 1), ((1, 0), (4, 1), 0)],
)
def test_copies(strides: Any, other: Any, made: int) -> None:
    graph, copies = _edited(strides, other)
    assert copies == made
    (kernel,) = graph.find_nodes(op="call_function", target=aten._cdist_forward.default)
    if made:
        assert kernel.args[0].meta["val"].stride() == strides
    (add,) = graph.find_nodes(op="call_function", target=aten.add.Tensor)
    assert add.args[0].name == "y"  # generated code takes any layout


STALE = """
    fx.graph @g stage(post_grad) symbols() (%q : !fx.tensor<f32[1, 1, 8, 1], cpu>,
        %x : !fx.tensor<f32[1, 1, 8, 16], cpu>) {
      %e = aten.expand.default %q, [1, 1, 8, 16] : !fx.tensor<f32[1, 1, 8, 16][8, 8, 1, 0], cpu>
      %v = aten.view.default %e, [1, 1, 8, 16] : !fx.tensor<f32[1, 1, 8, 16], cpu>
      %o, %l = aten._scaled_dot_product_flash_attention_for_cpu.default %v, %x, %x
        : !fx.tensor<f32[1, 1, 8, 16], cpu>, !fx.tensor<f32[1, 1, 8], cpu>
      fx.output (%o,)
    }"""


def test_a_module_from_between_two_passes() -> None:
    """Its view still says the strides of what stood there before."""
    q, x = torch.randn(1, 1, 8, 1), torch.randn(1, 1, 8, 16)
    (found,) = run(parse_ir(STALE), q, x)
    torch.testing.assert_close(found, scaled_dot_product_attention(q.expand(1, 1, 8, 16), x, x))
