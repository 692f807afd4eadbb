"""The step of the joint stage that moves random draws to the compiler's generator."""

from __future__ import annotations

from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import runner, stock, user_patterns
from xductor.backend.steps.bridge import BridgedStep, flush, observer
from xductor.backend.steps.typed_steps import TypedStep, is_all_bridged, make
from xductor.transforms.rows import registry

_REPLACING = ("replace_random", "replace_randint")
_FUSING = ("fuse_seed_creation_pass", "fuse_offset_creation_pass")
#: Without these, code generation meets ops for which it has no code.
_NEEDED = (*_REPLACING, *_FUSING)
_FUNCTION = "joint_graph:replace_random_passes"


class ReplaceRandomStep(TypedStep):
    """Typed passes, instead of Inductor's `replace_random_passes` and its table.

    Code generation needs their result, so Inductor's own function runs if they are disabled, if the
    table is no longer Inductor's, and after a failure. As in Inductor, the compiler bisector does
    not control them: results drawn by different generators cannot be compared.
    """

    covers = (*_REPLACING, *_FUSING)

    @property
    def needed(self) -> tuple[str, ...]:
        return _NEEDED

    def __call__(self, run: StageRun) -> None:
        if not self.stock_step.when(run):
            return
        if not run.degraded and not is_all_bridged() and self._is_stock() and _is_ours(run):
            _replace(run)
            if not run.degraded:
                return
        self.stock_step(run)


def _is_ours(run: StageRun) -> bool:
    """Whether the typed passes may run, and cover all of Inductor's own table."""
    if not run.settings.disabled_passes.isdisjoint(_NEEDED):
        return False
    if stock.flag("disable_cpp_codegen"):
        return False  # then Inductor leaves CPU draws to eager
    table = stock.lookup("replace_random:patterns")
    homes = _homes()
    own = user_patterns.own_table("replace_random", table)
    return own and user_patterns.homes_in(table, homes) == homes


def _homes() -> frozenset[user_patterns.Home]:
    return frozenset(registry.home(name) for name in _REPLACING)


def _replace(run: StageRun) -> None:
    _watched(run, "pattern_matcher", _REPLACING)
    _users_entries(run)
    _watched(run, "fuse_seed_creation_pass", ("fuse_seed_creation_pass",))
    if stock.flag("align_random_eager"):
        _watched(run, "fuse_offset_creation_pass", ("fuse_offset_creation_pass",))


def _watched(run: StageRun, observed_as: str, names: tuple[str, ...]) -> None:
    """Run typed passes under Inductor's observer, without asking the bisector."""
    passes = [make(name, run) for name in names if name not in run.settings.disabled_passes]
    changed = run.group is not None and run.group.changed
    if not changed and not any(one.may_fire(run.gm.graph) for one in passes):
        return
    with observer(run.gm, observed_as, run.subsystem) as watcher:
        if watcher.active:
            flush(run)
        run.count += sum(runner.run_pass(run, one) for one in passes)
        if watcher.active:
            flush(run)


def _users_entries(run: StageRun) -> None:
    """Run the entries that users added to Inductor's table."""
    table = stock.lookup("replace_random:patterns")
    rest = user_patterns.without(table, _homes())
    if run.degraded or run.untyped or not rest.patterns:
        return
    flush(run)

    def apply() -> None:
        run.count += rest.apply(run.gm.graph)

    if not run.degraded:
        run.bridged("replace_random", apply)


def _stock(run: StageRun) -> None:
    run.count += stock.lookup(_FUNCTION)(run.gm)


replace_random_passes = ReplaceRandomStep(
    "replace_random_passes",
    BridgedStep(
        "replace_random_passes",
        _stock,
        lambda _: not stock.flag("fallback_random"),
        required=True,
    ),
    _FUNCTION,
)

__all__ = ["ReplaceRandomStep", "replace_random_passes"]
