"""One model in one mode: compiled numbers against eager, round trips, parity, fallback."""

from __future__ import annotations

import copy
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo.exc import RestartAnalysis
from torch._inductor.fx_passes import joint_graph, post_grad, pre_grad
from torch.utils._python_dispatch import TorchDispatchMode

from tests.corpus.capture import STAGE_OF, StageCall, capture, passes_only
from tests.corpus.known_differences import Parity, parity, stock_joint_passes
from tests.corpus.round_trip import check_round_trip
from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.config.warn_once import forget_warnings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs import failures
from xductor.backend.steps import runner

OUR_OPTIONS = {"xductor.on_error": "raise", "xductor.verify": "types"}
INDUCTOR_OPTIONS = {"fx_graph_cache": False, "fallback_random": True}
STAGE_FUNCTIONS = {stage: name for name, stage in STAGE_OF.items()}
#: Inductor's own functions, from where they are defined: what watches the stages is not there.
STOCK_STAGES = {
    "pre_grad": pre_grad.pre_grad_passes,
    "joint": joint_graph.joint_graph_passes,
    "post_grad": post_grad.post_grad_passes,
}


@dataclass(frozen=True)
class Case:
    """A model of a models module, and how to run it."""

    name: str
    train: bool
    dynamic: bool
    layers: int = 1
    device: str = "cpu"
    codegen: bool = False

    @property
    def mode(self) -> str:
        return "train" if self.train else "eval"

    @property
    def shapes(self) -> str:
        return "dynamic" if self.dynamic else "static"


@dataclass
class Report:
    """What was found.

    `status` is ok, FAIL, "stock fails too", n/a, or "ok (double)": out of the tolerance of half
    precision in some element, but no further from the result in double precision than eager is.
    """

    name: str
    mode: str
    shapes: str
    status: str = "ok"
    output_error: float | None = None
    gradient_error: float | None = None
    stage_counts: dict[str, int] = field(default_factory=dict[str, int])
    fired: dict[str, int] = field(default_factory=dict[str, int])
    round_trips: tuple[int, int] | None = None
    not_run: list[str] = field(default_factory=list[str])
    parity: tuple[int, int] | None = None
    known_differences: list[str] = field(default_factory=list[str])
    fallback: str | None = None
    notes: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    def fail(self, note: str) -> None:
        self.status = "FAIL"
        self.notes.append(note)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Result:
    """What one step of a model gave: outputs, gradients, and buffers after it."""

    outputs: list[torch.Tensor]
    gradients: list[torch.Tensor | None]
    buffers: list[torch.Tensor]


class Comparison(NamedTuple):
    """Greatest errors of outputs and gradients, which of them are out of tolerance, the first."""

    errors: dict[str, float]
    out_of_tolerance: frozenset[str]
    trouble: str | None

    def shown(self) -> str:
        return " and ".join(f"{error:.1e}" for error in self.errors.values())


class _LowestPrecision(TorchDispatchMode):
    """Notes the coarsest floating dtype that a computation goes through."""

    supports_higher_order_operators = True
    ORDER = (torch.float64, torch.float32, torch.float16, torch.bfloat16)

    def __init__(self) -> None:
        super().__init__()
        self.dtype = torch.float64

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in torch.utils._pytree.tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.dtype in self.ORDER:
                self.dtype = max(self.dtype, leaf.dtype, key=self.ORDER.index)
        return result


