"""What xDSL's own tools find of this project: `xdsl-opt`, `xdsl-gui` and the like.

They know dialects as a whole, so the first op of `aten` that a text mentions loads a class for
each of its overloads. `xductor-opt` looks ops up one at a time instead, and knows every library.
"""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.universe import Universe

from xductor.transforms.rows.registry import passes_for_cli


def _fx() -> Dialect:
    from xductor.ir.dialect.registry import FX_OPS
    from xductor.ir.dialect.types import VALUE_TYPES
    from xductor.ir.text.context import ATTRIBUTES
    from xductor.ir.text.resources import Resources

    return Dialect("fx", [*FX_OPS.values()], [*ATTRIBUTES, *VALUE_TYPES], [Resources()])


def _library(namespace: str) -> Dialect:
    """A dialect with every overload of an operator library that PyTorch has registered by now."""
    import torch

    from xductor.ir import op_class

    library = getattr(torch.ops, namespace)
    overloads = [
        getattr(packet, overload)
        for name in _op_names(namespace)
        for packet in (getattr(library, name),)
        for overload in packet.overloads()
    ]
    classes = {cls.name: cls for target in overloads if (cls := op_class(target)) is not None}
    return Dialect(namespace, [*classes.values()], [])


def _op_names(namespace: str) -> list[str]:
    import torch

    prefix = f"{namespace}::"
    names = {
        name.removeprefix(prefix).partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith(prefix)
    }
    return sorted(names)


#: Entry point of the group `xdsl.universe`.
UNIVERSE = Universe(
    all_dialects={
        "fx": _fx,
        "aten": lambda: _library("aten"),
        "prims": lambda: _library("prims"),
    },
    all_passes=dict(passes_for_cli()),
)
