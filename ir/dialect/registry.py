"""Makes op classes at first use, from PyTorch's operator registry and from Python signatures.

Nothing is written by hand or made ahead of time: an overload, a higher-order op, a Python
function or a method gets its class the first time a graph or a text mentions it.
"""

from __future__ import annotations

import keyword
import threading
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import UnregisteredConstructException

from xductor.ir.dialect.arguments import ArgsAttr, Ref, map_tree
from xductor.ir.dialect.graph import GetAttrOp, GraphOp, OpaqueCallOp, OutputOp
from xductor.ir.dialect.operations import ArgumentAccessor, RawOp, SchemaOp, TorchOp
from xductor.ir.dialect.schema import accessor_name, schema_table
from xductor.ir.python import targets

HIGHER_ORDER = "higher_order"
FUNCTION = "pyfn"
METHOD = "method"
MODULE = "module"
_LONGEST_NAME = 100

#: The libraries whose operators nobody unregisters.
LASTING = frozenset(("aten", "prims"))

FX_OPS: dict[str, type[Any]] = {
    cls.name: cls for cls in (GraphOp, OutputOp, GetAttrOp, OpaqueCallOp)
}

_by_target: dict[Any, type[TorchOp]] = {}
_by_name: dict[str, type[TorchOp]] = {}
_lock = threading.Lock()


class UnknownOp(LookupError, UnregisteredConstructException):
    """An op name is not registered; the message says what to import."""


class PythonOp(RawOp):
    """A call of a Python function or a method."""

    def bound_arguments(self) -> dict[str, Any] | None:
        args = self.args
        bindings: dict[type[Any], dict[str, Any] | None] = vars(args).setdefault("bindings", {})
        try:
            bound = bindings[type(self)]
        except KeyError:
            bound = bindings[type(self)] = _bound_trees(type(self), args)
        if bound is None:
            return None
        operands = tuple(self._operands)  # xDSL's own sequence is slow to index
        return {name: _with_values(tree, operands) for name, tree in bound.items()}


def _bound_trees(cls: type[PythonOp], args: ArgsAttr) -> dict[str, Any] | None:
    """The parts of `args` by parameter name, the same for all calls with these arguments."""
    positional, named = args.data

    def is_value(item: object) -> bool:
        return type(item) is Ref

    if cls.fx_op == "call_method":
        return targets.bind_method(cls.target, positional, dict(named), is_value)
    return targets.bind(cls.target, positional, dict(named), is_value)


def _with_values(tree: Any, operands: Sequence[SSAValue]) -> Any:
    """A part of bound arguments with values instead of references."""
    kind = type(tree)
    if kind is Ref:
        return operands[tree.index]
    if kind is dict:  # the arguments that a call collects with `**kwargs`
        return {name: _with_values(item, operands) for name, item in tree.items()}
    if isinstance(tree, tuple):
        return map_tree(tree, lambda leaf: operands[leaf.index] if type(leaf) is Ref else leaf)
    return tree


class HigherOrderOp(RawOp):
    """A call of a higher-order op; its subgraphs are symbol references among the arguments."""


def op_class(target: Any) -> type[TorchOp] | None:
    """The class for a `call_function` target; None if the target has no name.

    Sources: PyTorch's dispatcher for overloads and higher-order ops, `inspect` for the rest.
    """
    found = _by_target.get(target)
    if found is not None:
        return found
    if isinstance(target, OpOverload):
        return _register(target, _schema_class(target))
    if isinstance(target, HigherOrderOperator):
        name = f"{HIGHER_ORDER}.{target.name()}"
        return _register(target, _make(name, HigherOrderOp, target=target))
    name = targets.qualified_name(target)
    if name is None:
        return None
    return _register(target, _make(f"{FUNCTION}.{name}", PythonOp, target=target))


def method_class(name: str) -> type[TorchOp]:
    """The class for a `call_method` with that name."""
    return _named(f"{METHOD}.{name}", PythonOp, target=name, fx_op="call_method")


