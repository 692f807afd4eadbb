"""The no-op registry as claims: under a rule's condition, a call of the operator is its argument.

The rule's own condition is called, on an op of the IR with symbolic sizes. The hypothesis includes
that result and argument have the same type, since the pass checks it for every rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.ir import Block, SSAValue

from xductor.ir import Facts, SchemaOp, SymbolTable, SymExpr, SymIntType, op_class_by_name
from xductor.transforms.noops.noop_registry import NOOP_RULES
from xductor.transforms.passes.numerics import EXACT, Numerics
from xductor.transforms.proving.eager_runs import (
    ConcreteTensor,
    NotTaken,
    Recorder,
    SourceRefused,
    Trial,
    as_handle,
    data_of,
    difference,
    first_line,
    script_of,
)
from xductor.transforms.proving.instances import (
    Instance,
    MeaningCalls,
    SymbolicFiller,
)
from xductor.transforms.proving.mutations import Mutation
from xductor.transforms.proving.path_world import Limits, PathWorld
from xductor.transforms.proving.paths import Path, Refused, Unmade
from xductor.transforms.proving.pattern_runs import Slot
from xductor.transforms.proving.subjects import LEAST_DECIDED
from xductor.transforms.proving.symbolic import Reads, SymbolicTensor, term_of
from xductor.transforms.rewriting.decisions import deciding
from xductor.transforms.rewriting.handles import Dim
from xductor.transforms.rows.registry import typed_class
from xductor.transforms.semantics.terms import eq, le
from xductor.transforms.semantics.values import Illegal, NoMeaning, dtypes_of_both
from xductor.transforms.validation.call_validation import validate_calls
from xductor.transforms.validation.validate import ValidationResult

PASS = "remove_noop_ops"


class _PathFacts:
    """Facts about sizes for a rule's condition; unsettled ones are tried as known and unknown."""

    def __init__(self, world: PathWorld) -> None:
        self.world = world

    def _asked(self, condition: Any) -> bool | None:
        if self.world.known(condition):
            return True
        if condition.op == "false":
            return False
        known = self.world.path.choose((True, None), f"{condition} is known")
        if known:
            self.world.assume(condition)
        return known

    def known_equal(self, a: Any, b: Any) -> bool | None:
        return self._asked(eq(term_of(a), term_of(b)))

    def known_le(self, a: Any, b: Any) -> bool | None:
        return self._asked(le(term_of(a), term_of(b)))


