"""Runs both sides of one instance with numbers in eager, and writes them as a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from xductor.ir import Facts, ListArg, SchemaOp, SymbolTable, TensorType, TorchOp
from xductor.ir.functions.op_functions import BoundCall, OverloadFunction, building
from xductor.ir.functions.torch_calls import call_meant
from xductor.transforms.passes.numerics import (
    APPROXIMATE,
    REASSOCIATES,
    ROUNDS_LESS_OFTEN,
    Declared,
    Numerics,
    numerics_at,
)
from xductor.transforms.proving.mutations import Mutation
from xductor.transforms.proving.pattern_runs import PatternRun, Slot
from xductor.transforms.rewriting.decisions import Fact, Refusal
from xductor.transforms.rewriting.handles import Dim, Tensor
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.semantics.values import Illegal
from xductor.transforms.validation.float64_reference import Errors, InFloat64, errors_of
from xductor.transforms.validation.value_comparison import Budget, compare

#: What eager raises for values that it refuses, and Python for numbers. Operators that are written
#: in Python assert.
_REFUSALS = (
    ArithmeticError,
    AssertionError,
    RuntimeError,
    IndexError,
    NotImplementedError,
    TypeError,
    ValueError,
)


class NotTaken(Exception):
    """The rewrite does not apply to these values, or the source refuses them."""


class SourceRefused(NotTaken):
    """Eager refuses the source: nothing is claimed about such values."""


class ConcreteTensor(Tensor):
    """A tensor with data, as `where` and `replacement` see it."""

    __slots__ = ("data", "name")

    def __init__(self, data: torch.Tensor, name: str, facts: Facts) -> None:
        self.data = data
        self.name = name
        type_ = TensorType.get(data.dtype, tuple(data.shape), tuple(data.stride()), data.device)
        super().__init__(type_, facts, None)


class Recorder:
    """Runs ops and records each call as text."""

    def __init__(self, prefix: str, facts: Facts) -> None:
        self.prefix = prefix
        self.facts = facts
        self.lines: list[str] = []
        self.dtypes: set[torch.dtype] = set()
        self.largest = 0.0

    def __call__(self, cls: type[TorchOp], items: tuple[Any, ...]) -> Any:
        if not issubclass(cls, SchemaOp):
            raise NotTaken(f"{cls.name} is no operator")
        arguments = cls.table.overload._schema.arguments
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument, param, item in zip(arguments, cls.table.params, items, strict=True):
            if param.kwarg_only:
                if not (param.has_default and _is_default(item, param.default)):
                    keywords[argument.name] = item
            else:
                positional.append((param, item))
        while positional and positional[-1][0].has_default:
            param, item = positional[-1]
            if not _is_default(item, param.default):
                break
            positional.pop()
        given = [item for _, item in positional]
        name = f"{self.prefix}{len(self.lines)}"
        written = [*map(_text, given), *[f"{key}={_text(item)}" for key, item in keywords.items()]]
        self.lines.append(f"{name} = torch.ops.{cls.name}({', '.join(written)})")
        found = cls.table.overload(
            *map(data_of, given), **{k: data_of(v) for k, v in keywords.items()}
        )
        if isinstance(found, list | tuple):
            return [self._handle(one, f"{name}[{k}]") for k, one in enumerate(found)]
        return self._handle(found, name)

    def _handle(self, item: Any, name: str) -> Any:
        if not isinstance(item, torch.Tensor):
            return item
        self.dtypes.add(item.dtype)
        if item.numel() and item.is_floating_point() and not item.is_meta:
            size = item.double().abs().nan_to_num(0.0, 0.0, 0.0).amax().item()
            self.largest = max(self.largest, size)
        return ConcreteTensor(item, name, self.facts)

    def call(self, name: str, calls: list[BoundCall]) -> Any:
        return self(calls[0].cls, calls[0].args)

    def raw_call(self, cls: type[TorchOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = call_meant(cls, args, kwargs)
        if call is None:
            raise NotTaken(f"{cls.name} is no operator")
        return self(call.cls, call.args)


def _is_default(item: Any, default: Any) -> bool:
    if isinstance(item, ConcreteTensor | Dim):
        return False
    return type(item) is type(default) and repr(item) == repr(default)


def data_of(item: Any) -> Any:
    if isinstance(item, ConcreteTensor):
        return item.data
    if isinstance(item, Dim):
        return int(item)
    if isinstance(item, OverloadFunction):
        return item.op_class.target
    if isinstance(item, list | tuple):
        return [data_of(one) for one in item]
    return item


def _text(item: Any) -> str:
    if isinstance(item, ConcreteTensor):
        return item.name
    if isinstance(item, Dim):
        return str(int(item))
    if isinstance(item, list | tuple):
        return f"[{', '.join(map(_text, item))}]"
    if isinstance(item, float) and (item != item or item in (float("inf"), float("-inf"))):
        return f'float("{item}")'
    if isinstance(item, torch.device):
        return f'torch.device("{item}")'
    return repr(item)


class _Replay:
    """Fills a pattern with given values, in order."""

    def __init__(self, fillings: Sequence[Any]) -> None:
        self.fillings = list(fillings)

    def _next(self) -> Any:
        if not self.fillings:
            raise NotTaken("another way through the pattern")
        return self.fillings.pop(0)

    def alternative(self, count: int, what: str) -> int:
        return self._next()

    def variable(self, name: str, kind: str, slot: Slot) -> Any:
        return self._next()

    def anything(self, slot: Slot) -> Any:
        return self._next()


@dataclass
class Trial:
    """A run of both sides on the same inputs.

    - `problem`: how they differ; empty if they agree.
    - `script`: a program that shows the difference.
    """

    inputs: dict[str, torch.Tensor]
    source: list[Any]
    target: list[Any]
    problem: str = ""
    script: str = ""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])


def run_both(
    rewrite: Rewrite,
    fillings: Sequence[Any],
    declared: Declared,
    mutation: Mutation | None = None,
) -> Trial:
    """Run a match and its replacement.

    - `fillings`: what the pattern leaves open, in the order in which it is asked for: tensors
      (named by their variable), constants, and the numbers of alternatives.

    Raises:
        SourceRefused: If the source raises.
        NotTaken: If `where` refuses, or the numerics exclude an output of this dtype.
    """
    facts = Facts.from_table(SymbolTable())
    inputs: dict[str, torch.Tensor] = {}
    given = [as_handle(item, facts, inputs) for item in fillings]
    record = Recorder("s", facts)
    run = PatternRun(rewrite.compiled, _Replay(given), record)
    try:
        source = run.outputs()
    except NotTaken:
        raise
    except Illegal as error:
        raise SourceRefused(f"the source is refused: {error}") from error
    except _REFUSALS as error:
        raise SourceRefused(f"the source raises {first_line(error)}") from error
    numerics = numerics_at(declared, getattr(data_of(source[0]) if source else None, "dtype", None))
    if numerics is None:
        raise NotTaken("the numerics take no output of this dtype")
    if mutation is None or not mutation.drops_condition:
        where = [run.bindings.get(name) for name in rewrite.compiled.where_names]
        try:
            _check_where(rewrite.where(*where))
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:
            raise NotTaken(f"`where` raises {first_line(error)}") from error
    names = rewrite.compiled.replacement_names
    second = Recorder("t", facts)
    builder: Any = second
    if mutation is not None:
        mutation.begin()
        builder = mutation.builder(second)
    try:
        with building(builder):
            made = rewrite.replacement(*[run.bindings.get(name) for name in names])
    except NotTaken:
        raise
    except _REFUSALS as error:
        trial = Trial(inputs, [data_of(one) for one in source], [])
        trial.problem = f"the replacement raises {type(error).__name__}: {first_line(error)}"
        trial.script = script_of(
            rewrite.name, numerics, inputs, record, source, second, [], trial.problem
        )
        return trial
    target = list(made) if isinstance(made, tuple | list) else [made]
    if mutation is not None:
        target = mutation.outputs(target, second)
    trial = Trial(inputs, [data_of(one) for one in source], [data_of(one) for one in target])
    if numerics == ROUNDS_LESS_OFTEN:
        with InFloat64():
            wide = PatternRun(rewrite.compiled, _Replay(given), Recorder("w", facts)).outputs()
        trial.problem = _further_off(
            trial, [data_of(one) for one in wide], record.dtypes | second.dtypes, record.largest
        )
    else:
        largest = record.largest if numerics in (APPROXIMATE, REASSOCIATES) else 0.0
        trial.problem = difference(trial, numerics, record.dtypes | second.dtypes, largest)
    if trial.problem:
        trial.script = script_of(
            rewrite.name, numerics, inputs, record, source, second, target, trial.problem
        )
    return trial


def as_handle(item: Any, facts: Facts, inputs: dict[str, torch.Tensor]) -> Any:
    """A filling as a recorder takes it; the tensors in it are added to `inputs`."""
    if isinstance(item, Named):
        inputs[item.name] = item.data
        return ConcreteTensor(item.data, item.name, facts)
    if isinstance(item, list | tuple):
        return ListArg(as_handle(one, facts, inputs) for one in item)
    return item


@dataclass(frozen=True, eq=False)
class Named:
    """A tensor, and the variable whose value it is."""

    name: str
    data: torch.Tensor


def _check_where(answer: Any) -> None:
    if isinstance(answer, Refusal):
        raise NotTaken(answer.reason)
    if answer is False or (isinstance(answer, Fact) and answer.value is not True):
        raise NotTaken("`where` says no")


def first_line(error: Exception) -> str:
    """The first line of an exception's message."""
    return (str(error).splitlines() or [""])[0]


