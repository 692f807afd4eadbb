"""Steps that run typed passes, alone or in place of entries of one of Inductor's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import FunctionType
from typing import Any

from xductor.backend.config.strict_numerics import REASSOCIATING
from xductor.backend.stage_runs.applications import PassAsked
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import cpu_libraries, runner, stock, user_patterns
from xductor.backend.steps.bridge import (
    BridgedStep,
    Condition,
    Over,
    always,
    flush,
    observed,
    observer,
    stock_pass,
)
from xductor.backend.steps.table_prefilter import calls_of, may_match
from xductor.transforms import TypedPass
from xductor.transforms.passes.events import listeners_of, tell
from xductor.transforms.rows import registry

_all_bridged: ContextVar[bool] = ContextVar("xductor_all_bridged", default=False)


@contextmanager
def all_bridged() -> Iterator[None]:
    """Run Inductor's own function at every step inside the block, to measure parity against.

    Users' entries, flags and order are unaffected.
    """
    token = _all_bridged.set(True)
    try:
        yield
    finally:
        _all_bridged.reset(token)


def is_all_bridged() -> bool:
    """Whether every step has to be Inductor's own function (see `all_bridged`)."""
    return _all_bridged.get()


def _option(name: str, key: str, default: Any) -> Callable[[], Any]:
    """What the user says under a name of `post_grad_fusion_options`."""
    return lambda: stock.flag("post_grad_fusion_options", {}).get(name, {}).get(key, default)


def _memory_budget() -> int:
    """How many bytes the buffers of one scatter may take; 0 where there is no GPU to ask."""
    import torch

    if not torch.cuda.is_available():
        return 0
    share = stock.flag("partitioned_scatter_memory_budget", 0.10)
    return max(int(torch.cuda.mem_get_info()[1] * share), 1)


def _is_ahead_of_time() -> bool:
    return bool(stock.lookup("torch._inductor.virtualized:V").aot_compilation)


#: Options of typed passes that follow Inductor's config: where to read them, by field name.
CONFIG_OPTIONS: Mapping[str, Callable[[], Any]] = {
    "amplify_ratio_threshold": lambda: float(stock.flag("auto_chunker.amplify_ratio_threshold", 8)),
    "output_size_threshold": lambda: int(
        stock.flag("auto_chunker.output_size_threshold", 1024 * 1024)
    ),
    "num_chunk": lambda: int(stock.flag("auto_chunker.num_chunk", None) or 8),
    "align_random_eager": lambda: bool(stock.flag("align_random_eager")),
    "emulate_precision_casts": lambda: bool(stock.flag("emulate_precision_casts")),
    "freezing": lambda: bool(stock.flag("freezing")),
    "fallback_random": lambda: bool(stock.flag("fallback_random")),
    "optimize_scatter_upon_const_tensor": lambda: bool(
        stock.flag("optimize_scatter_upon_const_tensor", True)
    ),
    "triton_devices": lambda: tuple(
        kind for kind in ("cuda", "xpu") if stock.flag(f"{kind}_backend", "triton") == "triton"
    ),
    "dont_constant_fold": lambda: tuple(
        str(one) for one in stock.lookup("torch._inductor.constant_folding:_dont_constant_fold")
    ),
    "enable_concat_linear": lambda: bool(stock.flag("cpp.enable_concat_linear")),
    "enable_linear_binary_folding": lambda: bool(stock.flag("enable_linear_binary_folding")),
    "keep_for_spmd": stock.keeps_graphs_alike,
    "min_index_size": lambda: stock.flag("partitioned_scatter_min_index_size", 4096),
    "min_partitions": lambda: stock.flag("partitioned_scatter_min_partitions", 2),
    "max_partitions": lambda: stock.flag("partitioned_scatter_max_partitions", 128),
    "memory_budget": lambda: _memory_budget(),
    "target": lambda: stock.lookup("post_grad:get_gpu_type")(),
    "packed_dtypes": lambda: cpu_libraries.packed_dtypes(),
    "copies_bias": lambda: cpu_libraries.copies_bias(),
    "mkl_is_narrow": lambda: cpu_libraries.mkl_is_narrow(),
    "packs_for_mkl": lambda: not _is_ahead_of_time() and cpu_libraries.packs_for_mkl(),
    "packs_float32": lambda: cpu_libraries.packs_float32(),
    "scalars_too": lambda: bool(stock.flag("triton.cudagraphs") and stock.flag("graph_partition")),
    **{
        name: _option("decompose_mm_pass", name, default)
        for name, default in (
            ("min_first_dimension_decomposition", 10240),
            ("max_other_dimension_decomposition", 32),
            ("cpu_max_first_dimension_decomposition", 1),
            ("cpu_max_other_dimension_decomposition", 2048),
            ("skip_dynamic_shape_dim_check", False),
        )
    },
}


