"""What a functionalized call carries: the operator, its arguments, and which of them it writes.

`auto_functionalized`, `auto_functionalized_v2` and `triton_kernel_wrapper_functional` become calls
that write to copies of some arguments and to others directly. `only_clone`, metadata that is part
of the text, lists the arguments to copy: by name, or by the number of a base for v2. Without it,
all are copied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from torch._ops import OpOverload
from xdsl.ir import SSAValue

from xductor.ir import RawOp, TensorType, op_class_by_name
from xductor.ir.dialect.arguments import FunctionArg
from xductor.ir.effects.operator_effects import overwrites_without_reading
from xductor.ir.python import targets
from xductor.transforms.analysis.functionalized_calls import FUNCTIONALIZED
from xductor.transforms.in_place.terms import Steps
from xductor.transforms.in_place.views import stands_for, step_of

V1 = "higher_order.auto_functionalized"
V2 = "higher_order.auto_functionalized_v2"
_TRITON = "higher_order.triton_kernel_wrapper_functional"
ONLY_CLONE = "only_clone"


@dataclass(frozen=True)
class View:
    """A written argument as a view of a base: the op that makes the view, or None for the base."""

    base: int
    name: str | None = None
    arguments: tuple[Any, ...] = ()


@dataclass
class Carried:
    """A functionalized call, taken apart.

    - `target`: the name of the operator that writes.
    - `arguments`: its arguments by name, without those that it writes to.
    - `bases`: the tensors that are written, by the name of an argument or the number of a base. A
      list of tensors stays a list.
    - `views`: for each written argument the view of a base that it is: a list of views for a list
      of tensors, None for None.
    - `returns`: the number of results that come before the new contents.
    """

    target: str
    arguments: dict[str, Any]
    bases: dict[Any, Any]
    views: dict[str, Any] = field(default_factory=dict[str, Any])
    returns: int = 0


def only_cloned(op: RawOp) -> list[Any] | None:
    """Which bases are copied before a call writes to them; None if nothing is recorded."""
    text = op.node.text_items().get(ONLY_CLONE)
    return None if text is None else json.loads(text)


def clone_only(op: RawOp, keys: list[Any]) -> None:
    """Record which bases are copied before a call writes to them."""
    node = op.node
    made = node.renamed(node.names, node.node)
    vars(made)["textual"] = {**node.text_items(), ONLY_CLONE: json.dumps(keys)}
    op.attributes["node"] = made


def carried(op: RawOp) -> Carried | None:
    """What a call carries; None if that is not an operator with a schema, or one with `out=`."""
    if op.name not in FUNCTIONALIZED or op.name == _TRITON:
        return None
    first = op.positional[0] if op.positional else None
    target = _overload(first) if type(first) is FunctionArg else None
    if target is None or overwrites_without_reading(target):
        return None
    name = op_class_by_name(_class_name(target)).name
    keywords = dict(op.keywords)
    return _v1(target, name, keywords, op) if op.name == V1 else _v2(target, name, keywords, op)


def _v1(target: OpOverload, name: str, keywords: dict[str, Any], op: RawOp) -> Carried | None:
    written = [one.name for one in _written(target)]
    bases = {one: keywords.pop(one) for one in written}
    views = {one: _itself(one, bases[one]) for one in written}
    leaves = sum(_count(value) for value in bases.values())
    return Carried(name, keywords, bases, views, len(op.results) - leaves)


def _itself(key: str, value: Any) -> Any:
    return None if value is None else View(key)  # type: ignore[arg-type]


def _count(value: Any) -> int:
    return len(value) if isinstance(value, tuple | list) else 1


def _v2(target: OpOverload, name: str, keywords: dict[str, Any], op: RawOp) -> Carried | None:
    bases = dict(enumerate(keywords.pop("_all_bases")))
    if any(value is not None and not isinstance(value, SSAValue) for value in bases.values()):
        return None
    views = noted_views(target, keywords)
    return Carried(name, keywords, bases, views, len(op.results) - len(bases))


def noted_views(target: OpOverload, keywords: dict[str, Any]) -> dict[str, Any]:
    """The views that keywords of v2 describe, by argument; they are removed from `keywords`."""
    views: dict[str, Any] = {}
    for argument in _written(target):
        prefix = f"_{argument.name}"
        if "List[" not in str(argument.type):
            views[argument.name] = _view(prefix, keywords)
            continue
        length = keywords.pop(f"{prefix}_length")
        views[argument.name] = (
            None if length is None else [_view(f"{prefix}_{i}", keywords) for i in range(length)]
        )
    return views


def _view(prefix: str, keywords: dict[str, Any]) -> View | None:
    base = keywords.pop(f"{prefix}_base_index")
    if base is None:
        return None
    if keywords.pop(f"{prefix}_alias", None) is not None:
        return View(base, "aten.alias.default")
    if f"{prefix}_storage_offset" in keywords:
        names = ("size", "stride", "storage_offset")
        given = tuple([keywords.pop(f"{prefix}_{one}") for one in names])
        return View(base, "aten.as_strided.default", given)
    if f"{prefix}_slice_dim" in keywords:
        names = ("slice_dim", "slice_start", "slice_end")
        given = tuple([keywords.pop(f"{prefix}_{one}") for one in names])
        return View(base, "aten.slice.Tensor", (*given, 1))
    return View(base)


def schema_order(target: str) -> tuple[str, ...]:
    """The names of the arguments of an operator, in order."""
    cls: Any = op_class_by_name(target)
    return tuple(cls.table.index)


def views_of(views: Any) -> Iterator[View]:
    """The views of one argument, which may be a view, a list of views or None."""
    for one in views if isinstance(views, list) else [views]:
        if one is not None:
            yield one


def tensors_of(base: Any) -> list[SSAValue]:
    """The tensors of a base, which may be a tensor, a list of tensors or None."""
    leaves = base if isinstance(base, tuple | list) else (base,)
    return [one for one in leaves if isinstance(one, SSAValue) and type(one._type) is TensorType]


def steps_of(view: View, base: SSAValue) -> Steps:
    """The steps from a base to a view of it."""
    if view.name is None or view.name == "aten.alias.default":
        return ()
    arguments = tuple([_plain(one) for one in view.arguments])
    return (step_of(view.name, arguments, base._type, ()),)


def _plain(argument: Any) -> Any:
    if isinstance(argument, SSAValue):
        return stands_for(argument)
    return tuple([_plain(one) for one in argument]) if isinstance(argument, tuple) else argument


def written_parts(call: Carried, key: Any, base: SSAValue) -> tuple[Steps, ...]:
    """The parts of a base that the operator writes to."""
    parts = [
        steps_of(view, base)
        for views in call.views.values()
        for view in views_of(views)
        if view.base == key
    ]
    return tuple(parts) or ((),)


def _overload(function: FunctionArg) -> OpOverload | None:
    try:
        target = targets.resolve(function.name)
    except LookupError:
        return None
    return target if isinstance(target, OpOverload) else None


def _written(target: OpOverload) -> list[Any]:
    arguments: Any = target._schema.arguments
    return [one for one in arguments if one.alias_info is not None and one.alias_info.is_write]


@cache
def written_names(target: OpOverload) -> frozenset[str]:
    """The names of the arguments that an operator may write to, even if they are None."""
    return frozenset(one.name for one in _written(target))


def _class_name(target: OpOverload) -> str:
    return f"{target.namespace}.{target._opname}.{target._overloadname}"


__all__ = [
    "ONLY_CLONE",
    "V1",
    "V2",
    "Carried",
    "View",
    "carried",
    "clone_only",
    "noted_views",
    "only_cloned",
    "schema_order",
    "steps_of",
    "tensors_of",
    "views_of",
    "written_names",
    "written_parts",
]
