"""Tensor constants in text: what is printed parses to the same elements."""

from __future__ import annotations

import math

import pytest
import torch
import torch.fx as fx
from xdsl.utils.exceptions import ParseError

import xductor
from xductor.ir import GraphOp, TensorType, run
from xductor.ir.dialect.dtypes import TEXT_OF_DTYPE
from xductor.ir.execution.sample_inputs import sample_attributes
from xductor.ir.inference.value_types import TypeReader
from xductor.ir.text.resources import blob_of, constants, resource_key, tensor_of

READS = """
fx.graph @forward stage(joint) (%x : !fx.tensor<f32[3], cpu>) {
  %c = fx.get_attr "table" : !fx.tensor<f32[3], cpu>
  %sum = aten.add.Tensor %x, %c : !fx.tensor<f32[3], cpu>
  fx.output (%sum,)
}
"""


def section(*lines: str) -> str:
    return "{-# dialect_resources: { fx: { " + ", ".join(lines) + " } } #-}"


def graph_module(**tensors: torch.Tensor) -> fx.GraphModule:
    root, graph = torch.nn.Module(), fx.Graph()
    for name, tensor in tensors.items():
        root.register_buffer(name, tensor)
    nodes = []
    for name, tensor in tensors.items():
        node = graph.get_attr(name)
        node.meta["val"] = tensor
        nodes.append(node)
    graph.output(tuple(nodes))
    return fx.GraphModule(root, graph)


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    return blob_of(left) == blob_of(right) and left.dtype == right.dtype


@pytest.mark.parametrize("dtype", TEXT_OF_DTYPE, ids=str)
def test_every_dtype(dtype: torch.dtype) -> None:
    bits = torch.arange(1, 1 + 4 * dtype.itemsize, dtype=torch.uint8)
    tensor = (bits % 2).view(dtype) if dtype is torch.bool else bits.view(dtype)
    (type_,) = (TypeReader("joint").type_of(tensor),)
    assert same_bits(tensor_of(blob_of(tensor), type_), tensor)


LAYOUTS = {
    "transposed": torch.arange(6.0).reshape(2, 3).t(),
    "expanded": torch.arange(3.0).reshape(3, 1).expand(3, 4),
    "with gaps": torch.arange(12.0)[::3],
    "one number": torch.tensor(2.5),
    "empty": torch.empty(0, 3),
    "channels last": torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_strides_are_those_of_the_type(name: str) -> None:
    tensor = LAYOUTS[name]
    type_ = TypeReader("joint").type_of(tensor)
    found = tensor_of(blob_of(tensor), type_)
    assert found.stride() == tensor.stride()
    assert torch.equal(found, tensor)


def test_nan_and_negative_zero_keep_their_bits() -> None:
    tensor = torch.tensor([math.nan, -0.0, math.inf])
    assert same_bits(tensor_of(blob_of(tensor), TypeReader("joint").type_of(tensor)), tensor)


def test_a_module_and_its_text_compute_the_same() -> None:
    gm = graph_module(first=torch.arange(3.0), second=torch.tensor(7))
    module = xductor.from_fx(gm, stage="joint")
    text = xductor.print_ir(module, with_constants=True)
    parsed = xductor.parse_ir(text)
    assert xductor.print_ir(parsed, with_constants=True) == text
    assert xductor.same(parsed, module)
    assert sample_attributes(parsed) == {}
    for found in (run(parsed), xductor.to_fx(parsed)()):
        assert torch.equal(found[0], gm.first)
        assert torch.equal(found[1], gm.second)


def test_without_constants_text_only_names_them() -> None:
    text = xductor.print_ir(xductor.from_fx(graph_module(c=torch.ones(2)), stage="joint"))
    assert "dialect_resources" not in text
    assert list(constants(xductor.parse_ir(text))) == []


def test_a_clone_keeps_its_constants() -> None:
    module = xductor.parse_ir(
        READS + section('forward.table: "0x040000000000803F0000004000004040"')
    )
    (result,) = run(module.clone(), torch.zeros(3))
    assert result.tolist() == [1.0, 2.0, 3.0]


def test_graphs_have_constants_of_their_own() -> None:
    other = READS.replace("@forward", '@"body.1"')
    text = (
        READS
        + other
        + section(
            'forward.table: "0x04000000000000000000000000000000"',
            'body$2e$1.table: "0x040000000000803F0000803F0000803F"',
        )
    )
    module = xductor.parse_ir(text)
    zeros, ones = (
        run(module, torch.zeros(3), graph=graph)[0]
        for graph in module.ops
        if isinstance(graph, GraphOp)
    )
    assert zeros.tolist() == [0.0] * 3
    assert ones.tolist() == [1.0] * 3


def test_keys_of_odd_names_differ_and_parse() -> None:
    names = [("a", "b.c"), ("a.b", "c"), ("a$b", "c"), ("a b", "c"), ("1", "c"), ("é", "c.d")]
    keys = [resource_key(*name) for name in names]
    assert len(set(keys)) == len(keys)
    for key in keys:
        xductor.parse_ir(READS + section(f'{key}: "0x04000000"'))


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        ("0x0400000000000000", "resource forward.table: 4 bytes, but .* has 12"),
        ("0x04", "begins with its alignment"),
        ("0x03000000", "power of two"),
        ("0xzz", "even number of hexadecimal digits"),
        ("12", "hexadecimal digits after 0x"),
    ],
)
def test_blobs_that_are_none(blob: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        xductor.parse_ir(READS + section(f'forward.table: "{blob}"'))


def test_two_values_for_a_key() -> None:
    lines = [f'forward.table: "0x04000000{digits * 12}"' for digits in ("00", "3F")]
    with pytest.raises(ParseError, match=r"two values for forward\.table"):
        xductor.parse_ir(READS + section(*lines))


def test_the_type_says_how_many_bytes() -> None:
    module = xductor.parse_ir(READS.replace("f32[3]", "f32[2]"))
    (graph,) = module.ops
    assert isinstance(graph, GraphOp)
    type_ = graph.arguments[0].type
    assert isinstance(type_, TensorType)
    with pytest.raises(ValueError, match="4 bytes"):
        tensor_of("0x0400000000000000", type_)
