"""`normalization_pass`: one spelling for split, cat, stack, unbind, squeeze and a few more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from xductor.ir import ListArg, RawOp, TensorType, op_class
from xductor.ir.functions.torch_calls import AtenCall, aten_call
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms import EXACT
from xductor.transforms.pre_grad.respelling import Respelling, Written


@dataclass(frozen=True)
class Form:
    """How a call is written: the function, and its positional and keyword arguments."""

    function: Any
    by_position: tuple[str, ...]
    by_name: tuple[str, ...] = ()


FORMS: Mapping[str, Form] = {
    "aten.split.Tensor": Form(torch.functional.split, ("self", "split_size"), ("dim",)),
    "aten.split_with_sizes.default": Form(
        torch.functional.split, ("self", "split_sizes"), ("dim",)
    ),
    "aten.unbind.int": Form(torch.unbind, ("self",), ("dim",)),
    "aten.cat.default": Form(torch.cat, ("tensors",), ("dim",)),
    "aten.stack.default": Form(torch.stack, ("tensors",), ("dim",)),
    "aten.squeeze.default": Form(torch.squeeze, ("self",)),
    "aten.squeeze.dim": Form(torch.squeeze, ("self",), ("dim",)),
    "aten.squeeze.dims": Form(torch.squeeze, ("self",), ("dim",)),
    "aten.reshape.default": Form(torch.reshape, ("self", "shape")),
    "aten.clamp.default": Form(torch.clamp, ("self",), ("min", "max")),
    "aten.clamp.Tensor": Form(torch.clamp, ("self",), ("min", "max")),
    "aten.detach.default": Form(torch.detach, ("self",)),
}


@dataclass(frozen=True)
class NormalizationPass(Respelling):
    """Calls of methods become calls of functions, with non-negative dims given by name.

    A split lists all its sizes.
    """

    name = "normalization_pass"
    stage = "pre_grad"
    inductor = "split_cat.py:normalize_split_default"
    numerics = EXACT
    counter = "normalization_pass"
    roots = spelled(FORMS)

    def respelled(self, op: RawOp) -> Written | None:
        call = aten_call(op)
        form = None if call is None else FORMS.get(call.name)
        if call is None or form is None:
            return None
        given = {**call.arguments, **_told(call)}
        cls = op_class(form.function)
        assert cls is not None
        keywords = {name: given[name] for name in form.by_name}
        return cls, tuple([given[name] for name in form.by_position]), keywords


def _told(call: AtenCall) -> dict[str, Any]:
    """Arguments that follow from the types: sizes in full, and non-negative dims."""
    types: list[Any] = [result.type for result in call.results]
    if not all(type(one) is TensorType for one in types):
        return {}
    found: dict[str, Any] = {}
    dim = call.arguments.get("dim")
    if type(dim) is int and not call.name.startswith("aten.squeeze"):
        rank = types[0].rank + (call.name == "aten.unbind.int")
        found["dim"] = dim = dim % rank if rank else dim
    if call.name == "aten.split.Tensor":
        sizes = [one.shape[dim] for one in types]
        if all(type(size) is int for size in sizes):
            found["split_size"] = ListArg(sizes)
    is_static = all(type(size) is int for size in types[0].shape)
    if call.name == "aten.reshape.default" and is_static:
        found["shape"] = tuple(types[0].shape)
    return found


__all__ = ["FORMS", "NormalizationPass"]
