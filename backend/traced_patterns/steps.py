"""Calls of a trace as data: what is called, with references, constants and sizes as arguments.

The calls of two traces are compared and merged in this form, and printed from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.ir import BlockArgument, SSAValue

from xductor.backend.traced_patterns.stage_trace import StageTrace
from xductor.ir import (
    ListArg,
    SchemaOp,
    SymbolRef,
    SymExpr,
    SymFloatType,
    SymIntType,
    TorchOp,
    aten,
    ops,
    prims,
)
from xductor.ir.dialect.arguments import (
    DictArg,
    Handle,
    Pack,
    SizeArg,
    SliceArg,
    same_constant,
)
from xductor.ir.functions.overload_resolution import fitting_calls
from xductor.ir.functions.torch_calls import AtenCall
from xductor.transforms.matching.patterns import PatternError


@dataclass(frozen=True)
class Reference:
    """A tensor: a tensor input by its name, or a result of a call by its number in the trace.

    `item` is the place among the results of a call that gives several, None for all or the only.
    """

    source: str | int
    item: int | None = None
    kind = "tensor"


@dataclass(frozen=True)
class Constant:
    """A number, dtype, device or the like, the same in every run of the graph."""

    value: Any


@dataclass(frozen=True)
class Size:
    """A number that the sizes of the inputs give, as an expression over their symbols.

    `value` is the value of the graph that it is, if it is one.
    """

    expr: SymExpr
    value: SSAValue | None = field(default=None, compare=False)
    kind = "int"


@dataclass(frozen=True)
class Step:
    """One call: `aten.mean` or `ops.pyfn.torch.relu`, and its arguments.

    An argument is one of the above, or a list or tuple of arguments.
    """

    function: str
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Steps:
    """The calls of a trace in order, and what is returned."""

    calls: tuple[Step, ...]
    outputs: tuple[Reference, ...]


def steps_of(trace: StageTrace) -> Steps:
    """The calls of a trace.

    Raises PatternError for a call or an argument that no pattern can name.
    """
    numbers = {_op(call): number for number, call in enumerate(trace.ops)}

    def reference(value: SSAValue) -> Reference | Size:
        if isinstance(value.type, SymIntType):
            return Size(_expression(value), value)
        if isinstance(value.type, SymFloatType):
            raise PatternError("a float that is computed from sizes; no pattern can name it")
        if isinstance(value, BlockArgument):
            return Reference(trace.values[value])
        op: Any = value.owner
        number = numbers[op]
        several = _gives_several(trace.ops[number])
        return Reference(number, list(op.results).index(value) if several else None)

    calls = tuple([_step(call, reference) for call in trace.ops])
    outputs: list[Any] = [reference(value) for value in trace.outputs]
    first = outputs[0].source
    if isinstance(first, int) and _is_list(trace.ops[first]):
        whole = [Reference(first, place) for place in range(len(_op(trace.ops[first]).results))]
        outputs = [Reference(first)] if outputs == whole else outputs
    return Steps(calls, tuple(outputs))


def _op(call: TorchOp | AtenCall) -> TorchOp:
    return call.op if isinstance(call, AtenCall) else call


def _expression(value: SSAValue) -> SymExpr:
    type_: Any = value.type
    return type_.expr


def _gives_several(call: TorchOp | AtenCall) -> bool:
    return call.cls.table.is_tuple if isinstance(call, AtenCall) else call.tuple_valued


def _is_list(call: TorchOp | AtenCall) -> bool:
    return (
        isinstance(call, AtenCall) and call.cls.table.is_tuple and (call.cls.table.returns is None)
    )


Refer = Callable[[SSAValue], Reference | Size]


def _step(call: TorchOp | AtenCall, refer: Refer) -> Step:
    if isinstance(call, AtenCall):
        return _of_schema(call.cls, call.items, refer)
    raw: Any = call
    positional, keywords = raw.argument_tree(raw.args.data)
    pairs = [(name, _argument(item, refer)) for name, item in dict(keywords).items()]
    args = tuple([_argument(one, refer) for one in positional])
    return Step(f"ops.{call.name}", args, tuple(pairs))


def _of_schema(cls: type[SchemaOp], items: Sequence[Any], refer: Refer) -> Step:
    """A call with the arguments that are not the defaults, by the shortest name that means it."""
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    skipped = False
    for param, item, default in zip(cls.table.params, items, cls.table.defaults, strict=True):
        if param.has_default and _same(item, default):
            skipped = True
        elif skipped or param.kwarg_only:
            keywords[param.name] = _argument(item, refer)
        else:
            args.append(_argument(item, refer))
    library, name, overload = cls.name.split(".")
    home = {"aten": "aten", "prims": "prims"}.get(library, f"ops.{library}")
    short = f"{home}.{name}"
    function = short if _means(short, cls, args, keywords) else f"{short}.{overload}"
    return Step(function, tuple(args), tuple(keywords.items()))


def _same(item: Any, default: Any) -> bool:
    if isinstance(item, SSAValue | SymExpr):
        return False
    if isinstance(item, list | tuple) and isinstance(default, list | tuple):
        pairs = zip(item, default, strict=False)
        return len(item) == len(default) and all(_same(a, b) for a, b in pairs)
    return not isinstance(item, list | tuple) and same_constant(item, default)


def _means(
    short: str, cls: type[SchemaOp], args: Sequence[Any], keywords: Mapping[str, Any]
) -> bool:
    """Whether a call by the operator's name is one of this overload."""
    library, _, name = short.rpartition(".")
    home: Any = {"aten": aten, "prims": prims}.get(library)
    function = getattr(home or getattr(ops, library.partition(".")[2]), name)
    try:
        calls = fitting_calls(
            short,
            function.overloads,
            [_value(one) for one in args],
            {key: _value(one) for key, one in keywords.items()},
        )
    except TypeError:
        return False
    return calls[0].cls is cls