def module_class(path: str) -> type[TorchOp]:
    """The class for a `call_module` of the submodule at that path."""
    return _named(f"{MODULE}.{path}", RawOp, target=path, fx_op="call_module")


def op_class_by_name(name: str) -> type[Any]:
    """The class for the name of an op in text (`aten.add.Tensor`, `pyfn.torch.cat`, `method.view`).

    Raises UnknownOp if the name is not registered.
    """
    found = _by_name.get(name) or FX_OPS.get(name)
    if found is not None and not _is_replaced(found):
        return found
    namespace, _, rest = name.partition(".")
    if not rest and namespace in (METHOD, MODULE):
        raise UnknownOp(f"'{name}' names no {namespace}; expected {namespace}.NAME")
    if namespace == METHOD:
        return method_class(rest)
    if namespace == MODULE:
        return module_class(rest)
    if namespace == FUNCTION:
        try:
            target = targets.resolve(rest)
        except LookupError as error:
            raise UnknownOp(str(error)) from error
        made = op_class(target)
        if made is None or made.name != name:
            return _named(name, PythonOp, target=target)
        return made
    if namespace == HIGHER_ORDER:
        return _higher_order_by_name(rest)
    return _overload_by_name(name)


def _is_replaced(cls: type[Any]) -> bool:
    """Whether the operator of a class is gone, or another one has its name by now.

    A library can be unregistered, and its operators defined anew, with other schemas.
    """
    target = getattr(cls, "target", None)
    if not isinstance(target, OpOverload) or target.namespace in LASTING:
        return False
    packet = packet_named(target.namespace, target._opname)
    return packet is None or getattr(packet, target._overloadname, None) is not target


def _higher_order_by_name(name: str) -> type[TorchOp]:
    from torch._ops import _higher_order_ops

    target = _higher_order_ops.get(name)
    if target is None:
        import_module("torch._higher_order_ops")  # registers PyTorch's own, but for Triton's
        import_module("torch._higher_order_ops.triton_kernel_wrap")

        target = _higher_order_ops.get(name)
    if target is None:
        raise UnknownOp(
            f"no higher-order op '{name}' is registered; import the module that defines it"
        )
    made = op_class(target)
    assert made is not None
    return made


def packet_named(namespace: str, name: str) -> OpOverloadPacket | None:
    """The operator with that name and all its overloads; None if it is not registered."""
    found = getattr(getattr(torch.ops, namespace), name, None)
    if found is None and namespace in _registering:
        for module in _registering[namespace]:
            import_module(module)
        found = getattr(getattr(torch.ops, namespace), name, None)
    return found if isinstance(found, OpOverloadPacket) else None


#: The modules that register operators of a library when they are imported, by the library.
_registering: dict[str, tuple[str, ...]] = {"prims": ("torch._inductor.inductor_prims",)}


def registered_by(namespace: str, *modules: str) -> None:
    """Say which modules register a library's operators: they are imported when one is missing."""
    _registering[namespace] = modules


def _overload_by_name(name: str) -> type[TorchOp]:
    namespace, _, rest = name.partition(".")
    packet_name, _, overload_name = rest.rpartition(".")
    if not packet_name:
        raise UnknownOp(
            f"'{name}' is no op name; expected namespace.op.overload, "
            f"such as {_nearest_op(name) or 'aten.add.Tensor'}"
        )
    packet = packet_named(namespace, packet_name)
    if packet is None:
        if namespace in ("aten", "prims"):  # PyTorch's own: no package could register the op
            meant = _nearest_op(name)
            hint = f"; did you mean {meant}?" if meant else ""
            remedy = f"no op of the '{namespace}' library has that name{hint}"
        else:
            meant = _nearest_op(name)
            hint = f", or did you mean {meant}?" if meant else ""
            remedy = f"import the package that registers the '{namespace}' library{hint}"
        raise UnknownOp(f"op '{namespace}::{packet_name}' is not registered with PyTorch; {remedy}")
    overloads = dispatcher_overloads(packet)
    if overload_name not in overloads:
        known = ", ".join(overloads)
        raise UnknownOp(
            f"'{namespace}.{packet_name}' has no overload '{overload_name}'; it has: {known}"
        )
    made = op_class(getattr(packet, overload_name))
    assert made is not None
    return made


