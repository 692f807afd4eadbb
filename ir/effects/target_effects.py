"""What a call does besides computing its results.

Everything here errs towards more effects: a call that is not known to be pure is not pure. There
are two levels: `target_effects` tells what any call of the target may do, and `call_effects` what a
particular call does, given its constant arguments (no `out=`, `inplace=False`, `training=False`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import torch
import torch.fx.node

from xductor.ir.effects.effects import ALL, PURE, UNKNOWN, Effects
from xductor.ir.effects.operator_effects import RUNNING_STATISTICS, overload_effects, packet_effects
from xductor.ir.effects.python_effects import function_effects, method_effects

__all__ = [
    "call_effects",
    "has_subgraph_effects",
    "is_registered",
    "is_removable_call",
    "target_effects",
]

_HOST: Final = Effects(host=True)


def target_effects(target: object) -> Effects:
    """What a call of this target may do, for any arguments; UNKNOWN for an unknown callable.

    Args:
        target: an OpOverload, a packet, a higher-order op, a Python callable, or a str, which is
            the name of a method. Effects inside subgraphs are not included: join those of the
            bodies if `has_subgraph_effects(target)`.
    """
    if isinstance(target, str):
        return method_effects(target)
    effects = _static_effects(target)
    # Registrations come and go while the program runs, so they are never cached.
    if effects.removable(fallback_random=False) and is_registered(target):
        return effects | _HOST
    return effects


def _static_effects(target: object) -> Effects:
    if isinstance(target, torch._ops.OpOverload):
        return overload_effects(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return _higher_order_effects(target.name())
    if isinstance(target, torch._ops.OpOverloadPacket):
        return packet_effects(target)
    return function_effects(target)


def call_effects(target: object, arguments: Mapping[str, object]) -> Effects:
    """What this call does.

    Args:
        target: as for `target_effects`.
        arguments: by parameter name, as `binding.bind` or the schema gives them, with or without
            defaults filled in; anything that is not a constant may have any value.
    """
    effects = target_effects(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return effects | _wrapped_effects(target, arguments)
    if effects.writes and "*" not in effects.writes:
        kept = frozenset(w for w in effects.writes if _is_written(w, target, arguments))
        effects = replace(effects, writes=kept)
    if effects.rng and _draws_nothing(_base_name(target), arguments):
        effects = replace(effects, rng=False)
    return effects


def is_removable_call(
    target: object,
    *,
    impure: bool,
    fallback_random: bool,
    arguments: Mapping[str, object] | None = None,
) -> bool:
    """Whether dead code elimination may remove an unused call.

    Args:
        target: as for `target_effects`.
        impure: whether it is impure for FX, `node.is_impure(impure_random=False)`, or for another
            source. Random functions are judged by `fallback_random` alone.
        fallback_random: Inductor's flag of that name.
        arguments: where known, the call is judged rather than the target; without them
            `torch.add` stays, since it could write to `out`.
    Producers of unbacked symbols that later types mention are the caller's to keep.
    """
    if impure:
        return False
    effects = target_effects(target) if arguments is None else call_effects(target, arguments)
    return effects.removable(fallback_random)


@cache
def _registration(target: Any) -> Any:
    """PyTorch's object for the effects that are registered under an operator's name.

    None in versions of PyTorch without such objects.
    """
    import torch._higher_order_ops.effects as module

    name_of = getattr(module, "_get_op_qualname", None)
    if name_of is None:
        return None
    return torch._library.simple_registry.singleton.find(  # type: ignore[attr-defined]
        name_of(target)
    ).effect


@cache
def _effects_module() -> Any:
    import torch._higher_order_ops.effects as module

    return module


@cache
def _is_operator_class(cls: type[Any]) -> bool:
    """Whether instances are operators: `isinstance` is slow for higher-order ones, an ABC."""
    return issubclass(cls, (torch._ops.OpOverload, torch._ops.HigherOrderOperator))


def is_registered(target: object) -> bool:
    """`torch.fx.node.has_side_effect`, or `torch.library._register_effectful_op`."""
    try:
        if target in torch.fx.node._side_effectful_functions:
            return True
    except TypeError:  # not hashable, so in no set
        return False
    if not _is_operator_class(type(target)):
        return False
    registration = _registration(target)
    if registration is not None:
        return registration.effect is not None
    return target in getattr(_effects_module(), "SIDE_EFFECTS", ())


# ---------------------------------------------------------------------------- higher-order ops

_WITH_BODIES = frozenset(
    {"cond", "while_loop", "while_loop_stack_output", "map", "map_impl", "scan",
     "associative_scan", "invoke_subgraph", "wrap", "wrap_activation_checkpoint",
     "tag_activation_checkpoint", "wrap_with_autocast", "wrap_with_set_grad_enabled",
     "autograd_function_apply", "hints_wrapper", "strict_mode", "foreach_map", "invoke_quant",
     "invoke_quant_packed", "local_map_hop", "dynamo_bypassing_wrapper", "run_const_graph",
     "flex_attention", "flex_attention_backward", "b2b_gemm"}
)  # fmt: skip
_FUNCTIONAL = frozenset(
    {"auto_functionalized", "auto_functionalized_v2", "triton_kernel_wrapper_functional",
     "out_dtype", "inline_asm_elementwise"}
)  # fmt: skip
_HIGHER_ORDER: dict[str, Effects] = {
    **dict.fromkeys(_WITH_BODIES | _FUNCTIONAL, PURE),
    **dict.fromkeys(
        ("with_effects", "call_torchbind", "print", "invoke_leaf_function", "control_deps",
         "_export_tracepoint"),
        _HOST,
    ),
    **dict.fromkeys(
        ("run_and_save_rng_state", "run_with_rng_state", "graphsafe_run_with_rng_state",
         "run_dtensor_rng_op"),
        Effects(rng=True),
    ),
    "triton_kernel_wrapper_mutation": Effects(ALL),
}  # fmt: skip
# The op they carry has been functionalized: what it writes is among the results.
_CARRIERS_OF_FUNCTIONAL = frozenset({"auto_functionalized", "auto_functionalized_v2"})


def _higher_order_effects(name: str) -> Effects:
    return _HIGHER_ORDER.get(name, UNKNOWN)


def has_subgraph_effects(target: object) -> bool:
    """Whether the call also has the effects of its subgraphs (cond, scan, invoke_subgraph, ...)."""
    return isinstance(target, torch._ops.HigherOrderOperator) and target.name() in _WITH_BODIES


def _wrapped_effects(
    target: torch._ops.HigherOrderOperator, arguments: Mapping[str, object]
) -> Effects:
    """Effects of the operators that a higher-order op carries as arguments."""
    effects = PURE
    for value in arguments.values():
        if isinstance(value, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
            inner = target_effects(value)
            if target.name() in _CARRIERS_OF_FUNCTIONAL:
                inner = replace(inner, writes=frozenset())
            effects |= inner
    return effects


# -------------------------------------------------------------------------------- this call

_NOTHING = object()
# At probability zero dropouts return their input, and attention draws nothing.
_DROPOUTS = frozenset(
    {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_dropout",
     "feature_alpha_dropout", "dropout_", "alpha_dropout_", "feature_dropout_",
     "feature_alpha_dropout_"}
)  # fmt: skip
_ONLY_IN_TRAINING = _DROPOUTS | {
    "native_dropout", "rrelu", "rrelu_", "multi_head_attention_forward",
    "rrelu_with_noise", "rrelu_with_noise_", "rrelu_with_noise_functional",
}  # fmt: skip


def _base_name(target: object) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name.partition("::")[2]
    return getattr(target, "__name__", "")


def _is_written(name: str, target: object, arguments: Mapping[str, object]) -> bool:
    value = arguments.get(name, _NOTHING)
    if value is None or (name == "out" and value is _NOTHING):
        return False
    if isinstance(target, torch._ops.OpOverloadPacket) and value is _NOTHING:
        return False  # an argument of another overload
    if isinstance(target, (str, torch._ops.OpOverload)) and name not in RUNNING_STATISTICS:
        return True
    base = _base_name(target)
    if name in RUNNING_STATISTICS:
        flag = "use_input_stats" if "instance_norm" in base else "training"
        flag = "train" if "train" in arguments else flag
        return arguments.get(flag, _NOTHING) is not False
    if base in ("embedding", "embedding_bag") and name == "weight":
        return arguments.get("max_norm") is not None
    if name == "input" and not base.endswith("_"):
        # Only `inplace` makes a function write to its input.
        return arguments.get("inplace", False) is not False
    return True


def _draws_nothing(base: str, arguments: Mapping[str, object]) -> bool:
    def is_(name: str, *values: object) -> bool:
        value = arguments.get(name, _NOTHING)
        return any(type(value) is type(v) and value == v for v in values)

    if base in _ONLY_IN_TRAINING and (is_("training", False) or is_("train", False)):
        return True
    if base in _DROPOUTS:
        return is_("p", 0, 0.0)
    return "scaled_dot_product" in base and is_("dropout_p", 0, 0.0)
