"""Random programs of pieces with symbolic sizes.

Run more of them with `python -m tests.before_autograd.random_sized_programs`.

Sizes of zero and one among them, in several dtypes, in regions of other modes, with writes into
pieces and given tensors. Dynamo traces them with symbolic sizes; the stage runs with every option
on. It may not fall back, nor may it add anything to the ShapeEnv. A statement that eager refuses is
left out of a program.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.fx import GraphModule
from torch.fx.experimental import _config as symbols_config

from tests.before_autograd.many_seeds import compare_seeds
from tests.before_autograd.random_group_graphs import run
from tests.before_autograd.stages_with_all_options import STAGES, staged
from tests.corpus.capture import graph_copy

# a, b: tensors; p, q: lists of tensors; n: a new name; d: a dim; k: a small number.
CUTS = (
    "{n} = {a}.split({k}, {d})",
    "{n} = torch.split({a}, split_size_or_sections={k}, dim={d})",
    "{n} = {a}.split([{k}, {a}.shape[{d}] - {k}], {d})",
    "{n} = {a}.split({a}.size({d}) // 2, {d})",
    "{n} = torch.chunk({a}, {k}, dim={d})",
    "{n} = {a}.tensor_split({k}, {d})",
    "{n} = {a}.unbind({d})",
    "{n} = list({a})",
    "{n} = [{a}[:, :{k}], {a}[:, {k}:]]",
    "{n} = [{a}[..., i] for i in range({k})]",
    "{n} = [{a}[:, -i - 1, None] for i in range({k})]",
    "{n} = [{a}.select({d}, i) for i in range({k})]",
    "{n} = [{a}.narrow({d}, i, 1) for i in range({k})]",
    "{n} = [{a}[::2], {a}[1::2]]",
    "{n} = [{a}, {b}]",
    "{n} = [{a}, {a}, {b}]",
)
EACH = (
    "x.tanh()", "torch.tanh(x)", "torch.relu(x)", "x.sigmoid()", "x.clamp(-1, 1)", "x.detach()",
    "torch.nan_to_num(x)", "x * 2", "x.squeeze({d})", "x.squeeze()", "x.unsqueeze({d})",
    "x.reshape(-1)", "x.flatten()", "x.mT", "x.contiguous()", "x.clone()", "x[..., :1]",
    "F.layer_norm(x, x.shape[-1:])", "F.linear(x, x.detach().reshape(-1, x.shape[-1]))", "x + x",
    "x.half()", "x.to(torch.int32)", "x.bool()", "x.double()", "x.type_as({a})",
)  # fmt: skip
JOINS = (
    "{n} = torch.cat({p}, {d})",
    "{n} = torch.cat(tensors={p}, dim={d})",
    "{n} = torch.concat({p}, axis={d})",
    "{n} = torch.stack({p}, {d})",
    "{n} = torch.stack({p}, dim={d})",
    "{n} = torch.hstack({p})",
    "{n} = torch.vstack({p})",
    "{n} = {p}[0]",
    "{n} = {p}[-1]",
    "{n} = torch.cat([*{p}, {a}], {d})",
    "{n} = torch.cat([*{p}, *{q}], {d})",
    "{n} = sum({p})",
)
CHOICES = (
    "{n} = {p}[::-1]", "{n} = {p}[1:]", "{n} = {p}[:2]", "{n} = [*{p}, *{q}]",
    "{n} = [x + y for x, y in zip({p}, {q})]", "{n} = [*{p}, {a}]",
)  # fmt: skip
CALLS = (
    "{n} = {a} + {b}", "{n} = {a} * 2", "{n} = torch.relu({a})", "{n} = {a}.tanh()", "{n} = {a}.mT",
    "{n} = {a}.reshape(-1)", "{n} = {a}[1:]", "{n} = {a}.unsqueeze({d})", "{n} = {a} @ {b}.mT",
    "{n} = torch.nan_to_num({a}).relu()", "{n} = {a}.flatten({d}).unsqueeze(-1)",
    "{n} = {a}.view(-1, {a}.shape[-1])", "{n} = {a}.expand(2, *{a}.shape)", "{n} = {a}.float()",
)  # fmt: skip
WRITES = (
    "{a}.add_(1)", "{a}[0] = 3", "{a}[..., :1].mul_(2)", "{p}[0].add_(2)", "{p}[-1].mul_(3)",
    "{p}[0].copy_({p}[-1])", "{a}.zero_()", "torch.relu_({a})", "{a} += {b}",
    "torch.add({b}, 1, out={a})", "torch.cat({p}, {d}, out={a})", "{a}.unsqueeze_(0)", "{a}.t_()",
    "{n} = {a}.detach().clone().requires_grad_()",
)  # fmt: skip
REGIONS = ("with torch.no_grad():", 'with torch.autocast("cpu", torch.bfloat16):')
_SIZES = ((5, 3), (5, 3), (4, 3), (3, 3), (1, 3), (5, 1), (0, 3), (2, 5, 3), (2, 4, 6), (4, 4))
_KINDS = (torch.float64,) * 8 + (torch.int64, torch.bool, torch.float16, torch.float32)


class SizedProgram:
    """The program of a seed: its text, its inputs, and how Dynamo is to trace it."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.duck = rng.random() < 0.6
        self.dynamic = rng.random() < 0.8
        shape, kind = rng.choice(_SIZES), rng.choice(_KINDS)
        same = rng.random() < 0.6
        self.inputs = [
            self._input(shape if same else rng.choice(_SIZES), kind if same else rng.choice(_KINDS))
            for _ in range(3)
        ]
        self.tensors, self.lists = ["x0", "x1", "x2"], list[str]()
        self.lines: list[str] = []
        for _ in range(rng.randint(4, 11)):
            self._add()
        names = [*self.tensors[3:], *[f"{one}[0]" for one in self.lists], "x0"]
        self.lines.append(f"return [{', '.join(rng.choices(names[-7:], k=rng.randint(2, 4)))}]")

    @property
    def text(self) -> str:
        body = "\n".join(self.lines).replace("\n", "\n    ")
        return f"def program(x0, x1, x2):\n    {body}\n"

    @property
    def is_rounded(self) -> bool:
        """Whether numbers are rounded to few bits somewhere, which order and fusion change."""
        small = any(
            one.dtype is not torch.float64 and one.is_floating_point() for one in self.inputs
        )
        return small or any(part in self.text for part in ("autocast", "half", "float()"))

    def function(self) -> Callable[..., Any]:
        return _compiled(self.text)

    def _input(self, shape: tuple[int, ...], kind: torch.dtype) -> Tensor:
        generator = torch.Generator().manual_seed(self.rng.randrange(999))
        made = torch.randint(-8, 9, shape, generator=generator).double() / 4
        made = made.to(kind)
        return made.requires_grad_(made.is_floating_point() and self.rng.random() < 0.6)

    def _add(self) -> None:
        """Add a statement, if eager takes the program with it."""
        rng, new = self.rng, f"v{len(self.lines)}"
        kind = rng.choices(
            (CUTS, EACH, JOINS, CHOICES, CALLS, WRITES), (5, 3 * bool(self.lists), 5, 1, 3, 1.5)
        )[0]
        statement = rng.choice(kind)
        if kind is EACH:
            statement = f"{{n}} = [{statement} for x in {{p}}]"
        if not self.lists and ("{p}" in statement or "{q}" in statement):
            return
        given = {name: rng.choice(self.tensors[-4:]) for name in "ab"}
        given |= {name: rng.choice(self.lists[-3:]) for name in "pq" if self.lists}
        line = statement.format(n=new, d=rng.choice((0, 1, -1, -2)), k=rng.randint(1, 3), **given)
        if rng.random() < 0.12:
            line = f"{rng.choice(REGIONS)}\n    {line}"
        value = self._value([*self.lines, line], new if "{n}" in statement else "x0")
        if value is None:
            return
        self.lines.append(line)
        if "{n}" in statement:
            (self.tensors if isinstance(value, Tensor) else self.lists).append(new)

    def _value(self, lines: Sequence[str], name: str) -> Any:
        """What a name has after these lines; None if eager refuses them, or for no such tensors."""
        body = "\n".join([*lines, f"return {name}"]).replace("\n", "\n    ")
        given = [one.detach().clone().requires_grad_(one.requires_grad) for one in self.inputs]
        try:
            value = _compiled(f"def program(x0, x1, x2):\n    {body}\n")(
                *[one * 1 if one.requires_grad else one for one in given]
            )
        except (RuntimeError, IndexError, TypeError, ValueError, AttributeError):
            return None
        found = value if isinstance(value, Tensor) else list(value)
        parts = [found] if isinstance(found, Tensor) else found
        fits = 0 < len(parts) < 9 and all(isinstance(one, Tensor) for one in parts)
        return found if fits and sum(one.numel() for one in parts) < 5000 else None


