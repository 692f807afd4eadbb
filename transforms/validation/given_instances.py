"""The bindings that a rewrite's own `instances` yields: read, checked, and described."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import torch

from xductor.transforms.matching.patterns import Bound, OneOf, children
from xductor.transforms.matching.traced_source import is_traced
from xductor.transforms.rewriting.rewrite import Rewrite

#: How many combinations of alternatives are tried for a binding that leaves them open.
_MOST_COMBINATIONS = 64

_TYPES: Mapping[str, tuple[type, ...]] = {
    "tensor": (torch.Tensor,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "scalar": (int, float, complex),
    "str": (str,),
    "dtype": (torch.dtype,),
    "device": (torch.device, str),
    "layout": (torch.layout,),
    "memory_format": (torch.memory_format,),
}


class InvalidInstances(Exception):
    """The method `instances` of a rewrite raises, or yields what is no dict; says where."""


@dataclass(frozen=True)
class Given:
    """A binding that `instances` yields.

    - `place`: its number, from 0; `values`: by variable.
    - `traced`: whether it is of a class that was traced, and stands for inputs of a trace.
    """

    place: int
    values: Mapping[str, Any]
    traced: bool = False

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self.values.items())
        return f"instance {self.place} ({shown})"


def given_instances(rewrite: Rewrite, seed: int) -> Iterator[Given]:
    """What the rewrite's `instances` yields, with functions called on the seed.

    What a traced class yields counts even if a class derived from it has its own `instances`.

    Raises InvalidInstances.
    """
    owners = [one for one in type(rewrite).__mro__ if "instances" in vars(one)]
    for owner in owners:
        traced = is_traced(owner)
        if traced or owner is owners[0]:
            method = vars(owner)["instances"].__get__(rewrite, type(rewrite))
            yield from _of(rewrite, method, seed, traced=traced)


def _of(rewrite: Rewrite, method: Any, seed: int, *, traced: bool) -> Iterator[Given]:
    draws = _Draws(seed)
    try:
        found: Any = draws.of(method)
        if not isinstance(found, Iterable) or isinstance(found, Mapping | str):
            raise InvalidInstances(
                f"{_where(rewrite, method)} gives {_article(found)}; {_EXPECTED}"
            )
        for place, one in enumerate(draws.each(found)):
            if not isinstance(one, Mapping) or not all(isinstance(name, str) for name in one):
                raise InvalidInstances(
                    f"{_where(rewrite, method)} yields {_article(one)}; {_EXPECTED}"
                )
            values = {
                name: item(seed) if callable(item) and not _is_constant(item) else item
                for name, item in one.items()
            }
            yield Given(place, values, traced)
    except (InvalidInstances, GeneratorExit):
        raise
    except Exception as error:  # of the rewrite's author
        raised = f"{type(error).__name__}: {error}"
        raise InvalidInstances(
            f"{_where(rewrite, method, error)} raises {raised}; {_EXPECTED}"
        ) from error


class _Draws:
    """What an author draws by torch's own generator, which is seeded for it.

    So a result does not depend on what was drawn before, nor does anything on the instances.
    """

    def __init__(self, seed: int) -> None:
        self._state = torch.Generator().manual_seed(seed).get_state()

    def of(self, make: Callable[[], Any]) -> Any:
        """What a function gives."""
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(self._state)
            try:
                return make()
            finally:
                self._state = torch.get_rng_state()

    def each(self, found: Iterable[Any]) -> Iterator[Any]:
        """The items, each made when it is asked for."""
        items, end = iter(found), object()
        while (one := self.of(lambda: next(items, end))) is not end:
            yield one


_EXPECTED = (
    'expected dicts by the names of the pattern\'s variables, such as {"x": torch.rand(2, 3)}'
)


def _where(rewrite: Rewrite, method: Any, error: Exception | None = None) -> str:
    """The method with its file and line; the line that raised, if it is one of that file."""
    code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)
    if code is None:
        return f"`instances` of {rewrite.name}"
    line, trace = code.co_firstlineno, error.__traceback__ if error is not None else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{code.co_filename}:{line}: `instances` of {rewrite.name}"


def _article(item: Any) -> str:
    name = type(item).__name__
    return "nothing" if item is None else f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _is_constant(item: Any) -> bool:
    return isinstance(item, torch.Tensor | torch.dtype | torch.device)


@dataclass(frozen=True)
class Names:
    """The names and kinds that a binding of a rewrite may have.

    - `open`: variables that have to come from a binding, or are generated; not those that the
      pattern binds, nor numbers of alternatives.
    - `alternatives`: how many alternatives there are, by the variable that is their number.
    """

    kinds: Mapping[str, str]
    open: frozenset[str]
    alternatives: Mapping[str, int]
    has_choices: bool

    @classmethod
    def of(cls, rewrite: Rewrite) -> Names:
        parts = list(parts_of(rewrite))
        choices = [one for one in parts if isinstance(one, OneOf)]
        numbered = {
            one.number.name: len(one.alternatives) for one in choices if one.number is not None
        }
        bound = {one.variable.name for one in parts if isinstance(one, Bound)}
        kinds = rewrite.compiled.kinds
        return cls(kinds, frozenset(kinds) - bound - set(numbered), numbered, bool(choices))

    def unknown(self, values: Mapping[str, Any]) -> list[str]:
        """What is said of names that are no variables, with what may be meant."""
        found: list[str] = []
        for name in values:
            if name not in self.kinds:
                close = get_close_matches(name, set(self.kinds) - set(values), n=1)
                hint = f" (did you mean `{close[0]}`?)" if close else ""
                found.append(f"`{name}` is no variable of the pattern{hint}")
        return found

    def missing(self, values: Mapping[str, Any]) -> list[str]:
        return [name for name in self.kinds if name in self.open and name not in values]

    def of_wrong_kind(self, values: Mapping[str, Any]) -> list[str]:
        """What is said of values that are not what the variables are annotated with."""
        found: list[str] = []
        for name, value in values.items():
            kind = self.kinds.get(name, "any")
            if not self._fits(kind, value):
                found.append(f"`{name}` is {_article(value)}; expected a value of kind {kind}")
                continue
            count = self.alternatives.get(name)
            if count is not None and value not in range(count):
                found.append(f"`{name}` is {value}; there are {count} alternatives, from 0")
        return found

    def _fits(self, kind: str, value: Any) -> bool:
        if kind == "any" or (value is None and self.has_choices):
            return True  # variables of the other alternatives are None
        if kind.startswith("list["):
            inner = kind.removeprefix("list[").removesuffix("]")
            return isinstance(value, Sequence) and all(self._fits(inner, one) for one in value)
        if isinstance(value, bool) and kind in ("int", "float"):
            return False
        return kind not in _TYPES or isinstance(value, _TYPES[kind])

    def with_alternatives(self, values: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The binding with every choice of alternatives that it leaves open."""
        left = [name for name in self.alternatives if name not in values]
        places = itertools.product(*[range(self.alternatives[name]) for name in left])
        for chosen in itertools.islice(places, _MOST_COMBINATIONS):
            yield {**values, **dict(zip(left, chosen, strict=True))}


def parts_of(rewrite: Rewrite) -> Iterator[Any]:
    """All parts of a rewrite's pattern, each once."""
    seen: set[int] = set()
    todo: list[Any] = list(reversed(rewrite.compiled.outputs))
    while todo:
        part = todo.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            todo += reversed(list(children(part)))


def _short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


__all__ = ["Given", "InvalidInstances", "Names", "given_instances", "parts_of"]