class NoopCase:
    """One rule of the registry as the subject of a proof."""

    least_decided = LEAST_DECIDED

    def __init__(self, op: str, mutation: Mutation | None = None) -> None:
        self.op = op
        self.mutation = mutation
        self.rule = NOOP_RULES[op]
        self.name = f"{PASS}:{op}"
        self.numerics: Numerics = EXACT
        self.cls: Any = op_class_by_name(op)
        self.tensors = sum(param.kind == "tensor" for param in self.cls.table.params)

    @property
    def identity(self) -> str:
        return self.name

    def mutated(self, mutation: Mutation) -> NoopCase:
        return NoopCase(self.op, mutation)

    def code(self) -> tuple[Any, ...]:
        return (self.rule.holds, self.rule.source)

    # On symbolic values.

    def instance(self, path: Path, limits: Limits, reads: Reads, used: set[str]) -> Instance:
        world = PathWorld(path)
        filler = SymbolicFiller(world, limits, reads)
        calls = MeaningCalls(world, filler)
        calls.used = used
        items = self._arguments(filler)
        source = items[self.cls.table.index[self.rule.source]]
        if isinstance(source, list | tuple):
            if len(source) != 1:
                raise Refused("several arguments")
            source = source[0]
        try:
            result = calls(self.cls, tuple(items))
        except Illegal as error:
            raise Unmade(str(error)) from error
        except NoMeaning:
            self._ask(world, items, source, source)  # nothing is claimed if the rule refuses
            raise
        self._assume_same_type(world, result, source)
        self._ask(world, items, result, source)
        filler.note_unlike_dtypes()
        world.begin_target()
        target = [source] if self.mutation is None else self.mutation.outputs([source], calls)
        return Instance(
            path,
            world.assumptions,
            [result],
            target,
            world.obligations,
            dict(zip(self.cls.table.index, items, strict=True)),
            filler.fillings,
            tuple(filler.dtypes),
            tuple(filler.ranks),
            world.bounds,
            variables=world.variables,
            sizes=tuple(filler.sizes),
        )

    def _ask(self, world: PathWorld, items: list[Any], result: Any, source: Any) -> None:
        call: Any = _Call(self.cls, items, result)
        facts: Any = _PathFacts(world)
        if self.mutation is not None and self.mutation.drops_condition:
            return
        with deciding(world.decide):
            if not self.rule.holds(call, source.type, facts):
                raise Refused("the rule does not hold")

    def _arguments(self, filler: SymbolicFiller) -> list[Any]:
        params = self.cls.table.params
        items: list[Any] = [None] * len(params)
        tensors: list[Any] = []
        op = self.op.split(".")[1]
        order = sorted(range(len(params)), key=lambda place: params[place].kind != "tensor")
        for place in order:
            param = params[place]
            kind = f"list[{param.kind}]" if param.lists else param.kind
            slot = Slot(op, param.name, kind, param.optional, tuple(tensors))
            items[place] = made = filler.anything(slot)
            if "tensor" in kind:
                tensors += made if isinstance(made, list) else [made]
        return items

    @staticmethod
    def _assume_same_type(world: PathWorld, result: Any, source: Any) -> None:
        before, after = result.meaning, source.meaning
        if before.rank != after.rank or before.device != after.device:
            raise Refused("result and argument differ in rank or device")
        dtype, other = dtypes_of_both(before, after)
        if dtype is not other:
            raise Refused("result and argument differ in dtype")
        for a, b in zip(before.shape, after.shape, strict=True):
            world.assume(eq(a, b))

    # On tensors.

    def run(self, fillings: Sequence[Any]) -> Trial:
        facts = Facts.from_table(SymbolTable())
        inputs: dict[str, torch.Tensor] = {}
        params = self.cls.table.params
        order = sorted(range(len(params)), key=lambda place: params[place].kind != "tensor")
        items: list[Any] = [None] * len(params)
        for place, item in zip(order, fillings, strict=True):
            items[place] = as_handle(item, facts, inputs)
        record = Recorder("s", facts)
        try:
            result = record(self.cls, tuple(items))
        except (RuntimeError, IndexError, NotImplementedError, TypeError, ValueError) as error:
            raise SourceRefused(f"the source raises {first_line(error)}") from error
        source = items[self.cls.table.index[self.rule.source]]
        source = source[0] if isinstance(source, list | tuple) else source
        if (result.data.shape, result.data.dtype) != (source.data.shape, source.data.dtype):
            raise NotTaken("other types")
        call: Any = _Call(self.cls, items, result)
        dropped = self.mutation is not None and self.mutation.drops_condition
        if not dropped and not self.rule.holds(call, source.type, facts):
            raise NotTaken("the rule does not hold")
        second = Recorder("t", facts)
        target = [source] if self.mutation is None else self.mutation.outputs([source], second)
        trial = Trial(inputs, [data_of(result)], [data_of(one) for one in target])
        trial.problem = difference(trial, self.numerics)
        if trial.problem:
            trial.script = script_of(
                self.name,
                self.numerics,
                inputs,
                record,
                [result],
                second,
                target,
                trial.problem,
            )
        return trial

    def validated(self) -> ValidationResult:
        return validate_calls(self.op, typed_class(PASS)(), instances=24, rounds=3)


class _Call:
    """A call as a rule's condition reads it: values of the IR, constants, and numbers."""

    def __init__(self, cls: type[SchemaOp], items: Sequence[Any], result: Any) -> None:
        self.table = cls.table
        self.items = dict(zip(cls.table.index, map(_as_read, items), strict=True))
        self.results = (_value(result.type),)

    def argument(self, name: str) -> Any:
        return self.items[name]


def _value(type_: Any) -> SSAValue:
    return Block(arg_types=[type_]).args[0]


def _as_read(item: Any) -> Any:
    if isinstance(item, SymbolicTensor | ConcreteTensor):
        return _value(item.type)
    if isinstance(item, Dim):
        return _value(SymIntType(item.expr)) if isinstance(item.expr, SymExpr) else item.expr
    if isinstance(item, list | tuple):
        return tuple([_as_read(one) for one in item])
    return item


def noop_cases() -> list[NoopCase]:
    """All rules of the registry."""
    return [NoopCase(op) for op in NOOP_RULES]


__all__ = ["NoopCase", "noop_cases"]
