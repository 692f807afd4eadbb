"""Graphs for `move_constructors_to_gpu`: tensors made on CPU that CUDA tensors are read with."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.comparison import same_results
from xductor.backend.pass_validation.same_draws import on_cpu
from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import TensorType, entry_graph, parse_ir, print_ir
from xductor.transforms import Numerics
from xductor.transforms.devices.move_constructors_to_gpu import MoveConstructorsToGpu
from xductor.transforms.rewriting.contracts import Violation

SEEDS = 120


_PUT = re.compile(r"prims\.device_put\.default (%[\w#]+), device<cuda:0>(, true)?")
_MADE = (
    "prims.iota.default 4, start = {n}, step = 1, dtype = i64, device = device<cpu>, "
    "requires_grad = false : !fx.tensor<i64[4], cpu>",
    "aten.full.default [4], {n}, dtype = i64, device = device<cpu> : !fx.tensor<i64[4], cpu>",
    "aten.randperm.default 4, dtype = i64, device = device<cpu>, pin_memory = false "
    ": !fx.tensor<i64[4], cpu>",
)
_FOLLOWS = (
    "aten.add.Tensor {a}, {b}",
    "aten.minimum.default {a}, {b}",
    "aten.view.default {a}, [4]",
    "aten.flip.default {a}, [0]",
    "aten.full_like.default {a}, 1, dtype = i64, device = device<cpu>",
)
_SCALARS = ("aten.add.Tensor {a}, {b}", "aten.mul.Tensor {a}, {b}", "aten.exp.default {a}")
_CUDA = "!fx.tensor<f32[8], cuda:0>"
_ENDS = (
    "aten.index.Tensor {x}, [{i}] : !fx.tensor<f32[4], cuda:0>",
    "aten.index_put.default {x}, [{i}], {s} : !fx.tensor<f32[8], cuda:0>",
    "aten.index_put.default {x}, [%m], {s} : !fx.tensor<f32[8], cuda:0>",
    "aten.mul.Tensor {x}, {s} : !fx.tensor<f32[8], cuda:0>",
    "prims.device_put.default {s}, device<cuda:0> : !fx.tensor<f32[], cuda:0>",
    "aten.sin.default {x} : !fx.tensor<f32[8], cuda:0>",
)


class _Program:
    """A graph over tensors on CUDA, and places and scalars on the CPU."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[str] = []
        self.wide, self.results = ["%x"], list[str]()
        self.places, self.scalars = ["%c"], ["%a", "%b"]

    def text(self) -> str:
        for _ in range(self.chance.randint(3, 12)):
            self.chance.choice((self._place, self._scalar, self._end, self._end))()
        self._end()
        wanted = [*self.results, *self.wide[1:]]
        for pool in (self.places, self.scalars):
            wanted += [one for one in pool if self.chance.random() < 0.08]
        if self.chance.random() < 0.2:
            value = self.chance.choice(self.scalars[1:])
            self._say(f"aten.copy_.default %a, {value} : !fx.tensor<f32[], cpu>")
        inputs = (
            f"%x : {_CUDA}, %m : !fx.tensor<i1[8], cuda:0>, %c : !fx.tensor<i64[4], cpu>, "
            "%a : !fx.tensor<f32[], cpu>, %b : !fx.tensor<f32[], cpu>"
        )
        head = f"fx.graph @moved stage(post_grad) symbols() ({inputs}) {{"
        return "\n".join([head, *self.lines, f"  fx.output ({', '.join(wanted)},)", "}"])

    def _say(self, call: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {call}")
        return name

    def _place(self) -> None:
        if self.chance.random() < 0.6:
            made = self.chance.choice(_MADE).format(n=self.chance.randint(0, 1))
        else:
            pair = [self.chance.choice(self.places[-3:]) for _ in range(2)]
            call = self.chance.choice(_FOLLOWS).format(a=pair[0], b=pair[1])
            made = f"{call} : !fx.tensor<i64[4], cpu>"
        self.places.append(self._say(made))

    def _scalar(self) -> None:
        if self.chance.random() < 0.4:
            made = f"aten.full.default [], {self.chance.randint(1, 3)}.0, dtype = f32, "
            made += "device = device<cpu>"
        else:
            pair = [self.chance.choice(self.scalars) for _ in range(2)]
            made = self.chance.choice(_SCALARS).format(a=pair[0], b=pair[1])
        self.scalars.append(self._say(f"{made} : !fx.tensor<f32[], cpu>"))

    def _end(self) -> None:
        pools = {"x": self.wide, "i": self.places[-2:], "s": self.scalars}
        chosen = {key: self.chance.choice(pool) for key, pool in pools.items()}
        clamped = self._say(f"aten.clamp.default {chosen['i']}, 0, 7 : !fx.tensor<i64[4], cpu>")
        made = self.chance.choice(_ENDS)
        name = self._say(made.format(x=chosen["x"], i=clamped, s=chosen["s"]))
        (self.wide if made.endswith("f32[8], cuda:0>") else self.results).append(name)


def random_graph(seed: int) -> ModuleOp:
    """A graph on two devices, in which some of what is made on CPU belongs on the other."""
    return parse_ir(_Program(seed).text())


def same_on_one_device(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Check that results are on the devices that they were on, and agree with all on the CPU.

    Raises Violation if not.
    """
    results = [entry_graph(one).output.operands for one in (before, after)]
    pairs = zip(*results, strict=True)
    for place, (old, new) in enumerate(pairs):
        assert isinstance(old.type, TensorType)
        assert isinstance(new.type, TensorType)
        if old.type.device != new.type.device:
            raise Violation(f"result {place} has come to {new.type.device}")
    return same_results(_on_cpu(before), _on_cpu(after), numerics)


def _on_cpu(module: ModuleOp) -> ModuleOp:
    """The same graph on the CPU alone, where a copy to another device is a copy."""
    return on_cpu(parse_ir(_PUT.sub(r"aten.clone.default \1", print_ir(module))))


def moved() -> Iterator[Specimen]:
    """Random graphs, with and without scalars that are inputs."""
    for seed in range(SEEDS):
        one = MoveConstructorsToGpu(scalars_too=bool(seed % 2))
        yield Specimen(f"graph {seed}", random_graph(seed), one)


__all__ = ["moved", "random_graph", "same_on_one_device"]
