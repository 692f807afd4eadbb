"""Graphs for `decompose_scan_to_while_loop` and `decompose_map_to_while_loop`."""

from __future__ import annotations

import random
from collections.abc import Iterator

from torch.fx import Interpreter
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import parse_ir
from xductor.transforms import TypedPass
from xductor.transforms.loops.decompose_map_to_while_loop import DecomposeMapToWhileLoop
from xductor.transforms.loops.decompose_scan_to_while_loop import DecomposeScanToWhileLoop

SEEDS = 60

_UNARY = ("sin", "neg", "relu", "exp", "abs")
_BINARY = ("add", "mul", "sub", "maximum")


class _Step:
    """A graph over vectors of one dtype: what is carried, a row of each tensor, what is shared."""

    def __init__(self, chance: random.Random, counts: tuple[int, int, int], ends: int) -> None:
        self.chance = chance
        self.type = "!fx.tensor<f32[3], cpu>"
        self.arguments = [f"%a{place}" for place in range(sum(counts))]
        self.lines: list[str] = []
        self.values = list(self.arguments)
        for _ in range(chance.randint(1, 5)):
            self._add()
        while len(self.lines) < ends:
            self._add()
        made = [f"%v{place}" for place in range(len(self.lines))]
        self.results = chance.sample(made, ends)

    def _add(self) -> None:
        name = f"%v{len(self.lines)}"
        if self.chance.random() < 0.4:
            call = f"aten.{self.chance.choice(_UNARY)}.default {self.chance.choice(self.values)}"
        else:
            a, b = (self.chance.choice(self.values) for _ in range(2))
            kind = self.chance.choice(_BINARY)
            call = f"aten.{kind}.{'default' if kind == 'maximum' else 'Tensor'} {a}, {b}"
        self.lines.append(f"  {name} = {call} : {self.type}")
        self.values.append(name)

    def text(self) -> str:
        arguments = ", ".join(f"{name} : {self.type}" for name in self.arguments)
        head = f"fx.graph @step stage(post_grad) symbols() ({arguments}) {{"
        return "\n".join([head, *self.lines, f"  fx.output [{', '.join(self.results)}]", "}"])


def random_loop(seed: int, *, carries: bool) -> ModuleOp:
    """A call of `scan` or `map_impl` with a random step, between some other calls."""
    chance = random.Random(seed)
    carried = chance.randint(1, 3) if carries else 0
    rows, shared, stacked = chance.randint(1, 3), chance.randint(0, 2), chance.randint(1, 3)
    length = chance.choice((1, 2, 5))
    step = _Step(chance, (carried, rows, shared), carried + stacked)
    vector, matrix = "!fx.tensor<f32[3], cpu>", f"!fx.tensor<f32[{length}, 3], cpu>"
    inits = [f"%c{place}" for place in range(carried)]
    xs = [f"%x{place}" for place in range(rows)]
    others = [f"%w{place}" for place in range(shared)]
    inputs = [f"{name} : {vector}" for name in (*inits, *others)]
    inputs += [f"{name} : {matrix}" for name in xs]
    given = [f"[{', '.join(xs)}]", f"({', '.join(others)}{',' * (len(others) == 1)})"]
    if carries:
        given.insert(0, f"[{', '.join(inits)}]")
    results = [f"%r{place}" for place in range(carried + stacked)]
    types = ", ".join([vector] * carried + [matrix] * stacked)
    name = "scan" if carries else "map_impl"
    nested = ", ".join("*" for _ in results) + "," * (len(results) == 1)
    lines = [
        f"fx.graph @forward stage(post_grad) symbols() ({', '.join(inputs)}) {{",
        f"  {', '.join(results)} = higher_order.{name} @step, {', '.join(given)} : {types} "
        f'as ({nested}) {{node = "looped"}}',
        f"  %after = aten.cos.default {results[-1]} : {matrix}",
        f"  fx.output ({', '.join([*results, '%after'])},)",
        "}",
        step.text(),
    ]
    return parse_ir("\n".join(["builtin.module {", *lines, "}"]))


def run_as_fx(module: ModuleOp, inputs: list[object]) -> list[object]:
    """The results of a module whose calls run graphs."""
    return list(Interpreter(to_fx(module)).run(*inputs))


def _specimens(one: TypedPass, *, carries: bool) -> Iterator[Specimen]:
    for seed in range(SEEDS):
        yield Specimen(f"program {seed}", random_loop(seed, carries=carries), one)


def scans() -> Iterator[Specimen]:
    """Random programs of `scan`."""
    return _specimens(DecomposeScanToWhileLoop(), carries=True)


def maps() -> Iterator[Specimen]:
    """Random programs of `map`."""
    return _specimens(DecomposeMapToWhileLoop(), carries=False)


__all__ = ["maps", "random_loop", "run_as_fx", "scans"]
