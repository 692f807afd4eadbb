"""`move_constructors_to_gpu`: makes tensors on the device that reads them instead of on CPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xductor.ir import GraphOp, SchemaOp, TensorType, TorchOp
from xductor.transforms import EXACT, TypedPass, graphs_of
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.fx_targets import called_functions
from xductor.transforms.devices import scalar_inputs, scalar_results
from xductor.transforms.devices.movable_sets import MovableSet, MovableSets
from xductor.transforms.editing.editor import Editor
from xductor.transforms.editing.replacement import Replacement
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.passes.numerics import Policy
from xductor.transforms.passes.refusals import Refused

_CPU = torch.device("cpu")
_DEVICE_PUT = torch.ops.prims.device_put.default


@dataclass(frozen=True)
class MoveConstructorsToGpu(TypedPass):
    """Tensors that are made on CPU, but read on one other device only, are made on that device.

    CPU computations between the two move along. With `scalars_too`, scalar inputs are copied to the
    device as well, all at once, at the beginning of the graph, and so is each computed scalar that
    has to stay on CPU where the device reads it.

    Counts the sets that move together, and the computed scalars that are copied.

    - `target`: the type of the device, such as "cuda".
    - `scalars_too`: whether the graph must hold no CPU scalars, as CUDA graphs require.
    """

    target: str = "cuda"
    scalars_too: bool = False
    policy: Policy = "default"

    name = "move_constructors_to_gpu"
    stage = "post_grad"
    inductor = "post_grad.py:move_constructors_to_gpu"
    numerics = EXACT

    @classmethod
    def may_apply(cls, graph: Graph) -> bool:
        """Whether one value comes from the CPU, and another from a different device.

        An op's result is on the device of its inputs, or on the one that an argument names.
        """
        naming = [
            node
            for target in called_functions(graph)
            if _may_name_device(target)
            for node in graph.find_nodes(op="call_function", target=target, sort=False)
        ]
        devices = {node.kwargs.get("device") for node in naming}
        for kind in ("placeholder", "get_attr", "call_module"):
            devices.update(map(_device, graph.find_nodes(op=kind, sort=False)))
        if _CPU not in devices:
            return False
        put = graph.find_nodes(op="call_function", target=_DEVICE_PUT, sort=False)
        return bool(put) or bool(devices - {None, _CPU})

    def has_work(self, module: ModuleOp) -> bool:
        """Whether one value of a graph is on the CPU, and another on a different device."""
        return any(map(_is_on_several_devices, graphs_of(module)))

    def rewrite(self, module: ModuleOp) -> int:
        return sum(map(self._rewrite, filter(_is_on_several_devices, graphs_of(module))))

    def explained(self, module: ModuleOp, refused: Refused) -> None:
        for graph in graphs_of(module):
            for one in self._sets(Replacement(graph)):
                for op, reason in one.refusals:
                    refused(op, reason)
        self.rewrite(module)

    def _sets(self, replacement: Replacement) -> list[MovableSet]:
        same_bits = self.policy != "fast"
        return MovableSets(replacement.analyses, self.target, self.scalars_too, same_bits).find()

    def _rewrite(self, graph: GraphOp) -> int:
        replacement = Replacement(graph)
        scalars: dict[torch.device, list[SSAValue]] = {}
        count = 0
        with replacement.editor as editor:
            for one in self._sets(replacement):
                if not self._moves(one, replacement):
                    continue
                (device,) = one.devices
                made = [value.op for value in one.sources if isinstance(value, OpResult)]
                given = [value for value in one.sources if not isinstance(value, OpResult)]
                applied(made[0] if made else scalar_inputs.readers(given[0])[0])
                for op in made:
                    _make_there(editor, op, device)
                for op in one.followers:
                    _retype(editor, op, device)
                scalars.setdefault(device, []).extend(given)
                count += 1
            for device, given in scalars.items():
                scalar_inputs.move(replacement, _in_order(graph, given), device)
            if self.scalars_too:
                count += scalar_results.copy(replacement, self.target, self.name)
        return count

    def _moves(self, one: MovableSet, replacement: Replacement) -> bool:
        if one.refusals or len(one.devices) != 1:
            return False
        scalars = [value for value in one.sources if not isinstance(value, OpResult)]
        if any(scalar_inputs.is_written_before_read(replacement, value) for value in scalars):
            return False
        return should_apply(self.name)


def _in_order(graph: GraphOp, scalars: list[SSAValue]) -> list[SSAValue]:
    wanted = set(scalars)
    return [argument for argument in graph.block.args if argument in wanted]


def _make_there(editor: Editor, op: Any, device: torch.device) -> None:
    """Replace a call that makes a tensor on CPU by one that makes it on a device."""
    assert isinstance(op, SchemaOp)
    arguments = list(op.argument_tree(op.args.data))
    arguments[op.table.index["device"]] = device
    made = editor.call(op.name, arguments, above=op, types=_types_on(op, device), named=True)
    editor.replace(op, *made.results, counted=False)


def _retype(editor: Editor, op: TorchOp, device: torch.device) -> None:
    """Replace a call by the same call with results on a device."""
    made = editor.put(
        type(op),
        op.args,
        list(op._operands),
        _types_on(op, device),
        op,
        named=True,
        structure=op.structure,
        aliases=op.aliases,
    )
    editor.replace(op, *made.results, counted=False)


def _types_on(op: TorchOp, device: torch.device) -> list[Any]:
    found: list[Any] = []
    for result in op.results:
        type_ = result._type
        assert type(type_) is TensorType
        found.append(TensorType(type_.data._replace(device=device)))
    return found


def _is_on_several_devices(graph: GraphOp) -> bool:
    values = chain(graph.block.args, *[op.results for op in ops_of(graph.block)])
    devices = {value._type.data.device for value in values if type(value._type) is TensorType}
    return len(devices) > 1 and _CPU in devices


@cache
def _may_name_device(target: Any) -> bool:
    """Whether a function has a device argument, or an unknown signature."""
    if not isinstance(target, OpOverload):
        return True
    return any(argument.name == "device" for argument in target._schema.arguments)


def _device(node: Any) -> torch.device | None:
    value = node.meta.get("val")
    if type(value) is FakeTensor:
        return value.fake_device  # `device` does more, which is slow for every node of a stage
    return value.device if isinstance(value, torch.Tensor) else None


__all__ = ["MoveConstructorsToGpu"]
