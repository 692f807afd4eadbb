"""The page of a compile: one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from xductor.backend.report import source_lines
from xductor.backend.report.compile_data import CompileData, StageData, StepData
from xductor.backend.report.page_data import PageData

#: How many steps the chart shows.
_CHARTED = 14

_WORK = {"lowering": "to the typed IR, and checks", "raising": "back to the FX graph"}
#: Inductor's step that loads its patterns.
_LOADING = "lazy_init"
_TYPE = re.compile(r"!fx\.tensor<(?:[^<>]|<[^<>]*>)*+>")
_ASSETS = files("xductor.backend.report") / "assets"


def page_text(data: CompileData) -> str:
    """The page as text."""
    graphs = PageData()
    for number, stage in enumerate(data.stages):
        graphs.add_diff(f"{number}", stage)
        for place, step in enumerate(stage.steps):
            graphs.add_diff(f"{number}-{place}", step)
    page = _environment().get_template("page.html")
    return page.render(
        data=data,
        summary=summary(data),
        title=title(data),
        sources=source_lines.source_files(data),
        graphs=_embedded(graphs.content()),
        chart=_embedded(chart(data)),
    )


def title(data: CompileData) -> str:
    """What a compile is called: by Dynamo's id, else by its number."""
    return f"Compile {data.ident or data.number}"


def summary(data: CompileData) -> dict[str, Any]:
    """What a list of pages says of this one, as content of JSON."""
    return {
        "title": title(data),
        "process": data.process,
        "rank": data.rank,
        "started": data.started,
        "stages": [stage.title for stage in data.stages],
        "nodes": [[stage.nodes_before, stage.nodes_after] for stage in data.stages],
        "applied": sum(stage.applied for stage in data.stages),
        "ms": round(sum(stage.ns for stage in data.stages) / 1e6, 1),
        "degraded": any(stage.degraded for stage in data.stages),
        "failures": sum(len(stage.failures) + bool(stage.raised) for stage in data.stages),
    }


def chart(data: CompileData) -> list[dict[str, Any]]:
    """The steps that took longest; lowering and raising count once for each stage.

    What happens at the first compile of a process would dwarf all others, and is left out.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number, stage in enumerate(data.stages):
        for step in stage.steps:
            if step.name == _LOADING:
                continue
            name = _WORK.get(step.kind, step.name)
            bar = found.setdefault(
                (f"{number}", name),
                {"label": f"{stage.title} · {name}", "kind": step.kind, "ms": 0.0, "hit": False},
            )
            bar["ms"] += step.ns / 1e6
            bar["hit"] = bar["hit"] or step.changed
    bars = [bar for bar in found.values() if bar["ms"] >= 0.001]
    bars = sorted(bars, key=lambda bar: -bar["ms"])[:_CHARTED]
    return [{**bar, "ms": round(bar["ms"], 3)} for bar in bars]


def index_text(pages: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """A page that lists pages, given their file names and summaries."""
    return _environment().get_template("index.html").render(pages=pages)


def _embedded(content: Any) -> Markup:
    """Content as JSON that may stand in a script element, whatever names and source it holds."""
    text = json.dumps(content, separators=(",", ":"))
    escaped = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(escaped)  # no character of it has a meaning in HTML


def _asset(name: str) -> Markup:
    return Markup((_ASSETS / name).read_text(encoding="utf-8"))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("xductor.backend.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        ms=_milliseconds,
        count=_count,
        type=short_type,
        short=_with_short_types,
        place=_place,
        when=lambda seconds: time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)),
        embedded=_embedded,
    )
    made.globals.update(
        asset=cache(_asset),
        source_style=cache(source_lines.style),
        listed=_listed,
        ops=_ops,
        left_out=_left_out,
    )
    return made


def _milliseconds(ns: int) -> str:
    ms = ns / 1e6
    if ms >= 1000:
        return f"{ms / 1000:.2f} s"
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.2f} ms"


def _count(number: int) -> str:
    return f"{number:,}"


def short_type(text: str) -> str:
    """A type without what goes without saying: `f32[4, 8]`."""
    if not text.startswith("!fx.tensor<"):
        return text
    parts = text[len("!fx.tensor<") : -1].split(", cpu", 1)
    return "".join(parts).replace(", requires_grad", " grad")


def _with_short_types(text: str) -> str:
    """A line of a graph with its types as `short_type` writes them."""
    return _TYPE.sub(lambda found: short_type(found.group()), text)


def _place(place: tuple[str, int] | None) -> str:
    return "" if place is None else f"{Path(place[0]).name}:{place[1]}"


def _left_out(data: CompileData) -> tuple[int, int]:
    """The time that the chart does not show: outside of the steps, and for Inductor's patterns."""
    loading = sum(step.ns for _, step in data.steps() if step.name == _LOADING)
    return sum(stage.rest_ns for stage in data.stages), loading


def _ops(step: StepData) -> tuple[int, int]:
    """The number of ops before and after a step that changed the graph."""
    assert step.before is not None
    assert step.after is not None
    return step.before.ops, step.after.ops


def _listed(stage: StageData) -> tuple[Sequence[tuple[int, StepData]], Sequence[StepData]]:
    """The steps that have something to tell, with their places, and the others."""
    steps = list(enumerate(stage.steps))
    told = [(place, step) for place, step in steps if not step.is_idle]
    quiet = [step for _, step in steps if step.is_idle and step.kind in ("typed", "bridged")]
    return told, sorted(quiet, key=lambda step: -step.ns)


__all__ = ["chart", "index_text", "page_text", "short_type", "summary", "title"]
