# ruff: noqa: E501 - lines of IR text stay whole
"""Constants and targets of every kind survive lowering and text, type by type and bit by bit."""

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.ir import OpaqueCallOp, TorchOp, entry_graph, parse_ir
from xductor.ir.dialect.arguments import Handle, leaves

aten = torch.ops.aten
Lower = Callable[..., tuple[ModuleOp, str]]


def ops(module: ModuleOp) -> list[TorchOp]:
    return [op for op in entry_graph(module).block.ops if isinstance(op, TorchOp)]


def op_named(module: ModuleOp, name: str) -> TorchOp:
    return next(op for op in ops(module) if op.name == name)


# --------------------------------------------------------------------------------- constants


def test_slices_ellipsis_and_index_lists(build_torch: Any, lower: Lower) -> None:
    with build_torch.mode:
        size = build_torch.mode.shape_env.create_unbacked_symint()
    torch._check(size <= 4)
    n = build_torch.input("n", size)
    x = build_torch.tensor("x", 4, 4)
    index = build_torch.tensor("index", 3, dtype=torch.int64)
    cut = build_torch.call(
        operator.getitem, x, (..., slice(None, n), None), value=build_torch.fake(4, size, 1)
    )
    picked = build_torch.call(aten.index.Tensor, x, [None, index])
    _, text = lower(build_torch.module((cut, picked)), "pre_grad")
    assert "pyfn._operator.getitem %x, (..., slice(none, %n, none), none)" in text
    assert "aten.index.Tensor %x, [none, %index]" in text


def test_dtype_layout_device_memory_format_generator(build: Any, lower: Lower) -> None:
    made = build.call(
        aten.empty.memory_format, [2, 3, 4, 5],
        dtype=torch.bfloat16, layout=torch.strided, device=torch.device("cpu"), pin_memory=False,
        memory_format=torch.channels_last,
    )  # fmt: skip
    generator = torch.Generator()
    drawn = build.call(aten.rand.generator, [2], generator=generator, value=build.fake(2))
    again = build.call(aten.rand.generator, [2], generator=generator, value=build.fake(2))
    other = build.call(aten.rand.generator, [2], generator=torch.Generator(), value=build.fake(2))
    module, text = lower(build.module((made, drawn, again, other)))
    assert (
        "[2, 3, 4, 5], dtype = bf16, layout = layout<strided>, device = device<cpu>, pin_memory = false, "
        "memory_format = memory_format<channels_last>" in text
    )
    handles = [leaf for op in ops(module) for leaf in leaves(op.args.data) if type(leaf) is Handle]
    assert [handle.ident for handle in handles] == ["0", "0", "1"]
    assert handles[0].live is generator
    assert 'opaque<torch._C.Generator, "1">' in text


def identity(value: Any) -> Any:
    return value


NUMBERS: list[Any] = [
    1, True, 1.0, 0, False, 0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 1e16, 1e-05, 5e-324,
    1.7976931348623157e308, 2**62, -(2**63), 2**64 - 1, complex(1, -0.0), complex(-0.0, math.inf),
    complex(math.nan, 0.0), 1 + 0j,
]  # fmt: skip


def test_numbers_are_bit_exact_and_never_shared(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 2)
    calls = [
        build.call(aten.full.default, [2], number, dtype=torch.float64, value=build.fake(2))
        for number in NUMBERS
    ]
    raws = [build.call(math.sqrt, number, value=0.5) for number in NUMBERS]
    module, text = lower(build.module((x, *calls, *raws)))
    parsed = parse_ir(text)
    for source in (module, parsed):
        for kind, position in (("aten.full.default", 1), ("pyfn.math.sqrt", None)):
            found = [op for op in ops(source) if op.name == kind]
            assert len({op.args for op in found}) == len(NUMBERS)
            for op, number in zip(found, NUMBERS, strict=True):
                item = op.args.data[0][0] if position is None else op.args.data[position]
                assert type(item) is type(number)
                assert bits(item) == bits(number)


