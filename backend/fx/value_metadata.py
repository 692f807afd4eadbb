"""`meta` of nodes that raising made: values by running the op, places from what it replaced."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Container, Iterator
from typing import Any, Literal, cast

import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental import symbolic_shapes
from torch.fx.node import map_arg
from torch.utils._pytree import tree_map_only
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.call_arguments import RaisingError, ValueNodes
from xductor.backend.fx.eager_arguments import inherit_eager_arguments
from xductor.backend.fx.new_subgraphs import LOOP, child_at, record_in_child, record_in_loop
from xductor.backend.fx.node_text import restore_quantization, restore_textual
from xductor.backend.fx.rebuilt_values import rebuild_values
from xductor.backend.fx.typed_values import MISSING, value_of_type, values_of_loop
from xductor.frontend.node_types import recorded_keys
from xductor.ir import (
    GetAttrOp,
    GraphOp,
    InferenceEnv,
    NodeMeta,
    NotInferred,
    SchemaOp,
    TensorType,
    TorchOp,
    result_aliases,
)
from xductor.ir.dialect.metadata import place_metadata
from xductor.ir.inference.ambient_modes import Modes, UnknownMode, changes_modes
from xductor.ir.inference.body_modes import modes_of_graph, replay
from xductor.ir.inference.infer import NotApplicable, inferred
from xductor.ir.inference.value_types import TypeReader, leaves_of
from xductor.ir.storage.sharing import is_written

_FUNCTIONALIZED = (
    torch.ops.higher_order.auto_functionalized,
    torch.ops.higher_order.auto_functionalized_v2,
)

#: How the values of new calls are made; see `record_new_values`.
NewValues = Literal["run", "types", "checked"]


def value_key(source: GraphOp) -> str:
    """The `meta` key under which the graph records values: the stage's own, or the other one."""
    own, other = recorded_keys(source.stage.data)
    for op in source.block.ops:
        origin: Any = op.node.origin if isinstance(op, TorchOp) else None
        if origin is not None and own in origin.meta:
            return own
        if origin is not None and other in origin.meta:
            return other
    return own


def record_new_values(
    source: GraphOp,
    nodes: ValueNodes,
    made: list[tuple[TorchOp, fx.Node]],
    kept: Container[fx.Node] | None = None,
    values: NewValues = "run",
) -> None:
    """Record values and places for nodes that reconciling made.

    - `kept`: the nodes that stay; a node that does not leaves its value to its replacement.
    - `values`: `"run"` runs calls on the values of their arguments and checks the results against
      the types; `"types"` makes values from types that determine them, before autograd if inference
      gives these types; `"checked"` does both.

    Raises RaisingError if an op's call gives another type or storage than the IR says.
    """
    key = value_key(source)
    mode, reader = _recording(source, nodes, key) if made else (None, None)
    with InferenceEnv.of(source) as env, _modes(source, made, key) as entered:
        for op, node in made:
            inherit_place(op.node, node)
            if mode is None or reader is None:
                continue
            if key == "val" and kept is not None and inherit_value(op, node, nodes, reader, kept):
                continue
            if isinstance(op, GetAttrOp) and op.path in source.new_constants:
                node.meta[key] = _constant(source.new_constants[op.path], mode)
                # Code generation hands the tensor itself to kernels' fake ones, under this mode.
                mode.allow_non_fake_inputs = True
                continue
            value = _respelled(op, key, kept)
            if value is not MISSING:
                check_types(op, value, reader)
                node.meta[key] = value
                continue
            value = _looped(op, node, nodes, reader)
            is_looped = value is not MISSING
            if values != "run" and value is MISSING:
                value = value_of_type(op, nodes, reader, key)
            modes = entered(op) if key != "val" else None
            if modes is not None and not _is_inferred(op, env, modes):
                value = MISSING
            if value is MISSING:
                value = run_on_recorded(node, key, mode)
                if key != "val":
                    _give_later_gradients(op, value)
                check_types(op, value, reader)
            elif (
                values == "checked"
                and not is_looped
                and (given := _run_without_guards(node, key, mode)) is not None
            ):
                check_types(op, given, reader)
                _check_storage(op, value, given, nodes, key)
            node.meta[key] = value
            if key == "val":
                _set_tensor_meta(node, value)
    for node in nodes.made:
        producer = node.args[0]
        assert isinstance(producer, fx.Node)
        if key in producer.meta:
            node.meta.update(place_metadata(producer.meta))
            node.meta[key] = producer.meta[key][node.args[1]]


