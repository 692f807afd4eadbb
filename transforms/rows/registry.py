"""The pass registry: every pass of Inductor's three stages, and how this project has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xductor.ir.dialect.registry import registered_by
from xductor.transforms.passes import debug_counters
from xductor.transforms.rows import (
    collectives,
    freezing,
    joint_graph,
    post_grad,
    pre_grad,
    proof_status,
)
from xductor.transforms.rows.pass_row import PassRow
from xductor.transforms.rows.step_names import STEP_NAMES

if TYPE_CHECKING:
    from xductor.transforms.passes.typed_pass import Stage, TypedPass
    from xductor.transforms.rewriting.rewrite import Rewrite

#: All rows: by stage, and within a stage in the order in which Inductor runs the steps.
ROWS: tuple[PassRow, ...] = (
    *pre_grad.ROWS,
    *joint_graph.ROWS,
    *post_grad.ROWS,
    *freezing.ROWS,
    *collectives.ROWS,
)

_COLUMNS = (
    "stage",
    "pass",
    "kind",
    "validated",
    "proof",
    "flag",
    "counter",
    "Inductor",
    "what it does",
)


def rows(stage: Stage | None = None) -> tuple[PassRow, ...]:
    """The rows of one stage, or all."""
    return tuple(row for row in ROWS if stage is None or row.stage == stage)


@cache
def place_names(stage: Stage) -> frozenset[str]:
    """The passes and steps of a stage, beside which a user's rewrite may run."""
    return frozenset((*(one.name for one in rows(stage)), *STEP_NAMES[stage]))


def row(name: str, stage: Stage | None = None) -> PassRow:
    """The row of the pass called `name` (of the first stage that has it, if none is given).

    Raises:
        KeyError: no such pass.
    """
    for one in rows(stage):
        if one.name == name:
            return one
    raise KeyError(f"no pass called {name!r}" + (f" in stage {stage}" if stage else ""))


@cache
def _factories() -> dict[str, str]:
    """Where our typed passes are, by name. A pass of several stages is one class."""
    return {one.name: one.factory for one in ROWS if one.factory}


def typed_class(name: str) -> type[TypedPass]:
    """The class of our typed pass `name`, imported at the first use.

    Raises:
        KeyError: no typed pass has that name.
    """
    factory = _factories().get(name)
    if factory is None:
        known = ", ".join(sorted(_factories()))
        raise KeyError(f"no typed pass called {name!r}; there are {known}")
    return _load(factory)


@cache
def _load(factory: str) -> type[TypedPass]:
    from xductor.transforms.passes.typed_pass import TypedPass
    from xductor.transforms.rewriting.declared_pass import pass_of

    found = _found(factory)
    if isinstance(found, type) and issubclass(found, TypedPass):
        return found
    return pass_of(*_classes(found))


def _found(factory: str) -> Any:
    module, _, name = factory.partition(":")
    return getattr(import_module(module), name)


def _classes(found: Any) -> tuple[type[Rewrite], ...]:
    return found if isinstance(found, tuple) else (found,)


def declared_rewrites(stage: Stage | None = None) -> tuple[type[Rewrite], ...]:
    """Every declared rewrite of the registry, or those of one stage."""
    declared = [one for one in rows(stage) if one.kind == "declared"]
    return tuple(dict.fromkeys(rewrite for one in declared for rewrite in rewrites_of(one)))


def rewrites_of(one: PassRow) -> tuple[type[Rewrite], ...]:
    """The rewrites that a declared pass consists of."""
    return _classes(_found(one.factory))


def pass_names() -> set[str]:
    """The names of all rows, and of all passes and rewrites whose classes are loaded."""
    return {*_names_of_loaded(), *(one.name for one in ROWS)}


def _names_of_loaded() -> set[str]:
    """The names of our passes, and of all passes and rewrites whose classes are loaded."""
    from xductor.transforms.passes.typed_pass import TypedPass
    from xductor.transforms.rewriting.rewrite import Rewrite

    named = set(_factories())
    for base in (Rewrite, TypedPass):
        named.update(str(getattr(one, "name", "")) for one in _derived(base))
    return named


def _derived(cls: type) -> Iterator[type]:
    for one in cls.__subclasses__():
        yield one
        yield from _derived(one)


debug_counters.know_names(_names_of_loaded)
registered_by(
    "xductor",
    *[f"xductor.transforms.{family}.operators" for family in ("matmul", "onednn", "quantized")],
    "xductor.transforms.quantized.int8_operators",
)


@cache
def home(name: str) -> tuple[str, str]:
    """Module and name of the function of Inductor that our typed pass `name` stands for."""
    return _home(typed_class(name).inductor)


def inductor_of(one: PassRow) -> str:
    """Where Inductor has the pass of a row; empty for a pass that is ours alone."""
    return _classes(_found(one.factory))[0].inductor if one.factory else one.inductor


def counter_of(one: PassRow) -> str:
    """What `counters["inductor"]` counts the pass of a row under; empty if nothing."""
    return (_classes(_found(one.factory))[0].counter or "") if one.factory else one.counter


@cache
def in_table(stage: Stage, table: str) -> tuple[str, ...]:
    """The typed passes that stand for entries of a table of Inductor's stage, in its order.

    Those of a list of tables are `"pass_patterns[0]"` and so on; `"pass_patterns"` has them all.
    """
    return tuple(
        one.name
        for one in rows(stage)
        if one.table and table in (one.table, one.table.partition("[")[0])
    )


def _home(reference: str) -> tuple[str, str]:
    file, _, function = reference.partition(":")
    return "torch._inductor.fx_passes." + file.removesuffix(".py").replace("/", "."), function


@cache
def covered_homes() -> frozenset[tuple[str, str]]:
    """Where the functions of Inductor live that a typed pass of another stage stands for."""
    return frozenset(_home(one.inductor) for one in ROWS if one.covered_by)


def passes_for_cli() -> dict[str, Callable[[], type[TypedPass]]]:
    """Our typed passes as xDSL's tools take them: by name, a function that gives the class."""
    return {name: _loader(name) for name in _factories()}


def _loader(name: str) -> Callable[[], type[TypedPass]]:
    return lambda: typed_class(name)


def proof_of(one: PassRow) -> str:
    """What is proved of a pass, in a few words; empty if nothing is known."""
    return proof_status.proof_of(one, _rewrite_names(one))


def validation_of(one: PassRow) -> str:
    """On how much a pass was validated, in a few words; empty if nothing is known."""
    return proof_status.validation_of(one, _rewrite_names(one))


def _rewrite_names(one: PassRow) -> list[str]:
    """By what the records know the declared rewrites that a row is."""
    if one.kind != "declared":
        return []
    return [rewrite.record_key() for rewrite in _classes(_found(one.factory))]


def table(chosen: Iterable[PassRow] | None = None) -> str:
    """Rows, by default all, as text in aligned columns."""
    lines = [
        _COLUMNS,
        *(
            (
                r.stage,
                r.name,
                r.kind,
                validation_of(r),
                proof_of(r),
                r.flag,
                counter_of(r),
                inductor_of(r) or "ours",
                r.summary,
            )
            for r in (rows() if chosen is None else chosen)
        ),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_COLUMNS) - 1)]
    widths.append(0)
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True))
        for line in lines
    )
