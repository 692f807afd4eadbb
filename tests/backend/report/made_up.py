"""Compiles that never were, to see how a page shows them."""

from __future__ import annotations

from random import Random

from xductor.backend.records.application_records import ApplicationRecord
from xductor.backend.report.compile_data import (
    CompileData,
    Failed,
    Refusals,
    StageData,
    StepData,
)
from xductor.backend.report.near_misses import Candidate, NearMisses
from xductor.backend.report.op_lines import GraphText, OpLine
from xductor.transforms.explaining.explain import Entry
from xductor.transforms.explaining.near_matches import Difference

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>&lt;\"'`"

_TYPE = "!fx.tensor<f32[8, 8], cpu>"


def lines(chance: Random, count: int, name: str = "") -> list[OpLine]:
    """Random lines, of few values, ops and arguments, so that some are equal."""
    return [
        OpLine(
            f"aten.{chance.choice(['neg', 'add'])}.default",
            (f"%{name or chance.choice('abc')}",),
            f"%x, {chance.randrange(3)}",
            (_TYPE,),
        )
        for _ in range(count)
    ]


def hostile_compile(source: str, hostile: str = HOSTILE) -> CompileData:
    """A compile each of whose texts is `hostile`; its ops come from the first line of `source`."""
    import json

    place = (source, 1)
    line = OpLine(
        f"hc.{hostile}",
        (f"%{hostile}",),
        f"%x, {json.dumps(hostile)}{hostile}",
        (f"!fx.{hostile}",),
        hostile,
        (("%x", hostile),),
        hostile,
        place,
    )
    before, after = GraphText((line,)), GraphText((OpLine("aten.neg.default", ("%n",), "%x"),))
    texts = (hostile, hostile)
    made = ApplicationRecord(
        hostile, hostile, place, {hostile: hostile}, texts, (hostile,), hostile, texts
    )
    refusals = {("", "", ""): Refusals(hostile, hostile, hostile, 3, [place])}
    step = StepData(hostile, "typed", 10, 1, before, after, [made], refusals, hostile, True)
    kept = StepData(hostile, "bridged", 10, 0, before, after)
    idle = StepData(hostile, "typed", 10)
    stage = StageData(hostile, hostile, hostile, hostile, hostile, 1, 1, 30, before, before)
    stage.steps = [step, kept, idle]
    differs = Difference(hostile, hostile, hostile, place)
    entry = Entry(
        "near miss", hostile, hostile, place, 1, 2, hostile, differs, (hostile,),
        Entry("refused", hostile, hostile, place, 0, 0),
    )  # fmt: skip
    near = Candidate(entry, hostile, 2, [place])
    stage.near = [NearMisses(hostile, hostile, False, (hostile,), [near], 3)]
    stage.failures = [Failed(hostile, hostile, True, hostile)]
    stage.raised = hostile
    return CompileData(1, hostile, 1, 0.0, None, hostile, {hostile: hostile}, [stage])


def large_compile(count: int) -> CompileData:
    """A compile of a graph with `count` ops, of which a pass removes each eighth."""
    graph = OpLine("fx.graph", arguments=f"@large stage(joint) (%x : {_TYPE})")
    ops = [
        OpLine(
            "aten.sin.default" if number % 8 else "aten.alias.default",
            (f"%v{number}",),
            f"%v{number - 1}" if number else "%x",
            (_TYPE,),
            "",
            ((f"%v{number - 1}" if number else "%x", _TYPE),),
            "",
            (__file__, 1 + number % 60),
        )
        for number in range(count)
    ]
    before = GraphText((graph, *ops))
    after = GraphText(tuple([one for one in before.lines if one.op != "aten.alias.default"]))
    stage = StageData(
        "joint", "large", "joint", "structure", "default", count, after.ops, 2_000_000
    )
    stage.before, stage.after = before, after
    stage.steps = [StepData("remove_noop_ops", "typed", 1_500_000, count // 8, before, after)]
    return CompileData(1, "0/0", 1, 0.0, stages=[stage])


__all__ = ["HOSTILE", "hostile_compile", "large_compile", "lines"]
