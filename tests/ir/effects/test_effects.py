"""Effects against PyTorch's own statements, over the whole registry."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import fx

from xductor.ir.effects.effects import ALL, PURE, UNKNOWN, Effects
from xductor.ir.effects.target_effects import (
    call_effects,
    has_subgraph_effects,
    is_removable_call,
    target_effects,
)

aten = torch.ops.aten


def _overloads() -> Iterator[tuple[str, Any]]:
    for name in torch._C._dispatch_get_all_op_names():
        library, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        namespace = getattr(torch.ops, library)
        yield name, getattr(getattr(namespace, packet), overload or "default")


OVERLOADS = list(_overloads())


def _node(target: Any) -> fx.Node:
    return fx.Graph().create_node("call_function", target)


@pytest.mark.parametrize("writes", [frozenset[str](), ALL])
@pytest.mark.parametrize("flag", ["rng", "alloc", "collective", "host", "mode", "unknown", None])
def test_what_is_silent_and_what_joins_to_what(writes: frozenset[str], flag: str | None) -> None:
    effects = Effects(writes, **({} if flag is None else {flag: True}))
    assert effects.silent is (effects == Effects(alloc=effects.alloc))
    assert effects.pure is (effects == Effects())
    assert effects | PURE == PURE | effects == effects | Effects() == effects


def test_writes_are_those_of_the_schema() -> None:
    for name, overload in OVERLOADS:
        declared = {
            a.name for a in overload._schema.arguments if a.alias_info and a.alias_info.is_write
        }
        effects = target_effects(overload)
        assert declared <= effects.writes, name
        if overload._schema.is_mutable:
            assert effects.writes, name
            assert not effects.removable(fallback_random=False), name


def test_what_fx_calls_impure_is_not_pure() -> None:
    seen = 0
    for name, overload in OVERLOADS:
        if _node(overload).is_impure():
            seen += 1
            assert not target_effects(overload).pure, name
    assert seen > 1000


def test_what_fx_keeps_is_not_removable() -> None:
    for name, overload in OVERLOADS:
        if _node(overload).is_impure(impure_random=False):
            assert not target_effects(overload).removable(fallback_random=False), name


def test_side_effectful_functions_are_not_removable() -> None:
    for target in torch.fx.node._side_effectful_functions:
        assert not target_effects(target).removable(fallback_random=False), target


def test_random_functions_of_fx_are_rng() -> None:
    from torch._library.utils import _RANDOM_FUNCTIONS

    for function in _RANDOM_FUNCTIONS:
        assert target_effects(function).rng, function


def test_random_tags_are_rng() -> None:
    for name, overload in OVERLOADS:
        if torch.Tag.nondeterministic_seeded in overload.tags:
            assert target_effects(overload).rng, name


def test_views_are_pure() -> None:
    for name, overload in OVERLOADS:
        if overload.is_view and name.startswith("aten::"):
            assert target_effects(overload) == PURE, name


def test_core_aten_is_mostly_pure() -> None:
    core = [o for _, o in OVERLOADS if torch.Tag.core in o.tags]
    impure = {str(o) for o in core if not target_effects(o).pure}
    assert len(core) > 150
    random_or_new = ("empty", "rand", "bernoulli", "native_dropout", "flash", "sym_size")
    for name in impure:
        overload = next(o for o in core if str(o) == name)
        stated = overload._schema.is_mutable or torch.Tag.nondeterministic_seeded in overload.tags
        assert stated or any(word in name for word in random_or_new), name


WRITES_SELF = Effects(frozenset({"self"}))
WRITES_A = Effects(frozenset({"a"}))
MODE = Effects(mode=True)
HOST = Effects(host=True)


def named(value: object) -> str:
    """A test id that is the same in every process: no addresses, no order of a set."""
    if isinstance(value, Effects):
        return "effects"
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (aten.add.Tensor, PURE),
        (aten.add_.Tensor, WRITES_SELF),
        (aten.add.out, Effects(frozenset({"out"}))),
        (aten.empty_like.default, Effects(alloc=True)),
        (torch.ops.prims.device_put.default, PURE),
        (torch.ops.prims.convert_element_type.default, PURE),
        (aten._assert_scalar.default, HOST),
        (aten._functional_assert_async.msg, HOST),
        (aten.sym_constrain_range_for_size.default, HOST),
        (aten._print.default, HOST),
        (aten.native_batch_norm.default, Effects(frozenset({"running_mean", "running_var"}))),
        (torch.relu_, Effects(frozenset({"input"}))),
        (torch.sym_max, PURE),
        (operator.add, PURE),
        (operator.and_, PURE),
        (operator.iadd, WRITES_A),
        (max, PURE),
        (getattr, PURE),
        (torch.ops.higher_order.cond, PURE),
        (torch.ops.higher_order.run_and_save_rng_state, Effects(rng=True)),
        (F.scaled_dot_product_attention, Effects(rng=True)),
        (F.softmax, PURE),
        (F.cross_entropy, PURE),
        (F.pad, PURE),
        (torch.set_default_dtype, MODE),
        (torch._C._functorch._add_batch_dim, MODE),
        (torch.autograd.grad_mode._enter_inference_mode, MODE),
        (torch._check, HOST),
        (torch._C._log_api_usage_once, HOST),
        (lambda x: x, UNKNOWN),
        ("add", PURE),
        ("add_", WRITES_SELF),
        ("__add__", PURE),
        ("__and__", PURE),
        ("__iadd__", WRITES_SELF),
        ("__setitem__", WRITES_SELF),
        ("__invert__", PURE),
        ("uniform_", Effects(frozenset({"self"}), rng=True)),
        ("bernoulli", Effects(rng=True)),
        ("new_empty", Effects(alloc=True)),
        ("size", PURE),
        ("split", PURE),
        ("float", PURE),
        ("backward", HOST),
        ("append", UNKNOWN),
    ],
    ids=named,
)
def test_effects_by_hand(target: object, expected: Effects) -> None:
    assert target_effects(target) == expected


@pytest.mark.parametrize(
    "target",
    [torch._C._set_grad_enabled, torch.amp.autocast_mode._enter_autocast,
     torch.amp.autocast_mode._exit_autocast],
)  # fmt: skip
def test_mode_changes_are_boundaries(target: object) -> None:
    assert target_effects(target).mode


def test_collectives() -> None:
    pytest.importorskip("torch.distributed._functional_collectives")
    ops = torch.ops._c10d_functional
    for overload in (ops.all_reduce.default, ops.wait_tensor.default):
        assert target_effects(overload).collective
        assert not is_removable_call(overload, impure=False, fallback_random=False)


def test_torch_functions_write_to_out_only_if_it_is_given() -> None:
    assert target_effects(torch.add).writes == {"out"}
    assert call_effects(torch.add, {"input": object(), "other": object()}) == PURE
    assert call_effects(torch.add, {"out": object()}).writes == {"out"}
    assert call_effects(torch.add, {"out": None}) == PURE
    assert call_effects(aten.add.out, {"out": object()}).writes == {"out"}


def test_inplace_training_and_dropout_decide_a_call() -> None:
    value = object()
    assert call_effects(F.relu, {"input": value, "inplace": False}) == PURE
    assert call_effects(F.relu, {"input": value, "inplace": True}).writes == {"input"}
    assert call_effects(F.relu, {"input": value, "inplace": value}).writes == {"input"}
    assert call_effects(F.dropout, {"input": value, "p": 0.5, "training": False}) == PURE
    assert call_effects(F.dropout, {"input": value, "p": 0.5, "training": True}).rng
    assert call_effects(F.dropout, {"input": value, "p": 0.0, "training": True}) == PURE
    assert call_effects(F.dropout, {"input": value, "p": 0.5}).rng
    sdpa = F.scaled_dot_product_attention
    assert call_effects(sdpa, {"query": value, "dropout_p": 0.0}) == PURE
    assert call_effects(sdpa, {"query": value, "dropout_p": value}).rng
    norm = {"running_mean": value, "running_var": None}
    assert call_effects(F.batch_norm, {**norm, "training": True}).writes == {"running_mean"}
    assert call_effects(F.batch_norm, {**norm, "training": False}) == PURE
    assert call_effects(F.embedding, {"weight": value, "max_norm": None}) == PURE
    assert call_effects(F.embedding, {"weight": value, "max_norm": 1.0}).writes == {"weight"}
    # The probability of a Bernoulli draw is no drop-out: the generator advances all the same.
    assert call_effects(aten.bernoulli.p, {"self": value, "p": 0.0}).rng


def test_a_dropped_draw_advances_no_generator_in_eager() -> None:
    x = torch.ones(1000)
    q = torch.ones(1, 1, 8, 8)
    calls = [
        lambda: F.dropout(x, 0.0, training=True),
        lambda: F.dropout(x, 0.5, training=False),
        lambda: F.alpha_dropout(x, 0.0, training=True),
        lambda: F.rrelu(x, training=False),
        lambda: torch.native_dropout(x, 0.5, False),
        lambda: F.scaled_dot_product_attention(q, q, q, dropout_p=0.0),
    ]
    for call in calls:
        before = torch.get_rng_state()
        call()
        assert torch.equal(before, torch.get_rng_state())


def test_undeclared_writes_of_batch_norm_are_real() -> None:
    x, mean, var = torch.randn(4, 3), torch.zeros(3), torch.ones(3)
    aten.native_batch_norm.default(x, None, None, mean, var, True, 0.1, 1e-5)
    assert not torch.equal(mean, torch.zeros(3))


def test_higher_order_ops() -> None:
    hop = torch.ops.higher_order
    assert has_subgraph_effects(hop.cond)
    assert not has_subgraph_effects(hop.with_effects)
    assert target_effects(hop.with_effects).host
    assert target_effects(hop.call_torchbind).host
    functional = hop.auto_functionalized_v2
    assert call_effects(functional, {"_mutable_op": aten.add_.Tensor}) == PURE
    asserts = torch.ops.inductor.accumulate_grad_.default
    assert call_effects(hop.with_effects, {"op": aten._print.default}).host
    assert not call_effects(functional, {"_mutable_op": asserts}).writes


def test_the_kernel_wrapper_that_mutates_writes_anything() -> None:
    from torch._higher_order_ops.triton_kernel_wrap import (
        triton_kernel_wrapper_functional,
        triton_kernel_wrapper_mutation,
    )

    assert target_effects(triton_kernel_wrapper_mutation).writes == ALL
    assert target_effects(triton_kernel_wrapper_functional) == PURE


def test_unknown_higher_order_op_is_unknown() -> None:
    class Mine(torch._ops.HigherOrderOperator):
        def __init__(self) -> None:
            super().__init__("xductor_effects_test_mine")

        def __call__(self, x: object) -> object:
            return super().__call__(x)

    assert target_effects(Mine()) == UNKNOWN


def test_custom_ops_by_schema_and_registration() -> None:
    with torch.library._scoped_library("xductor_effects_test", "DEF") as library:
        library.define("fused(Tensor x) -> Tensor")
        library.define("log(Tensor x) -> ()")
        library.define("fill(Tensor(a!) x) -> ()")
        library.define("noise(Tensor x, Generator? generator=None) -> Tensor")
        ops = torch.ops.xductor_effects_test
        assert target_effects(ops.fused.default) == PURE
        assert target_effects(ops.log.default) == HOST
        assert target_effects(ops.fill.default) == Effects(frozenset({"x"}))
        assert target_effects(ops.noise.default) == Effects(rng=True)
        from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

        handle = _register_effectful_op(ops.fused.default, _EffectType.ORDERED)
        assert target_effects(ops.fused.default) == HOST  # though it was asked for before
        handle.destroy()
        assert target_effects(ops.fused.default) == PURE


def test_dead_random_ops_stay_under_fallback_random() -> None:
    rand = aten.rand.default
    assert is_removable_call(rand, impure=False, fallback_random=False)
    assert not is_removable_call(rand, impure=False, fallback_random=True)
    assert is_removable_call(aten.empty_like.default, impure=False, fallback_random=True)
    assert not is_removable_call(aten.add.Tensor, impure=True, fallback_random=False)
    assert not is_removable_call(torch.add, impure=False, fallback_random=False)
    arguments = {"input": 1, "other": 2}
    assert is_removable_call(torch.add, impure=False, fallback_random=False, arguments=arguments)


def test_join() -> None:
    joined = Effects(frozenset({"x"}), rng=True) | Effects(frozenset({"y"}), host=True)
    assert joined == Effects(frozenset({"x", "y"}), rng=True, host=True)