def _nearest_op(name: str) -> str:
    """The registered op closest to a misspelled name, or to one without overload; "" if none."""
    if len(name) > _LONGEST_NAME:
        return ""
    names = _overload_names()
    overloads = [one for one in names if one.startswith(f"{name}.")]
    if overloads:
        return overloads[0]
    namespace, _, rest = name.partition(".")
    library = [one for one in names if one.startswith(f"{namespace}.")]
    whole = name if "." in rest else f"{name}.default"
    return next(iter(get_close_matches(whole, library or names, n=1, cutoff=0.75)), "")


@cache
def _overload_names() -> tuple[str, ...]:
    """The overloads (`aten.add.Tensor`) that are registered when an error first asks for them."""
    found: list[str] = []
    for full in torch._C._dispatch_get_all_op_names():
        name, _, overload = full.partition(".")
        found.append(f"{name.replace('::', '.')}.{overload or 'default'}")
    return tuple(sorted(found))


def dispatcher_overloads(packet: OpOverloadPacket) -> list[str]:
    """The overloads of a packet that graphs can call.

    TorchScript has its own overloads in aten (`add.default` on ints), which have no kernel.
    """
    names = packet.overloads()
    if packet._qualified_op_name.partition("::")[0] != "aten":
        return names
    return [name for name in names if _has_kernel(getattr(packet, name)._schema)]


def _has_kernel(schema: Any) -> bool:
    full = f"{schema.name}.{schema.overload_name}".rstrip(".")
    return torch._C._dispatch_has_kernel(full)


def _schema_class(overload: OpOverload) -> type[TorchOp]:
    table = schema_table(overload)
    accessors = {
        accessor_name(param.name): ArgumentAccessor(param.name, position)
        for position, param in enumerate(table.params)
    }
    return _make(overload_name(overload), SchemaOp, target=overload, table=table, **accessors)


def overload_name(overload: OpOverload) -> str:
    """The op's name for an overload: `aten.add.Tensor`."""
    return f"{overload.namespace}.{overload._opname}.{overload._overloadname}"


def _class_name(name: str) -> str:
    words = [word for word in name.replace(".", "_").split("_") if word]
    label = "".join(word[0].upper() + word[1:] for word in words)
    return f"{label}Op" if not keyword.iskeyword(label) else f"{label}_Op"


def _make(name: str, base: type[TorchOp], /, **members: Any) -> type[TorchOp]:
    doc = f"{members['target']._schema}" if base is SchemaOp else f"A call of `{name}`."
    if hasattr(type(members["target"]), "__get__"):  # functions, and methods such as Tensor.set_
        members["target"] = staticmethod(members["target"])  # an attribute, not a method
    made: Any = type(_class_name(name), (base,), {"name": name, "__doc__": doc, **members})
    made.__module__ = __name__
    return made


def _named(name: str, base: type[TorchOp], **members: Any) -> type[TorchOp]:
    found = _by_name.get(name)
    if found is None:
        with _lock:
            found = _by_name.get(name)
            if found is None:
                found = _by_name[name] = _make(name, base, **members)
    return found


def _register(target: Any, made: type[TorchOp]) -> type[TorchOp]:
    with _lock:
        found = _by_target.get(target)
        if found is None:
            found = _by_name.get(made.name)
            if found is None or found.target is not target:  # the latest owner of the name
                found = _by_name[made.name] = made
            _by_target[target] = found
    return found
