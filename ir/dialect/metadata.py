"""The information that an op keeps about its FX node.

One attribute, `node`, holds the names of the results, the metadata that text can carry, and (in
memory only) the node itself. It never takes part in equality, so CSE and interning see through it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from functools import lru_cache
from typing import Any, Self

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

#: The names under which text carries metadata.
TEXTUAL_KEYS = (
    "node",
    "module",
    "tag",
    "recompute",
    "unbacked_bindings",
    "quant_options",
    "only_clone",
    "writes",
)


#: Those that no call inherits.
_OF_THE_CALL = ("only_clone", "writes")


class MetadataClass(Enum):
    """What an entry of a node's `meta` belongs to; this decides what a rewrite does with it.

    Raising uses this list too (`keys_of`): there is no other.
    """

    #: Belongs to the value: recomputed if the value changes.
    VALUE = "value"
    #: Belongs to the arguments of the call: dropped if an operand changes.
    ARGUMENTS = "arguments"
    #: Belongs to the order of the nodes: dropped if one is new or moved.
    ORDER = "order"
    #: Belongs to the call: stays as long as the call, even if operands change; never inherited.
    CALL = "call"
    #: Belongs to the place in the program: ops that replace the call inherit it.
    PLACE = "place"
    #: Belongs to the boundary of the graph (placeholders, the output node): never touched.
    GRAPH = "graph"
    #: Belongs to the `meta` of a module; no node has it.
    MODULE = "module"


_CLASSES: dict[MetadataClass, str] = {
    MetadataClass.VALUE: """
        val tensor_meta example_value unbacked_bindings concrete_value fake_result view_of type
        sharding
    """,
    MetadataClass.ARGUMENTS: """
        eager_input_vals arg_kwarg_vals only_clone_these_tensors call_id dislike_padding
    """,
    MetadataClass.ORDER: """
        mutation_region_id
    """,
    MetadataClass.CALL: """
        target_dtype_info is_functional_regenerated local_map_kwargs
        _checkpoint_context_fn _fx_runtime_assert_preserve extra_options nested_region_config
        _allow_mixed_dtype_folding low_precision_pointwise_barrier inductor_realize_to_strides
        should_fallback saved_for_quantization dequant_type broadcast chunking original_device
        fusion_meta node_idx saved_tensor_with_no_vc_check original_stride original_size
        buf_meta creation_timestamp MODULE_TYPE distributed_autotune opt_ctx
        shapeenv_event current_node bucketing_nn_module_stack_sources
        bucketing_fwd_nn_module_stack_sources bucketing_stack_trace_sources
        bucketing_custom_sources manual_bucket_node_type
    """,
    MetadataClass.PLACE: """
        nn_module_stack torch_fn source_fn_stack original_aten recompute ac_graph_id
        has_backward_hook from_node quantization_tag _numeric_debug_handle custom partitioner_tag
        stack_trace seq_nr autograd_backward fwd_nn_module_stack fwd_source_fn_stack is_gradient_acc
        stage_idx memory_budget is_wrapped saved_for_offloading should_offload quant_options
    """,
    MetadataClass.GRAPH: """
        user_visible_output_idxs original_output_strides output_stack_traces desc tensor_dict
        steal_arg grapharg user_cache_hash symbol
    """,
    MetadataClass.MODULE: """
        backend_id cudagraph_annotation dynamo_compile_id dynamo_flat_name_to_original_fqn fake_mode
        is_backward num_activations locals_to_steal module_call_specs mutated_named_buffers
        partition_names produced_by_chunker specialization tracing_context
        _dynamo_bypassing_wrapper_fn
    """,
}

_KEYS = {kind: frozenset(keys.split()) for kind, keys in _CLASSES.items()}
_CLASS_OF_KEY = {key: kind for kind, keys in _KEYS.items() for key in keys}


def metadata_class(key: str) -> MetadataClass | None:
    """The class of an entry of `node.meta`; None for an unknown key.

    Unknown keys are treated as `CALL`. `custom` is `PLACE`, except for its entry `call_id`,
    which belongs to the call.
    """
    return _CLASS_OF_KEY.get(key)


def keys_of(kind: MetadataClass) -> frozenset[str]:
    """The entries of a class."""
    return _KEYS[kind]


def place_metadata(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a node's `meta` that a replacement inherits: those of the place.

    Containers that FX appends to are copied; `call_id` in `custom` belongs to the call and is left
    out.
    """
    place = {
        key: value for key, value in meta.items() if _CLASS_OF_KEY.get(key) is MetadataClass.PLACE
    }
    if "from_node" in place:
        place["from_node"] = list(place["from_node"])
    if isinstance(place.get("custom"), dict):
        place["custom"] = {key: value for key, value in place["custom"].items() if key != "call_id"}
    return place


