"""Programs around the patterns of the passes before autograd, which a careless rewrite breaks.

A pattern cuts or computes `p`, and makes `z` of it. A surrounding writes, views, returns, detaches
or changes modes before it, in its middle, or after it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

SIZES: Mapping[str, tuple[int, ...]] = {"x": (4, 6), "y": (4, 6), "w": (3, 6), "v": (3, 6)}

PATTERNS: Mapping[str, tuple[str, str]] = {
    "pieces in order": ("p = x.split(2, 1)", "z = torch.cat(p, 1)"),
    "neighbours": ("p = torch.chunk(x, 3, -1)", "z = torch.concat(p[:2], axis=-1)"),
    "slices": ("p = (x[:, :2], x[..., 2:])", "z = torch.cat(p, 1)"),
    "pieces beside another": ("p = x.split(3, 1)", "z = torch.cat([*p, y], 1)"),
    "pieces along another dim": ("p = x.split(3, 1)", "z = torch.cat(p, 0)"),
    "rows stacked": ("p = x.unbind(0)", "z = torch.stack(p)"),
    "rows side by side": ("p = torch.unbind(x)", "z = torch.cat(p)"),
    "squeezed rows": ("p = [one.squeeze(0) for one in x.split(1)]", "z = torch.cat(p)"),
    "reshaped pieces": ("p = [one.reshape(-1) for one in x.chunk(2)]", "z = torch.stack(p)"),
    "a split of a piece": (
        "p = x.split(3, 1)",
        "q = p[1].split(1, 1); z = q[0] * q[2] + p[0]",
    ),
    "one piece": ("p = (x * 1, y)", "z = p[0].split([1, 3, 2], 1)[1] * 2"),
    "tanh of a stack": (
        "p = x.split(2, 1)",
        "t = torch.stack(p).tanh().unbind(); z = t[0] * t[2]",
    ),
    "views of nothing": ("p = (x.view(4, 6), x[:, :])", "z = p[0].expand(4, 6)"),
    "two transposes": ("p = (x.t(),)", "z = p[0].mT"),
    "two reshapes": ("p = (x.view(2, 12),)", "z = p[0].view(24)"),
    "reshapes around relu": ("p = (x.reshape(2, 12),)", "z = p[0].relu().reshape(4, 6)"),
    "casts to the same": ("p = (x.double(), x.to(y))", "z = p[0].contiguous()"),
    "relu of nan_to_num": ("p = (torch.nan_to_num(x),)", "z = p[0].relu()"),
    "relu of a cat": ("p = (torch.cat([x, y], 1),)", "z = p[0].relu()"),
    "a cat of a cat": ("p = (torch.cat([x, y], 1),)", "z = torch.cat([p[0], x], 1)"),
    "a stack": ("p = (x, y)", "z = torch.stack(p, 1)"),
    "a group of tanh": ("p = (x + 1, y * 2)", "z = torch.tanh(p[0]) * p[1].tanh()"),
    "a group of clamps": ("p = (x[:2], x[2:])", "z = p[0].clamp(-1, 1) * p[1].clip(-1, 1)"),
    "a group of detached": ("p = (x.detach(), y.detach())", "z = p[0] * p[1] * x"),
    "a group of linears": ("p = (x * 2, y * 3)", "z = F.linear(p[0], w) + F.linear(p[1], v)"),
    "a group of norms": (
        "p = (x * 2, y * 3)",
        "z = F.layer_norm(p[0], (6,)) + F.layer_norm(p[1], (6,))",
    ),
    "linears of one": ("p = (F.linear(x, w), F.linear(x, v))", "z = p[0] * p[1]"),
    "linears of pieces": (
        "p = x.split(3, 1)",
        "z = F.linear(p[0], w[:, :3]) + F.linear(p[1], w[:, 3:])",
    ),
    "a linear over the middle": (
        "p = (x.reshape(2, 2, 6).mT,)",
        "z = F.linear(p[0], w[:, :2]).mT",
    ),
    "an einsum by row": (
        "p = (x.view(2, 2, 6), y.reshape(2, 2, 6, 1))",
        'z = torch.einsum("abc,abcd->abd", *p) + x[0, 0]',
    ),
}

SURROUNDINGS: Mapping[str, str] = {
    "the result is written": "CUT\nJOIN\nz.add_(1)\nreturn z, x * 1, p[0] * 1",
    "a view of the result is written": "CUT\nJOIN\nz[0] = 7.0\nreturn z * 2, x * 1",
    "the source is written later": "CUT\nJOIN\nx.mul_(2)\nreturn z + 1, p[0] + 0",
    "the source is written in between": "CUT\nx.mul_(2)\nJOIN\nreturn z + 1, p[-1] * 2",
    "a piece is written in between": "CUT\np[0].add_(1)\nJOIN\nreturn z * 2, x * 1",
    "a piece is written later": "CUT\nJOIN\np[-1].mul_(3)\nreturn z * 1, x * 1",
    "data is written behind autograd": "CUT\nx.detach().add_(1)\nJOIN\nreturn z * z, p[0] * 2",
    "what is saved is written": "CUT\nJOIN\ns = z.exp()\nz.mul_(2)\ns.add_(1)\nreturn s, z",
    "result and pieces are returned": "CUT\nJOIN\nreturn z, p[0], p[-1]",
    "the result is returned twice": "CUT\nJOIN\nreturn z, z, z.view_as(z)",
    "the result and its source": "x = x * 1\nCUT\nJOIN\nreturn z, x",
    "cut without gradients": "with torch.no_grad():\n    CUT\nJOIN\nreturn z * 2, x * 1",
    "joined without gradients": "CUT\nwith torch.no_grad():\n    JOIN\nreturn z * x[0, 0], p[0]",
    "one way each": (
        "with torch.no_grad():\n    CUT\n    JOIN\na = z\nCUT\nJOIN\nreturn a * z, p[0] * 1"
    ),
    "joined under autocast": (
        'CUT\nwith torch.autocast("cpu", torch.bfloat16):\n    JOIN\nreturn z.double() * 1, z'
    ),
    "in a checkpoint": (
        "CUT\ndef body(x):\n    JOIN\n    return z.sin()\n"
        "return checkpoint(body, x, use_reentrant=False), p[0] * 1"
    ),
    "behind a hook": "x = watched(x * 1)\nCUT\nJOIN\nz = watched(z)\nreturn z * 2, p[0] * 1",
    "into a given tensor": "CUT\nJOIN\ng = z * 0\ntorch.mul(z, 2, out=g)\nreturn g, z",
    "twice, with a write between": "CUT\nJOIN\na = z\nx[0].add_(1)\nCUT\nJOIN\nreturn a * 1, z * 1",
    "the source is resized in place": "x = x.clone()\nCUT\nJOIN\nx.t_()\nreturn z * 2, x * 1",
    "a view of the source is resized": (
        "x = x.clone()\nq = x[:, :]\nCUT\nJOIN\nq.unsqueeze_(0)\nreturn z * 2, x * 1, q * 3"
    ),
}


def watched(x: Tensor) -> Tensor:
    """A call that nobody can see into, and that changes the gradient that flows through it."""
    y = x * 1
    if y.requires_grad:
        y.register_hook(lambda grad: grad * 3)
    return y


torch._dynamo.allow_in_graph(watched)


@dataclass(frozen=True)
class Surrounded:
    """A pattern in a surrounding."""

    pattern: str
    surrounding: str

    @property
    def text(self) -> str:
        cut, join = PATTERNS[self.pattern]
        lines: list[str] = []
        for line in SURROUNDINGS[self.surrounding].split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            body = {"CUT": cut, "JOIN": join}.get(line.strip(), line.strip())
            lines.append(indent + body)
        return f"def program(x, y, w, v):\n{textwrap.indent(chr(10).join(lines), '    ')}\n"

    def function(self) -> Callable[..., Any]:
        space: dict[str, Any] = {
            "torch": torch, "F": F, "checkpoint": checkpoint, "watched": watched
        }  # fmt: skip
        exec(compile(self.text, f"<{self.pattern}>", "exec"), space)  # noqa: S102  (our own text)
        return space["program"]


def inputs() -> list[Tensor]:
    """Numbers in float64; all but `v` require a gradient."""
    generator = torch.Generator().manual_seed(0)
    found = [torch.randn(one, generator=generator, dtype=torch.float64) for one in SIZES.values()]
    return [one.requires_grad_(place < 3) for place, one in enumerate(found)]


PROGRAMS = [Surrounded(pattern, one) for pattern in PATTERNS for one in SURROUNDINGS]

__all__ = ["PATTERNS", "PROGRAMS", "SURROUNDINGS", "Surrounded", "inputs"]