class ModelRuns:
    """A model with fixed weights that is run eagerly and compiled, on two batches if dynamic."""

    def __init__(self, models: ModuleType, case: Case) -> None:
        self.models, self.case = models, case
        self.dtype = models.META[case.name].get("train_dtype") if case.train else None
        self.model, inputs, kwargs = models.build(case.name, layers=case.layers)
        self.model = self.model.to(case.device, self.dtype).train(case.train)
        self.batches = [self._to_device(inputs, kwargs)]
        if case.dynamic:
            self.batches += self._other_batch()
        self.rtol_atol: tuple[float, float] | None = None
        self.options: dict[str, Any] = dict(INDUCTOR_OPTIONS)

    def _to_device(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        def moved(tensor: torch.Tensor) -> torch.Tensor:
            dtype = self.dtype if tensor.is_floating_point() else None
            return tensor.to(self.case.device, dtype)

        return torch.utils._pytree.tree_map_only(torch.Tensor, moved, (args, kwargs))

    def _other_batch(self) -> list[tuple[Any, Any]]:
        """Inputs of another batch size, from a second build of the model."""
        leaves = torch.utils._pytree.tree_leaves(self.batches[0])
        sizes = [leaf.shape[0] for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim()]
        if not sizes:
            return []
        try:
            _, inputs, kwargs = self.models.build(
                self.case.name, layers=self.case.layers, batch=sizes[0] + 1
            )
        except TypeError:  # a builder without that argument
            return []
        return [self._to_device(inputs, kwargs)]

    def eager(self) -> list[Result]:
        """The reference; also finds the tolerances its dtypes call for.

        Where it rounds to half precision, Inductor is told to round where eager does.
        """
        mode = _LowestPrecision()
        with mode:
            results = self.run(lambda function: function)
        if mode.dtype in (torch.float16, torch.bfloat16):
            self.rtol_atol = torch.testing._comparison.default_tolerances(mode.dtype)
            self.options["emulate_precision_casts"] = True
        return results

    def compiled(self, backend: str, options: Mapping[str, Any]) -> list[Result]:
        """The model compiled with a backend, its graphs' code generated or interpreted."""
        torch._dynamo.reset()
        with nullcontext() if self.case.codegen else passes_only():
            results = self.run(
                lambda function: torch.compile(
                    function,
                    backend=backend,
                    options={**self.options, **options},
                    dynamic=self.case.dynamic,
                )
            )
        torch._dynamo.reset()
        return results

    def in_double(self) -> list[Result]:
        """The eager results in double precision, as the dtypes that `eager` gives."""
        model, batches = self.model, self.batches
        self.model = copy.deepcopy(model).double()
        self.batches = torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda t: t.double() if t.is_floating_point() else t, batches
        )
        try:
            return self.run(lambda function: function)
        finally:
            self.model, self.batches = model, batches

    def run(self, compile: Callable[[Any], Any], batches: int | None = None) -> list[Result]:
        """One step a batch, each from the same weights and seed."""
        model = copy.deepcopy(self.model)
        start = {name: value.clone() for name, value in model.state_dict().items()}
        function = compile(model)
        results = []
        settings = self.models.META[self.case.name].get("dynamo", {})
        with dynamo_config.patch(**settings) if settings else nullcontext():
            for args, kwargs in self.batches[:batches]:
                model.load_state_dict(start)
                model.zero_grad()
                results.append(self._step(model, function, args, kwargs))
        return results

    def _step(self, model: torch.nn.Module, function: Any, args: Any, kwargs: Any) -> Result:
        args, kwargs = torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda t: t.clone(), (args, kwargs)
        )
        inputs = [t for t in args if isinstance(t, torch.Tensor) and t.is_floating_point()]
        if self.case.dynamic and self.models.META[self.case.name].get("batch_alone"):
            for one in inputs:
                torch._dynamo.mark_static(one, list(range(1, one.dim())))
        torch.manual_seed(0)
        gradients: list[torch.Tensor | None] = []
        if self.case.train:
            for leaf in inputs:
                leaf.requires_grad_()
            outputs = function(*args, **kwargs)
            self.models.loss_of(self.case.name, outputs).backward()
            gradients = [p.grad for p in (*model.parameters(), *inputs)]
        else:
            with torch.no_grad():
                outputs = function(*args, **kwargs)
        buffers = [buffer.clone() for buffer in model.buffers()]
        flat = torch.utils._pytree.tree_leaves((outputs, kwargs, args))
        tensors = [t.detach() for t in flat if isinstance(t, torch.Tensor)]
        others = [torch.tensor(n) for n in flat if isinstance(n, int | float)]
        return Result([*tensors, *others], gradients, buffers)

    def compare(self, found: list[Result], wanted: list[Result]) -> Comparison:
        """What a backend gave beside the reference; buffers count as outputs."""
        errors = {"outputs": 0.0, "gradients": 0.0}
        out: set[str] = set()
        trouble = None
        for batch, (ours, eager) in enumerate(zip(found, wanted, strict=True)):
            for what in ("outputs", "gradients", "buffers"):
                error, wrong = self._compare(getattr(ours, what), getattr(eager, what))
                kind = "gradients" if what == "gradients" else "outputs"
                errors[kind] = max(errors[kind], error)
                if wrong is not None:
                    out.add(kind)
                    trouble = trouble or f"{what} of batch {batch}: {wrong}"
        return Comparison(errors, frozenset(out), trouble)

    def _compare(self, found: list[Any], wanted: list[Any]) -> tuple[float, str | None]:
        if len(found) != len(wanted):
            return float("inf"), f"{len(found)} tensors, eager has {len(wanted)}"
        greatest, trouble = 0.0, None
        rtol, atol = self.rtol_atol or (None, None)
        for index, (ours, eager) in enumerate(zip(found, wanted, strict=True)):
            if ours is None or eager is None:
                if ours is not eager:
                    greatest = float("inf")
                    trouble = trouble or f"number {index} is None on one side only"
                continue
            wide = eager.dtype is torch.float64
            try:
                torch.testing.assert_close(
                    ours, eager, rtol=rtol, atol=atol, equal_nan=True, check_dtype=not wide
                )
            except AssertionError as error:
                trouble = trouble or f"number {index}: {' '.join(str(error).split())}"
            greatest = max(greatest, _greatest_difference(ours, eager))
        return greatest, trouble


