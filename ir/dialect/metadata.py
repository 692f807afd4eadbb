"""What an op keeps of the FX node it came from.

One attribute, `node`, holds the names of the results, the metadata that text can carry, and (in
memory only) the node itself. It never takes part in equality, so CSE and interning see through it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Self

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

TEXTUAL_KEYS = (
    "node",
    "module",
    "tag",
    "recompute",
    "unbacked_bindings",
    "quant_options",
    "only_clone",
)
"""Metadata that text carries, by the name it prints under."""


class MetadataClass(Enum):
    """Whose property an entry of a node's `meta` is; this decides what a rewrite does with it.

    Raising reads it here (`keys_of`): there is no other list.
    """

    VALUE = "value"
    """Of the value: recomputed where the value changes."""
    ARGUMENTS = "arguments"
    """Of the arguments that the call was made with: dropped where an operand changes."""
    ORDER = "order"
    """Of the order of the graph's nodes: dropped where one is new or moved."""
    CALL = "call"
    """Of the call: stays as long as the call, whatever its operands become; never inherited."""
    PLACE = "place"
    """Of the place in the program: what replaces the call inherits it."""
    GRAPH = "graph"
    """Of the graph's boundary (placeholders, the output node): never touched."""
    MODULE = "module"
    """Of a module's own `meta`; no node has it."""


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
        bucketing_custom_sources
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
    """The class of an entry of `node.meta`; None for a key that nobody here knows.

    A key that is unknown is treated as one of the call. Of `custom`, which is of the
    place, the entry `call_id` is of the call.
    """
    return _CLASS_OF_KEY.get(key)


def keys_of(kind: MetadataClass) -> frozenset[str]:
    """The entries of a class."""
    return _KEYS[kind]


def place_metadata(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a replacement inherits of a node's `meta`: the entries of the place.

    Containers that FX appends to are copied; `call_id` in `custom` is of the call and left out.
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
    """Names of an op's results, and where it came from.

    - `data`: the FX name of each result ("" for a result without a `getitem`).
    - `node`: the FX name of the call itself.
    - `origin`: the `fx.Node` the op was lowered from, or None.
    - `getitems`: for a tuple-valued call, the `getitem` nodes of each result.
    - `operands`, `args`: what they were when lowered, so that raising sees what changed.
    - `textual`: metadata of parsed text, or None where `origin` has it.
    - `custom`: entries for `custom` in the node's `meta`, which AOTAutograd hands on to what it
      makes of the call. In memory only.
    """

    name = "fx.node"

    # What most ops leave as it is stands once here: every op of a graph has one of these.
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
        """File and line of the user's code, where known."""
        parsed = self.loc
        if parsed is not None or self.origin is None:
            return parsed
        return user_location(self.origin.meta.get("stack_trace"))

    def inherited(self, names: tuple[str, ...], node: str = "") -> NodeMeta:
        """Metadata for an op that replaces this one: its place, not its identity."""
        made = NodeMeta(names, node=node)
        textual = {key: text for key, text in self.text_items().items() if key != "only_clone"}
        vars(made).update(textual=textual, loc=self.location(), heir_of=self.origin)
        return made

    def renamed(self, names: tuple[str, ...], node: str = "") -> NodeMeta:
        """The same under other names."""
        return NodeMeta(names, **{**vars(self), "node": node})

    def print_parameter(self, printer: Printer) -> None:
        from xductor.ir.text.printing import node_text

        printer.print_string(f"<{node_text(self)}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        from xductor.ir.text.parsing import parse_node_body

        return parse_node_body(parser)


_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


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
    """The options of a quantised call as text: the fields of the dataclass that holds them."""
    return json.dumps({one.name: getattr(options, one.name) for one in fields(options)})


def _renamings(value: Any) -> Mapping[Any, Any]:
    """New names of unbacked symbols. Tracing a graph again binds fresh ones; only values show that
    they were then called as before.
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