def bits(number: Any) -> Any:
    import struct

    if isinstance(number, complex):
        return struct.pack("<dd", number.real, number.imag)
    return struct.pack("<d", number) if isinstance(number, float) else number


def test_schema_kinds_normalise_constants(build: Any, lower: Lower) -> None:
    x = build.tensor("x", 2, 2)
    one = build.call(aten.dropout.default, x, 0, False)
    two = build.call(aten.dropout.default, x, 0.0, False)
    three = build.call(aten.dropout.default, x, False, train=False)
    module, _ = lower(build.module((one, two, three)))
    assert len({op.args for op in ops(module)[:3]}) == 1
    scalar = build.__class__()
    x = scalar.tensor("x", 2, 2)
    adds = [scalar.call(aten.add.Tensor, x, number) for number in (1, 1.0, True)]
    module, _ = lower(scalar.module(tuple(adds)))
    assert len({op.args for op in ops(module)[:3]}) == 3


# ----------------------------------------------------------------------------------- targets


class Lowering:
    """A callable that no path leads to, as Inductor's lowerings are."""

    __name__ = "lowering"

    def __call__(self, x: Any) -> Any:
        return x


def test_callables_that_are_no_overload(build: Any, lower: Lower) -> None:
    import functools

    from torch._inductor import inductor_prims  # noqa: F401  registers the prims

    x = build.tensor("x", 2, 3)
    bound = functools.update_wrapper(functools.partial(identity, 1), identity)
    partial = build.call(bound, value=build.fake(2, 3))
    lowering, other = Lowering(), Lowering()
    nodes = [
        partial,
        build.call(lowering, x, value=build.fake(2, 3)),
        build.call(other, x, value=build.fake(2, 3)),
        build.call(lambda v: v, x, value=build.fake(2, 3)),
        build.call(
            torch.ops.prims.inductor_seed.default,
            torch.device("cpu"),
            value=build.fake((), dtype=torch.int64),
        ),
        build.call(aten.add, x, x),
        build.call(aten.sym_size, x, 0, value=2),
        build.call(torch.sym_max, 2, 3),
        build.call(torch.sym_float, 2),
        build.call(math.ceil, 2.5),
        build.call(max, 2, 3),
    ]
    module, text = lower(build.module(tuple(nodes)))
    opaque = [op for op in ops(module) if isinstance(op, OpaqueCallOp)]
    assert [op.handle.ident for op in opaque] == [
        "identity",
        "Lowering",
        "Lowering.1",
        "test_callables_that_are_no_overload.<locals>.<lambda>",
    ]
    for name in (
        "prims.inductor_seed.default",
        "pyfn.torch.sym_max",
        "pyfn.math.ceil",
        "pyfn.builtins.max",
    ):
        assert name in text


def test_functions_and_classes_as_arguments(build_torch: Any, lower: Lower) -> None:
    x = build_torch.tensor("x", 2)
    call = build_torch.call(
        torch.ops.higher_order.strict_mode,
        torch.relu,
        (x,),
        torch.nn.Linear,
        aten.add,
        value=build_torch.fake(2),
    )
    _, text = lower(build_torch.module(call), "pre_grad")
    assert (
        "strict_mode fn<torch.relu>, (%x,), fn<torch.nn.modules.linear.Linear>, fn<torch.ops.aten.add>"
        in text
    )


def test_a_submodule_with_an_odd_path(build_torch: Any, lower: Lower) -> None:
    build_torch.root.layers = torch.nn.ModuleDict({"a-b": torch.nn.ReLU()})
    x = build_torch.tensor("x", 2)
    node = build_torch.graph.call_module("layers.a-b", (x,))
    node.meta["example_value"] = build_torch.fake(2)
    module, text = lower(build_torch.module(node), "pre_grad")
    assert '= "module.layers.a-b" %x' in text
    assert ops(module)[0].target == "layers.a-b"
