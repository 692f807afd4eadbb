"""`inductor_pass(...)`: declared rewrites and typed passes as a custom pass of stock Inductor.

    torch._inductor.config.post_grad_custom_post_pass = xductor.inductor_pass(MyRewrite)

Inductor's caches know the pass by its `uuid()`, which changes with the code of the rewrites, their
options, and xductor itself, and is the same in every process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from torch._inductor.custom_graph_pass import CustomGraphPass
from torch.fx import Graph, GraphModule

from xductor.backend.config import cache_keys, placement, settings
from xductor.backend.config.rewrite_identity import rewrite_identity
from xductor.backend.config.settings import Settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs import failures
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner, stock
from xductor.backend.user_passes import out_of_reach
from xductor.transforms import Rewrite, Stage, TypedPass
from xductor.transforms.passes import debug_counters
from xductor.transforms.rewriting.rewrite import stages_of
from xductor.transforms.rewriting.rewrite_pass import RewritePass

#: Inductor's hooks that take a pass over a graph, and the stage in which each is called.
HOOKS: Mapping[str, Stage] = {
    "pre_grad_custom_pass": "pre_grad",
    "joint_custom_pre_pass": "joint",
    "joint_custom_post_pass": "joint",
    "post_grad_custom_pre_pass": "post_grad",
    "post_grad_custom_post_pass": "post_grad",
}


class InductorPass(CustomGraphPass):
    """Rewrites and typed passes as one custom pass; `inductor_pass` makes it.

    `stages` are those in which it may run, which all the rewrites share.
    """

    def __init__(
        self, rewrites: tuple[Any, ...], stages: tuple[Stage, ...], chosen: Settings
    ) -> None:
        self.rewrites = rewrites
        self.stages = stages
        self.settings = chosen
        self.passes = tuple(_passes(rewrites, chosen))

    def __call__(self, graph: Graph) -> None:
        """Rewrite a graph in place, as a step of Inductor's stage.

        Raises ValueError if the pass is on a hook of another stage, and StageError if a rewrite
        fails and `on_error="raise"`.
        """
        gm = graph.owning_module
        if not isinstance(gm, GraphModule):
            raise ValueError(f"{self}: the graph belongs to no GraphModule, or to several")
        stage = self._stage_here()
        direction = stage_records.direction(stage, False)
        with (
            settings.use(self.settings),
            stage_records.stage_record(stage, gm, direction, self.settings.verify) as record,
        ):
            run = StageRun(stage, gm, self.settings, record)
            for one in self.passes:
                runner.run_pass(run, one, lambda failure: failures.skip(run, failure))
            if run.group is not None:
                run.group.flush()
            run.recompile_if_stale()
            out_of_reach.say(run, map(placement.unplaced, self.rewrites))
            record.nodes_after = len(gm.graph.nodes)
        if cache_keys.is_kept_out():
            cache_keys.install_key()  # so that Inductor's writers ask before they store

    def uuid(self) -> str | None:
        """What identifies the pass in Inductor's cache keys; None if nothing does.

        That is so if a rewrite has no stable identity (`rewrite_identity`), and while debug
        counters decide which applications are made.
        """
        identities = [rewrite_identity(one) for one in self.rewrites]
        if None in identities or debug_counters.active():
            return None
        parts = (
            "xductor",
            cache_keys.package_version(),
            cache_keys.source_hash(),
            ",".join(self.stages),
            self.settings.fingerprint(),
            *identities,
        )
        return "\n".join(map(str, parts))

    def _stage_here(self) -> Stage:
        """The stage that is calling: that of the hook that holds this pass."""
        here = [stage for option, stage in HOOKS.items() if self in stock.hooks(option)]
        fitting: list[Stage] = [stage for stage in self.stages if stage in here]
        if here and not fitting:
            options = [option for option, stage in HOOKS.items() if stage in self.stages]
            raise ValueError(
                f"{self} is for the {' and the '.join(self.stages)} stage, and is set on a hook "
                f"of the {here[0]} stage; its hooks are: {', '.join(options)}"
            )
        return fitting[0] if fitting else self.stages[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return InductorPass, (self.rewrites, self.stages, self.settings)

    def __repr__(self) -> str:
        shown = [one.__name__ if isinstance(one, type) else repr(one) for one in self.rewrites]
        return f"xductor.inductor_pass({', '.join(shown)})"


def inductor_pass(*rewrites: Any, stage: Stage | None = None, **options: Any) -> InductorPass:
    """Rewrites and typed passes, in order, as a pass for a hook of stock Inductor.

    - `stage`: the stage it is for; by default what the rewrites say.
    - `options`: the `xductor.*` options that concern rewrites, by name: `numerics`, `on_error`,
      `verify`, `validate`.

    Set the result on a hook of that stage: `torch._inductor.config.pre_grad_custom_pass`,
    `joint_custom_pre_pass`, `joint_custom_post_pass`, `post_grad_custom_pre_pass` or
    `post_grad_custom_post_pass`; from torch 2.13 on also as one of a list. A rewrite that fails is
    left out with a warning, and the others run; `on_error="raise"` makes it an error.

    Raises:
        ValueError: For rewrites that have no stage in common, or are placed at a pass of ours.
        SettingsError: For what is no rewrite, and for an option with a wrong name or value.
    """
    if not rewrites:
        raise ValueError("inductor_pass needs at least one rewrite")
    for name in ("rewrites", "disabled_passes"):
        if name in options:
            raise settings.SettingsError(f"inductor_pass takes no option {name!r}")
    Settings.from_options({"xductor.rewrites": rewrites})  # raises for what is no rewrite
    for one in rewrites:
        if placement.place_of(one).position in ("before", "after"):
            raise ValueError(
                f"{one!r} is to run {placement.place_of(one)}, a place in xductor's own pipeline; "
                "Inductor's hooks have no such places"
            )
    chosen = Settings.from_options().replace(**options)
    return InductorPass(tuple(rewrites), _common_stages(rewrites, stage), chosen)


_LATEST_FIRST: tuple[Stage, ...] = ("post_grad", "joint", "pre_grad")


def _common_stages(rewrites: tuple[Any, ...], wanted: Stage | None) -> tuple[Stage, ...]:
    common: list[Stage] = [
        stage
        for stage in _LATEST_FIRST
        if all(stage in stages_of(one) for one in rewrites) and wanted in (None, stage)
    ]
    if common:
        return tuple(common)
    listed = "\n".join(f"  {placement.shown(one)}: {', '.join(stages_of(one))}" for one in rewrites)
    asked = f"the {wanted} stage" if wanted is not None else "one stage"
    raise ValueError(
        f"an Inductor pass runs in one stage, and these rewrites are not all of {asked}; "
        f"make a pass for each stage:\n{listed}"
    )


def _passes(rewrites: tuple[Any, ...], chosen: Settings) -> Iterator[TypedPass]:
    """The passes to run: declared rewrites that follow each other are one pass."""
    ones = [placement.unplaced(one) for one in rewrites]
    for declared, group in groupby(ones, lambda one: isinstance(one, Rewrite)):
        if declared:
            yield RewritePass(tuple(group), chosen.numerics)
        else:
            yield from group


__all__ = ["HOOKS", "InductorPass", "inductor_pass"]