def _greatest_difference(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Infinite where the shapes differ, or one alone is NaN or infinite."""
    if found.shape != wanted.shape:
        return float("inf")
    if not found.numel():
        return 0.0
    found, wanted = found.double(), wanted.double()
    same = (found == wanted) | (found.isnan() & wanted.isnan())
    difference = (found - wanted).abs().nan_to_num(float("inf"))
    return torch.where(same, 0.0, difference).max().item()


def check_numbers(runs: ModelRuns, report: Report) -> None:
    """Outputs, gradients and buffers as eager's, with our three stages in every graph."""
    wanted = runs.eager()
    with stage_records.record() as records:
        try:
            found = runs.compiled("xductor", OUR_OPTIONS)
        except Exception as error:
            _failed_compile(runs, report, error)
            return
    _count_stages(records, runs.case, report)
    compared = runs.compare(found, wanted)
    report.output_error, report.gradient_error = compared.errors.values()
    if compared.trouble is None:
        return
    report.fail(compared.trouble)
    stock = runs.compare(runs.compiled("inductor", {}), wanted)
    report.notes.append(f"stock's errors: {stock.shown()}")
    if _as_near_to_double(runs, report, found, wanted):
        report.status = "ok (double)"


def _as_near_to_double(
    runs: ModelRuns, report: Report, found: list[Result], wanted: list[Result]
) -> bool:
    """Where half precision is involved: what differs from eager is as near to the result in double
    precision as eager is."""
    if runs.rtol_atol is None:
        return False
    exact = runs.in_double()
    ours, eager = (runs.compare(results, exact) for results in (found, wanted))
    report.notes.append(f"against double precision: ours {ours.shown()}, eager {eager.shown()}")
    differing = runs.compare(found, wanted).out_of_tolerance
    return all(ours.errors[kind] <= 1.5 * eager.errors[kind] for kind in differing)


def _failed_compile(runs: ModelRuns, report: Report, error: Exception) -> None:
    report.fail(_short(error))
    try:
        runs.compiled("inductor", {})
    except Exception as stock_error:
        report.status = "stock fails too"
        report.notes.append(f"stock: {_short(stock_error)}")


def _count_stages(records: list[stage_records.StageRecord], case: Case, report: Report) -> None:
    counts = Counter(
        record.stage if record.stage != "post_grad" else f"post_{record.direction}"
        for record in records
    )
    report.stage_counts = dict(counts)
    for record in records:
        if record.fallback is not None:
            report.fail(f"fallback: {record.fallback}")
        for one in record.passes:
            if one.kind == "typed" and one.applications:
                report.fired[one.name] = report.fired.get(one.name, 0) + one.applications
    wanted = (
        ("joint", "post_forward", "post_backward") if case.train else ("joint", "post_inference")
    )
    for stage in ("pre_grad", *wanted):
        if not counts[stage]:
            report.fail(f"our {stage} did not run")


def check_graphs(runs: ModelRuns, report: Report, *, round_trip: bool, with_parity: bool) -> None:
    """Round trip and parity of every graph that stock's own compile hands to its stages."""
    trips = Counter[bool]()
    equal = Counter[bool]()

    def on_call(call: StageCall) -> None:
        where = f"{call.stage} ({len(call.gm.graph.nodes)} nodes)"
        if round_trip:
            try:
                outcome = check_round_trip(call)
                trips[True] += 1
                if outcome.not_run is not None:
                    report.not_run.append(f"{call.stage}: {outcome.not_run}")
            except Exception as error:
                trips[False] += 1
                report.fail(f"round trip of {where}: {_short(error)}")
        if with_parity:
            try:
                result = compare_stages(call)
                equal[result.equal] += 1
                report.known_differences += result.known
                if not result.equal:
                    report.fail(f"parity of {where}: {result.comparison}")
            except RestartAnalysis:  # the stage itself would have Dynamo start again
                raise
            except Exception as error:
                equal[False] += 1
                report.fail(f"parity of {where}: {_short(error)}")

    try:
        capture(lambda compile: runs.run(compile, 1), on_call, dynamic=runs.case.dynamic)
    except Exception as error:
        report.notes.append(f"capture with stock: {_short(error)}")
    if round_trip:
        report.round_trips = trips[True], trips.total()
    if with_parity:
        report.parity = equal[True], equal.total()


def compare_stages(call: StageCall) -> Parity:
    """Our stage under `fast` against Inductor's own function, each on a copy of the graph."""
    name = STAGE_FUNCTIONS[call.stage]
    with settings.use(settings.Settings(on_error="raise", numerics="fast")):
        ours = call.run_on_copy(getattr(stages, name))
    stock = stock_joint_passes if call.stage == "joint" else STOCK_STAGES[call.stage]
    theirs = call.run_on_copy(stock)
    return parity(call.stage, ours, theirs, training=_is_of_training(call))


def _is_of_training(call: StageCall) -> bool:
    """Whether a call of the post-grad stage is for training; other stages are not told."""
    if call.stage != "post_grad":
        return False
    (is_inference,) = (*call.args, *call.kwargs.values())
    return not is_inference


class LoweringBroken(Exception):
    """What the fallback test breaks the lowering with."""


@contextmanager
def broken_lowering() -> Iterator[None]:
    """Nothing can be lowered inside the block."""

    def broken(run: Any) -> Any:
        raise LoweringBroken("broken on purpose")

    working = runner._from_fx
    runner._from_fx = broken
    try:
        yield
    finally:
        runner._from_fx = working


def check_fallback(runs: ModelRuns, report: Report) -> None:
    """With our lowering broken: eager's numbers all the same, and one warning."""
    forget_warnings()
    wanted = runs.eager()
    with (
        broken_lowering(),
        warnings.catch_warnings(record=True) as caught,
        stage_records.record() as records,
    ):
        warnings.simplefilter("always")
        try:
            found = runs.compiled("xductor", {"xductor.on_error": "fallback"})
        except Exception as error:
            report.fallback = "FAIL"
            report.fail(f"fallback: {_short(error)}")
            return
    told = [w for w in caught if issubclass(w.category, failures.FallbackWarning)]
    fallbacks = sum(record.fallback is not None for record in records)
    trouble = runs.compare(found, wanted).trouble
    if len(told) == min(fallbacks, 1):
        if trouble is None:
            report.fallback = f"ok ({fallbacks}/{len(records)})"
            return
        if _as_near_to_double(runs, report, found, wanted):
            report.fallback = f"ok (double, {fallbacks}/{len(records)})"
            report.notes.append(f"fallback: {trouble}")
            return
    report.fallback = "FAIL"
    report.fail(f"fallback: {len(told)} warnings for {fallbacks} fallbacks; {trouble}")


def run_case(
    models: ModuleType,
    case: Case,
    *,
    round_trip: bool = False,
    with_parity: bool = False,
    fallback: bool = False,
) -> Report:
    """Everything about one model in one mode; never raises for what the model does."""
    report = Report(case.name, case.mode, case.shapes)
    if case.train and not models.META[case.name].get("train", True):
        report.status = "n/a"
        return report
    start = time.monotonic()
    try:
        runs = ModelRuns(models, case)
        check_numbers(runs, report)
        if round_trip or with_parity:
            check_graphs(runs, report, round_trip=round_trip, with_parity=with_parity)
        if fallback and report.status != "stock fails too":
            check_fallback(runs, report)
    except Exception as error:
        report.fail(f"{_short(error)} at {traceback.extract_tb(error.__traceback__)[-1]}")
    report.seconds = time.monotonic() - start
    return report


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:600]}"
