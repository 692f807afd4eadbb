"""The page of the passes before autograd: `python -m tests.before_autograd.fragments.page`.

Everything but the sentences is measured: graphs, calls, and counts of ours and of Inductor's.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import torch
from torch._inductor.fx_passes import pre_grad
from torch._inductor.fx_passes.split_cat import PRE_GRAD_PATTERNS
from torch._inductor.pattern_matcher import PatternMatcherPass
from torch.fx import GraphModule
from torch.fx.graph import CodeGen

from tests.before_autograd.fragments.fragment import Entry, Fragment
from tests.before_autograd.fragments.runs import captured, ours
from tests.before_autograd.fragments.table import ENTRIES
from tests.corpus.capture import graph_copy
from xductor.transforms.rows import registry

COMMAND = "python -m tests.before_autograd.fragments.page > docs/pre-grad-passes.md"

_HEAD = """\
# Passes before autograd

<!-- Written by `python -m tests.before_autograd.fragments.page`; edit what lies there. -->

Inductor's first stage sees the graph that Dynamo made: torch's functions and methods, views and
writes. This page has a fragment of a model for each of its passes, the graph before and after the
pass, and in which words the fragment may be written. Graphs are shown without what nobody reads;
*calls* are those of the graph as it is shown. [Passes](passes.md) says what is proved and
validated about each, and [Differences](differences.md) where they do other than Inductor.

The numbers are how often our pass and Inductor's are applied to the graph of each spelling
(Inductor's with its `normalization_pass` before), with torch {release}. *0* in a column of *name
only* means that Inductor has the name of the pass and an empty body. Inductor runs the passes
called *pre-dispatch* under `config.is_predispatch`, those called *added* if `add_passes` names
them too, and those called *option* if `config.pre_grad_fusion_options` has their name, or that of
the pass which is named behind it and does their work.
"""

_TAIL = """\
## Others

`group_batch_fusion_passes` runs the fusions above that are on. `remove_identity`, `fuse_conv_bn`
and the two forms `efficient_conv_bn_eval_graph_transform` and
`efficient_conv_bn_eval_graph_transform_decomposed` are `efficient_conv_bn_eval_pass` on graphs
that call modules or operators; the former two run when freezing. The `normalize_..._default` are
parts of `normalization_pass`. `stable_topological_sort` puts definitions before uses,
`pre_grad_custom_pass` runs what the user gives, and `quant_lift_up` is about [PT2E](pt2e.md).
"""


def release() -> str:
    """The release of torch in which the numbers were measured."""
    return ".".join(torch.__version__.split(".")[:2])


def page() -> str:
    """The page, in Markdown."""
    head = "\n\n".join(
        part if part.startswith(("#", "<!--")) else textwrap.fill(part, 100)
        for part in _HEAD.format(release=release()).strip().split("\n\n")
    )
    return "\n".join([head, "", *[line for one in ENTRIES for line in _section(one)], _TAIL])


def _section(entry: Entry) -> Iterator[str]:
    row = registry.row(entry.shown, "pre_grad")
    first = entry.fragments[0]
    one = captured(entry, first)
    _, after = ours(entry, one)
    before_lines, after_lines = (_lines(gm, list(entry.sizes)) for gm in (one.gm, after))
    yield from (f"## `{entry.shown}`", "", f"{row.summary} *({_asked_for(entry)})*", "")
    yield from ("```text", first.source(list(entry.sizes)).rstrip(), "```", "")
    yield from (f"Before, {_calls(before_lines)}:", "", "```text", *before_lines, "```", "")
    yield from (f"After, {_calls(after_lines)}:", "", "```text", *after_lines, "```", "")
    yield from (*textwrap.wrap(f"**What it gains.** {entry.gains}", 100), "")
    yield from (*textwrap.wrap(f"**When it does not pay.** {entry.does_not_pay}", 100), "")
    yield from (f"| written as | ours | {_stock_name(entry)} |", "| --- | --- | --- |")
    yield from map(_spelling, entry.fragments)
    yield ""


def _asked_for(entry: Entry) -> str:
    """How the pass is asked for; what another pass does, by the name of that pass."""
    kind = _kind(registry.row(entry.shown, "pre_grad").flag)
    return kind if entry.shown == entry.name else f"{kind} `{entry.name}`"


def _kind(flag: str) -> str:
    kinds = {
        "is_predispatch": "pre-dispatch",
        "is_predispatch, add_pre_grad_passes": "pre-dispatch, added",
        "pre_grad_fusion_options": "option",
        "pattern_matcher": "always on",
    }
    return kinds.get(flag, f"`{flag}`")


def _stock_name(entry: Entry) -> str:
    if entry.name == "fuse_attention":
        return "Inductor before autograd"
    return "Inductor" if _has_body(entry.name) else "Inductor (name only)"


def _has_body(name: str) -> bool:
    """Whether Inductor has more than the name of a pass: entries in its table, or a function."""
    pre_grad.lazy_init()
    table = PRE_GRAD_PATTERNS.get(name, getattr(pre_grad, name, None))
    if isinstance(table, PatternMatcherPass):
        return bool(table.patterns)
    return "is_predispatch" not in registry.row(name, "pre_grad").flag


def _spelling(fragment: Fragment) -> str:
    lines = textwrap.dedent(fragment.text).strip().splitlines()
    text = "; ".join([line.strip() for line in lines]).replace("|", "\\|")
    stock = "raises" if fragment.stock is None else fragment.stock
    return f"| `{text}` | {fragment.ours} | {stock} |"


def _calls(lines: list[str]) -> str:
    count = sum(" = " in line and not re.fullmatch(r"\w+ = \w+\[\d+\]", line) for line in lines)
    return f"{count} call{'s' * (count != 1)}"


_KEPT = re.compile(r";  .*$")


def _lines(gm: GraphModule, names: list[str]) -> list[str]:
    """The calls of a graph as Python, in the names of the fragment."""
    copy = graph_copy(gm)
    copy.graph.set_codegen(CodeGen())
    copy.graph.eliminate_dead_code()
    copy.recompile()
    body = [line.strip() for line in copy.code.splitlines()]
    made = [_KEPT.sub("", line) for line in body if " = " in line or line.startswith("return")]
    made = [line for line in made if not re.fullmatch(r"l_\w+_ = L_\w+_", line)]
    for place, name in enumerate(names):
        made = [re.sub(rf"\b(l_{name}_|inputs_{place})(?!\w)", name, line) for line in made]
    return made


if __name__ == "__main__":
    print(page(), end="")