def _compiled(text: str) -> Callable[..., Any]:
    space: dict[str, Any] = {"torch": torch, "F": F}
    exec(compile(text, "<program>", "exec"), space)  # noqa: S102  (our own text)
    return space["program"]


def _known(env: Any) -> Any:
    """What a ShapeEnv knows of its symbols."""
    asserts = {key: len(value) for key, value in env.deferred_runtime_asserts.items()}
    guards = [str(one.expr) for one in env.guards]
    return guards, dict(env.replacements), dict(env.var_to_range), asserts


def check(seed: int) -> Counter[str] | None:
    """One program through the stage; how often each pass was applied.

    None where eager or Dynamo refuses the program, or Dynamo's own graph does something else.
    Raises AssertionError if the program can tell, or the ShapeEnv knows more than before.
    """
    one = SizedProgram(seed)
    made: list[tuple[GraphModule, GraphModule]] = []
    applied: Counter[str] = Counter()
    chosen = [0]

    def compiler(gm: GraphModule, given: Sequence[Any]) -> Callable[..., Any]:
        before = [graph_copy(gm), _staged(graph_copy(gm), given, applied)]
        made.append((before[0], before[1]))
        return lambda *args: before[chosen[0]](*args)

    torch._dynamo.reset()
    expected = _seen(one.function(), one)
    if isinstance(expected, str):
        return None
    with symbols_config.patch(use_duck_shape=one.duck):  # type: ignore[attr-defined]
        compiled = torch.compile(one.function(), backend=compiler, dynamic=one.dynamic)
        plain = _seen(compiled, one)
        if not made or isinstance(plain, str) or plain[0] != expected[0]:
            return None
        chosen[0] = 1
        found = _seen(compiled, one)
    assert found[0] == plain[0], f"{seed}: {found[0]}, expected {plain[0]}\n{one.text}"
    tolerance = 0.05 if one.is_rounded else 1e-9
    torch.testing.assert_close(
        found[1], plain[1], rtol=tolerance, atol=tolerance, equal_nan=True,
        msg=lambda text: f"{seed}: {text}\n{one.text}",
    )  # fmt: skip
    return applied


def _seen(function: Callable[..., Any], one: SizedProgram) -> Any:
    """What `run` sees; the name of the error where eager or Dynamo raises one."""
    try:
        return run(function, one.inputs)  # type: ignore[arg-type]
    except Exception as error:
        if "backend='compiler'" in str(error):
            raise AssertionError(f"{error}\n{one.text}") from error
        return type(error).__name__


def _staged(gm: GraphModule, given: Sequence[Any], applied: Counter[str]) -> GraphModule:
    flags, added = STAGES["torch level"]
    envs = [one.node.shape_env for one in given if isinstance(one, torch.SymInt)]
    before = [_known(one) for one in envs]
    gm = staged(gm, given, flags, added, applied)
    assert [_known(one) for one in envs] == before, "the stage added something to the ShapeEnv"
    return gm


if __name__ == "__main__":
    sys.exit(compare_seeds(__doc__, check))