def make(name: str, run: StageRun) -> TypedPass:
    """The typed pass called `name`, with the options that config and settings imply."""
    cls = registry.typed_class(name)
    names = _field_names(cls)
    options = {one: CONFIG_OPTIONS[one]() for one in names if one in CONFIG_OPTIONS}
    if "policy" in names:
        options["policy"] = run.settings.numerics
    if "threshold_to_cat" in names:
        options["threshold_to_cat"] = _threshold_to_cat(name, run)
    return cls(**options)


def _threshold_to_cat(name: str, run: StageRun) -> Any:
    """The option of a fusion that is on by name."""
    fusions = stock.flag(f"{run.stage}_fusion_options", {})
    return fusions.get(name, {}).get("threshold_to_cat", 10)


@cache
def _homes(typed: tuple[str, ...]) -> dict[user_patterns.Home, str]:
    """The typed passes, by where Inductor has what they stand for."""
    return {registry.home(name): name for name in typed}


@cache
def _field_names(cls: type[TypedPass]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(cls))


def run_observed(
    passes: Sequence[TypedPass],
    run: StageRun,
    observed_as: str | None = None,
    failed: runner.OnFailure | None = None,
) -> int | None:
    """Run typed passes under one of Inductor's observers; returns the number of applications.

    Returns None if they are disabled, by name or by the compiler bisector. If graph changes are
    being traced to passes, the graph is raised inside the observer.

    `observed_as` is the name of Inductor's own observer, which exists whether something fires or
    not. Without one, a pass that cannot fire gets no observer. `failed` is that of
    `runner.run_pass`.
    """
    if run.degraded:
        return 0
    wanted = [one for one in passes if one.name not in run.settings.disabled_passes]
    if not wanted:
        return None
    if listeners_of(PassAsked):
        for one in wanted:
            tell(PassAsked(run, one))
    if observed_as is None and not any(may_apply(one, run) for one in wanted):
        return 0
    watcher = observer(run.gm, observed_as or wanted[0].name, run.subsystem)
    if watcher.active:
        flush(run)

    def apply(_: object) -> int:
        applications = sum(runner.run_pass(run, one, failed) for one in wanted)
        if watcher.active:
            flush(run)
        return applications

    return watcher.apply_gm_pass(apply)


def may_apply(one: TypedPass, run: StageRun) -> bool:
    """Whether a pass may find something in the graph as it is now, in FX or in the IR."""
    group = run.group
    if group is not None and group.changed:
        return one.has_work(group.module)
    return one.may_fire(run.gm.graph)


@dataclass(frozen=True)
class TypedStep:
    """A typed pass in place of Inductor's `function`.

    If somebody put another function in the place of Inductor's, that one runs instead. After a
    failure, or if the typed pass is disabled, Inductor's own runs if the step is required.

    `observed_as` is the name of the observer under which Inductor has it, if any. `then` names
    typed passes that stand for functions which Inductor's function calls at its end, under the same
    observer.
    """

    name: str
    stock_step: BridgedStep
    function: str
    observed_as: str | None = None
    then: tuple[str, ...] = ()

    def __call__(self, run: StageRun) -> None:
        if not self.stock_step.when(run):
            return
        if _all_bridged.get() or not self._is_stock():
            self.stock_step(run)
            return
        if self.stock_step.needs is not None and stock.lookup(self.stock_step.needs) is None:
            return  # this torch has no such step
        passes = [make(name, run) for name in (self.name, *self.then)]
        applications = run_observed(passes, run, self.observed_as)
        if run.degraded or (applications is None and self.stock_step.required):
            self.stock_step(run)

    @property
    def needed(self) -> tuple[str, ...]:
        """The typed passes whose work every compile needs, be it done by Inductor's own."""
        return (self.name, *self.then) if self.stock_step.required else ()

    def _is_stock(self) -> bool:
        """Whether the functions that the passes stand for are Inductor's own."""
        references = [self.function]
        references += [":".join(registry.home(name)) for name in self.then]
        functions = [stock.lookup(reference) for reference in references]
        return all(function is None or stock.is_stock(function) for function in functions)