def _constant(value: torch.Tensor, mode: Any) -> Any:
    """A fake of a constant; constants of one storage have fakes of one storage."""
    return mode.from_tensor(value, static_shapes=True)


def _is_inferred(op: TorchOp, env: InferenceEnv, modes: Modes) -> bool:
    """Whether running a call before autograd would give what its types and alias facts say.

    That is what inference did when a pass made the op, and mostly remembers.
    """
    env.modes = modes.key()
    try:
        found, _ = inferred(op, env)
    except (NotInferred, NotApplicable):
        return False
    guessed = found.fresh or found.assumed or found.equated or found.without_grad
    types = tuple([result.type for result in op.results])
    return not guessed and not modes.functorch and found[0] == types and found.aliases == op.aliases


def _respelled(op: TorchOp, key: str, kept: Container[fx.Node] | None) -> Any:
    """The value of the node whose call this is in another spelling; MISSING for another call."""
    fields = vars(op.node)
    heir_of: fx.Node | None = fields.get("heir_of")
    if not fields.get("has_value_of_heir") or heir_of is None or kept is None or heir_of in kept:
        return MISSING
    return heir_of.meta.get(key, MISSING)


def _looped(op: TorchOp, node: fx.Node, nodes: ValueNodes, reader: TypeReader) -> Any:
    """The value of a loop that a pass made, in whose graphs values are recorded too.

    To run it would trace its graphs, and refuse what those write.
    """
    if op.name != LOOP:
        return MISSING
    value = values_of_loop(op, nodes, reader)
    if value is not MISSING:
        record_in_loop(node, reader.fake_mode)
    return value


def _recording(source: GraphOp, nodes: ValueNodes, key: str) -> tuple[Any, TypeReader]:
    """The fake mode of the graph's values, or None, and a reader of their types."""
    if source.live is not None:
        return source.live.types.fake_mode, source.live.types
    reader = TypeReader(source.stage.data)
    for node in nodes.graph.nodes:
        for leaf in leaves_of(node.meta.get(key)):
            if isinstance(leaf, FakeTensor):
                return leaf.fake_mode, reader
    return None, reader


def inherit_place(meta: NodeMeta, node: fx.Node) -> None:
    """Copy stack trace, module stack, partitioner tag and the like from the replaced node."""
    heir_of = meta.__dict__.get("heir_of")
    if heir_of is None:
        restore_textual(meta, node)
    else:
        node.meta.update(place_metadata(heir_of.meta))
        restore_quantization(meta, node)
        inherit_eager_arguments(node, heir_of)
    if meta.custom is not None:
        node.meta["custom"] = {**node.meta.get("custom", {}), **meta.custom}


def inherit_value(
    op: TorchOp,
    node: fx.Node,
    nodes: ValueNodes,
    reader: TypeReader,
    kept: Container[fx.Node],
) -> bool:
    """Give a call the value of the node that it replaces, if the call would give the same.

    It must be a tensor of the op's type, in the storage that the op's alias facts say. That type
    was inferred by running the op's kernel, which need not run again.
    """
    heir_of: fx.Node | None = op.node.__dict__.get("heir_of")
    if not isinstance(op, SchemaOp):  # bodies of calls are given values too
        return False
    if heir_of is None or heir_of in kept:
        return False
    if heir_of.target in _FUNCTIONALIZED:
        return _inherit_results(op, node, heir_of, reader)
    if len(op.results) != 1 or op.tuple_valued:  # a list of one is no tensor
        return False
    value = heir_of.meta.get("val")
    if type(value) is not FakeTensor or value.fake_mode is not reader.fake_mode:
        return False
    if reader.type_of(value) != op.results[0].type:
        return False
    fact = result_aliases(op)[0]
    if fact is None:
        inputs = (*heir_of.all_input_nodes, *node.all_input_nodes)
        if _storage(value) in [_storage(used.meta.get("val")) for used in inputs]:
            return False
    elif not fact[1] or _storage(nodes.node(op.operands[fact[0]]).meta["val"]) != _storage(value):
        return False
    node.meta["val"] = value
    if "tensor_meta" in heir_of.meta:
        node.meta["tensor_meta"] = heir_of.meta["tensor_meta"]
    else:
        _set_tensor_meta(node, value)
    return True


