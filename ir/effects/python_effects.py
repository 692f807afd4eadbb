"""Effects of Python-level targets: functions by their qualified name, Tensor methods by name."""

from __future__ import annotations

import re
import types
from functools import cache
from typing import Any

import torch

from xductor.ir.effects.effects import ALL, PURE, UNKNOWN, Effects
from xductor.ir.effects.operator_effects import overload_effects
from xductor.ir.python.qualified_names import qualified_name
from xductor.ir.python.signatures import aten_schemas, is_out_schema, signatures

__all__ = ["function_effects", "method_effects"]

_HOST = Effects(host=True)
_MODE = Effects(mode=True)
_RNG = Effects(rng=True)
_SEED = Effects(rng=True, host=True)
_WRITES_SELF = Effects(frozenset({"self"}))


def function_effects(fn: object) -> Effects:
    """The effects of a Python callable; UNKNOWN for one without a qualified name."""
    name = qualified_name(fn)
    if name is None:
        return UNKNOWN
    root = name.partition(".")[0]
    if root in ("torch", "_operator", "operator", "math", "builtins"):
        return _named_effects(name, fn)
    return UNKNOWN


@cache
def _named_effects(name: str, fn: Any) -> Effects:
    module, _, last = name.rpartition(".")
    known = _FUNCTIONS.get(name)
    if known is not None:
        return known
    if module in ("_operator", "operator"):
        return _operator_effects(last)
    if module == "math":
        return PURE
    if module == "builtins":
        return PURE if last in _PURE_BUILTINS else UNKNOWN
    if module == "torch.Tensor":
        return method_effects(last)
    if module == "torch.nn.functional" and isinstance(fn, types.FunctionType):
        return _functional_effects(fn, last)
    for pattern, effects in _PATTERNS:
        if pattern.fullmatch(name):
            return effects
    if module in _SCHEMA_MODULES:
        found = _schema_effects(fn)
        if found is not None:
            return found
    if getattr(fn, "__module__", None) == "torch.functional":
        return _python_function_effects(fn)
    return UNKNOWN


_SCHEMA_MODULES = frozenset(
    {"torch", "torch._C._nn", "torch._C._linalg", "torch._C._fft", "torch._C._special",
     "torch._C._sparse", "torch._C._nested"}
)  # fmt: skip

_PURE_BUILTINS = frozenset(
    {"abs", "bool", "complex", "dict", "divmod", "enumerate", "float", "getattr", "hasattr",
     "hash", "id", "int", "isinstance", "issubclass", "len", "list", "max", "min", "pow", "range",
     "repr", "reversed", "round", "slice", "sorted", "str", "sum", "tuple", "type", "zip"}
)  # fmt: skip

_PURE_FUNCTIONS = (
    "as_tensor", "asarray", "Size", "device", "finfo", "iinfo", "from_numpy", "frombuffer",
    "get_default_dtype", "is_storage", "is_tensor", "tensor", "typename", "sym_float", "sym_int",
    "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum", "sym_fresh_size", "is_grad_enabled",
    "is_inference_mode_enabled", "is_autocast_enabled", "get_default_device", "broadcast_shapes",
)  # fmt: skip

_FUNCTIONS: dict[str, Effects] = {
    **{f"torch.{name}": PURE for name in _PURE_FUNCTIONS},
    "builtins.print": _HOST,
    "torch._C._log_api_usage_once": _HOST,
    "builtins.setattr": Effects(ALL),
    "builtins.delattr": Effects(ALL),
    "builtins.next": Effects(ALL),
    "torch.manual_seed": _SEED,
    "torch.seed": _SEED,
    "torch.initial_seed": _SEED,
    "torch.get_rng_state": _SEED,
    "torch.set_rng_state": _SEED,
    "torch.use_deterministic_algorithms": _MODE,
    "torch.clear_autocast_cache": _MODE,
    "torch.autocast_increment_nesting": _MODE,
    "torch.autocast_decrement_nesting": _MODE,
    "torch.inference_mode": _MODE,
    "torch.no_grad": _MODE,
    "torch.enable_grad": _MODE,
    "torch.autocast": _MODE,
}

_PATTERNS: tuple[tuple[re.Pattern[str], Effects], ...] = tuple(
    (re.compile(text), effects)
    for text, effects in (
        (r"torch\._(assert|check)\w*", _HOST),
        (r"torch\.sym_constrain\w*", _HOST),
        (r"torch\._sym_\w+", PURE),
        (r"torch\.(_C\.)?_?(un)?(set|enter|exit|push|pop|increment|decrement)_\w+", _MODE),
        (r"torch\._C\._(functorch|autograd|profiler)\.\w+", _MODE),
        (r"torch\._functorch\.(predispatch|vmap|eager_transforms)\.\w+", _MODE),
        (r"torch\.amp\.\w+(\.\w+)*", _MODE),
        (r"torch\.(cpu|cuda)\.amp\.\w+(\.\w+)*", _MODE),
        (r"torch\.autograd\.(grad_mode|forward_ad|graph|profiler|inference_mode)\.\w+", _MODE),
        (r"torch\.random\.\w+", _SEED),
        (r"torch\.nn\.init\.\w+", Effects(frozenset({"tensor"}), rng=True)),
        (r"torch\.distributed\.\w+(\.\w+)*", Effects(collective=True, unknown=True)),
    )
)


