"""An operator may be unregistered, and another one defined under its name, in the same process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import torch._inductor.config as inductor_config
from torch._ops import OpOverload
from xdsl.utils.exceptions import ParseError

import xductor
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import op_class, op_class_by_name, ops, parse_ir, print_ir
from xductor.ir.dialect.registry import UnknownOp

LIBRARY = "xductor_anew"
OPTIONS: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}


@contextmanager
def operator(schema: str, kernel: Any, fake: Any) -> Iterator[OpOverload]:
    """The operator `op` with a schema, for the length of the block."""
    with torch.library._scoped_library(LIBRARY, "FRAGMENT") as library:
        torch.library.define(f"{LIBRARY}::op", schema, lib=library)
        torch.library.impl(f"{LIBRARY}::op", "CPU", torch._dynamo.disable(kernel), lib=library)
        torch.library.register_fake(f"{LIBRARY}::op", fake, lib=library)
        yield getattr(torch.ops, LIBRARY).op.default


def expect_as_eager(function: Any, inputs: Sequence[torch.Tensor]) -> None:
    eager, ours = [one.clone() for one in inputs], [one.clone() for one in inputs]
    torch._dynamo.reset()
    with torch.no_grad(), without_codegen():
        found = torch.compile(function, backend="xductor", options=OPTIONS)(*ours)
        torch.testing.assert_close(found, function(*eager))
    torch.testing.assert_close(ours, eager)


@pytest.mark.parametrize("functionalized", ["v1", "v2"])
@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 2, 1)])
def test_functionalized_calls(functionalized: str, order: tuple[int, ...]) -> None:
    inputs = [torch.randn(3) for _ in range(3)]
    for turn, count in enumerate(order):
        names = [f"x{turn}{place}" for place in range(count)]
        written = [f"Tensor(a{place}!) {name}" for place, name in enumerate(names)]
        schema = f"({', '.join(written)}) -> ()"

        def kernel(*tensors: torch.Tensor, turn: int = turn, **named: torch.Tensor) -> None:
            for one in (*tensors, *named.values()):
                one.add_(turn + 1)

        def fake(*_: Any) -> None: ...

        def function(*given: torch.Tensor, count: int = count) -> Any:
            made = [one.sin() for one in given[:count]]
            getattr(torch.ops, LIBRARY).op(*made)
            getattr(torch.ops, LIBRARY).op(*given[:count])
            return sum(made) + given[0]

        v2 = functionalized == "v2"
        with (
            operator(schema, kernel, fake),
            inductor_config.patch(enable_auto_functionalized_v2=v2),
        ):
            expect_as_eager(function, inputs)


def test_results_of_functional_and_functionalized_calls() -> None:
    x = torch.randn(4, 3)
    for count in (1, 2, 3, 1):
        results = ", ".join(["Tensor"] * count)
        schema = f"(Tensor x) -> ({results})" if count > 1 else "(Tensor x) -> Tensor"
        writing = f"(Tensor(a!) x) -> ({results})" if count > 1 else "(Tensor(a!) x) -> Tensor"

        def kernel(x: torch.Tensor, count: int = count) -> Any:
            made = tuple(x[:, :count] * (place + count) for place in range(count))
            return made if count > 1 else made[0]

        def function(x: torch.Tensor) -> Any:
            found = getattr(torch.ops, LIBRARY).op(x.sin())
            return sum(found) if isinstance(found, tuple | list) else found + 0

        for one in (schema, writing):
            with operator(one, kernel, kernel):
                expect_as_eager(function, [x])


def test_text_and_classes_mean_the_present_operator() -> None:
    def kernel(*given: torch.Tensor) -> torch.Tensor:
        return given[0].clone()

    with operator("(Tensor x) -> Tensor", kernel, kernel) as first:
        before = op_class(first)
        assert before is not None
        assert op_class_by_name(f"{LIBRARY}.op.default") is before
        assert getattr(ops, LIBRARY).op.overloads == (before,)
    with pytest.raises(UnknownOp):
        op_class_by_name(f"{LIBRARY}.op.default")
    with operator("(Tensor x, Tensor y) -> Tensor", kernel, kernel) as second:
        after = op_class_by_name(f"{LIBRARY}.op.default")
        assert after is op_class(second)
        assert after is not before
        assert len(getattr(ops, LIBRARY).op.overloads[0].table.index) == 2
        text = (
            "fx.graph @forward stage(joint) (%x : !fx.tensor<f32[2], cpu>) {\n"
            f"  %y = {LIBRARY}.op.default %x, %x : !fx.tensor<f32[2], cpu>\n"
            "  fx.output (%y,)\n}\n"
        )
        module = parse_ir(text)
        assert f"{LIBRARY}.op.default %x, %x" in print_ir(module)
        xductor.verify(module, level="types")
    with pytest.raises((ParseError, UnknownOp)):
        parse_ir(text)


def test_a_rewrite_that_is_written_anew_matches_the_present_operator() -> None:
    def kernel(x: torch.Tensor, *_: Any) -> torch.Tensor:
        return x + 1

    x = torch.randn(4)
    for schema in ("(Tensor x) -> Tensor", "(Tensor x, int n=1) -> Tensor"):
        with operator(schema, kernel, kernel):
            rewrite = xductor.pattern_from(
                lambda x: getattr(torch.ops, LIBRARY).op(x).relu(),
                x,
                replacement=lambda x: (x + 1).relu(),
                name="NoCall",
            ).rewrite
            torch._dynamo.reset()
            options = {**OPTIONS, "xductor.rewrites": [rewrite]}
            with torch.no_grad(), without_codegen():
                made = torch.compile(
                    lambda x: getattr(torch.ops, LIBRARY).op(x).relu() * 2,
                    backend="xductor",
                    options=options,
                )
                torch.testing.assert_close(made(x), (x + 1).relu() * 2)
            assert xductor.last_compile().count("no_call") == 1