def typed_step(
    name: str,
    function: str,
    *,
    over: Over = "graph",
    observed_as: str | None = None,
    when: Condition = always,
    required: bool = False,
    values: bool = True,
    then: tuple[str, ...] = (),
) -> TypedStep:
    """A step with the typed pass `name` for Inductor's `function` on the graph (or its module).

    `observed_as` is the name of Inductor's observer, if it is not the name of the pass; `then` is
    that of `TypedStep`.
    """
    step = stock_pass(
        observed_as or name, function, over=over, when=when, required=required, values=values
    )
    return TypedStep(name, replace(step, name=name), function, observed_as or name, then)


def _bare(_: StageRun) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class OwnStep:
    """A typed pass at a place of the stage where Inductor has none; it runs inside `around`."""

    name: str
    when: Condition = always
    around: Callable[[StageRun], AbstractContextManager[None]] = _bare

    def __call__(self, run: StageRun) -> None:
        if not _all_bridged.get() and self.when(run):
            with self.around(run):
                run.count += run_observed([make(self.name, run)], run) or 0


@dataclass(frozen=True)
class TableStep:
    """One of Inductor's pattern tables, without the entries that typed passes replace, here or in
    another stage.

    `table` returns the live table. Each typed pass runs if the table holds the stock entry that it
    replaces; then every other entry runs in one sweep. `elsewhere` names typed passes that run at
    another table, and stand for entries of this one too. `observed_as` is the observer's name if
    Inductor puts the whole table under one. `asked` has the conditions of typed passes that depend
    on config; if one does not hold, neither the pass nor the entry runs.
    """

    name: str
    table: Callable[[], Any]
    typed: tuple[str, ...] = ()
    observed_as: str | None = None
    when: Condition = always
    asked: Mapping[str, Condition] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()

    def __call__(self, run: StageRun) -> None:
        if run.degraded or not self.when(run):
            return
        table = self.table()  # not before: users may replace tables by some with other keys
        if table is None:
            return
        if self.observed_as is None:
            self._sweep(table, run)
            return
        observed(run, self.observed_as, lambda _: self._sweep(table, run), "graph")

    def _sweep(self, table: Any, run: StageRun) -> None:
        homes = _homes(self.typed)
        replaced, rest = frozenset[user_patterns.Home](), table
        if not _all_bridged.get() and user_patterns.own_table(f"{run.stage}:{self.name}", table):
            ours = frozenset(_homes((*self.typed, *self.elsewhere))) | registry.covered_homes()
            if run.settings.numerics == "strict":
                ours |= REASSOCIATING
            replaced, rest = user_patterns.split(table, ours)
        for home, name in homes.items():
            if home in replaced and self.asked.get(name, always)(run):
                run.count += run_observed([make(name, run)], run) or 0
        if run.degraded or run.untyped or not rest.patterns:
            return
        if not may_match(rest, calls_of(run)):
            return
        flush(run)
        if not run.degraded:
            run.bridged(self.name, lambda: self._rest(rest, run))

    def _rest(self, rest: Any, run: StageRun) -> None:
        run.count += rest.apply(run.gm.graph)


@dataclass(frozen=True)
class CoveringStep:
    """A step that is made when it runs; `covers` names the passes that it may run."""

    call: Callable[[StageRun], None]
    covers: tuple[str, ...] = ()

    def __call__(self, run: StageRun) -> None:
        self.call(run)


def _user_noop_ops(run: StageRun) -> None:
    """Run Inductor's no-op removal over the users' entries of its registry only."""
    remove = stock.lookup("post_grad:remove_noop_ops")
    names = {**remove.__globals__, "noop_registry": _user_noops()}
    remove_users = FunctionType(remove.__code__, names, remove.__name__, remove.__defaults__)
    observed(run, "remove_noop_ops", remove_users, "graph")


def _user_noops() -> dict[Any, Any]:
    return user_patterns.user_noops(stock.lookup("post_grad:noop_registry") or {})


#: Ops that users registered as no-ops; Inductor removes them together with its own.
user_noop_ops = BridgedStep(
    "user_noop_ops",
    _user_noop_ops,
    lambda _: (
        not _all_bridged.get()
        and stock.is_stock(stock.lookup("post_grad:remove_noop_ops"))
        and bool(_user_noops())
    ),
)
