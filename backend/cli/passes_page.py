"""The page of the documentation that lists the passes: short rows, by stage and topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from xductor.transforms import Stage
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import PassRow

STAGES: dict[Stage, str] = {
    "pre_grad": "Pre-grad",
    "joint": "Joint",
    "post_grad": "Post-grad",
}

#: What the folders of passes that serve several stages, or one topic, are about.
_TOPICS = {
    "noops": "Ops that do nothing",
    "padding": "Padding of matrix products",
    "random": "Random numbers",
    "pieces": "Split, cat, stack and unbind",
    "groups": "Groups of equal ops",
    "matmul": "Matrix products",
    "onednn": "oneDNN",
    "freezing": "Frozen weights",
    "in_place": "Writes",
    "loops": "Loops",
}
#: Passes whose topic is another than their folder says.
_TOPIC_OF_PASS = {"fuse_attention": "Attention"}
_OTHERS = "Others"
_BRIDGED = "Inductor's own, bridged"
_HOOKS = "The user's own passes"
#: A topic with fewer rows in a stage is among the others.
_FEWEST = 2

INTRODUCTION = """\
# Passes

<!-- Written by `xductor passes --markdown`; edit the rows in transforms/ instead. -->

These are the passes that Inductor runs in each of the three stages, and how this project has
them:

- Most are typed passes over the IR, either *declared* (a pattern, a condition and a replacement)
  or *procedural*. Their names work in `xductor-opt -p`.
- *Bridged* passes are Inductor's own, run between ours. The graph that they leave is checked when
  the next typed pass lowers it.
- A *hook* is an option of Inductor under which the user's own passes run: typed passes and
  rewrites on the typed graph, callables on the FX graph, lists of either.

The number is the place in the order in which a stage runs its passes. *shown by* is the result of
the [prover](proofs.md) for the rewrites or rules of a pass, or for graphs on which it was
validated; *validated* means that the graphs before and after it gave
[the same results](proofs.md#validation). `xductor passes NAME` prints all that is known of a pass:
kind, flag, counter, Inductor's function, numerics, numbers of runs. The site (`make docs`) has a
page for each, with a graph before and after it.
"""

Link = Callable[[PassRow], str]


def name_of(row: PassRow) -> str:
    """The name of a pass as the page writes it, where nothing is linked."""
    return f"`{row.name}`"


def page(link: Link = name_of) -> str:
    """The text of `docs/passes.md`; `link` writes the name of a row."""
    sections = [INTRODUCTION]
    for stage, title in STAGES.items():
        sections.append(f"## {title}\n\n{_tally(stage)}\n")
        for topic, rows in by_topic(stage).items():
            sections.append(f"### {topic}\n\n{_table(rows, link)}\n")
    return "\n".join(sections)


def place(row: PassRow) -> int:
    """The place of a row in the order of its stage, from 1."""
    return registry.rows(row.stage).index(row) + 1


def by_topic(stage: Stage) -> dict[str, list[PassRow]]:
    """The rows of a stage by topic, in the stage's order; the others, Inductor's and hooks last."""
    rows = registry.rows(stage)
    counts = Counter(map(_topic, rows))
    found: dict[str, list[PassRow]] = {topic: [] for topic in counts if counts[topic] >= _FEWEST}
    for last in (_OTHERS, _BRIDGED, _HOOKS):
        found.pop(last, None)
        found[last] = []
    for row in rows:
        topic = _topic(row)
        few = topic not in (_BRIDGED, _HOOKS) and counts[topic] < _FEWEST
        found[_OTHERS if few else topic].append(row)
    return {topic: rows for topic, rows in found.items() if rows}


def _topic(row: PassRow) -> str:
    if row.kind == "hook":
        return _HOOKS
    if row.kind == "bridged":
        return _BRIDGED
    done_by = registry.row(row.covered_by) if row.covered_by else row
    folder = done_by.factory.removeprefix("xductor.transforms.").split(".")[0]
    return _TOPIC_OF_PASS.get(done_by.name) or _TOPICS.get(folder, _OTHERS)


def shown_by(row: PassRow) -> str:
    """What is proved of a pass, or that it was validated, in a few words; empty if neither."""
    if row.kind in ("hook", "bridged"):
        return ""
    proof = registry.proof_of(row)
    if proof and not proof.startswith("none"):
        return proof
    return "validated" if registry.validation_of(row) else ""


def _table(rows: Sequence[PassRow], link: Link) -> str:
    return "\n".join(
        "| " + " | ".join(cells) + " |"
        for cells in (
            ("#", "pass", "what it does", "shown by"),
            ("---:", "---", "---", "---"),
            *_cells(rows, link),
        )
    )


def _cells(rows: Sequence[PassRow], link: Link) -> Iterator[tuple[str, ...]]:
    for row in rows:
        done = f"Done by `{row.covered_by}`. " if row.covered_by else ""
        not_yet = "Not yet: " if row.kind == "not yet" else ""
        what = (not_yet + done + row.summary).replace("|", "\\|")
        yield str(place(row)), link(row), what, shown_by(row)


def _tally(stage: Stage) -> str:
    kinds = Counter(row.kind for row in registry.rows(stage))
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) + "."
