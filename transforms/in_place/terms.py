"""What tensors hold, as terms: equal terms are equal contents.

A term is a number; behind it stands a key, and equal keys have one number. What is written to a
part of a tensor is `put(base, steps, source)`: `base` with `source` in the part that a chain of
views leads to. Rules bring the ways to say one thing to one form, so that a graph in place and the
functional graph that it was give equal numbers:

- a part that was just put is what was put there; other parts are those of the base;
- putting a part back where it was changes nothing;
- a put into a part is one put by a longer chain;
- what is put over an earlier put hides it;
- reshapes, permutations and other readings of the bits move from what is put to the whole.
"""

from __future__ import annotations

from typing import Any

Step = tuple[Any, ...]
"""One view: its kind and its arguments."""
Steps = tuple[Step, ...]

_WHOLE = ("reshape", "permute", "bits")


class Terms:
    """The terms of one comparison; both graphs must be read with the same."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._keys: list[Any] = []

    def term(self, *key: Any) -> int:
        """The number of a key."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return number

    def view(self, term: int, steps: Steps) -> int:
        """What a chain of views shows of a content."""
        for step in steps:
            term = self._step(term, step)
        return term

    def put(self, base: int, steps: Steps, source: int) -> int:
        """A content in which a part is replaced."""
        if not steps:
            return source
        if steps[0][0] in _WHOLE:
            inner = self.put(self._step(base, steps[0]), steps[1:], source)
            return self._step(inner, _back(steps[0]))
        key = self._keys[source]
        if key[0] == "put":
            _, under, deeper, written = key
            return self.put(self.put(base, steps, under), (*steps, *deeper), written)
        if source == self.view(base, steps):
            return base
        below = self._keys[base]
        if below[0] == "put" and below[2][: len(steps)] == steps:
            return self.put(below[1], steps, source)
        return self.term("put", base, steps, source)

    def _step(self, term: int, step: Step) -> int:
        key = self._keys[term]
        if step[0] in _WHOLE:
            if key[0] == "view" and key[2][0] == step[0]:
                step, term = _both(key[2], step), key[1]
            if _is_idle(step):
                return term
            return self.term("view", term, step)
        if key[0] == "put":
            _, base, steps, source = key
            if steps[0] == step:
                return self.put(self._step(base, step), steps[1:], source)
            if apart(steps[0], step):
                return self._step(base, step)
        return self.term("view", term, step)


def _both(first: Step, second: Step) -> Step:
    if first[0] != "permute":
        return (first[0], first[1], second[2])
    return ("permute", tuple([first[1][dim] for dim in second[1]]))


def _back(step: Step) -> Step:
    if step[0] != "permute":
        return (step[0], step[2], step[1])
    return ("permute", tuple([step[1].index(dim) for dim in range(len(step[1]))]))


def _is_idle(step: Step) -> bool:
    if step[0] != "permute":
        return step[1] == step[2]
    return step[1] == tuple(range(len(step[1])))


def apart(left: Step, right: Step) -> bool:
    """Whether two views of one tensor have no element in common: rows of one dim that differ."""
    if left[0] != "rows" or right[0] != "rows" or left[1] != right[1]:
        return False
    (start, end), (other, other_end) = left[2:4], right[2:4]
    if any(type(one) is not int for one in (start, end, other, other_end)):
        return False
    return end <= other or other_end <= start


def chains_apart(left: Steps, right: Steps) -> bool:
    """Whether two chains of views of one tensor lead to parts without a common element."""
    for one, other in zip(left, right, strict=False):
        if one != other:
            return apart(one, other)
    return False


__all__ = ["Step", "Steps", "Terms", "apart", "chains_apart"]