class NodeMeta(Data[tuple[str, ...]]):
    """The names of an op's results, and its provenance.

    - `data`: the FX name of each result ("" for a result without a `getitem`).
    - `node`: the FX name of the call itself.
    - `origin`: the `fx.Node` the op was lowered from, or None.
    - `getitems`: for a tuple-valued call, the `getitem` nodes of each result.
    - `operands`, `args`: those at the time of lowering, so that raising can tell what changed.
    - `textual`: metadata of parsed text, or None if `origin` has it.
    - `custom`: entries for `custom` in the node's `meta`, which AOTAutograd copies to the nodes
      that it makes for the call. In memory only.
    """

    name = "fx.node"

    # Every op of a graph has one of these, so the usual values are stored only once, here.
    node: str = ""
    origin: Any = None
    getitems: dict[int, list[Any]] | None = None
    operands: Any = None
    args: Any = None
    textual: dict[str, str] | None = None
    loc: tuple[str, int] | None = None
    custom: dict[str, Any] | None = None

    def __new__(cls, names: tuple[str, ...] | Self = (), **fields: Any) -> Self:
        if type(names) is cls:  # xDSL wraps what `parse_parameter` returned
            return names
        made = object.__new__(cls)
        vars(made).update(fields, data=names)
        return made

    def __init__(self, names: tuple[str, ...] | Self = (), **fields: Any) -> None:
        """Everything is set in `__new__`."""

    @classmethod
    def of_call(cls, node: Any, args: Any, operands: Any) -> Self:
        """`cls((node.name,), node=node.name, origin=node, ...)`, of a call that was lowered."""
        made = object.__new__(cls)
        name = node.name
        vars(made).update(data=(name,), node=name, origin=node, args=args, operands=operands)
        return made

    @property
    def names(self) -> tuple[str, ...]:
        return self.data

    def __eq__(self, other: object) -> bool:
        return type(other) is NodeMeta

    def __hash__(self) -> int:
        return 0x6E6F6465

    def text_items(self) -> dict[str, str]:
        """The textual metadata, from the parsed text or from the node's `meta`."""
        if self.textual is not None:
            return self.textual
        return textual_metadata(self.origin.meta) if self.origin is not None else {}

    def location(self) -> tuple[str, int] | None:
        """File and line of the user's code, if known."""
        parsed = self.loc
        if parsed is not None or self.origin is None:
            return parsed
        return user_location(self.origin.meta.get("stack_trace"))

    def inherited(self, names: tuple[str, ...], node: str = "") -> NodeMeta:
        """Metadata for an op that replaces this one: the place is kept, the identity is not."""
        made = NodeMeta(names, node=node)
        textual = {key: text for key, text in self.text_items().items() if key not in _OF_THE_CALL}
        vars(made).update(textual=textual, loc=self.location(), heir_of=self.origin)
        return made

    def respelled(self) -> NodeMeta:
        """Metadata for the same call in another spelling: place, names and value are kept."""
        made = self.inherited(self.names, self.node)
        fields = vars(self)
        if fields.get("has_value_of_heir") or self.origin is not None:
            heir_of = fields.get("heir_of") if self.origin is None else self.origin
            vars(made).update(heir_of=heir_of, has_value_of_heir=True)
        return made

    def renamed(self, names: tuple[str, ...], node: str = "") -> NodeMeta:
        """This metadata with other names."""
        return NodeMeta(names, **{**vars(self), "node": node})

    def print_parameter(self, printer: Printer) -> None:
        from xductor.ir.text.printing import node_text

        printer.print_string(f"<{node_text(self)}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        from xductor.ir.text.parsing import parse_node_body

        return parse_node_body(parser)


_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@lru_cache(maxsize=256)
def user_location(stack_trace: str | None) -> tuple[str, int] | None:
    """File and line of the innermost frame of a node's stack trace."""
    if not stack_trace:
        return None
    frames = _FRAME.findall(stack_trace)
    if not frames:
        return None
    file, line = frames[-1]
    return file, int(line)


def textual_metadata(meta: dict[str, Any]) -> dict[str, str]:
    """The part of a node's `meta` that text carries."""
    items: dict[str, str] = {}
    stack = meta.get("nn_module_stack")
    if stack:
        innermost = list(stack.values())[-1]
        items["module"] = str(innermost[0] if isinstance(innermost, tuple) else innermost)
    if "partitioner_tag" in meta:
        items["tag"] = str(meta["partitioner_tag"])
    if meta.get("recompute") is not None:
        items["recompute"] = getattr(meta["recompute"], "name", str(meta["recompute"]))
    options = meta.get("quant_options")
    if options is not None:
        items["quant_options"] = quantization_text(options)
    clones = meta.get("only_clone_these_tensors")
    if clones is not None:
        items["only_clone"] = json.dumps(list(clones))
    bindings = meta.get("unbacked_bindings")
    if bindings:
        renamed = _renamings(meta.get("val", meta.get("example_value")))
        items["unbacked_bindings"] = ", ".join(
            f"{renamed.get(symbol, symbol)} = {_keypath(path)}" for symbol, path in bindings.items()
        )
    return items


def quantization_text(options: Any) -> str:
    """The options of a quantized call as text: the fields of the dataclass that holds them."""
    return json.dumps({one.name: getattr(options, one.name) for one in fields(options)})


def _renamings(value: Any) -> Mapping[Any, Any]:
    """New names of unbacked symbols.

    Tracing a graph again binds fresh symbols; only the values show that these were then renamed to
    the old ones.
    """
    parts = value if isinstance(value, (tuple, list)) else (value,)
    for part in parts:
        for number in (part, *getattr(part, "shape", ())):
            shape_env = getattr(getattr(number, "node", None), "shape_env", None)
            if shape_env is not None:
                return shape_env.unbacked_renamings
    return {}


def _keypath(path: Any) -> str:
    return "".join(str(step) for step in path) or "self"
