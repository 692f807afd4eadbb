"""What eager gave an operator that a functionalised call carries, for the call that writes.

AOTAutograd records it on the functionalised call, by the names of its arguments. Code generation
lays out the arguments of an operator as it asks for by what is recorded on the call that it lowers.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx
from torch._ops import OpOverload

from xductor.transforms.in_place.functionalized_arguments import View, noted_views

_KEY = "eager_input_vals"
_FUNCTIONALIZED = ("auto_functionalized", "auto_functionalized_v2")


def inherit_eager_arguments(node: fx.Node, heir_of: fx.Node | None) -> None:
    """Record on the node of an operator what was recorded on the call that carried it."""
    if heir_of is None or _KEY not in heir_of.meta:
        return
    if _is_kernel(heir_of, node):
        kernel = dict(heir_of.meta[_KEY][1])
        kernel.pop("tensors_to_clone", None)
        node.meta[_KEY] = (), kernel
        return
    if not _carries(heir_of, node.target):
        return
    target: Any = node.target
    given: dict[str, Any] = dict(heir_of.meta[_KEY][1])
    bases = given.pop("_all_bases", None)
    if bases is not None:
        for name, views in noted_views(target, given).items():
            given[name] = _regenerated(views, bases)
    names = [argument.name for argument in target._schema.arguments]
    args = tuple([given.get(name) for name, _ in zip(names, node.args, strict=False)])
    node.meta[_KEY] = args, {name: given.get(name) for name in node.kwargs}


def _carries(call: fx.Node, target: object) -> bool:
    """Whether a functionalised call carries an operator."""
    names = [getattr(torch.ops.higher_order, name, None) for name in _FUNCTIONALIZED]
    return isinstance(target, OpOverload) and call.target in names and call.args[0] is target


def _is_kernel(call: fx.Node, node: fx.Node) -> bool:
    """Whether a node is the call of a Triton kernel that was functional before."""
    names = ("triton_kernel_wrapper_functional", "triton_kernel_wrapper_mutation")
    targets = tuple([getattr(torch.ops.higher_order, name, None) for name in names])
    return None not in targets and (call.target, node.target) == targets


def _regenerated(views: Any, bases: Any) -> Any:
    """An argument that was a view of a base, or a list of them."""
    if isinstance(views, list):
        return [_regenerated(one, bases) for one in views]
    if views is None:
        return None
    assert isinstance(views, View)
    base = bases[views.base]
    if views.name is None or not isinstance(base, torch.Tensor):
        return base
    function: Any = torch.ops
    for part in views.name.split("."):
        function = getattr(function, part)
    with base.fake_mode:  # type: ignore[attr-defined]
        return function(base, *views.arguments)


__all__ = ["inherit_eager_arguments"]
