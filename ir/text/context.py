"""An xDSL context that finds our ops one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute, Dialect, Operation

from xductor.ir.dialect.arguments import ArgsAttr
from xductor.ir.dialect.metadata import NodeMeta
from xductor.ir.dialect.results import AliasAttr, StructureAttr
from xductor.ir.dialect.symbol_attr import AmbientAttr, SymbolTableAttr
from xductor.ir.dialect.types import VALUE_TYPES
from xductor.ir.text.resources import Resources

ATTRIBUTES: tuple[type[Attribute], ...] = (
    ArgsAttr,
    NodeMeta,
    StructureAttr,
    AliasAttr,
    SymbolTableAttr,
    AmbientAttr,
)


class XductorContext(Context):
    """A `Context` that looks up unknown names in PyTorch's operator registry.

    Loading a dialect would load all of its ops, and aten has thousands; here each op is made when
    a text first mentions it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "builtin" not in self._registered_dialects:
            self.load_dialect(Builtin)
        if "fx" not in self._registered_dialects:
            # Each context needs its own: tensor constants of a text are stored in it.
            dialect = Dialect("fx", [], [], [Resources()])
            self._registered_dialects["fx"] = lambda: dialect
            self._loaded_dialects["fx"] = dialect
        for attribute in (*ATTRIBUTES, *VALUE_TYPES):
            if (
                attribute.name not in self._loaded_attrs
                and attribute.name not in self._loaded_types
            ):
                self.load_attr_or_type(attribute)

    def clone(self) -> XductorContext:
        made = XductorContext.__new__(XductorContext)
        Context.__init__(
            made,
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
        )
        return made

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        from xductor.ir.dialect.registry import FX_OPS, UnknownOp, op_class_by_name

        found = self._loaded_ops.get(name) or FX_OPS.get(name)
        if found is not None:
            return found
        namespace = name.partition(".")[0]
        if namespace not in self._registered_dialects and name.count(".") >= 1:
            try:
                return op_class_by_name(name)
            except UnknownOp:
                pass_through = super().get_optional_op(name, dialect_stack=dialect_stack)
                if pass_through is not None:
                    return pass_through
                raise
        return super().get_optional_op(name, dialect_stack=dialect_stack)


__all__ = ["ATTRIBUTES", "XductorContext"]