def _value(argument: Any) -> Any:
    if isinstance(argument, list | tuple):
        return [_value(part) for part in argument]
    return argument.value if isinstance(argument, Constant) else argument


def _argument(item: Any, refer: Refer) -> Any:
    if isinstance(item, SSAValue):
        return refer(item)
    if isinstance(item, SymExpr):
        return Size(item)
    if isinstance(item, Pack):
        first = refer(item[0])
        return Reference(first.source) if isinstance(first, Reference) else first
    if isinstance(item, SymbolRef | Handle | DictArg | SliceArg):
        raise PatternError(f"an argument {item!r}, which no pattern can name")
    if isinstance(item, ListArg | SizeArg | list):
        return [_argument(part, refer) for part in item]
    if isinstance(item, tuple):
        return tuple([_argument(part, refer) for part in item])
    return Constant(item)


# Comparing.


def leaves(steps: Steps) -> Iterator[Constant | Size]:
    """The constants and sizes among the arguments, in order."""
    for step in steps.calls:
        for argument in (*step.args, *[item for _, item in step.keywords]):
            yield from _leaves(argument)


def _leaves(argument: Any) -> Iterator[Constant | Size]:
    if isinstance(argument, list | tuple):
        for part in argument:
            yield from _leaves(part)
    elif isinstance(argument, Constant | Size):
        yield argument


def skeleton(steps: Steps) -> Any:
    """What two traces have in common that differ in constants and sizes only."""
    calls = [
        (step.function, _bones(step.args), *[(name, _bones(one)) for name, one in step.keywords])
        for step in steps.calls
    ]
    return tuple(calls), steps.outputs


def with_leaves(steps: Steps, new: Sequence[Any]) -> Steps:
    """The same calls with other constants and sizes, in the order of `leaves`."""
    rest = iter(new)

    def rebuilt(argument: Any) -> Any:
        if isinstance(argument, list):
            return [rebuilt(part) for part in argument]
        if isinstance(argument, tuple):
            return tuple([rebuilt(part) for part in argument])
        return next(rest) if isinstance(argument, Constant | Size) else argument

    calls = [
        replace(
            step,
            args=tuple([rebuilt(one) for one in step.args]),
            keywords=tuple([(name, rebuilt(one)) for name, one in step.keywords]),
        )
        for step in steps.calls
    ]
    return Steps(tuple(calls), steps.outputs)


def _bones(argument: Any) -> Any:
    if isinstance(argument, list):
        return ("list", *map(_bones, argument))
    if isinstance(argument, tuple):
        return tuple(map(_bones, argument))
    return argument if isinstance(argument, Reference) else None


def same_leaf(left: Constant | Size, right: Constant | Size) -> bool:
    """Whether two constants are the same bit by bit, or two sizes the same expression."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return same_constant(left.value, right.value)
    return left == right


__all__ = [
    "Constant",
    "Reference",
    "Size",
    "Step",
    "Steps",
    "leaves",
    "same_leaf",
    "skeleton",
    "steps_of",
    "with_leaves",
]
