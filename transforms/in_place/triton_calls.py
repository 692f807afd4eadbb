"""Calls of Triton kernels: their arguments by name, what they write, and their results.

`triton_kernel_wrapper_functional` returns a dict with the new contents of the written arguments,
`tensors_to_clone`, which `getitem` picks by name. `triton_kernel_wrapper_mutation` writes to its
arguments. Which ones depends on the kernel; if a pass made the call, `writes`, metadata that is
part of the text, lists them.
"""

from __future__ import annotations

import json
from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import RawOp, TensorType, TorchOp
from xductor.ir.dialect.arguments import DictArg
from xductor.transforms.editing.editor import Editor, raw_call_args
from xductor.transforms.in_place.functionalized_arguments import only_cloned

FUNCTIONAL = "higher_order.triton_kernel_wrapper_functional"
MUTATION = "higher_order.triton_kernel_wrapper_mutation"
GETITEM = "pyfn._operator.getitem"
_WRITES = "writes"


def given(op: RawOp) -> dict[str, Any]:
    """The arguments of a kernel, by name."""
    return dict(op.keywords["kwargs"])


def settings(op: RawOp) -> dict[str, Any]:
    """The kernel and its launch settings."""
    apart = ("kwargs", "tensors_to_clone")
    return {name: value for name, value in op.keywords.items() if name not in apart}


def written(op: RawOp) -> list[str] | None:
    """The names of the arguments that a kernel writes; None if unknown."""
    if op.name == FUNCTIONAL:
        return list(op.keywords["tensors_to_clone"])
    text = op.node.text_items().get(_WRITES)
    return None if text is None else json.loads(text)


def is_plain(op: RawOp) -> bool:
    """Whether a functional call writes only tensors, and only `getitem`s read its dict."""
    arguments = given(op)
    tensors = all(
        isinstance(arguments.get(name), SSAValue) and type(arguments[name].type) is TensorType
        for name in op.keywords["tensors_to_clone"]
    )
    return tensors and all(
        use.operation.name == GETITEM and isinstance(_key(use.operation), str)
        for use in op.results[0].uses
    )


def picked(op: RawOp, name: str) -> list[OpResult]:
    """The results of the `getitem`s that pick an argument by name, in order."""
    picks = [use.operation for use in op.results[0].uses if _key(use.operation) == name]
    return [pick.results[0] for pick in picks]


def merge_picks(editor: Editor) -> None:
    """Merge `getitem`s that pick the same argument of a call, since they are one tensor."""
    key = editor.analyses.order.key
    for op in editor.analyses.named((FUNCTIONAL,)):
        if only_cloned(op) is not None or not is_plain(op):
            continue
        for name in written(op) or ():
            first, *others = sorted(picked(op, name), key=lambda pick: key(pick.op)) or [None]
            for pick in others:
                editor.replace(pick.op, first, counted=False)  # type: ignore[arg-type, union-attr]


def is_pick(op: TorchOp) -> bool:
    """Whether an op picks a result of a functional call."""
    owner = op._operands[0].owner if op.name == GETITEM and op._operands else None
    return isinstance(owner, RawOp) and owner.name == FUNCTIONAL


def mutation_arguments(op: RawOp, copies: dict[str, SSAValue]) -> tuple[Any, list[SSAValue]]:
    """The arguments of the mutating call, with copies instead of the originals."""
    arguments = DictArg([(name, copies.get(name, value)) for name, value in given(op).items()])
    keywords = settings(op) | {"kwargs": arguments}
    return raw_call_args((), keywords)


def say_written(op: RawOp, names: list[str]) -> None:
    """Record which arguments a call writes to."""
    node = op.node
    vars(node)["textual"] = {**node.text_items(), _WRITES: json.dumps(names)}


def _key(op: Any) -> Any:
    return op.positional[1] if op.name == GETITEM and len(op.positional) == 2 else None


__all__ = [
    "FUNCTIONAL",
    "GETITEM",
    "MUTATION",
    "given",
    "is_pick",
    "is_plain",
    "merge_picks",
    "mutation_arguments",
    "picked",
    "say_written",
    "settings",
    "written",
]