def difference(
    trial: Trial,
    numerics: Numerics,
    dtypes: Iterable[torch.dtype] = (),
    largest: float = 0.0,
) -> str:
    """How the two sides differ by more than is declared; empty if they do not.

    - `dtypes`: those of intermediate values.
    - `largest`: the largest number of which a result may be a difference, to scale errors by.
    """
    if len(trial.source) != len(trial.target):
        return f"{len(trial.source)} results before and {len(trial.target)} after"
    every = {*dtypes, *[one.dtype for one in trial.inputs.values()]}
    floats = [one for one in every if one.is_floating_point]
    # A dropped rounding may be an overflow: then the dtype of the smallest range decides.
    order = (
        (lambda one: -torch.finfo(one).max)
        if numerics in ("drops a rounding", "rounds less often")
        else (lambda one: torch.finfo(one).eps)
    )
    narrowest = max(floats, key=order, default=None)
    budget = Budget(numerics, terms=16, narrowest=narrowest)
    for place, (old, new) in enumerate(zip(trial.source, trial.target, strict=True)):
        if new is None:
            continue
        mismatch = compare(old, new, budget, torch.tensor(largest) if largest else None)
        if mismatch is not None:
            return f"result {place}: {mismatch}"
    return ""


def _further_off(
    trial: Trial, wide: Sequence[Any], dtypes: Iterable[torch.dtype], largest: float
) -> str:
    """How the results are further from float64 than the source's; empty if they are not."""
    # Compares dtypes, sizes, and what is NaN or infinite; float64 decides the rest.
    problem = difference(trial, ROUNDS_LESS_OFTEN, dtypes, largest)
    total = Errors()
    for place, (reference, old, new) in enumerate(
        zip(wide, trial.source, trial.target, strict=False)
    ):
        if problem or new is None:
            continue
        scale = torch.full_like(old, largest, dtype=torch.float64)
        errors = errors_of(reference, old, new, scale, terms=16)
        if isinstance(errors, str):
            return f"result {place}: {errors}"
        total.add(errors)
    return problem or total.problem() or ""


