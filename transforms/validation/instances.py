"""Makes small graphs on which a rewrite's pattern should match, from the pattern itself.

Calls are made from the inside out with random tensors and constants as arguments; an op that
refuses its arguments is tried again with others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from xductor.ir import (
    Facts,
    GraphOp,
    InferenceEnv,
    NodeMeta,
    OutputOp,
    Ref,
    SchemaOp,
    SymExpr,
    TensorType,
    op_class_by_name,
)
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.python_call_binding import call_arguments
from xductor.ir.functions.op_functions import BoundCall, OpFunction, OverloadFunction
from xductor.ir.inference.fake_values import NoFakeValue
from xductor.transforms.matching.patterns import (
    Bound,
    Call,
    Each,
    Element,
    Head,
    Item,
    OneOf,
    Pattern,
    Var,
)
from xductor.transforms.passes.typed_pass import Stage
from xductor.transforms.rewriting.building import ReplacementBuilder, Unbuildable
from xductor.transforms.rewriting.handles import Dim, Opaque, Tensor, handle
from xductor.transforms.rewriting.rewrite import Rewrite, stages_of
from xductor.transforms.validation.instance_choices import Choices
from xductor.transforms.validation.operand_shapes import LATE

_TRIES = 12


class NoInstance(Exception):
    """No graph was found that the pattern should match; the message says where it failed."""


def make_instance(
    rewrite: Rewrite, choices: Choices, given: Mapping[str, Any] | None = None
) -> ModuleOp:
    """A module with one graph that the pattern should match.

    - `given`: values for some variables: constants, or tensors, of which only the type is used.

    Raises NoInstance if the ops refuse all arguments that were tried.
    """
    outputs, stage = rewrite.compiled.outputs, stages_of(rewrite)[0]
    return _Instance(outputs, stage, choices, given or {}).module()


def make_call(name: str, choices: Choices, stage: Stage = "joint") -> ModuleOp:
    """A module with one graph: a call of the operator overload `name` on generated arguments.

    Raises NoInstance if the operator refuses all arguments that were tried.
    """
    cls: Any = op_class_by_name(name)
    table = cls.table
    entries = [
        (place, Var(param.name, f"list[{param.kind}]" if param.lists else param.kind))
        for place, param in enumerate(table.params)
    ]
    call = Call(name, (Head(cls, tuple(entries)),), table.returns, not table.is_tuple)
    return _Instance((call,), stage, choices, {}).module()


class _Instance:
    """One attempt at a graph."""

    def __init__(
        self, outputs: tuple[Any, ...], stage: Stage, choices: Choices, given: Mapping[str, Any]
    ) -> None:
        self.outputs = outputs
        self.choices = choices
        self.given = given
        self.block = Block()
        self.names: list[str] = []
        self.bindings: dict[str, Any] = {}
        self.calls: dict[Call, Any] = {}
        self.elements: list[Any] = []
        self._operands: dict[str, TensorType] = {}
        self.stage: Stage = stage
        self.facts = Facts.from_table(choices.table)
        self.env = InferenceEnv(choices.table, with_grad=self.stage == "pre_grad")
        self.builder = ReplacementBuilder(
            self.env,
            self.facts,
            NodeMeta(("",)),
            list(self.block.args),
            lambda: [],
            lambda value: True,
        )

    def module(self) -> ModuleOp:
        with self.env:
            try:
                outputs = self._outputs()
            except (Unbuildable, NoFakeValue, TypeError, ValueError, IndexError) as error:
                self.builder.discard()
                raise NoInstance(str(error)) from error
        return self._finished(outputs)

    def _outputs(self) -> list[SSAValue]:
        found = [self._part(one, "", "", "any") for one in self.outputs]
        if len(found) == 1 and isinstance(found[0], list):  # all results of one call
            found = found[0]
        # In half of the instances the graph returns the outputs; in the others it only reads them.
        if self.choices.chance(0.5):
            return [self._consumed(one) for one in found]
        return [_value(one) for one in found]

    def _consumed(self, one: Any) -> SSAValue:
        if not isinstance(one, Tensor) or one.requires_grad:
            return _value(one)
        try:
            cls: Any = op_class_by_name("aten.sum.default")
            return _value(self.builder.call(cls.name, [BoundCall(cls, (one, None), (True, False))]))
        except Unbuildable:
            return _value(one)

    def _finished(self, outputs: list[SSAValue]) -> ModuleOp:
        block = self.block
        for op in self.builder.made:
            block.add_op(op)
        returned = tuple(Ref(place) for place in range(len(outputs)))
        block.add_op(OutputOp.make(raw_args((returned,)), outputs, []))
        kept = [place for place, one in enumerate(block.args) if one.first_use is not None]
        names = [self.names[place] for place in kept]
        for place in reversed(range(len(block.args))):
            if place not in kept:
                block.erase_arg(block.args[place])
        graph = GraphOp("instance", self.stage, block, self.choices.table, arguments=names)
        return ModuleOp([graph])

    # Parts of the pattern.

    def _part(self, part: Any, op: str, param: str, kind: str) -> Any:
        """A value or constant that a part of the pattern matches, as a handle."""
        if isinstance(part, Var):
            return self._variable(part, op, param)
        if isinstance(part, Call):
            return self._call(part)
        if isinstance(part, Item):
            return self._call(part.call)[part.index]
        if isinstance(part, OneOf):
            return self._part(self._alternative(part), op, param, kind)
        if isinstance(part, Bound):
            name = part.variable.name
            if name not in self.bindings:  # an alternative inside it is chosen once
                self.bindings[name] = self._part(part.pattern, op, param, kind)
            return self.bindings[name]
        if isinstance(part, Each):
            return self._each(part)
        if isinstance(part, Element):
            return self.elements[-1]
        if part is ...:
            return self._anything(kind, op, param)
        if isinstance(part, list | tuple) and any(_is_pattern(one) for one in part):
            return [
                self._part(one, op, param, kind.removeprefix("list[").rstrip("]")) for one in part
            ]
        return part

    def _alternative(self, one_of: OneOf) -> Any:
        places = range(len(one_of.alternatives))
        if one_of.number is None:
            place = self._picked(one_of)
        else:
            name = one_of.number.name
            if name not in self.bindings:
                self.bindings[name] = self.given.get(name, self._picked(one_of))
            place = self.bindings[name]
            if place not in places:
                raise NoInstance(f"{one_of!r} has {len(places)} alternatives")
        self.choices.picked[one_of] = place
        return one_of.alternatives[place]

    def _picked(self, one_of: OneOf) -> int:
        place: int = self.choices.pick(range(len(one_of.alternatives)))
        return self.choices.forced.get(one_of, place)

    def _variable(self, variable: Var, op: str, param: str) -> Any:
        name = variable.name
        if name not in self.bindings:
            self.bindings[name] = (
                self._from_example(name, self.given[name])
                if name in self.given
                else self._made_up(variable.kind, op, param, name)
            )
        return self.bindings[name]

    def _from_example(self, name: str, example: Any) -> Any:
        if isinstance(example, torch.Tensor):
            return self._argument(self._type_of(example), name)
        if isinstance(example, list | tuple) and any(isinstance(o, torch.Tensor) for o in example):
            return [self._from_example(f"{name}_{n}", one) for n, one in enumerate(example)]
        return example

    def _type_of(self, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor that is given; one on `meta` says nothing of the device."""
        choices = self.choices
        return TensorType.get(
            tensor.dtype,
            tuple(tensor.shape),
            tuple(tensor.stride()),
            choices.device if tensor.device.type == "meta" else tensor.device,
            offset=int(tensor.storage_offset()),
            flags=("requires_grad",) if choices.with_grad and tensor.requires_grad else (),
        )

    def _made_up(self, kind: str, op: str, param: str, name: str) -> Any:
        if kind == "tensor":
            type_ = self.choices.tensor(op, param, self._types(), self._operands)
            return self._argument(type_, name)
        if kind == "list[tensor]":
            types = self.choices.tensors(op, param, self._types())
            return [self._argument(type_, f"{name}_{n}") for n, type_ in enumerate(types)]
        return self._anything(kind, op, param)

    def _anything(self, kind: str, op: str, param: str) -> Any:
        source = next(iter(self._operands.values()), None)
        if kind == "tensor":
            type_ = self.choices.tensor(op, param, self._types(), self._operands)
            return self._argument(type_, param or "v")
        if kind.startswith("list["):
            inner = kind[5:-1]
            if inner == "int":
                return self._dims(self.choices.integers(op, param, source))
            return [self._anything(inner, op, param) for _ in range(self.choices.pick((1, 2)))]
        return self.choices.constant(kind, param, source)

    def _dims(self, items: list[Any]) -> list[Any]:
        return [Dim(one, self.facts) if isinstance(one, SymExpr) else one for one in items]

    def _types(self) -> list[TensorType]:
        values = [*self.block.args, *(one for op in self.builder.made for one in op.results)]
        return [one.type for one in values if isinstance(one.type, TensorType)][-4:]

    def _argument(self, type_: TensorType, name: str) -> Tensor:
        value = self.block.insert_arg(type_, len(self.block.args))
        taken = set(self.names)
        while name in taken:
            name += "_"
        self.names.append(name)
        self.builder.add_source(value)
        return handle(value, self.facts)

    def _each(self, each: Each) -> list[Any]:
        sources = self._part(each.source, "", "", "list[tensor]")
        found: list[Any] = []
        known = dict(self.calls)
        for element in list(sources):
            self.elements.append(element)
            self.calls = dict(known)  # each element has its own calls
            found.append(self._part(each.body, "", "", "tensor"))
            self.elements.pop()
        self.calls = known
        return found

    # Calls.

    def _call(self, call: Call) -> Any:
        if call in self.calls and not self.elements:
            return self.calls[call]
        last: Exception | None = None
        for _ in range(_TRIES):
            before = dict(self.bindings)
            count = len(self.builder.made)
            try:
                made = self._made(self.choices.pick(call.heads))
            except (Unbuildable, NoFakeValue, TypeError, ValueError, IndexError) as error:
                last = error
                if len(self.builder.made) > count:
                    raise  # parts of this call were made: start over with the whole graph
                self.bindings = before
                continue
            self.calls[call] = made
            return made
        raise NoInstance(f"{call.name}: {last}") from last

    def _made(self, head: Head) -> Any:
        cls = head.cls
        op = cls.name.split(".")[1] if not cls.raw_arguments else cls.name.rpartition(".")[2]
        items: dict[Any, Any] = {}
        entries = head.entries
        operands: dict[str, TensorType] = {}

        def order(one: tuple[int | str, Any]) -> tuple[bool, bool]:
            # Tensors first, since the constants depend on them.
            return not _is_value(one[1]), (op, _parameter(cls, one[0])[0]) in LATE

        for slot, entry in sorted(entries, key=order):
            param, kind = _parameter(cls, slot)
            self._operands = operands  # calls among the arguments have their own
            items[slot] = made = self._part(entry, op, param, kind)
            first = made[0] if isinstance(made, list) and made else made
            if isinstance(first, Tensor):
                operands[param] = first.type
        if head.swappable is not None and self.choices.chance(0.3):
            left, right = head.swappable
            if isinstance(items.get(left), Tensor) and isinstance(items.get(right), Tensor):
                items[left], items[right] = items[right], items[left]
        if issubclass(cls, SchemaOp):
            ordered = tuple([items[place] for place in range(len(entries))])
            return self.builder.call(cls.name, [BoundCall(cls, ordered, (True,) * len(ordered))])
        named = {str(slot): items[slot] for slot, _ in entries}  # in the signature's order
        return self.builder.raw_call(cls, *call_arguments(cls, named))


def _parameter(cls: Any, slot: int | str) -> tuple[str, str]:
    """The name and kind of a parameter."""
    if not issubclass(cls, SchemaOp) or not isinstance(slot, int):
        return str(slot), "any"
    param = cls.table.params[slot]
    return param.name, f"list[{param.kind}]" if param.lists else param.kind


def _is_value(entry: Any) -> bool:
    """Whether an argument of a pattern is a tensor or a list of tensors."""
    if isinstance(entry, Pattern):
        return "tensor" in getattr(entry, "kind", "")
    return isinstance(entry, list | tuple) and any(_is_value(one) for one in entry)


def _is_pattern(item: Any) -> bool:
    return isinstance(item, Pattern | OpFunction | OverloadFunction) or item is ...


def _value(one: Any) -> SSAValue:
    if isinstance(one, Tensor | Opaque | Dim) and one.value is not None:
        return one.value
    raise NoInstance(f"an output of the pattern is {one!r}")


__all__ = ["NoInstance", "make_call", "make_instance"]
