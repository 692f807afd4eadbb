"""One row of the pass registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from xductor.transforms.passes.typed_pass import Stage

Kind = Literal["declared", "procedural", "hook", "bridged", "not yet"]


@dataclass(frozen=True)
class PassRow:
    """A pass of Inductor, and how this project has it; or a pass that is ours alone.

    What the class of a typed pass says (numerics, roots, where Inductor has it, counter) is not
    said again: a row with a `factory` leaves `inductor` and `counter` to the class, and
    `registry.inductor_of` and `registry.counter_of` tell them of every row.

    - `name`: Inductor's name; with `stage` it identifies the row.
    - `inductor`: `"file:name"` in `torch/_inductor/fx_passes` (`../` leads out of it);
      `name` may be dotted, and may end in `[key]` for an entry of a table.
    - `origin`: `ours` for a pass that Inductor has not.
    - `table`: the table of Inductor's stage in whose sweep the typed pass stands for an entry,
      `"early_patterns"` or `"pass_patterns[0]"`; the pipelines read it. A typed pass of no
      table is a step of its own, which the pipeline names.
    - `kind`: `declared` (a rewrite given as pattern and replacement) and `procedural` are
      ours; `hook` is a place where the user's own passes run, typed ones on the typed graph and
      callables on FX; `bridged` runs Inductor's own; `not yet` is a name that Inductor has with
      an empty body, and that we have not built either.
    - `flag`: the config options under which Inductor runs it; empty if it always does.
    - `counter`: what `counters["inductor"]` counts it under, besides the matcher's two.
    - `factory`: `"module:Class"` of our typed pass, or of the declared rewrite that is it;
      `"module:NAME"` of a tuple of rewrites.
    - `covered_by`: the typed pass that does the job, in another stage or with others of its own;
      it stands for Inductor's entry, which does not run.
    - `parts`: whose validations and proofs count as the row's, where it has none by its name.
    - `until`: the last release of torch that has the pass, if later ones lack it; `since`: the
      first one, if the earliest supported one lacks it.
    """

    name: str
    stage: Stage
    summary: str
    inductor: str
    kind: Kind = "bridged"
    flag: str = ""
    counter: str = ""
    options: str = ""
    factory: str = ""
    table: str = ""
    origin: Literal["inductor", "ours"] = "inductor"
    covered_by: str = ""
    parts: tuple[str, ...] = ()
    since: tuple[int, int] | None = None
    until: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.origin == "ours" and not self.factory:
            raise ValueError(f"row {self.name!r}: origin is 'ours', but it names no typed pass")
        if self.factory and (self.inductor or self.counter):
            raise ValueError(
                f"row {self.name!r}: its class says where Inductor has the pass, and its counter"
            )
        if self.factory and self.kind not in ("declared", "procedural"):
            raise ValueError(
                f"row {self.name!r}: kind is {self.kind!r}, but it names a typed pass; "
                "say 'declared' or 'procedural'"
            )

    @property
    def ours(self) -> bool:
        """Whether a typed pass of this project does the job."""
        return bool(self.factory or self.covered_by)


@dataclass(frozen=True)
class RowMaker:
    """Makes the rows of a stage, with what most of them have in common.

    - `file`: Inductor's file, of which a bridged pass is the function called by its name.
    - `flag`: the config option that most of the passes are behind.
    """

    stage: Stage
    file: str
    flag: str = "pattern_matcher"

    def __call__(
        self,
        name: str,
        summary: str,
        inductor: str = "",
        flag: str | None = None,
        *,
        factory: str = "",
        **more: Any,
    ) -> PassRow:
        """A row; `factory` is within `xductor.transforms`, `more` are fields of `PassRow`."""
        return PassRow(
            name,
            self.stage,
            summary,
            inductor or ("" if factory else f"{self.file}:{name}"),
            flag=self.flag if flag is None else flag,
            factory=factory and f"xductor.transforms.{factory}",
            **more,
        )
