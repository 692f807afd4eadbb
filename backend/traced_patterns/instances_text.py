"""The method `instances` of a traced class: inputs like those that it was traced with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from xductor.backend.traced_patterns.python_text import call_text, constant_text
from xductor.backend.traced_patterns.variables import Alternative, Traced, Variable
from xductor.ir import TensorType
from xductor.ir.symbolic.symbol_values import number
from xductor.transforms.matching.patterns import PatternError


def instances_text(
    tensors: Sequence[str], alternatives: Sequence[Alternative], which: str
) -> list[str]:
    """The lines of the method; none if an input has no text.

    - `tensors`: the tensor variables; `which`: the number of the alternative, "" if there is one.

    Sizes are those of the inputs and, where they are open, twice as large.
    """
    lines: list[str] = []
    try:
        for place, one in enumerate(alternatives):
            for member in one.asked:
                chosen = [f"{which}={place}"] if which else []
                lines += _of(tensors, one, member, chosen)
    except PatternError:  # a constant that Python has no text for
        return []
    if not lines:
        return []
    return [
        "",
        "def instances(self):",
        "    # Inputs like those of the traces. Tensors on meta are types: values are generated.",
        *(f"    {line}" for line in lines),
    ]


def _of(
    tensors: Sequence[str], one: Alternative, member: Traced, chosen: Sequence[str]
) -> Iterator[str]:
    index = next(k for k, other in enumerate(one.members) if other is member)
    hints = {name: info.hint for name, info in member.trace.graph.symbols.data.items()}
    known = {name: hint for name, hint in hints.items() if isinstance(hint, int)}
    for times in (1, 2) if known else (1,):
        symbols: dict[str, Any] = {name: hint * times for name, hint in known.items()}
        for name in tensors:
            yield from _tensor(name, member.trace.inputs[name], symbols)
        values = [f"{name}={name}" for name in tensors]
        values += [
            f"{variable.name}={_value(variable, index, member)}"
            for variable in one.variables.values()
        ]
        values += chosen
        yield from call_text("yield dict", values)


def _tensor(name: str, type_: TensorType, symbols: dict[str, Any]) -> Iterator[str]:
    try:
        sizes = [int(number(size, symbols)) for size in type_.shape]
    except KeyError as error:
        raise PatternError(f"the size {error} has no value") from error
    yield f'{name} = torch.empty({sizes}, dtype={type_.dtype}, device="meta")'


def _value(variable: Variable, index: int, member: Traced) -> str:
    """What a variable is in a trace: a constant, or a size over the shapes of the tensors."""
    if not variable.is_clause or variable.annotation == "torch.device":
        return constant_text(variable.seen[index])
    clause = variable.is_clause
    for name, value in member.trace.given.items():
        if type(value) is int:
            clause = re.sub(rf"(?<![\w.]){re.escape(name)}\b", constant_text(value), clause)
    return clause


__all__ = ["instances_text"]