def _inherit_results(op: SchemaOp, node: fx.Node, heir_of: fx.Node, reader: TypeReader) -> bool:
    """Give a call that writes the results of the functionalized call whose place it takes.

    To run it again would bind other symbols for sizes that it finds.
    """
    values = heir_of.meta.get("val")
    if not isinstance(values, tuple | list) or len(values) < len(op.results):
        return False
    values = tuple(values[: len(op.results)])
    for result, fact, value in zip(op.results, result_aliases(op), values, strict=True):
        if fact is not None or type(value) is not FakeTensor:
            return False
        if value.fake_mode is not reader.fake_mode or reader.type_of(value) != result.type:
            return False
    if not values:
        return False
    node.meta["val"] = values if op.tuple_valued else values[0]
    _set_tensor_meta(node, node.meta["val"])
    return True


def _check_storage(op: TorchOp, made: Any, given: Any, nodes: ValueNodes, key: str) -> None:
    """Check that a value made from a type shares storage with the operands as the call's does."""
    if isinstance(made, tuple):
        for part, given_part in zip(made, given, strict=True):
            _check_storage(op, part, given_part, nodes, key)
        return
    for operand in op.operands:
        storage = _storage(nodes.node(operand).meta.get(key))
        if storage is not None and (_storage(made) == storage) != (_storage(given) == storage):
            raise RaisingError(
                f"{op.name} (node {op.node.node}): the call "
                f"{'shares' if _storage(given) == storage else 'does not share'} its storage with "
                f"'{nodes.node(operand).name}', the alias facts say otherwise"
            )


def _storage(value: Any) -> int | None:
    """An id of the storage of a tensor; None for other values."""
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _run_without_guards(node: fx.Node, key: str, mode: Any) -> Any:
    """As `run_on_recorded`; None where the call cannot be run but by adding a guard."""
    refused: Any = getattr(symbolic_shapes, "_ShapeEnvGuardError", ())
    try:
        return run_on_recorded(node, key, mode)
    except refused:
        return None


def run_on_recorded(node: fx.Node, key: str, mode: Any) -> Any:
    """The value of a call, run on its inputs' recorded fake values without adding guards."""

    def recorded(used: fx.Node) -> Any:
        child = child_at(used)
        if child is not None:
            return child
        if key not in used.meta and used.target is operator.getitem:
            producer: Any = used.args[0]
            used.meta[key] = recorded(producer)[used.args[1]]
        if key not in used.meta:
            raise RaisingError(f"'{node.name}' uses '{used.name}', which records no value")
        return tree_map_only(FakeTensor, lambda leaf: _in_mode(leaf, mode), used.meta[key])

    args = map_arg(node.args, recorded)
    kwargs = map_arg(node.kwargs, recorded)
    with mode, _no_guards(mode.shape_env):
        record_in_child(node, args, mode)
        try:
            return _called(node, args, kwargs)
        except RuntimeError as error:
            # Recorded values are as the whole graph leaves them: what a view was taken of may be
            # written to by then, after which autograd refuses further views.
            if key == "val" or "modified inplace" not in str(error):
                raise
            args, kwargs = tree_map_only(FakeTensor, _unwritten, (args, kwargs))
            return _called(node, args, kwargs)


def _called(node: fx.Node, args: Any, kwargs: Any) -> Any:
    if node.op == "call_method":
        self_, *rest = args
        return getattr(self_, str(node.target))(*rest, **kwargs)
    assert callable(node.target)
    return node.target(*args, **kwargs)


def _unwritten(value: FakeTensor) -> torch.Tensor:
    """The same tensor for autograd to know nothing of what was written to it."""
    return value.detach().requires_grad_(value.requires_grad)


