"""Calls of modules spelled as calls of functions on their parameters, as Dynamo spells them.

Graphs that Dynamo makes have none; those of `torch.fx.symbolic_trace` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.nn import functional as F

from xductor.backend.fx.missing_values import propagate_values

#: Of a module: the function, the attributes that follow the input, and what follows those.
Spelling = Callable[[Any], tuple[Any, tuple[str, ...], tuple[Any, ...]]]


def _convolution(function: Any) -> Spelling:
    return lambda m: (
        function,
        ("weight", "bias"),
        (m.stride, m.padding, m.dilation, m.groups),
    )


def _transposed(function: Any) -> Spelling:
    return lambda m: (
        function,
        ("weight", "bias"),
        (m.stride, m.padding, m.output_padding, m.groups, m.dilation),
    )


def _norm(m: Any) -> tuple[Any, tuple[str, ...], tuple[Any, ...]]:
    momentum = 0.0 if m.momentum is None else m.momentum
    names = ("running_mean", "running_var", "weight", "bias")
    return F.batch_norm, names, (False, momentum, m.eps)


def _linear(_: Any) -> tuple[Any, tuple[str, ...], tuple[Any, ...]]:
    return F.linear, ("weight", "bias"), ()


_SPELLINGS: Mapping[type[torch.nn.Module], Spelling] = {
    torch.nn.Linear: _linear,
    **{
        cls: _convolution(function)
        for cls, function in (
            (torch.nn.Conv1d, F.conv1d),
            (torch.nn.Conv2d, F.conv2d),
            (torch.nn.Conv3d, F.conv3d),
        )
    },
    **{
        cls: _transposed(function)
        for cls, function in (
            (torch.nn.ConvTranspose1d, F.conv_transpose1d),
            (torch.nn.ConvTranspose2d, F.conv_transpose2d),
            (torch.nn.ConvTranspose3d, F.conv_transpose3d),
        )
    },
    torch.nn.BatchNorm1d: _norm,
    torch.nn.BatchNorm2d: _norm,
    torch.nn.BatchNorm3d: _norm,
}


def module_calls(gm: GraphModule) -> list[Node]:
    """The nodes that call a module in evaluation of which the spelling is known."""
    return [
        node
        for node in gm.graph.find_nodes(op="call_module")
        if len(node.args) == 1 and not node.kwargs and _is_known(gm.get_submodule(node.target))
    ]


def _is_known(module: Any) -> bool:
    """Whether a call of a module is what its class says, and nothing else."""
    if type(module) is not torch.nn.Identity and type(module) not in _SPELLINGS:
        return False
    if any(vars(module)[name] for name in vars(module) if name.endswith("_hooks")):
        return False
    if "forward" in vars(module) or getattr(module, "padding_mode", "zeros") != "zeros":
        return False
    if not isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
        return True
    return not module.training and module.running_mean is not None


def spell_module_calls(gm: GraphModule, example_inputs: Sequence[Any]) -> int:
    """Replace the calls of known modules in place, and give the nodes of the graph values.

    Returns how many calls there were. A module stays an attribute of `gm`.
    """
    nodes = module_calls(gm)
    for node in nodes:
        node.replace_all_uses_with(_spelled(gm, node))
        gm.graph.erase_node(node)
    if nodes:
        gm.recompile()
        propagate_values(gm, example_inputs)
    return len(nodes)


def _spelled(gm: GraphModule, node: Node) -> Any:
    module: Any = gm.get_submodule(str(node.target))
    if type(module) is torch.nn.Identity:
        return node.args[0]
    function, names, rest = _SPELLINGS[type(module)](module)
    with gm.graph.inserting_before(node):
        attributes = [
            None if getattr(module, name) is None else gm.graph.get_attr(f"{node.target}.{name}")
            for name in names
        ]
        made = gm.graph.call_function(function, (node.args[0], *attributes, *rest))
    made.meta.update(node.meta)
    return made


__all__ = ["module_calls", "spell_module_calls"]
