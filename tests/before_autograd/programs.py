"""Random programs of torch's functions and methods, as text that can be read and run.

They view, write in place, copy, split and join, under `no_grad`, autocast and inference mode and in
activation checkpoints, and return tensors that may be each other's or an input's views. A statement
that eager refuses is left out, so every program runs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

_PREAMBLE = """\
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
"""

# u, w, x: tensors at hand; n, m: new names; d: a dim.
VIEWS = (
    "{n} = {u}.view(-1)",
    "{n} = {u}.view(4, 4)",
    "{n} = {u}.view_as({u})",
    "{n} = {u}.view_as({w})",
    "{n} = {u}.reshape(2, 8)",
    "{n} = {u}.reshape(4, 4)",
    "{n} = torch.reshape({u}, (4, 4))",
    "{n} = {u}.flatten()",
    "{n} = {u}.t()",
    "{n} = {u}.t().t()",
    "{n} = {u}.transpose(0, -1)",
    "{n} = {u}.mT",
    "{n} = {u}.permute(1, 0)",
    "{n} = torch.permute({u}, (1, 0))",
    "{n} = {u}.unsqueeze(0).squeeze(0)",
    "{n} = {u}.expand_as({w})",
    "{n} = {u}[0]",
    "{n} = {u}[1:]",
    "{n} = {u}[..., ::2]",
    "{n} = {u}.narrow(0, 0, 2)",
    "{n} = {u}.select({d}, 0)",
    "{n} = {u}.diagonal()",
    "{n} = {u}.detach()",
    "{n} = torch.ops.aten.alias.default({u})",
    "{n} = {u}.contiguous()",
    "{n} = {u}.float()",
    "{n} = {u}.to(torch.float32)",
    "{n} = {u}.as_strided((4, 4), (4, 1))",
    "{n}, {m} = {u}.split(2, {d})",
    "{n}, {m} = {u}.chunk(2, {d})",
    "{n}, {m} = torch.chunk({u}, 2, {d})",
    "{n}, {m} = {u}.narrow(0, 0, 2).unbind(0)",
)
COPIES = (
    "{n} = {u}.clone()",
    "{n} = {u}.clone()",
    "{n} = {u}.clone().clone()",
    "{n} = torch.clone({u})",
    "{n} = {u}.t().contiguous()",
    "{n} = {u} + 0",
    "{n} = torch.empty_like({u}).copy_({w})",
    "{n} = torch.cat([{u}, {w}], {d})",
    "{n} = torch.cat({u}.split(2, {d}), {d})",
    "{n}, {m} = {u}.split(2, {d}); {n} = torch.cat([{n}, {m}], {d})",
    "{n}, {m} = {u}.chunk(2, {d}); {n} = torch.cat([{n}, {m}], {d})",
    "{n} = torch.stack([{u}, {w}])[0]",
    "{n} = {u}.neg().neg()",
    "{n} = {u}.bfloat16().float()",
)
COMPUTES = (
    "{n} = {u} + {w}",
    "{n} = {u} * {w}",
    "{n} = {u} * 0.5",
    "{n} = {u} - {w}",
    "{n} = {u}.matmul({w}) * 0.25",
    "{n} = torch.matmul({u}, {w}.mT) * 0.25",
    "{n} = F.linear({u}, {w}) * 0.25",
    "{n} = torch.sin({u})",
    "{n} = torch.add(torch.sin({u}), {w})",
    "{n} = torch.cos({u})",
    "{n} = torch.cos({u}); {m} = torch.tanh({u})",
    "{n} = torch.cos({u}) + torch.tanh({u})",
    "{n} = torch.tanh({u})",
    "{n} = torch.sigmoid({u})",
    "{n} = F.silu({u}) * {w}",
    "{n} = {u}.sum(-1, keepdim=True)",
    "{n} = {u}.softmax(-1)",
    "{n} = torch.relu({u} + 0.1)",
    "{n} = torch.relu(F.dropout({u}, 0.5, True))",
    "{n} = F.dropout({u}, 0.5, True)",
    "{n} = torch.rand_like({u}) + {w}",
    "{n} = F.layer_norm({u}, ({u}.shape[-1],))",
)
# Operands are what is at hand and results are views of the fused call's, so that what a call keeps
# for its backward may be written, may be dead, and may be kept by a checkpoint.
ATTENTION = (
    "{n} = (torch.softmax({u}.view(1, 4, 4) @ {w}.view(1, 4, 4).mT / 2.0, -1) "
    "@ {w}.view(1, 4, 4)).view(4, 4)",
    "{n} = {u}.reshape(1, 1, 4, 4); "
    "{m} = F.softmax({n}.matmul({w}[None, None].transpose(-2, -1)), dim=-1).matmul({n})",
    "{n}, {m} = ({u} * 1).view(1, 4, 4), ({w} * 1).view(1, 4, 4); "
    "{n} = (torch.softmax({n} @ {m}.mT / 2.0, -1) @ {m}).view(4, 4); {m} = {m} * 1",
    "{n} = torch.softmax({u}[None] @ {u}[None].mT, -1) @ {w}[None]; {n} = {n}[0]",
)
WRITES = (
    "{u}.add_({w})",
    "{u}.mul_(0.5)",
    "{u}.mul_(2)",
    "{n} = {u}.add_({w}); {m} = {x}.add_({w})",
    "{n} = {u}.add_({w}); {m} = torch.sin({x}).add_({w})",
    "{n} = torch.cos({u}); {w}.mul_(0.5); {m} = torch.tanh({u})",
    "{n} = torch.cos({u}); {x}[0] = 1.0; {m} = torch.tanh({u})",
    "{u}.copy_({w})",
    "{u}[0] = 1.0",
    "{u}[..., 1:] = {w}[..., 1:]",
    "{u}[1:] = {u}[:-1].clone()",
    "{u} += {w}",
    "{u} *= 0.5",
    "{u}.zero_()",
    "{u}.fill_(0.5)",
    "{u}.sigmoid_()",
    "{n} = F.relu({u}, inplace=True)",
    "{n} = {u}.add_({w})",
    "{n} = {u}.add_({w}); {m} = torch.sin({n})",
    "{n} = {u}.add_(1).view(-1)",
    "{n} = torch.sin({u}); {u}.add_(1); {m} = torch.add({n}, {w})",
    "{n} = {u}.tanh_()",
    "{u}.detach().add_(1)",
    "{u}.data.mul_(0.5)",
    "torch.mul({u}, 0.5, out={u})",
)
_INFERENCE = "with torch.inference_mode():"
REGIONS = (
    "with torch.no_grad():",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    'with torch.autocast("cpu", torch.bfloat16):',
    'with torch.autocast("cpu", torch.bfloat16):',
    _INFERENCE,
)
_TEMPLATES = ((VIEWS, 32), (COPIES, 24), (COMPUTES, 15), (WRITES, 26))
# AOTAutograd cannot trace a view, nor a write, in inference mode: "Cannot set version_counter".
_IN_INFERENCE = tuple(one for one in COMPUTES if ".mT" not in one)
# Its recomputation in a checkpoint without a joint graph refuses random numbers.
_RANDOM = ("dropout", "rand_like")
_INPUTS = ("a", "b", "c")


@dataclass
class Program:
    """A program and its leaves: `a` requires a gradient, `b` does not, `c` may."""

    seed: int
    lines: list[str]
    returned: list[str]
    leaves: list[Tensor]

    @property
    def text(self) -> str:
        body = [f"    {line}" for line in self.lines]
        head = f"def program({', '.join(_INPUTS)}):"
        return "\n".join([_PREAMBLE, head, *body, f"    return {', '.join(self.returned)},", ""])

    def function(self) -> Callable[..., Any]:
        space: dict[str, Any] = {}
        code = compile(self.text, f"<program {self.seed}>", "exec")
        exec(code, space)  # noqa: S102  (our own text)
        return space["program"]

    def without_checkpoints(self) -> Program:
        """The same, with the bodies of checkpoints called as they are."""
        calls = re.compile(r"checkpoint\((\w+), (.*), use_reentrant=False\)")
        lines = [calls.sub(r"\1(\2)", line) for line in self.lines]
        return replace(self, lines=lines)

    @property
    def rounds(self) -> bool:
        """Whether values are rounded to 16 bits on the way."""
        return "bfloat16" in self.text


def program(seed: int, attends: bool = False) -> Program:
    """The program of a seed; one that `attends` has much attention and many checkpoints."""
    return _Writer(seed, attends).program()


@dataclass
class _Writer:
    seed: int
    attends: bool = False
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def program(self) -> Program:
        self.chance = random.Random(self.seed)
        generator = torch.Generator().manual_seed(self.seed)
        leaves = [torch.randn(4, 4, generator=generator) for _ in _INPUTS]
        leaves[0].requires_grad_(self.chance.random() < 0.85)
        leaves[2].requires_grad_(self.chance.random() < 0.5)
        self.leaves = leaves
        self.names: list[str] = [*_INPUTS]
        self.checkpoints = self.chance.random() < 0.5 or self.attends
        self.kinds = [*_TEMPLATES, (ATTENTION, 40 if self.attends else 4)]
        for _ in range(self.chance.randint(2, 8)):
            self._unit()
        made = self._returnable() or ["a * 1"]
        count = min(len(made), self.chance.randint(1, 4))
        returned = self.chance.sample(made, count)
        if self.chance.random() < 0.15:
            returned.append(self.chance.choice(_INPUTS))
        return Program(self.seed, self.lines, returned, leaves)

    def _returnable(self) -> list[str]:
        """What was made and may be returned.

        Not a view of an input that was made where no gradient flows: AOTAutograd makes views of
        inputs anew behind the graph, where one does.
        """
        space = self._run(self.lines)
        assert space is not None
        inputs = {space[name].untyped_storage().data_ptr() for name in _INPUTS}
        silent = any("no_grad" in line or "inference" in line for line in self.lines)
        return [
            name
            for name in self.names[len(_INPUTS) :]
            if not (silent and space[name].untyped_storage().data_ptr() in inputs)
        ]

    def _unit(self) -> None:
        """A statement, a region or a checkpoint; one that eager refuses is tried anew."""
        for _ in range(12):
            kind = self.chance.random()
            names = list(self.names)
            if kind < (0.5 if self.attends else 0.72):
                lines = [self._statement(names, self.names)]
            elif kind < (0.6 if self.attends else 0.9) or not self.checkpoints:
                lines = self._region(names)
            else:
                lines = self._checkpoint(names)
            if self._run([*self.lines, *lines]) is not None:
                self.lines += lines
                self.names = names
                return

    def _statement(
        self, names: list[str], usable: list[str], only: Sequence[str] | None = None
    ) -> str:
        """A statement over `usable`, of the templates `only`; what it makes is added to `names`."""
        templates = self.chance.choices(
            [one for one, _ in self.kinds], [weight for _, weight in self.kinds]
        )[0]
        template = self.chance.choice(only or templates)
        recent = usable[-4:] if self.chance.random() < 0.6 else usable
        new, more = self._new(), self._new()
        if "{n}" in template:
            names.append(new)
        if "{m}" in template:
            names.append(more)
        chosen = {"u": self.chance.choice(recent)}
        chosen |= {name: self.chance.choice(usable) for name in "wx"}
        return template.format(n=new, m=more, d=self.chance.choice((0, -1)), **chosen)

    def _new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def _region(self, names: list[str]) -> list[str]:
        head = self.chance.choice(REGIONS)
        only = _IN_INFERENCE if head == _INFERENCE else None
        body = [self._statement(names, names, only) for _ in range(self.chance.randint(1, 3))]
        return [head, *(f"    {line}" for line in body)]

    def _checkpoint(self, names: list[str]) -> list[str]:
        """A function of two tensors, run under an activation checkpoint."""
        number = self._new()
        own = ["p", "q"]
        body = [self._statement(own, own) for _ in range(self.chance.randint(1, 3))]
        body = [line for line in body if not any(name in line for name in _RANDOM)]
        result = self.chance.choice(own[2:] or ["p * q"])
        one, two = self.chance.choice(self.names), self.chance.choice(self.names)
        names.append(number)
        return [
            f"def f{number}(p, q):",
            *(f"    {line}" for line in body),
            f"    return {result}",
            f"{number} = checkpoint(f{number}, {one}, {two}, use_reentrant=False)",
        ]

    def _run(self, lines: list[str]) -> dict[str, Any] | None:
        """The values after some lines; None if eager refuses them.

        Everything is run anew, since lines that fail half-way may have written.
        """
        space: dict[str, Any] = {}
        exec(_PREAMBLE, space)  # noqa: S102  (our own text)
        for name, leaf in zip(_INPUTS, self.leaves, strict=True):
            space[name] = leaf * 1  # what requires a gradient is no leaf
        torch.manual_seed(0)
        try:
            exec("\n".join(lines), space)  # noqa: S102  (our own text)
        except (RuntimeError, ValueError, IndexError):
            return None
        except NameError:  # a template took the name that its own line makes
            return None
        return space


__all__ = ["Program", "program"]
