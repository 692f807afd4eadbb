"""Types from meta kernels: fake values, what is remembered, what is left alone."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from xdsl.dialects.builtin import ModuleOp

from xductor.frontend import from_fx
from xductor.ir import (
    ArgsAttr,
    InferenceEnv,
    NotInferred,
    ObjectType,
    Ref,
    SymbolTable,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
    aten,
    entry_graph,
    infer_call,
)
from xductor.ir.dialect.types import NONE
from xductor.ir.inference import infer
from xductor.ir.inference.fake_values import FakeEnvironment, NoFakeValue, fake_value
from xductor.ir.inference.infer import NotApplicable, infer_types
from xductor.ir.symbolic.expressions import parse_expr
from xductor.ir.symbolic.symbol_parser import parse_symbol_table

TABLE = parse_symbol_table(
    "symbols(s0 : int positive [2, int_oo] hint 16, s1 : int positive [2, int_oo] hint 16, "
    "u0 : int nonnegative unbacked [0, int_oo])"
)
F32 = torch.float32


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    infer.forget()


def traced(function: Callable[..., Any], *args: Any, symbolic: bool = False) -> ModuleOp:
    return from_fx(make_fx(function, tracing_mode="symbolic" if symbolic else "fake")(*args))


def add_args(alpha: int = 1) -> ArgsAttr:
    return ArgsAttr((Ref(0), Ref(1), alpha))


class TestFakeValues:
    @pytest.fixture
    def env(self) -> FakeEnvironment:
        return FakeEnvironment.from_table(TABLE)

    @pytest.mark.parametrize(
        "type_",
        [
            TensorType.get(F32, (4, 8)),
            TensorType.get(F32, (4, 8), (1, 4), offset=7),
            TensorType.get(torch.bfloat16, (2, 3), device="cuda:1"),
            TensorType.get(torch.complex64, (3,), flags=("conj", "neg")),
            TensorType.get(F32, (parse_expr("s0"), 4), (parse_expr("2*s0"), 1)),
            TensorType.get(F32, (parse_expr("u0"),), offset=parse_expr("s0 + 1")),
            TensorType.get(F32, (2,), flags=("requires_grad",)),
            TensorType.get(F32, (2,), flags=("requires_grad", "parameter")),
            TensorType.get(torch.int64, ()),
            TensorType.get(F32, (0, 3), (3, 1)),
        ],
        ids=str,
    )
    def test_a_tensor_has_every_fact_of_its_type(
        self, type_: TensorType, env: FakeEnvironment
    ) -> None:
        made = fake_value(type_, env)
        assert isinstance(made, FakeTensor)
        from xductor.ir.inference.value_types import TypeReader

        assert TypeReader("pre_grad").type_of(made) is type_
        assert not env.shape_env.guards

    def test_numbers(self, env: FakeEnvironment) -> None:
        assert fake_value(SymIntType(3), env) == 3
        assert fake_value(NONE, env) is None
        size = fake_value(SymIntType(parse_expr("s0 + 1")), env)
        assert isinstance(size, torch.SymInt)
        assert str(size) == "s0 + 1"
        assert isinstance(fake_value(SymBoolType(parse_expr("lt(s0, 4)")), env), torch.SymBool)

    @pytest.mark.parametrize("quotient", ["int_true_div(0, s0)", "int_true_div(s0, s1)"])
    def test_a_quotient_is_a_float_even_if_it_is_whole(
        self, quotient: str, env: FakeEnvironment
    ) -> None:
        made = fake_value(SymFloatType(parse_expr(quotient)), env)
        assert isinstance(made, torch.SymFloat)
        assert type(made.node.hint) is float
        assert type(fake_value(SymFloatType(parse_expr("int_true_div(0, 3)")), env)) is float

    def test_tensors_of_one_storage_share_it(self, env: FakeEnvironment) -> None:
        storage: dict[torch.dtype, torch.Tensor] = {}
        base = fake_value(TensorType.get(F32, (4, 4)), env, storage)
        part = fake_value(TensorType.get(F32, (4,), (4,), offset=2), env, storage)
        other = fake_value(TensorType.get(F32, (4,)), env)
        assert part.untyped_storage()._cdata == base.untyped_storage()._cdata
        assert other.untyped_storage()._cdata != base.untyped_storage()._cdata
        assert part.storage_offset() == 2

    def test_what_requires_grad_and_is_no_parameter_can_be_written_to(
        self, env: FakeEnvironment
    ) -> None:
        made = fake_value(TensorType.get(F32, (2, 2), (1, 2), flags=("requires_grad",)), env)
        assert not made.is_leaf
        with env.mode:
            made.t().add_(1)
        assert made.stride() == (1, 2)

    @pytest.mark.parametrize(
        "type_",
        [
            ObjectType("torch.ScriptObject"),
            TensorType.get(F32, (2, 2), (), layout="sparse_coo"),
            TensorType.get(F32, (2,), subclass="torch.nested.NestedTensor"),
        ],
        ids=str,
    )
    def test_what_cannot_be_faked_is_refused(self, type_: Any, env: FakeEnvironment) -> None:
        with pytest.raises(NoFakeValue):
            fake_value(type_, env)


class TestInference:
    def test_a_call_that_is_no_op_yet(self) -> None:
        left = TensorType.get(F32, (4, 1), device="cuda:0")
        right = TensorType.get(torch.bfloat16, (8,), device="cuda:0")
        found, remembered = infer_call(
            aten.add.Tensor.op_class, add_args(), [left, right], InferenceEnv(SymbolTable())
        )
        assert found.types == (TensorType.get(F32, (4, 8), device="cuda:0"),)
        assert not remembered

    def test_symbolic_sizes(self) -> None:
        s0 = parse_expr("s0")
        operand = TensorType.get(F32, (s0, 4))
        found, _ = infer_call(
            aten.permute.default.op_class,
            ArgsAttr((Ref(0), aten_list(1, 0))),
            [operand],
            InferenceEnv(TABLE),
        )
        assert found.types == (TensorType.get(F32, (4, s0), (1, 4)),)
        assert not found.assumed

    def test_each_question_is_asked_once(self) -> None:
        module = traced(lambda x: (x.sin() + x.cos()).sin(), torch.ones(3))
        graph = entry_graph(module)
        env = InferenceEnv.of(graph)
        remembered = [infer.inferred(op, env)[1] for op in list(graph.block.ops)[:-1]]
        assert remembered == [False, False, False, True]
        assert InferenceEnv.of(graph)._fake is None

    def test_symbols_of_another_table_are_another_question(self) -> None:
        operand = TensorType.get(F32, (parse_expr("s0"),))
        args = ArgsAttr((Ref(0),))
        other = parse_symbol_table("symbols(s0 : int positive [5, 9] hint 7)")
        infer_call(aten.sin.default.op_class, args, [operand], InferenceEnv(TABLE))
        assert not infer_call(aten.sin.default.op_class, args, [operand], InferenceEnv(other))[1]
        assert infer_call(aten.sin.default.op_class, args, [operand], InferenceEnv(TABLE))[1]

    def test_the_memo_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(infer, "MEMO_SIZE", 3)
        env = InferenceEnv(SymbolTable())
        for size in range(1, 9):
            infer_call(
                aten.sin.default.op_class, ArgsAttr((Ref(0),)), [TensorType.get(F32, (size,))], env
            )
        assert len(infer._memo) == 3

    def test_nothing_outlives_the_question(self) -> None:
        def live() -> int:
            gc.collect()
            kinds = (ShapeEnv, FakeTensor, FakeTensorMode)
            return sum(issubclass(type(thing), kinds) for thing in gc.get_objects())

        def ask(size: int) -> None:
            operand = TensorType.get(F32, (parse_expr("s0"), size))
            with InferenceEnv(TABLE) as env:
                infer_call(aten.sin.default.op_class, ArgsAttr((Ref(0),)), [operand], env)

        ask(3)
        before = live()
        for size in range(4, 14):
            ask(size)
        assert live() <= before

    def test_the_users_shape_env_learns_nothing(self) -> None:
        module = traced(
            lambda x, y: torch.cat([x, y]).view(-1, 2).sum(0) + x.shape[0],
            torch.ones(6, 4),
            torch.ones(5, 4),
            symbolic=True,
        )
        graph = entry_graph(module)
        known = graph.live.types.shape_env

        def state() -> tuple[Any, ...]:
            return (
                len(known.guards),
                dict(known.replacements),
                known.num_deferred_runtime_asserts,
                dict(known.var_to_range),
                known.unbacked_symint_counter,
            )

        before = state()
        env = InferenceEnv.of(graph)
        for op in list(graph.block.ops)[:-1]:
            assert infer_types(op, env)
        assert state() == before

    def test_data_dependent_sizes_are_fresh_symbols(self) -> None:
        operand = TensorType.get(F32, (4, 2))
        found, _ = infer_call(
            aten.nonzero.default.op_class, ArgsAttr((Ref(0),)), [operand], InferenceEnv(TABLE)
        )
        (size, two) = found.types[0].shape
        assert two == 2
        assert found.fresh == {str(size)}
        assert str(size) != "u0"

    def test_what_a_kernel_assumes_is_told(self) -> None:
        left = TensorType.get(F32, (parse_expr("s0"),))
        right = TensorType.get(F32, (parse_expr("s1"),))
        env = InferenceEnv(TABLE)
        found, _ = infer_call(aten.add.Tensor.op_class, add_args(), [left, right], env)
        assert [name for name, _ in found.equated] in (["s0"], ["s1"])
        assert found.assumed
        # The assumption is gone with the question.
        again, _ = infer_call(
            aten.mul.Tensor.op_class, ArgsAttr((Ref(0), Ref(1))), [left, right], env
        )
        assert again.equated == found.equated

    @pytest.mark.parametrize("layout", ["contiguous", "channels_last"])
    def test_padding_a_symbolic_size_assumes_nothing(self, layout: str) -> None:
        """The kernel is C++ over plain ints; PyTorch's definition in Python is asked instead."""
        size = parse_expr("s0")
        shape = (size, 2, 3, 5)
        strides = (30, 1, 10, 2) if layout == "channels_last" else None
        args = ArgsAttr((Ref(0), aten_list(0, 3, 1, 0), 0))
        found, _ = infer_call(
            aten.constant_pad_nd.default.op_class,
            args,
            [TensorType.get(F32, shape, strides)],
            InferenceEnv(TABLE),
        )
        wanted = (64, 1, 16, 2) if layout == "channels_last" else None
        assert found.types == (TensorType.get(F32, (size, 2, 4, 8), wanted),)
        assert not found.assumed

    def test_operands_that_do_not_fit(self) -> None:
        types = [TensorType.get(F32, (4, 3)), TensorType.get(F32, (4, 3))]
        with pytest.raises(NotApplicable, match=r"reduction dim|multiplied|size"):
            infer_call(
                aten.mm.default.op_class,
                ArgsAttr((Ref(0), Ref(1))),
                types,
                InferenceEnv(SymbolTable()),
            )

    def test_what_cannot_be_run_says_why(self) -> None:
        with pytest.raises(NotInferred) as caught:
            infer_call(
                aten.sin.default.op_class,
                ArgsAttr((Ref(0),)),
                [ObjectType("torch.ScriptObject")],
                InferenceEnv(SymbolTable()),
            )
        assert "object" in caught.value.reason

    def test_a_failing_kernel_is_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        types = [TensorType.get(F32, (4, 3)), TensorType.get(F32, (4, 3))]
        with pytest.raises(NotApplicable):
            infer_call(
                aten.mm.default.op_class,
                ArgsAttr((Ref(0), Ref(1))),
                types,
                InferenceEnv(SymbolTable()),
            )
        assert not [record for record in caplog.records if record.levelname == "ERROR"]

    def test_ambient_autocast_does_not_leak_in(self) -> None:
        types = [TensorType.get(F32, (4, 4)), TensorType.get(F32, (4, 4))]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found, _ = infer_call(
                aten.mm.default.op_class,
                ArgsAttr((Ref(0), Ref(1))),
                types,
                InferenceEnv(SymbolTable()),
            )
        assert found.types[0].dtype is F32

    def test_an_outer_fake_mode_does_not_leak_in(self) -> None:
        with FakeTensorMode():
            found, _ = infer_call(
                aten.sin.default.op_class,
                ArgsAttr((Ref(0),)),
                [TensorType.get(F32, (4,))],
                InferenceEnv(SymbolTable()),
            )
        assert found.types == (TensorType.get(F32, (4,)),)


def aten_list(*items: int) -> Any:
    from xductor.ir import ListArg

    return ListArg(items)