def _operator_effects(name: str) -> Effects:
    if name in ("setitem", "delitem") or name in _INPLACE_OPERATORS:
        return Effects(frozenset({"a"}))
    if name in ("call", "attrgetter", "itemgetter", "methodcaller"):
        return UNKNOWN
    return PURE


_INPLACE_OPERATORS = frozenset(
    {"iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow",
     "irshift", "isub", "itruediv", "ixor"}
)  # fmt: skip

_RUNNING = Effects(frozenset({"running_mean", "running_var"}))
_FUNCTIONAL: dict[str, Effects] = {
    **dict.fromkeys(
        ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
         "feature_alpha_dropout", "rrelu", "gumbel_softmax", "multi_head_attention_forward",
         "fractional_max_pool2d", "fractional_max_pool3d", "fractional_max_pool2d_with_indices",
         "fractional_max_pool3d_with_indices"),
        _RNG,
    ),
    "batch_norm": _RUNNING,
    "instance_norm": _RUNNING,
    "embedding": Effects(frozenset({"weight"})),  # max_norm renormalises in place
    "embedding_bag": Effects(frozenset({"weight"})),
}  # fmt: skip


def _functional_effects(fn: Any, name: str) -> Effects:
    if getattr(fn, "__module__", None) != "torch.nn.functional":
        return UNKNOWN
    effects = _FUNCTIONAL.get(name, PURE)
    return effects | _python_function_effects(fn)


def _python_function_effects(fn: Any) -> Effects:
    """The effects by the conventions of torch's Python functions: `inplace` and `out`."""
    found = signatures(fn)
    names = {n for signature in found or () for n in signature.names}
    writes: set[str] = set()
    if "inplace" in names:
        writes.add("input")
    if "out" in names:
        writes.add("out")
    return Effects(frozenset(writes))


def _schema_effects(fn: Any) -> Effects | None:
    """The union over the overloads of a C function, with the names of its Python signature."""
    found = signatures(fn)
    if not found or any(signature.schema is None for signature in found):
        return None
    effects = PURE
    for signature in found:
        effects |= _of_schema(signature.schema, receiver="input")
    return effects


def _of_schema(schema: Any, *, receiver: str) -> Effects:
    packet = getattr(torch.ops.aten, schema.name.partition("::")[2])
    one = overload_effects(getattr(packet, schema.overload_name or "default"))
    if is_out_schema(schema):
        return Effects(frozenset({"out"}), rng=one.rng, alloc=one.alloc)
    writes = frozenset(receiver if w == "self" else w for w in one.writes)
    return Effects(writes, one.rng, one.alloc, one.collective, one.host)


# -------------------------------------------------------------------------------------- methods

_PURE_METHODS = frozenset(
    {"bfloat16", "bool", "byte", "char", "cdouble", "cfloat", "chalf", "cpu", "cuda", "dim",
     "dim_order", "double", "element_size", "float", "get_device", "half", "int", "is_contiguous",
     "is_shared", "istft", "item", "long", "lu", "ndimension", "nelement", "new_tensor", "norm",
     "numel", "short", "size", "split", "stft", "storage_offset", "stride", "to", "to_sparse_coo",
     "tolist", "type", "unflatten", "unique", "unique_consecutive", "as_subclass", "new_ones",
     "new_zeros", "new_full", "__getitem__", "__len__", "__contains__", "__bool__", "__int__",
     "__float__", "__complex__", "__index__", "__rsub__", "__rdiv__", "__rtruediv__", "__rpow__",
     "__rfloordiv__", "__rmod__", "__rmatmul__", "__radd__", "__rmul__", "__rlshift__",
     "__rrshift__", "__invert__", "__abs__", "__neg__", "__pos__", "__hash__", "__repr__",
     "__format__", "__iter__", "__reversed__", "__dir__", "__nonzero__", "__long__",
     "is_coalesced", "has_names", "nonzero_static"}
)  # fmt: skip
_HOST_METHODS = frozenset(
    {"backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad",
     "record_stream", "reinforce"}
)  # fmt: skip
_INPLACE_METHOD = re.compile(
    r"[a-z]\w*(?<!_)_|__i(add|and|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|div|xor)__"
    r"|__(set|del)item__"
)


@cache
def method_effects(name: str) -> Effects:
    """The effects of the Tensor method with that name; UNKNOWN if Tensor has none."""
    if not callable(getattr(torch.Tensor, name, None)):
        return UNKNOWN
    effects = _WRITES_SELF if _INPLACE_METHOD.fullmatch(name) else PURE
    if name in _HOST_METHODS:
        return effects | _HOST
    if name in ("apply_", "map_", "map2_"):
        return UNKNOWN  # call back into Python
    plain = name[2:-2] if name.startswith("__") and name.endswith("__") else name
    schemas = aten_schemas(name) or aten_schemas(plain)
    schemas = [schema for schema in schemas if not is_out_schema(schema)]
    for schema in schemas:
        effects |= _of_schema(schema, receiver="self")
    if not schemas and effects.pure and name not in _PURE_METHODS:
        return UNKNOWN
    return effects
