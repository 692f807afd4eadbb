"""One row of the pass registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xductor.transforms.passes.typed_pass import Stage

Kind = Literal["declared", "procedural", "hook", "bridged", "not yet"]


@dataclass(frozen=True)
class PassRow:
    """A pass of Inductor, and how this project has it.

    - ``name``: Inductor's name; with ``stage`` it identifies the row.
    - ``inductor``: ``"file:name"`` in ``torch/_inductor/fx_passes`` (``../`` leads out of it);
      ``name`` may be dotted, and may end in ``[key]`` for an entry of a table.
    - ``kind``: ``declared`` (a rewrite given as pattern and replacement) and ``procedural`` are
      ours; ``hook`` is a place where the user's own passes run, typed ones on the typed graph and
      callables on FX; ``bridged`` runs Inductor's own; ``not yet`` is a name that Inductor has with
      an empty body, and that we have not built either.
    - ``flag``: the config options under which Inductor runs it; empty if it always does.
    - ``counter``: what ``counters["inductor"]`` counts it under, besides the matcher's two.
    - ``factory``: ``"module:Class"`` of our typed pass, or of the declared rewrite that is it;
      ``"module:NAME"`` of a tuple of rewrites.
    - ``covered_by``: the typed pass that does the job, in another stage or with others of its own;
      it stands for Inductor's entry, which does not run.
    - ``parts``: whose validations and proofs count as the row's, where it has none by its name.
    - ``until``: the last release of torch that has the pass, if later ones lack it; ``since``: the
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
    covered_by: str = ""
    parts: tuple[str, ...] = ()
    since: tuple[int, int] | None = None
    until: tuple[int, int] | None = None

    @property
    def ours(self) -> bool:
        """Whether a typed pass of this project does the job."""
        return bool(self.factory or self.covered_by)
