"""Built-in predicates for a reducer: passes that crash, break the IR, or change values."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from xductor.backend.reduce import edits
from xductor.ir import GraphOp, XductorContext, entry_graph, run, verify
from xductor.ir.execution.interpreter import seeded
from xductor.ir.execution.sample_inputs import NoSample, sample_attributes, sample_inputs
from xductor.ir.text.diagnostics import OpError
from xductor.ir.verification.verifier import Level

Passes = Sequence[ModulePass]


class DoesNotFail(ValueError):
    """The module to start from does not fail in the given way."""


def crash_of(passes: Passes, module: ModuleOp) -> tuple[str, ...] | None:
    """The kind of error that passes raise, and the line that raises it; None if they run."""
    try:
        _apply(passes, module.clone())
    except Exception as error:  # any crash of a pass may be the one to reduce
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return type(error).__name__, frame.filename, str(frame.lineno)
    return None


@dataclass(frozen=True)
class Crashes:
    """True for modules on which the passes raise the same error at the same line."""

    passes: Passes
    found: tuple[str, ...]

    @classmethod
    def on(cls, module: ModuleOp, passes: Passes) -> Crashes:
        """The predicate for the crash on `module`. Raises DoesNotFail if there is none."""
        found = crash_of(passes, module)
        if found is None:
            raise DoesNotFail(f"{_names(passes)} runs on this module without an error")
        return cls(passes, found)

    def __call__(self, module: ModuleOp) -> bool:
        return crash_of(self.passes, module) == self.found


@dataclass(frozen=True)
class Refused:
    """True for modules that the verifier refuses for the same reason, after the passes if any.

    If there are passes, the verifier must accept the module before them.
    """

    passes: Passes
    level: Level
    found: str

    @classmethod
    def on(cls, module: ModuleOp, passes: Passes, level: Level) -> Refused:
        """The predicate for the error of `module`. Raises DoesNotFail if there is none."""
        if passes and (problem := _problem(module, level)) is not None:
            raise DoesNotFail(f"the module is refused before any pass: {problem}")
        made = module.clone()
        try:
            _apply(passes, made)
        except Exception as error:  # a pass may crash in any way
            raise DoesNotFail(_crashed(passes, error)) from error
        found = _problem(made, level)
        if found is None:
            raise DoesNotFail(f"the verifier takes the module at level {level}")
        return cls(passes, level, found)

    def __call__(self, module: ModuleOp) -> bool:
        if self.passes and _problem(module, self.level) is not None:
            return False
        try:
            _apply(self.passes, module)
        except Exception:  # not the failure that is looked for
            return False
        return _problem(module, self.level) == self.found


def _problem(module: ModuleOp, level: Level) -> str | None:
    """The verifier's complaint, without the names of nodes."""
    try:
        verify(module, level=level)
    except OpError as error:
        return error.problem
    except VerifyException as error:
        return str(error).partition("\n")[0]
    return None


@dataclass(frozen=True)
class ValuesDiffer:
    """True for modules whose values the passes change.

    - `known`: values by name, for inputs that stand for values of the original module.
    - `attributes`: values of parameters and constants by path.
    - `rtol`, `atol`: how far values may differ; if None, as `torch.testing` allows for the dtypes.

    The module is run before and after the passes on the same inputs with the same random numbers.
    """

    passes: Passes
    known: Mapping[str, Any]
    attributes: Mapping[str, Any]
    rtol: float | None = None
    atol: float | None = None

    @classmethod
    def on(
        cls,
        module: ModuleOp,
        passes: Passes,
        inputs: Sequence[Any] | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> ValuesDiffer:
        """The predicate for the difference on `module`, from given or generated inputs.

        Every value of the module is kept, for inputs that will stand for it.

        Raises:
            DoesNotFail: If the values agree, the passes raise, or the module itself does not run.
            NoSample: If inputs cannot be generated.
        """
        graph = entry_graph(module)
        given = sample_inputs(graph) if inputs is None else inputs
        attributes = sample_attributes(module)
        known = dict(zip(graph.argument_names, given, strict=True))
        try:
            known |= _all_values(module, known, attributes)
        except NoSample:
            raise
        except Exception as error:  # a kernel may raise anything
            notes = "\n".join([str(error), *getattr(error, "__notes__", ())])
            raise DoesNotFail(f"the module does not run before any pass: {notes}") from error
        made = cls(passes, known, attributes, rtol, atol)
        try:
            difference = made.difference(module.clone())
        except Exception as error:  # a pass or a kernel may raise anything
            raise DoesNotFail(_crashed(passes, error)) from error
        if difference is None:
            raise DoesNotFail(f"{_names(passes)} does not change the values of this module")
        return made

    def __call__(self, module: ModuleOp) -> bool:
        try:
            return self.difference(module) is not None
        except Exception:  # an op refuses generated values, or the pass fails in another way
            return False

    def difference(self, module: ModuleOp) -> str | None:
        """The first difference between values before and after the passes, which change `module`.

        Raises what an op or a pass raises.
        """
        before = self._values(module)
        _apply(self.passes, module)
        verify(module, level="structure")
        after = self._values(module)
        for number, (ours, theirs) in enumerate(zip(before, after, strict=True)):
            try:
                torch.testing.assert_close(
                    theirs, ours, rtol=self.rtol, atol=self.atol, equal_nan=True
                )
            except AssertionError as error:
                return f"value {number}: {error}"
        return None

    def _values(self, module: ModuleOp) -> list[Any]:
        """What a module returns, then its inputs, which it may have written to."""
        inputs = _inputs(entry_graph(module), self.known)
        with seeded(0):
            returned = run(module, *inputs, attributes=self.attributes)
        return [value for value in tree_leaves([returned, inputs]) if value is not None]


def _inputs(graph: GraphOp, known: Mapping[str, Any]) -> list[Any]:
    """A copy of the known value of each input, or a generated one if it is not known."""
    names = graph.argument_names
    made_up = sample_inputs(graph) if not known.keys() >= set(names) else ()
    values = [known[name] if name in known else made_up[i] for i, name in enumerate(names)]
    return [_copied(value) if isinstance(value, torch.Tensor) else value for value in values]


def _copied(value: torch.Tensor) -> torch.Tensor:
    """A copy with the same sizes and strides."""
    if value.layout is not torch.strided:
        return value.clone()
    room = 1 + sum(
        (size - 1) * step for size, step in zip(value.shape, value.stride(), strict=True)
    )
    storage = torch.empty(max(room, 0), dtype=value.dtype, device=value.device)
    return storage.as_strided(value.shape, value.stride()).copy_(value)


def _all_values(
    module: ModuleOp, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of all named ops of the entry graph, by name."""
    made = module.clone()
    graph = entry_graph(made)
    named = [
        (name, result)
        for op in edits.body_ops(graph)
        for name, result in zip(op.node.names, op.results, strict=True)
        if name
    ]
    if not edits.can_drop_outputs(graph):
        return {}
    edits.keep_outputs(graph, [], [result for _, result in named])
    with seeded(0):
        values = run(made, *_inputs(graph, inputs), attributes=attributes)
    return dict(zip((name for name, _ in named), values, strict=True))


def _apply(passes: Passes, module: ModuleOp) -> None:
    context = XductorContext()
    for one in passes:
        one.apply(context, module)


def _crashed(passes: Passes, error: Exception) -> str:
    told = f"{type(error).__name__}: {error}"
    return f"{_names(passes)} does not run through on this module: {told}"


def _names(passes: Passes) -> str:
    return ",".join(one.name for one in passes) or "no pass"
