"""Translation validation: runs a matched fragment and its replacement on the same inputs.

    with validating():
        Driver(index).rewrite(module)

An application whose replacement gives another result than what it replaces raises `Violation`, so
that it is undone. Inputs are made from the types: with hints and other values for the symbols,
special values, strides as typed, indices in range. If the matched fragment raises, the replacement
may do anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import ArgsAttr, GraphOp, SchemaOp, TensorType, TorchOp, entry_graph
from xductor.ir.inference.infer import storage_root
from xductor.ir.symbolic.symbol_values import NoSample
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.passes.events import listeners_of, listening
from xductor.transforms.passes.numerics import (
    APPROXIMATE,
    EXACT,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    UP_TO_ZERO_SIGN,
    Numerics,
)
from xductor.transforms.rewriting.contracts import Violation
from xductor.transforms.rewriting.driver import Application
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.validation.float64_reference import Errors, errors_of, run_in_float64
from xductor.transforms.validation.fragment_runs import (
    PRODUCTS,
    Run,
    Trial,
    finite_inputs,
    inputs_of,
    run_fragment,
    terms_of,
    trials,
)
from xductor.transforms.validation.fragments import Fragments, fragments_of
from xductor.transforms.validation.value_comparison import Budget, Mismatch, compare

#: How many inputs are tried for each application.
ROUNDS = 6


@dataclass(frozen=True)
class Checked:
    """The outcome of validating one application.

    - `runs`: on how many inputs both sides ran and agreed.
    - `rejected`: on how many the matched fragment raised.
    - `skipped`: why there was no run, if there was none.
    - `errors`: against float64, if the numerics are judged by them.
    """

    runs: int = 0
    rejected: int = 0
    skipped: str = ""
    errors: Errors = field(default_factory=Errors)


class ValueCheck:
    """A listener that validates each application; `seed` and `rounds` choose the inputs."""

    def __init__(self, rounds: int = ROUNDS, seed: int = 0) -> None:
        self.rounds = rounds
        self.seed = seed

    def __call__(self, application: Application) -> None:
        checked = check_values(application, rounds=self.rounds, seed=self.seed)
        application.checks.append(
            f"values: not run ({checked.skipped})" if checked.skipped else "values"
        )


@contextmanager
def validating(on: bool = True, *, rounds: int = ROUNDS, seed: int = 0) -> Iterator[None]:
    """Validate the applications of every driver inside the block if `on`, once if nested."""
    if not on or any(isinstance(one, ValueCheck) for one in listeners_of(Application)):
        yield
        return
    with listening(Application, ValueCheck(rounds, seed)):
        yield


def check_values(
    application: Application,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    given: Mapping[str, Any] | None = None,
) -> Checked:
    """Run what an application replaces and its replacement on the same inputs.

    - `given`: values for some of the rewrite's tensor variables; the others are generated.

    Call it while the application is live. Raises Violation if they differ by more than the rewrite
    declares, with the inputs, both results and the first index that differs.
    """
    fragments = fragments_of(application)
    visible = [_is_visible(old, application.state) for old, _ in fragments.outputs]
    numerics = application.rewrite.numerics_of(application.match.outputs)
    assert numerics is not None, "applied to a dtype that it does not take"
    return compare_fragments(fragments, numerics, visible, rounds=rounds, seed=seed, given=given)


def compare_fragments(
    fragments: Fragments,
    numerics: Numerics,
    visible: Sequence[bool],
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    given: Mapping[str, Any] | None = None,
) -> Checked:
    """Run both sides on the same inputs; `visible` says for each output if its storage matters.

    Raises Violation as `check_values` does.
    """
    sides = (entry_graph(fragments.matched), entry_graph(fragments.replacement))
    reason = _not_comparable(*sides)
    if reason:
        return Checked(skipped=reason)
    comparison = _Comparison(fragments, numerics, visible, given or {})
    runs = rejected = 0
    why = ""
    try:
        with _disable_current_modes():  # a compile runs under a fake mode
            for trial in trials(sides[0], rounds, seed):
                refused = comparison.check(trial)
                if refused is None:
                    runs += 1
                else:
                    rejected, why = rejected + 1, refused
    except NoSample as error:
        return Checked(runs, rejected, "" if runs else str(error))
    if not runs:
        return Checked(0, rejected, f"what is matched takes no generated input: {why}")
    return Checked(runs, rejected, errors=comparison.errors_in_all())


def _is_visible(value: SSAValue, state: GraphState) -> bool:
    """Whether the storage of a value matters: it is returned, or something is written."""
    return bool(state.writes) or storage_root(value) in state.returned_roots


def _not_comparable(matched: GraphOp, replacement: GraphOp) -> str:
    """Why two fragments cannot be compared by running them; "" if they can."""
    draws, new_draws = _draws(matched), _draws(replacement)
    if [name for name, _ in draws] != [name for name, _ in new_draws]:
        return "its random draws are made by other ops"
    if draws != new_draws:
        return "its random draws have other types"
    return ""


def _draws(graph: GraphOp) -> list[tuple[str, tuple[Any, ...]]]:
    return [
        (op.name, tuple(result.type for result in op.results))
        for op in graph.block.ops
        if isinstance(op, TorchOp) and effects_of(op).rng
    ]


class _Comparison:
    """Runs both sides of one application, trial by trial."""

    def __init__(
        self,
        fragments: Fragments,
        numerics: Numerics,
        visible: Sequence[bool],
        given: Mapping[str, Any],
    ) -> None:
        self.given = given
        self.matched, self.replacement = fragments.matched, fragments.replacement
        self.magnitudes = _adding(fragments.matched)
        self.outputs = fragments.outputs
        self.graph = entry_graph(fragments.matched)
        self.sides = (self.graph, entry_graph(fragments.replacement))
        self.numerics: Numerics = numerics
        self.visible = visible
        self.errors = Errors()
        self.narrowest = _narrowest(self.sides)
        self.same_kernels = _kernels(self.sides[0]) == _kernels(self.sides[1])

    def check(self, trial: Trial) -> str | None:
        """Why the matched fragment refuses the trial; None if both sides ran and agree."""
        tame = self.numerics not in (EXACT, UP_TO_ZERO_SIGN)
        if self.numerics == APPROXIMATE:
            trial = Trial(trial.seed, trial.symbols, 0.0)
        inputs = self._inputs(trial, tame=tame)
        try:
            expected = run_fragment(self.matched, inputs, trial.seed)
        except Exception as error:  # kernels refuse generated inputs in many ways
            return f"{type(error).__name__}: {_first_line(error)}"
        given = self._inputs(trial, tame=tame)
        try:
            found = run_fragment(self.replacement, given, trial.seed)
        except Exception as error:  # whatever it is, the matched fragment does not raise it
            raise self._violation(
                trial, f"the replacement raises {type(error).__name__}: {_first_line(error)}"
            ) from error
        problem = self._difference(trial, expected, found)
        if problem is not None:
            raise self._violation(trial, problem, expected, found)
        if self.numerics == ROUNDS_LESS_OFTEN:
            return self._against_float64(trial, expected, found)
        return None

    def _against_float64(self, trial: Trial, expected: Run, found: Run) -> str | None:
        """Why there is no float64 result to compare with; None if there is one."""
        try:
            inputs = self._inputs(trial, tame=True)
            wide = run_in_float64(self.matched, inputs, trial.seed)
        except Exception as error:  # not all kernels take float64
            return f"in float64: {type(error).__name__}: {_first_line(error)}"
        terms, scales = terms_of(self.sides, trial.symbols), self._scales(trial, expected)
        sides = zip(wide, expected.outputs, found.outputs, scales, strict=True)
        for place, (reference, old, new, scale) in enumerate(sides):
            errors = errors_of(reference, old, new, scale, terms)
            if isinstance(errors, str):
                raise self._violation(trial, f"output {place}: {errors}", expected, found)
            self.errors.add(errors)
        return None

    def errors_in_all(self) -> Errors:
        """The errors of all trials. Raises Violation if they are larger than before."""
        problem = self.errors.problem()
        if problem is not None:
            raise Violation(f"the replacement does not compute what is replaced: {problem}")
        return self.errors

    def _inputs(self, trial: Trial, *, tame: bool) -> list[Any]:
        made = inputs_of(self.graph, trial, tame=tame)
        for place, name in enumerate(self.graph.argument_names):
            example = self.given.get(name)
            if not isinstance(example, torch.Tensor) or example.device.type == "meta":
                continue  # a tensor on meta has a type, and no values
            if example.shape == made[place].shape:
                with torch.no_grad():
                    made[place].copy_(example)
        return made

    def _difference(self, trial: Trial, expected: Run, found: Run) -> str | None:
        budget = Budget(self.numerics, terms_of(self.sides, trial.symbols), self.narrowest)
        scales = self._scales(trial, expected)
        for place, (old, new) in enumerate(zip(expected.outputs, found.outputs, strict=True)):
            mismatch = self._compare(old, new, budget, scales[place])
            if mismatch is not None:
                return f"output {place}: {mismatch}"
            text = self._layout(place, old, new)
            if (
                text is None
                and self.visible[place]
                and expected.shares[place] != found.shares[place]
            ):
                text = (
                    f"shares storage with {_listed(expected.shares[place])} before and with "
                    f"{_listed(found.shares[place])} after"
                )
            if text is not None:
                return f"output {place} {text}"
        for place, (old, new) in enumerate(zip(expected.inputs, found.inputs, strict=True)):
            mismatch = self._compare(old, new, budget, None)
            if mismatch is not None:
                return f"input %{self.graph.argument_names[place]} is left otherwise: {mismatch}"
        return self._gradients(expected, found, budget)

    def _compare(
        self, old: Any, new: Any, budget: Budget, scale: torch.Tensor | None
    ) -> Mismatch | None:
        mismatch = compare(old, new, budget, scale)
        if mismatch is None or mismatch.index is None or not self.same_kernels:
            return mismatch
        if budget.numerics in (EXACT, UP_TO_ZERO_SIGN) and _kernels(self.graph):
            # Kernels of one operator round differently for other layouts and sizes.
            slack = Budget(REASSOCIATES, budget.terms)
            return compare(old, new, slack, scale) and mismatch
        return mismatch

    def _layout(self, place: int, old: Any, new: Any) -> str | None:
        """A difference of strides that the types promise to be equal; None if there is none."""
        if not isinstance(old, torch.Tensor):
            return None
        before, after = (value.type for value in self.outputs[place])
        if old.requires_grad != new.requires_grad:
            return f"has requires_grad {old.requires_grad} before and {new.requires_grad} after"
        if not isinstance(before, TensorType) or not isinstance(after, TensorType):
            return None
        if old.layout != torch.strided or before.stride != after.stride or not old.numel():
            return None
        pairs = zip(old.shape, old.stride(), new.stride(), strict=True)
        if all(a == b for size, a, b in pairs if size > 1):
            return None
        return f"has strides {old.stride()} before and {new.stride()} after"

    def _gradients(self, expected: Run, found: Run, budget: Budget) -> str | None:
        # Gradients are summed in the order of the ops, whatever the rewrite declares.
        exact = budget.numerics in (EXACT, UP_TO_ZERO_SIGN)
        kind = REASSOCIATES if exact else budget.numerics
        loose = Budget(kind, budget.terms + 4, budget.narrowest)
        for place, (old, new) in enumerate(zip(expected.gradients, found.gradients, strict=True)):
            if old is None:
                if new is None:
                    continue
                old = torch.zeros_like(new)
            new = torch.zeros_like(old) if new is None else new
            scale = torch.maximum(old.abs(), new.abs()).double().nan_to_num(0.0, 0.0, 0.0)
            top = scale.amax().expand(scale.shape) if scale.numel() else scale
            mismatch = compare(old, new, loose, top)
            if mismatch is not None:
                return f"gradient {place}: {mismatch}"
        return None

    def _scales(self, trial: Trial, expected: Run) -> list[torch.Tensor | None]:
        """For each output the size of the terms it is made of: the fragment run on magnitudes."""
        nothing: list[torch.Tensor | None] = [None] * len(expected.outputs)
        if self.numerics == EXACT and not _kernels(self.graph):
            return nothing
        inputs = self._inputs(trial, tame=True)
        try:
            magnitudes = run_fragment(self.magnitudes, finite_inputs(inputs), trial.seed)
        except Exception:  # the fragment refuses them: the results' own size must do
            return nothing
        return [
            one.detach().abs().cpu().double() if isinstance(one, torch.Tensor) else None
            for one in magnitudes.outputs
        ]

    def _violation(
        self, trial: Trial, problem: str, expected: Run | None = None, found: Run | None = None
    ) -> Violation:
        lines = [f"the replacement does not compute what is replaced: {problem}"]
        lines.append(f"declared: {self.numerics}; inputs from {trial}:")
        shown = self._inputs(trial, tame=False)
        for name, item in zip(self.graph.argument_names, shown, strict=True):
            lines.append(f"  %{name} = {shortened(item)}")
        for what, side in (("matched", expected), ("replacement", found)):
            if side is not None:
                for place, item in enumerate(side.outputs):
                    lines.append(f"  {what} output {place} = {shortened(item)}")
        return Violation("\n".join(lines))


def shortened(item: Any) -> str:
    """A value on one line: type, strides and the first elements."""
    if not isinstance(item, torch.Tensor):
        return repr(item)
    dtype = str(item.dtype).removeprefix("torch.")
    plain = item.detach().reshape(-1)[:8].resolve_conj().resolve_neg()
    if plain.dtype.itemsize == 1 and plain.is_floating_point():
        plain = plain.float()
    numbers = ", ".join(
        f"{one:.6g}" if isinstance(one, float) else str(one) for one in plain.tolist()
    )
    more = ", ..." if item.numel() > 8 else ""
    return f"{dtype}{list(item.shape)} strides {list(item.stride())}: [{numbers}{more}]"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def _narrowest(graphs: Sequence[GraphOp]) -> torch.dtype | None:
    """The floating dtype with the fewest digits among the values of some graphs."""
    found: set[torch.dtype] = set()
    for graph in graphs:
        values = [*graph.arguments, *(result for op in graph.block.ops for result in op.results)]
        for value in values:
            type_: Any = value.type
            if isinstance(type_, TensorType):
                dtype = type_.dtype.to_real() if type_.dtype.is_complex else type_.dtype
                if dtype.is_floating_point and dtype != getattr(torch, "float4_e2m1fn_x2", None):
                    found.add(dtype)
    return max(found, key=lambda dtype: torch.finfo(dtype).eps, default=None)


def _adding(module: ModuleOp) -> ModuleOp:
    """The fragment with sums for differences: on magnitudes, a bound of what cancellation loses."""
    if not any(op.name == "aten.sub.Tensor" for op in entry_graph(module).block.ops):
        return module
    adding = module.clone()
    for op in entry_graph(adding).block.ops:
        if isinstance(op, SchemaOp) and op.name == "aten.sub.Tensor":
            *others, alpha = op.args.data
            if isinstance(alpha, int | float):
                op.args = ArgsAttr((*others, -alpha))
    return adding


_OWN_ROUNDING = """
exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
sigmoid erf erfc erfinv lgamma digamma gelu silu mish softplus pow rsqrt sqrt sum mean var std prod
cumsum cumprod logsumexp norm convolution native_layer_norm native_group_norm native_batch_norm
_softmax _log_softmax softmax log_softmax layer_norm rms_norm group_norm batch_norm conv1d conv2d
conv3d avg_pool2d scaled_dot_product_attention atan2 hypot logaddexp
"""
_KERNELS = {
    **dict.fromkeys(PRODUCTS, "product"),
    **{name: name for name in _OWN_ROUNDING.strip().replace("\n", " ").split(" ")},
}


def _kernels(graph: GraphOp) -> dict[str, int]:
    """The ops whose rounding is up to a kernel: how many of each kind."""
    found: dict[str, int] = {}
    for op in graph.block.ops:
        parts = op.name.split(".")
        name = parts[-1] if len(parts) > 3 or parts[0] in ("pyfn", "method") else parts[1]
        kind = _KERNELS.get(name)
        if kind is not None:
            found[kind] = found.get(kind, 0) + 1
    return found


__all__ = [
    "ROUNDS",
    "Checked",
    "ValueCheck",
    "check_values",
    "compare_fragments",
    "shortened",
    "validating",
]