@contextlib.contextmanager
def _modes(
    source: GraphOp, made: list[tuple[TorchOp, fx.Node]], key: str
) -> Iterator[Callable[[TorchOp], Modes | None]]:
    """Yield what enters the modes under which an op of the graph stands; call it in order of ops.

    It returns them; None for an op of another graph. After autograd there are none. Raises
    RaisingError if the modes above an op are not known.
    """
    if key == "val" or not made:
        yield lambda op: None
        return
    block = source.block
    ops: Iterator[Any] = iter(block.ops)
    with modes_of_graph(source, cast("ModuleOp | None", source.parent_op())) as modes:

        def enter(wanted: TorchOp) -> Modes | None:
            if wanted.parent is not block:
                return None
            for op in ops:
                if op is wanted:
                    break
                if isinstance(op, TorchOp) and changes_modes(type(op)):
                    replay(modes, op)
            return modes

        try:
            yield enter
        except UnknownMode as error:
            raise RaisingError(f"new calls stand under unknown modes: {error}") from error


def _in_mode(value: FakeTensor, mode: Any) -> torch.Tensor:
    """The value, or one like it if tracing real tensors gave each value a fake mode of its own."""
    if value.fake_mode is mode or value.fake_mode.shape_env is not None:
        return value
    with mode:
        return torch.empty_strided(
            value.shape, value.stride(), dtype=value.dtype, device=value.device
        )


@contextlib.contextmanager
def _no_guards(shape_env: Any) -> Iterator[None]:
    if shape_env is None:
        yield
        return
    guard = getattr(shape_env, "error_on_new_guards", shape_env.suppress_guards)
    with guard():
        yield


def _give_later_gradients(op: TorchOp, value: Any) -> None:
    """Let a call's value require the gradient that its type shows if a write below gives it one:
    before autograd recorded values are as the whole graph leaves them.
    """
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    for result, part in zip(op.results, values, strict=False):
        said = result.type
        if type(said) is not TensorType or "requires_grad" not in said.data.flags:
            continue
        if isinstance(part, torch.Tensor) and not part.requires_grad and is_written(result):
            part.requires_grad_()


def check_types(op: TorchOp, value: Any, reader: Any) -> None:
    """Check that the call's value has the types that the op's results say.

    Strides of dims of size one may be others, and strides and offset of tensors without elements.
    """
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    for result, part in zip(op.results, values, strict=False):
        found = reader.type_of(part)
        if found != result.type and not _reach_alike(found, result.type):
            raise RaisingError(
                f"{op.name} (node {op.node.node}): the call gives {found}, "
                f"the rewrite said {result.type}"
            )


def _reach_alike(found: Any, said: Any) -> bool:
    """Whether two types differ in strides and offset alone, and reach the same places.

    An empty view of an empty view has the offset of another one if `FakeTensor` cached its call.
    """
    if type(found) is not TensorType or type(said) is not TensorType:
        return False
    if 0 in found.shape:
        return found.data._replace(stride=said.stride, offset=said.data.offset) == said.data
    if found.data._replace(stride=said.stride) != said.data:
        return False
    pairs = zip(found.shape, found.stride, said.stride, strict=True)
    return all(size == 1 or one == other for size, one, other in pairs)


def _set_tensor_meta(node: fx.Node, value: Any) -> None:
    """Record `tensor_meta` beside `val`, as FakeTensorProp does for static tensors."""
    if isinstance(value, torch.Tensor) and all(type(size) is int for size in value.shape):
        from torch.fx.passes.shape_prop import _extract_tensor_metadata

        with contextlib.suppress(NotImplementedError):
            node.meta["tensor_meta"] = _extract_tensor_metadata(value)


def record_rebuilt_values(source: GraphOp, nodes: ValueNodes) -> None:
    """Record values for a fresh graph: those of the lowered graph, or else made from the types."""
    key = value_key(source)
    live = source.live
    if live is None:
        rebuild_values(source, nodes, key)
        return
    for argument, node in zip(live.placeholders, nodes.arguments, strict=True):
        node.meta.update(argument.meta)
    for op, node in nodes.of_op.items():
        origin = op.node.origin
        if origin is not None:
            node.meta.update(origin.meta)
    unrecorded = [(op, node) for op, node in nodes.of_op.items() if op.node.origin is None]
    record_new_values(source, nodes, unrecorded)