def script_of(
    name: str,
    numerics: Numerics,
    inputs: dict[str, torch.Tensor],
    first: Recorder,
    source: Sequence[Any],
    second: Recorder,
    target: Sequence[Any],
    problem: str,
) -> str:
    """A program that raises AssertionError if the two sides differ."""
    lines = [
        f'"""A counter-example to {name}: {problem}."""',
        "",
        "import torch",
        "",
        'inf, nan = float("inf"), float("nan")',
        *[f"{key} = {_written(data)}" for key, data in inputs.items()],
        "",
        "# What is matched.",
        *first.lines,
        "# What the rewrite puts there.",
        *second.lines,
        "",
    ]
    for old, new in zip(source, target, strict=False):
        if new is None:
            continue
        a, b = _text(old), _text(new)
        lines += [f'print("before:", {a})', f'print("after: ", {b})']
        lines.append(f"assert ({a}.dtype, {a}.shape) == ({b}.dtype, {b}.shape)")
        lines.append(f"same = ({a} == {b}) | ({a}.isnan() & {b}.isnan())")
        if numerics == "exact":
            lines += [
                f"if {a}.is_floating_point():  # the sign of zero too",
                f"    same &= ({a}.signbit() == {b}.signbit()) | {a}.isnan()",
            ]
        elif numerics != "exact up to the sign of zero":
            lines.append(f"same |= torch.isclose({a}.double(), {b}.double(), rtol=1e-2)")
        lines.append("assert bool(same.all())")
    return "\n".join(lines) + "\n"


def _written(data: torch.Tensor) -> str:
    numbers = data.tolist() if data.dtype.itemsize > 1 or not data.is_floating_point() else []
    text = f"torch.tensor({numbers!r}, dtype={data.dtype})"
    return text if data.numel() else f"torch.empty({list(data.shape)}, dtype={data.dtype})"


__all__ = [
    "ConcreteTensor",
    "Named",
    "NotTaken",
    "Recorder",
    "SourceRefused",
    "Trial",
    "data_of",
    "difference",
    "first_line",
    "run_both",
    "script_of",
]
