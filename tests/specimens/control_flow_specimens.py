"""Graphs for `unroll_while_loop` and `cond_to_where`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import parse_ir
from xductor.transforms.loops.cond_to_where import CondToWhere
from xductor.transforms.loops.unroll_while_loop import UnrollWhileLoop

SEEDS = 60

_NUMBER = "!fx.tensor<i64[], cpu>"
_TRUTH = "!fx.tensor<i1[], cpu>"
_SHAPES = ("3", "", "0", "1, 3", "2, 1, 2")
_UNARY = ("sin", "neg", "relu", "exp", "abs", "sqrt", "reciprocal", "clone")
_BINARY = ("add.Tensor", "mul.Tensor", "sub.Tensor", "maximum.default", "div.Tensor")


@dataclass
class _Ops:
    """Lines of a graph that computes with tensors of one type, and the values so far."""

    chance: random.Random
    type: str
    values: list[str]
    lines: list[str]
    prefix: str = "%v"

    def put(self, call: str, type_: str = "") -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"  {name} = {call} : {type_ or self.type}")
        return name

    def add(self, number: str = "") -> str:
        """A random op, perhaps of a number."""
        chance, kind = self.chance, self.chance.random()
        value = chance.choice(self.values)
        if number and kind < 0.2:
            made = self.put(f"aten.{chance.choice(('add', 'mul'))}.Tensor {value}, {number}")
        elif kind < 0.6:
            made = self.put(f"aten.{chance.choice(_UNARY)}.default {value}")
        else:
            made = self.put(f"aten.{chance.choice(_BINARY)} {value}, {chance.choice(self.values)}")
        self.values.append(made)
        return made


@dataclass(frozen=True)
class Counting:
    """A counter: where it begins, what is added, and how it is compared with a limit."""

    start: int
    step: int
    compare: str
    limit: int

    @property
    def trips(self) -> int | None:
        """How often the loop goes round; None for more than a hundred times."""
        goes_on = {
            "lt": lambda i: i < self.limit,
            "le": lambda i: i <= self.limit,
            "gt": lambda i: i > self.limit,
            "ge": lambda i: i >= self.limit,
            "ne": lambda i: i != self.limit,
        }[self.compare]
        number = self.start
        for trip in range(100):
            if not goes_on(number):
                return trip
            number += self.step
        return None

    @classmethod
    def random(cls, chance: random.Random) -> Counting:
        step, start = chance.choice((1, 1, 2, 3)), chance.randint(-2, 3)
        trips = chance.choice((0, 1, 2, 3, 5, 7, 70))
        last = start + step * trips
        compare, limit = chance.choice((("lt", last), ("le", last - step), ("ne", last)))
        if chance.random() < 0.4:
            down = {"lt": "gt", "le": "ge", "ne": "ne"}[compare]
            return cls(-start, -step, down, -limit)
        return cls(start, step, compare, limit)


@dataclass(frozen=True)
class WhileProgram:
    """A graph with a loop, and how often that goes round if it is known while compiling."""

    module: ModuleOp
    trips: int | None


def while_program(seed: int) -> WhileProgram:
    """A loop with a counter and some tensors, with a random body that may hold a `cond`."""
    chance = random.Random(seed)
    type_ = f"!fx.tensor<f32[{chance.choice(_SHAPES)}], cpu>"
    counting, depends = Counting.random(chance), chance.random() < 0.2
    carried, shared = chance.randint(1, 3), chance.randint(0, 2)
    names = [f"%c{place}" for place in range(carried)]
    others = [f"%w{place}" for place in range(shared)]
    inputs = ", ".join(f"{name} : {type_}" for name in (*names, *others))
    arguments = f"%i : {_NUMBER}, {inputs}"
    results = [f"%r{place}" for place in range(carried)]
    given = f"(%i, {', '.join(names)}), ({', '.join(others)}{',' * (shared == 1)})"
    types = ", ".join([_NUMBER, *[type_] * carried])
    returned = chance.choice((results, results, ["%n", *results], [*results, results[0]]))
    main = [
        f"fx.graph @forward stage(joint) symbols() ({inputs}) {{",
        f"  %i = aten.full.default [], {counting.start}, dtype = i64, device = device<cpu> "
        f": {_NUMBER}",
        f"  %n, {', '.join(results)} = higher_order.while_loop @goes_on, @body, {given} : {types} "
        f'as ({", ".join("*" for _ in range(1 + carried))}) {{node = "loop"}}',
        f"  %after = aten.cos.default {results[-1]} : {type_}",
        f"  fx.output ({', '.join([*returned, '%after'])},)",
        "}",
    ]
    text = [*main, *_condition(counting, arguments, names[0], type_, depends)]
    text += _body(chance, counting, arguments, names, others, type_)
    module = parse_ir("\n".join(["builtin.module {", *text, "}"]))
    return WhileProgram(module, None if depends else counting.trips)


def _condition(
    counting: Counting, arguments: str, value: str, type_: str, depends: bool
) -> list[str]:
    lines = [f"fx.graph @goes_on stage(joint) symbols() ({arguments}) {{"]
    lines.append(f"  %a = aten.{counting.compare}.Scalar %i, {counting.limit} : {_TRUTH}")
    if not depends:
        return [*lines, "  fx.output %a", "}"]
    number = "!fx.tensor<f32[], cpu>"
    return [
        *lines,
        f"  %s = aten.sum.default {value} : {number}",
        f"  %e = aten.lt.Scalar %s, 100.0 : {_TRUTH}",
        f"  %b = aten.logical_and.default %a, %e : {_TRUTH}",
        "  fx.output %b",
        "}",
    ]


def _body(
    chance: random.Random,
    counting: Counting,
    arguments: str,
    names: list[str],
    others: list[str],
    type_: str,
) -> list[str]:
    ops = _Ops(chance, type_, [*names, *others], [])
    for _ in range(chance.randint(0, 5)):
        ops.add("%i")
    branches: list[str] = []
    if chance.random() < 0.3:
        total = ops.put(f"aten.sum.default {ops.values[-1]}", "!fx.tensor<f32[], cpu>")
        truth = ops.put(f"aten.gt.Scalar {total}, 0 ", _TRUTH)
        call = f"higher_order.cond {truth}, @yes, @no, ({ops.values[-1]},)"
        name = f"%v{len(ops.lines)}"
        ops.lines.append(f'  {name} = {call} : {type_} as (*,) {{node = "cond"}}')
        ops.values.append(name)
        branches = [*_branch(chance, "yes", type_, 1), *_branch(chance, "no", type_, 1)]
    following = ops.put(f"aten.add.Tensor %i, {counting.step}", _NUMBER)
    results = [chance.choice(ops.values[-4:] + names) for _ in names]
    if chance.random() < 0.15:
        results = names[1:] + names[:1]
    head = f"fx.graph @body stage(joint) symbols() ({arguments}) {{"
    return [head, *ops.lines, f"  fx.output ({', '.join([following, *results])})", "}", *branches]


def _branch(chance: random.Random, name: str, type_: str, results: int) -> list[str]:
    ops = _Ops(chance, type_, ["%x"], [])
    made = [ops.add() for _ in range(chance.randint(1, 4) + results)]
    returned = ", ".join(chance.sample(made, results))
    head = f"fx.graph @{name} stage(joint) symbols() (%x : {type_}) {{"
    return [head, *ops.lines, f"  fx.output ({returned},)", "}"]


def cond_program(seed: int) -> ModuleOp:
    """A `cond` between random pointwise results."""
    chance = random.Random(seed)
    type_ = f"!fx.tensor<f32[{chance.choice(_SHAPES)}], cpu>"
    count = chance.randint(1, 3)
    results = [f"%r{place}" for place in range(count)]
    predicate = chance.choice((_TRUTH, "!fx.tensor<i1[1], cpu>"))
    nested = ", ".join("*" for _ in results) + "," * (count == 1)
    text = [
        f"fx.graph @forward stage(joint) symbols() (%p : {predicate}, %x : {type_}) {{",
        f"  {', '.join(results)} = higher_order.cond %p, @yes, @no, (%x,) : "
        f'{", ".join([type_] * count)} as ({nested}) {{node = "cond"}}',
        f"  %after = aten.mul.Tensor {results[0]}, %x : {type_}",
        f"  fx.output ({', '.join([*results, '%after'])},)",
        "}",
        *_branch(chance, "yes", type_, count),
        *_branch(chance, "no", type_, count),
    ]
    return parse_ir("\n".join(["builtin.module {", *text, "}"]))


def loops() -> Iterator[Specimen]:
    """Random programs of `while_loop`."""
    for seed in range(SEEDS):
        yield Specimen(f"program {seed}", while_program(seed).module, UnrollWhileLoop())


def conds() -> Iterator[Specimen]:
    """Random programs of `cond`."""
    for seed in range(SEEDS):
        yield Specimen(f"program {seed}", cond_program(seed), CondToWhere())


__all__ = ["Counting", "WhileProgram", "cond_program", "conds", "loops", "while_program"]
